#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "barrio/amr/hierarchy.hpp"

namespace barrio::amr::detail {

/// Visit each block of a level that has cells of a box, moved into the domain; those beyond the domain are left out.
/// @param visit  returns whether to go on @return whether all were visited
template <std::size_t D, class Visit>
bool visit_blocks(const BlockSpace<D>& space, int level, const geometry::IndexBox<D>& cells, Visit&& visit) {
  const geometry::IndexBox<D> blocks = space.blocks_of(cells);
  for (std::int64_t i = 0; i < blocks.size(); ++i) {
    auto at = blocks.at(i);
    if (space.wrap(level, at) && !visit(at)) return false;
  }
  return true;
}

/// Collects blocks, each once, with the coarser blocks that they need around them.
template <std::size_t D>
class Support {
 public:
  Support(const Hierarchy<D>& hierarchy, int base)
      : hierarchy_(hierarchy), base_(base), judged_(hierarchy.n_levels()) {}

  /// Add a block. @return whether the base level has all that it needs; if not, nothing is collected
  bool add(int level, const typename geometry::IndexBox<D>::Index& at) {
    const BlockSpace<D>& space = hierarchy_.space();
    if (level == base_) return hierarchy_.find(level, at).has_value();
    const std::uint64_t key = space.place(level, at).key;
    if (const auto known = judged_[level].find(key); known != judged_[level].end()) return known->second;
    const std::size_t n_before = collected_.size();
    const bool has_all = visit_blocks(space, level - 1, space.footprint(at).grown(hierarchy_.options().nesting),
                                      [&](const auto& coarse) { return add(level - 1, coarse); });
    judged_[level].emplace(key, has_all);
    // Withdraw what was collected for it before the missing block was found: nothing else may want that.
    if (!has_all) withdraw(n_before);
    if (has_all) collected_.push_back({at, level});
    return has_all;
  }
  [[nodiscard]] std::vector<BlockId<D>> take() && { return std::move(collected_); }

 private:
  void withdraw(std::size_t n) {
    for (std::size_t i = n; i < collected_.size(); ++i)
      judged_[collected_[i].level].erase(hierarchy_.space().place(collected_[i].level, collected_[i].at).key);
    collected_.resize(n);
  }
  const Hierarchy<D>& hierarchy_;
  int base_;
  std::vector<std::unordered_map<std::uint64_t, bool>> judged_;  // by level
  std::vector<BlockId<D>> collected_;
};

}  // namespace barrio::amr::detail
