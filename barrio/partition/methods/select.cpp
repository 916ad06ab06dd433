#include <fmt/format.h>

#include <array>
#include <cmath>

#include "barrio/base/error.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/partition/methods/select.hpp"

namespace barrio::partition::detail {
namespace {

constexpr int digit_bits = 8;
constexpr std::uint64_t n_digits = 1U << digit_bits;

}  // namespace

Cut find_cut(mpi::Context& context, std::vector<WeightedKey> candidates, std::int64_t share) {
  Cut cut;
  for (std::uint64_t Key::* word : {&Key::word, &Key::id}) {
    for (int shift = 64 - digit_bits; shift >= 0; shift -= digit_bits) {
      const auto digit_of = [&](const WeightedKey& item) { return (item.key.*word >> shift) & (n_digits - 1); };
      std::array<std::int64_t, n_digits> weight{};
      for (const WeightedKey& item : candidates) weight[digit_of(item)] += item.weight;
      mpi::all_reduce(context, std::span<std::int64_t>(weight), MPI_SUM);
      std::uint64_t digit = 0;
      while (digit + 1 < n_digits && cut.weight_below + weight[digit] <= share) cut.weight_below += weight[digit++];
      cut.key.*word |= digit << shift;
      std::erase_if(candidates, [&](const WeightedKey& item) { return digit_of(item) != digit; });
    }
  }
  return cut;
}

std::int64_t share_of(std::int64_t total, int n_low, int n_parts) noexcept {
  return total / n_parts * n_low + total % n_parts * n_low / n_parts;
}

void check_points(mpi::Context& context, std::span<const double> points, std::span<const GlobalId> ids,
                  std::span<const std::int64_t> weights, int n_parts, bool needs_finite) {
  if (n_parts < 1) {
    throw AgreedError(
        ErrorCode::usage,
        {.subject = fmt::format("{} parts", n_parts), .cause = "must be at least 1", .remedy = "ask for 1 or more"});
  }
  agree_after(context, [&] {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto refuse = [&](const char* cause) {
        throw Error(ErrorCode::bad_input, {.subject = fmt::format("point {}", value(ids[i])), .cause = cause});
      };
      if (!weights.empty() && weights[i] < 0) refuse("has a negative weight");
      for (const double x : points.subspan(3 * i, 3)) {
        if (std::isnan(x)) refuse("has a coordinate that is not a number");
        if (needs_finite && std::isinf(x)) refuse("has an infinite coordinate, but a curve needs a finite box");
      }
    }
  });
}

}  // namespace barrio::partition::detail
