#include "barrio/exchange/shared_ids.hpp"

#include <algorithm>

#include "barrio/base/memory.hpp"
#include "barrio/base/sort_unique.hpp"

namespace barrio::exchange {

std::uint64_t SharedIds::memory_bytes() const noexcept {
  return barrio::memory_bytes(offsets) + barrio::memory_bytes(sharers) + barrio::memory_bytes(neighbours);
}

SharedIds find_shared_ids(mpi::Context& context, std::span<const GlobalId> ids) {
  const auto copies = detail::find_copies<GlobalId>(context, ids);
  const auto ranks = copies.column<1>();
  const auto positions = copies.column<2>();
  const auto ranges = detail::match_copies<GlobalId>(ids, copies.column<3>());
  SharedIds shared;
  shared.offsets = detail::spread_copies(ranges, ranks, positions, context.rank(), [&](std::size_t copy) {
    shared.sharers.push_back({ranks[copy], positions[copy]});
  });
  shared.neighbours = detail::other_ranks(ranks, context.rank());
  return shared;
}

namespace detail {

std::vector<Rank> other_ranks(std::span<const Rank> ranks, Rank own) {
  std::vector<Rank> others;
  for (const Rank rank : ranks)
    if (rank != own && (others.empty() || rank != others.back())) others.push_back(rank);
  sort_unique(others);
  return others;
}

}  // namespace detail

}  // namespace barrio::exchange
