#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::mesh::detail {

/// Tells that an id and another one are the same, as seen from the id.
struct IdLink {
  std::int64_t id;
  std::int64_t other;
  auto operator<=>(const IdLink&) const = default;
};

/// The lowest id of the class of an id.
struct LowestId {
  std::int64_t id;
  std::int64_t lowest;
};

/// Find the lowest id of each class of ids that links connect, directly or through others. Collective.
/// @param[in] links    at the home of their id, sorted; the reverse of each one is at the home of the other id
/// @param[in] home_of  rank that has the links of an id
/// @return for each id with links on this rank, ascending
/// Cost: memory O(links). Each round takes three routes of at most one small item per link. The lowest ids spread along
/// links and, at the same time, the way to them is halved, so rounds grow like the logarithm of the longest chain.
/// Source: Zhang, Azad and Hu 2020, FastSV.
std::vector<LowestId> lowest_ids(mpi::Context& context, std::span<const IdLink> links,
                                 const std::function<Rank(std::int64_t)>& home_of);

}  // namespace barrio::mesh::detail
