#include "barrio/mesh/rank_sets.hpp"

#include <algorithm>

#include "barrio/base/hash.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/base/sort_unique.hpp"

namespace barrio::mesh {
namespace {

std::size_t hash_of(std::span<const Rank> ranks) {
  Hash64 hash;
  for (const Rank rank : ranks) hash.add(std::int64_t{rank});
  return hash.value();
}

}  // namespace

void RankSets::grow() {
  table_.assign(std::max<std::size_t>(16, 2 * table_.size()), -1);
  for (std::int32_t set = 0; set < std::ssize(ranks_); ++set) {
    std::size_t slot = hash_of(ranks_[set]) & (table_.size() - 1);
    while (table_[slot] >= 0) slot = (slot + 1) & (table_.size() - 1);
    table_[slot] = set;
  }
}

std::int32_t RankSets::add(std::span<const Rank> ranks) {
  if (2 * size() >= table_.size()) grow();
  std::size_t slot = hash_of(ranks) & (table_.size() - 1);
  for (; table_[slot] >= 0; slot = (slot + 1) & (table_.size() - 1))
    if (std::ranges::equal((*this)[table_[slot]], ranks)) return table_[slot];
  table_[slot] = static_cast<std::int32_t>(size());
  ranks_.add(ranks);
  return table_[slot];
}

std::vector<Rank> RankSets::all_but(Rank one) const {
  std::vector<Rank> all = ranks_.items();
  sort_unique(all);
  std::erase(all, one);
  return all;
}

std::uint64_t RankSets::memory_bytes() const noexcept { return ranks_.memory_bytes() + barrio::memory_bytes(table_); }

}  // namespace barrio::mesh
