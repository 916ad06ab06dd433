#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "barrio/exchange/byte_values.hpp"
#include "barrio/exchange/message.hpp"
#include "barrio/mesh/rank_sets.hpp"

namespace barrio::mesh::detail {

using exchange::ByteValues;
using exchange::ByteValuesView;
using exchange::MessageReader;
using exchange::MessageWriter;

/// Write sets of ranks; they keep their numbers.
inline void put(MessageWriter& out, const RankSets& sets) {
  std::vector<std::int32_t> sizes;
  std::vector<Rank> ranks;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const auto of_set = sets[s];
    sizes.push_back(static_cast<std::int32_t>(of_set.size()));
    ranks.insert(ranks.end(), of_set.begin(), of_set.end());
  }
  out.put(sizes);
  out.put(ranks);
}

inline RankSets take_rank_sets(MessageReader& in) {
  RankSets sets;
  const auto sizes = in.get<std::int32_t>();
  const auto ranks = in.get<Rank>();
  std::size_t first = 0;
  for (const std::int32_t size : sizes) {
    sets.add(ranks.subspan(first, size));
    first += size;
  }
  return sets;
}

}  // namespace barrio::mesh::detail
