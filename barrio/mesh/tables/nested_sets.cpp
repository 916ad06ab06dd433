#include "barrio/mesh/nested_sets.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"

namespace barrio::mesh {
namespace {

/// Depth-first search for groups of sets that contain each other (Tarjan's strongly connected components). A set that
/// reaches no earlier set of the path closes a group: the sets found since then that have no group.
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
    std::size_t next;  // place in its list of contained sets
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
  std::vector<std::int32_t> met_as_;    // number of the set in the order of discovery, or -1
  std::vector<std::int32_t> earliest_;  // lowest such number that a set reaches
  std::vector<std::int32_t> open_;      // found, but in no group yet
  std::vector<Step> path_;
  std::int32_t n_met_ = 0;
  std::int32_t n_groups_ = 0;
};

/// Format the alternative name of a set: its kind and id.
std::string by_id(SetKind kind, std::int32_t id) { return fmt::format("{} {}", name(kind), id); }

bool is_called(const SetInfo& info, const std::string& wanted) {
  const auto has_role = [&](const SetRole& role) { return by_id(role.kind, role.id) == wanted; };
  return info.name == wanted || by_id(info.kind, info.id) == wanted || std::ranges::any_of(info.more_roles, has_role);
}

}  // namespace

NestedSets::NestedSets(std::span<const SetInfo> sets) : group_of_(sets.size(), -1) {
  Walk walk(sets, group_of_);
  for (std::int32_t s = 0; s < std::ssize(sets); ++s) {
    walk.from(s);
    order_.push_back(s);
  }
  std::ranges::stable_sort(order_, {}, [&](std::int32_t set) { return group_of(set); });
  for (std::size_t i = 0; i < order_.size(); ++i)
    if (i == 0 || group_of(order_[i]) != group_of(order_[i - 1])) first_of_.push_back(i);
  first_of_.push_back(order_.size());
  for (std::int32_t s = 0; s < std::ssize(sets); ++s) {
    const bool has_others = group(group_of(s)).size() > 1;
    const auto& contained = sets[s].contained;
    if (has_others || std::ranges::find(contained, s, &SetInSet::set) != contained.end()) in_themselves_.push_back(s);
  }
}

std::vector<bool> named_sets(const std::vector<std::string>& names, std::span<const SetInfo> infos,
                             const std::string& purpose) {
  std::vector<std::int32_t> open;
  for (const std::string& one : names) {
    const std::size_t n_before = open.size();
    for (std::int32_t s = 0; s < std::ssize(infos); ++s)
      if (is_called(infos[s], one)) open.push_back(s);
    if (open.size() > n_before) continue;
    std::vector<std::string> known;
    for (const SetInfo& info : infos) known.push_back(info.name.empty() ? by_id(info.kind, info.id) : info.name);
    throw AgreedError(ErrorCode::usage, {.subject = fmt::format("{} the set '{}'", purpose, one),
                                         .cause = "there is no such set." + did_you_mean(one, known),
                                         .remedy = "barrio info lists the sets of a file"});
  }
  std::vector<bool> is_wanted(infos.size(), false);
  while (!open.empty()) {
    const std::size_t set = open.back();
    open.pop_back();
    if (is_wanted[set]) continue;
    is_wanted[set] = true;
    for (const SetInSet& inner : infos[set].contained) open.push_back(inner.set);
  }
  return is_wanted;
}

}  // namespace barrio::mesh
