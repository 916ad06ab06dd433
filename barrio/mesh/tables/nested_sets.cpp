#include "barrio/mesh/nested_sets.hpp"

#include <algorithm>

namespace barrio::mesh {
namespace {

/// Depth-first walk over sets. A set that reaches no earlier one of the path closes a group: the sets met since that
/// have none.
class Walk {
 public:
  Walk(std::span<const SetInfo> sets, std::vector<std::int32_t>& group_of)
      : sets_(sets), group_of_(group_of), met_as_(sets.size(), -1), earliest_(sets.size(), -1) {}

  void from(std::int32_t start) {
    if (met_as_[at(start)] >= 0) return;
    meet(start);
    while (!path_.empty()) {
      auto& [set, next] = path_.back();
      const auto& contained = sets_[at(set)].contained;
      if (next < contained.size()) {
        step_to(set, contained[next++].set);
      } else {
        const std::int32_t done = set;
        path_.pop_back();
        if (!path_.empty()) see(path_.back().set, earliest_[at(done)]);
        if (earliest_[at(done)] == met_as_[at(done)]) close_group(done);
      }
    }
  }

 private:
  struct Step {
    std::int32_t set;
    std::size_t next;  // of what it contains
  };
  static std::size_t at(std::int32_t set) { return set; }

  void meet(std::int32_t set) {
    met_as_[at(set)] = earliest_[at(set)] = n_met_++;
    open_.push_back(set);
    path_.push_back({set, 0});
  }
  void see(std::int32_t set, std::int32_t met_as) { earliest_[at(set)] = std::min(earliest_[at(set)], met_as); }
  void step_to(std::int32_t set, std::int32_t inner) {
    if (met_as_[at(inner)] < 0) {
      meet(inner);
    } else if (group_of_[at(inner)] < 0) {
      see(set, met_as_[at(inner)]);
    }
  }
  void close_group(std::int32_t first) {
    std::int32_t set = -1;
    do {
      set = open_.back();
      open_.pop_back();
      group_of_[at(set)] = n_groups_;
    } while (set != first);
    n_groups_ += 1;
  }

  std::span<const SetInfo> sets_;
  std::vector<std::int32_t>& group_of_;
  std::vector<std::int32_t> met_as_;    // number of the set in the order of meeting, or -1
  std::vector<std::int32_t> earliest_;  // lowest such number that a set reaches
  std::vector<std::int32_t> open_;      // met, and in no group yet
  std::vector<Step> path_;
  std::int32_t n_met_ = 0;
  std::int32_t n_groups_ = 0;
};

}  // namespace

NestedSets::NestedSets(std::span<const SetInfo> sets) : group_of_(sets.size(), -1) {
  const auto n_sets = static_cast<std::int32_t>(sets.size());
  Walk walk(sets, group_of_);
  for (std::int32_t s = 0; s < n_sets; ++s) {
    walk.from(s);
    order_.push_back(s);
  }
  std::ranges::stable_sort(order_, {}, [&](std::int32_t set) { return group_of(set); });
  for (std::size_t i = 0; i < order_.size(); ++i)
    if (i == 0 || group_of(order_[i]) != group_of(order_[i - 1])) first_of_.push_back(i);
  first_of_.push_back(order_.size());
  for (std::int32_t s = 0; s < n_sets; ++s) {
    const bool has_others = group(group_of(s)).size() > 1;
    const auto& contained = sets[s].contained;
    if (has_others || std::ranges::find(contained, s, &SetInSet::set) != contained.end()) in_themselves_.push_back(s);
  }
}

}  // namespace barrio::mesh
