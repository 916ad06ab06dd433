#include "benchmarks/exchange/contenders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"

namespace barrio::bench {
namespace {

std::vector<Kind> make_all() {
  std::vector<Kind> all;
  const auto add = [&](std::vector<Kind> more) { std::ranges::move(more, std::back_inserter(all)); };
  add(by_hand_kinds());
#ifdef BARRIO_BENCH_ZOLTAN
  add(zoltan_kinds());
#else
  for (const char* name : {"zoltan", "zoltan-do"})
    add({{.name = name, .about = "", .lacking = BARRIO_BENCH_NO_ZOLTAN}});
#endif
#ifdef BARRIO_BENCH_PETSC
  add(petsc_kinds());
#else
  for (const char* name : {"petsc-twosided", "petsc-sf", "petsc-sf-new"})
    add({{.name = name, .about = "", .lacking = BARRIO_BENCH_NO_PETSC}});
#endif
#ifdef BARRIO_BENCH_PCU
  add(pcu_kinds());
#else
  add({{.name = "pcu", .about = "", .lacking = BARRIO_BENCH_NO_PCU}});
#endif
#ifdef BARRIO_BENCH_YGM
  add(ygm_kinds());
#else
  add({{.name = "ygm", .about = "", .lacking = BARRIO_BENCH_NO_YGM}});
#endif
  std::vector<Kind> ours = barrio_kinds();
  Kind fixed = ours.front();
  fixed.name = "meet-fixed";
  fixed.about = "barrio in the pattern meet, without strangers";
  add(std::move(ours));
  add({std::move(fixed)});
  return all;
}

AgreedError fault(const std::string& name, std::string cause) {
  return {ErrorCode::usage, {.subject = fmt::format("contender '{}'", name), .cause = std::move(cause)}};
}

}  // namespace

const std::vector<Kind>& all_kinds() {
  static const std::vector<Kind> all = make_all();
  return all;
}

Kind find_kind(const std::string& name) {
  const std::string stem = name.substr(0, name.find('@'));
  const auto found = std::ranges::find(all_kinds(), stem, &Kind::name);
  if (found == all_kinds().end()) {
    std::vector<std::string> known;
    for (const Kind& kind : all_kinds()) known.push_back(kind.name);
    throw fault(name, "is not known." + did_you_mean(stem, known));
  }
  if (!found->make) throw fault(name, "is not in this build: " + found->lacking);
  Kind kind = *found;
  if (stem == name) return kind;
  kind.name = name;
  std::uint32_t bytes = 0;
  const char* end = name.data() + name.size();
  const auto [at, code] = std::from_chars(name.data() + stem.size() + 1, end, bytes);
  if (code != std::errc() || at != end || !stem.starts_with("barrio"))
    throw fault(name, "only barrio takes a packet size, in bytes after the @, as in barrio@1024");
  kind.make = [make = kind.make, bytes](Setup setup) {
    setup.packet_bytes = bytes;
    return make(setup);
  };
  return kind;
}

}  // namespace barrio::bench
