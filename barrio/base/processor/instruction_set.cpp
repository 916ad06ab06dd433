#include "barrio/base/instruction_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"

namespace barrio {
namespace {

constexpr std::array all_sets{InstructionSet::scalar, InstructionSet::baseline, InstructionSet::avx2,
                              InstructionSet::avx512};

/// Count the sets that this processor has: each is contained in the next.
std::size_t n_usable() noexcept {
#ifdef __x86_64__
  const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") != 0 &&
                          __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  return has_avx512 ? 4 : has_avx2 ? 3 : 2;
#else
  return 2;
#endif
}

}  // namespace

std::string_view name_of(InstructionSet set) noexcept {
  switch (set) {
    case InstructionSet::scalar: return "scalar";
    case InstructionSet::baseline: return "baseline";
    case InstructionSet::avx2: return "avx2";
    case InstructionSet::avx512: return "avx512";
  }
  return "";
}

std::span<const InstructionSet> instruction_sets() noexcept { return std::span(all_sets).first(n_usable()); }

InstructionSet chosen_instruction_set() {
  const std::span<const InstructionSet> usable = instruction_sets();
  const char* const wanted = std::getenv("BARRIO_ISA");
  if (wanted == nullptr || *wanted == '\0') return usable.back();
  const auto found = std::ranges::find(usable, wanted, &name_of);
  if (found != usable.end()) return *found;
  std::vector<std::string> names;
  for (const InstructionSet set : usable) names.emplace_back(name_of(set));
  throw Error(ErrorCode::usage,
              {.subject = fmt::format("BARRIO_ISA={}", wanted),
               .cause = "is not an instruction set of this processor." + did_you_mean(wanted, names),
               .remedy = fmt::format("use one of {}, or unset it to use the last", fmt::join(names, ", "))});
}

}  // namespace barrio
