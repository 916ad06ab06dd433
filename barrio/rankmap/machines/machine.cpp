#include "barrio/rankmap/machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"

namespace barrio::rankmap {
namespace {

// Multiply counts, each >= 1, and check the product.
int checked_product(std::span<const int> counts, std::int64_t product = 1) {
  for (const int count : counts) {
    if (count < 1)
      refuse(ErrorCode::usage, "machine", fmt::format("has a count of {}", count), "use counts of 1 or more");
    product *= count;
    if (product > Machine::max_cores)
      refuse(ErrorCode::usage, "machine", fmt::format("has more than {} cores", Machine::max_cores),
             "describe a part of it");
  }
  return static_cast<int>(product);
}

void checked_sum(std::span<const int> counts) {
  std::int64_t sum = 0;
  for (const int count : counts) {
    if (count < 1)
      refuse(ErrorCode::usage, "machine", fmt::format("has a count of {}", count), "use counts of 1 or more");
    sum += count;
  }
  if (sum > Machine::max_cores)
    refuse(ErrorCode::usage, "machine", fmt::format("has more than {} cores", Machine::max_cores),
           "describe a part of it");
}

void check_distances(std::span<const double> distances) {
  for (const double distance : distances)
    if (!(distance >= 0.0 && distance <= 1e18))
      refuse(ErrorCode::usage, "machine", fmt::format("has a distance of {}", distance), "use finite distances >= 0");
}

// Turn arities into branches: branch b of a level holds the groups in it.
std::vector<std::vector<int>> even_levels(std::span<const int> arities, int n_groups) {
  std::vector<std::vector<int>> levels;
  int groups_per_branch = 1;
  for (std::size_t level = 1; level + 1 < arities.size(); ++level) {
    groups_per_branch *= arities[level];
    std::vector<int>& branch = levels.emplace_back(n_groups);
    for (int group = 0; group < n_groups; ++group) branch[group] = group / groups_per_branch;
  }
  return levels;
}

void check_level(const std::vector<int>& branch, const std::vector<int>& inside, std::size_t level) {
  for (std::size_t group = 0; group < branch.size(); ++group) {
    const int before = group == 0 ? 0 : branch[group - 1];
    const bool is_next = branch[group] == before || (group > 0 && branch[group] == before + 1);
    const bool splits = group > 0 && branch[group] != before && inside[group] == inside[group - 1];
    if (!is_next || splits)
      refuse(ErrorCode::usage, "machine",
             fmt::format("level {}: group {} is in branch {} after {}", level, group, branch[group], before),
             "number branches in the order of their groups, one inside another");
  }
}

std::vector<int> begins_of(const std::vector<int>& branch) {
  std::vector<int> begins;
  for (int group = 0; group < std::ssize(branch); ++group)
    if (group == 0 || branch[group] != branch[group - 1]) begins.push_back(group);
  begins.push_back(static_cast<int>(branch.size()));
  return begins;
}

}  // namespace

Machine::Machine(Kind kind, std::vector<double> distances, std::vector<int> group_sizes)
    : kind_(kind), distances_(std::move(distances)), group_begin_(group_sizes.size() + 1, 0) {
  check_distances(distances_);
  std::inclusive_scan(group_sizes.begin(), group_sizes.end(), group_begin_.begin() + 1);
  group_of_.resize(at(group_begin_.back()));
  for (int group = 0; group < n_groups(); ++group)
    std::fill(group_of_.begin() + group_begin(group), group_of_.begin() + group_end(group), group);
}

void Machine::set_nodes(std::vector<int> node_of_group) {
  node_of_group_ = std::move(node_of_group);
  node_begin_.clear();
  for (const int group : begins_of(node_of_group_)) node_begin_.push_back(group_begin_[at(group)]);
}

Machine Machine::uneven_tree(Branches branches) {
  const std::size_t n_groups = branches.group_sizes.size();
  if (n_groups == 0) refuse(ErrorCode::usage, "machine", "has no cores", "describe at least one node");
  checked_sum(branches.group_sizes);
  const std::size_t n_distances = branches.levels.size() + (n_groups == 1 && branches.levels.empty() ? 1 : 2);
  if (branches.distances.size() != n_distances && branches.distances.size() != branches.levels.size() + 2)
    refuse(ErrorCode::usage, "machine",
           fmt::format("has {} levels and {} distances", branches.levels.size() + 2, branches.distances.size()),
           "give one distance per level, from the inside out");
  std::vector<int> inside(n_groups);
  std::iota(inside.begin(), inside.end(), 0);
  const std::vector<int> groups = inside;
  for (std::size_t i = 0; i < branches.levels.size(); ++i) {
    if (branches.levels[i].size() != n_groups)
      refuse(ErrorCode::usage, "machine",
             fmt::format("level {} has {} groups, but must have {}", i + 1, branches.levels[i].size(), n_groups),
             "give the branch of each group");
    check_level(branches.levels[i], inside, i + 1);
    inside = branches.levels[i];
  }
  if (branches.n_node_levels < 1 || at(branches.n_node_levels) > branches.levels.size() + 1)
    refuse(ErrorCode::usage, "machine",
           fmt::format("{} of {} levels in a node", branches.n_node_levels, branches.levels.size() + 2),
           "leave at least one level outside the node");
  Machine machine(Kind::tree, std::move(branches.distances), std::move(branches.group_sizes));
  machine.n_node_levels_ = branches.n_node_levels;
  machine.n_coordinates_ = branches.levels.size();
  machine.coordinates_.resize(n_groups * machine.n_coordinates_);
  for (std::size_t i = 0; i < machine.n_coordinates_; ++i) {
    for (std::size_t group = 0; group < n_groups; ++group)
      machine.coordinates_[group * machine.n_coordinates_ + i] = branches.levels[i][group];
    machine.branch_begin_.push_back(begins_of(branches.levels[i]));
  }
  machine.set_nodes(branches.n_node_levels == 1 ? groups : branches.levels[at(branches.n_node_levels) - 2]);
  return machine;
}

Machine Machine::tree(std::span<const int> arities, std::span<const double> distances, int n_node_levels) {
  if (arities.empty() || arities.size() != distances.size())
    refuse(ErrorCode::usage, "machine", fmt::format("has {} levels and {} distances", arities.size(), distances.size()),
           "give one distance per level, from the inside out");
  const int n_levels = static_cast<int>(arities.size());
  if (n_node_levels < 1 || n_node_levels > std::max(1, n_levels - 1))
    refuse(ErrorCode::usage, "machine", fmt::format("{} of {} levels in a node", n_node_levels, n_levels),
           "leave at least one level outside the node");
  const int n_groups = checked_product(arities) / arities.front();
  Machine machine = uneven_tree({.group_sizes = std::vector<int>(at(n_groups), arities.front()),
                                 .levels = even_levels(arities, n_groups),
                                 .distances = {distances.begin(), distances.end()},
                                 .n_node_levels = n_node_levels});
  machine.shape_.assign(arities.begin(), arities.end());
  return machine;
}

Machine Machine::nodes(int n_nodes, int cores_per_node, double inside, double outside) {
  return tree(std::vector{cores_per_node, n_nodes}, std::vector{inside, outside});
}

Machine Machine::torus(std::span<const int> dimensions, int cores_per_node, double inside, double per_hop) {
  if (dimensions.empty()) refuse(ErrorCode::usage, "machine", "is a torus without dimensions", "give at least one");
  checked_product(std::vector{cores_per_node});
  checked_product(dimensions, cores_per_node);
  const int n_groups = checked_product(dimensions);
  Machine machine(Kind::torus, {inside, per_hop}, std::vector<int>(at(n_groups), cores_per_node));
  machine.shape_.assign(dimensions.begin(), dimensions.end());
  machine.n_coordinates_ = dimensions.size();
  std::vector<int> nodes;
  for (int group = 0; group < n_groups; ++group) {
    nodes.push_back(group);
    int rest = group;
    for (const int side : dimensions) {
      machine.coordinates_.push_back(rest % side);
      rest /= side;
    }
  }
  machine.set_nodes(std::move(nodes));
  return machine;
}

Machine Machine::dense(int n_cores, std::vector<double> distances, int cores_per_node) {
  if (n_cores < 1)
    refuse(ErrorCode::usage, "machine", fmt::format("has {} cores", n_cores), "describe at least one core");
  const std::size_t n = n_cores;
  if (distances.size() != n * n)
    refuse(ErrorCode::usage, "machine", fmt::format("{} distances for {} cores", distances.size(), n_cores),
           "give cores x cores");
  if (cores_per_node < 1 || n_cores % cores_per_node != 0)
    refuse(ErrorCode::usage, "machine", fmt::format("{} cores in nodes of {}", n_cores, cores_per_node),
           "give a divisor of the number of cores");
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!(distances[i * n + j] == distances[j * n + i]))
        refuse(ErrorCode::usage, "machine", fmt::format("distance {} to {} differs from {} to {}", i, j, j, i),
               "give a symmetric matrix");
  Machine machine(Kind::dense, std::move(distances), std::vector<int>(n, 1));
  std::vector<int> nodes(n);
  for (int core = 0; core < n_cores; ++core) nodes[at(core)] = core / cores_per_node;
  machine.set_nodes(std::move(nodes));
  return machine;
}

Machine Machine::of_groups() const {
  Machine machine(kind_, distances_, std::vector<int>(at(n_groups()), 1));
  machine.shape_ = shape_;
  if (kind_ == Kind::tree && !shape_.empty()) machine.shape_.front() = 1;
  machine.n_node_levels_ = n_node_levels_;
  machine.n_coordinates_ = n_coordinates_;
  machine.coordinates_ = coordinates_;
  machine.branch_begin_ = branch_begin_;
  machine.set_nodes(node_of_group_);
  return machine;
}

double Machine::total_distance(int group) const {
  if (kind_ == Kind::torus) return 0.0;
  double sum = 0.0;
  if (kind_ == Kind::dense) {
    for (int other = 0; other < n_groups(); ++other)
      if (other != group) sum += group_distance(group, other);
    return sum;
  }
  int within = 1;  // the core itself
  const auto add = [&](int n_now, double distance) {
    sum += distance * (n_now - within);
    within = n_now;
  };
  add(group_size(group), distances_.front());
  for (std::size_t i = 0; i < n_coordinates_; ++i) {
    const auto branch = at(coordinates(group)[i]);
    add(group_begin_[at(branch_begin_[i][branch + 1])] - group_begin_[at(branch_begin_[i][branch])], distances_[i + 1]);
  }
  add(n_cores(), distances_.back());
  return sum;
}

int Machine::max_cores_per_node() const noexcept {
  int most = 0;
  for (int node = 0; node < n_nodes(); ++node) most = std::max(most, cores_of_node(node));
  return most;
}

std::array<Machine::Slice, 2> Machine::told_apart_by(int group_a, int group_b) const noexcept {
  if (kind_ != Kind::tree) return {Slice{0, n_groups()}, Slice{}};
  const int* const a = coordinates(group_a);
  const int* const b = coordinates(group_b);
  std::size_t common = 0;
  while (common < n_coordinates_ && a[common] != b[common]) ++common;
  if (common == 0) return {Slice{group_a, group_a + 1}, Slice{group_b, group_b + 1}};
  const std::vector<int>& begins = branch_begin_[common - 1];
  const auto slice = [&](const int* of) { return Slice{begins[at(of[common - 1])], begins[at(of[common - 1]) + 1]}; };
  return {slice(a), slice(b)};
}

std::pair<std::vector<int>, std::vector<int>> Machine::halve(std::span<const int> groups) const {
  if (kind_ == Kind::tree) return halve_by_branch(groups);
  return kind_ == Kind::torus ? halve_by_side(groups) : halve_by_distance(groups);
}

// Send half of the branches to each side, at the outermost level at which these groups differ.
std::pair<std::vector<int>, std::vector<int>> Machine::halve_by_branch(std::span<const int> groups) const {
  std::size_t level = n_coordinates_;
  while (level > 0 && coordinates(groups.front())[level - 1] == coordinates(groups.back())[level - 1]) --level;
  const auto branch_of = [&](int group) { return level == 0 ? group : coordinates(group)[level - 1]; };
  int n_branches = 1;
  for (std::size_t i = 1; i < groups.size(); ++i)
    n_branches += branch_of(groups[i]) != branch_of(groups[i - 1]) ? 1 : 0;
  std::size_t cut = 1;
  for (int passed = 0; cut < groups.size(); ++cut) {
    passed += branch_of(groups[cut]) != branch_of(groups[cut - 1]) ? 1 : 0;
    if (passed == n_branches / 2) break;
  }
  return {{groups.begin(), groups.begin() + cut}, {groups.begin() + cut, groups.end()}};
}

std::pair<std::vector<int>, std::vector<int>> Machine::halve_by_side(std::span<const int> groups) const {
  std::size_t longest = 0;
  int most = -1, middle = 0;
  for (std::size_t i = 0; i < n_coordinates_; ++i) {
    int low = shape_[i], high = 0;
    for (const int group : groups) {
      low = std::min(low, coordinates(group)[i]);
      high = std::max(high, coordinates(group)[i]);
    }
    if (high - low <= most) continue;
    longest = i;
    most = high - low;
    middle = low + (most + 1) / 2;
  }
  std::pair<std::vector<int>, std::vector<int>> halves;
  for (const int group : groups) (coordinates(group)[longest] < middle ? halves.first : halves.second).push_back(group);
  return halves;
}

// Split by the nearer of two groups that are far from each other.
std::pair<std::vector<int>, std::vector<int>> Machine::halve_by_distance(std::span<const int> groups) const {
  const auto farthest = [&](int from) {
    return *std::ranges::max_element(groups, {},
                                     [&](int group) { return group == from ? -1.0 : group_distance(from, group); });
  };
  const int one = farthest(groups.front()), other = farthest(one);
  std::vector<int> order(groups.begin(), groups.end());
  std::ranges::stable_sort(order, {}, [&](int group) {
    return (group == one ? 0.0 : group_distance(one, group)) - (group == other ? 0.0 : group_distance(other, group));
  });
  const auto middle = order.begin() + (order.size() / 2);
  std::sort(order.begin(), middle);
  std::sort(middle, order.end());
  return {{order.begin(), middle}, {middle, order.end()}};
}

std::vector<Machine::Ring> Machine::rings() const {
  if (kind_ == Kind::dense) return rings_of_matrix();
  if (kind_ == Kind::tree) return rings_of_tree();
  // A torus looks the same from every node.
  std::map<double, std::int64_t> counts;
  counts[distances_.front()] += group_size(0) - 1;
  for (int group = 1; group < n_groups(); ++group) counts[group_distance(0, group)] += group_size(group);
  std::vector<Ring> found;
  for (const auto& [distance, count] : counts)
    if (count > 0) found.push_back({distance, count});
  return found;
}

// Return for every k the smallest distance of any core to its k-th nearest core.
std::vector<Machine::Ring> Machine::rings_of_matrix() const {
  const auto n = at(n_cores());
  std::vector<double> best(n - 1, std::numeric_limits<double>::infinity()), row;
  for (int core = 0; core < n_cores(); ++core) {
    row.clear();
    for (int other = 0; other < n_cores(); ++other)
      if (other != core) row.push_back(distance(core, other));
    std::ranges::sort(row);
    for (std::size_t k = 0; k + 1 < n; ++k) best[k] = std::min(best[k], row[k]);
  }
  std::vector<Ring> found;
  for (const double distance : best) found.push_back({distance, 1});
  return found;
}

// Count for each distance the largest number of cores within it, over all cores.
std::vector<Machine::Ring> Machine::rings_of_tree() const {
  std::vector<double> sorted = distances_;
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<std::int64_t> most(sorted.size(), 0), seen(sorted.size());
  for (int group = 0; group < n_groups(); ++group) {
    std::ranges::fill(seen, 0);
    std::int64_t within = 1;  // the core itself
    const auto add = [&](std::int64_t n_now, std::size_t level) {
      const auto place = std::ranges::lower_bound(sorted, distances_[level]) - sorted.begin();
      seen[place] += n_now - within;
      within = n_now;
    };
    add(group_size(group), 0);
    for (std::size_t i = 0; i < n_coordinates_; ++i) {
      const auto branch = at(coordinates(group)[i]);
      add(group_begin_[at(branch_begin_[i][branch + 1])] - group_begin_[at(branch_begin_[i][branch])], i + 1);
    }
    if (within < n_cores()) add(n_cores(), distances_.size() - 1);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) most[i] = std::max(most[i], sum += seen[i]);
  }
  std::vector<Ring> found;
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (const std::int64_t count = most[i] - (i == 0 ? 0 : most[i - 1]); count > 0) found.push_back({sorted[i], count});
  return found;
}

std::string Machine::text() const {
  if (kind_ == Kind::dense) return fmt::format("dense:{}", n_cores());
  if (kind_ == Kind::torus)
    return fmt::format("torus:{};{};{}", fmt::join(shape_, "x"), group_size(0), fmt::join(distances_, ":"));
  if (shape_.empty()) {
    if (!text_.empty()) return text_;
    if (n_coordinates_ > 0)
      return fmt::format("{} nodes of {} cores in all;{}", n_nodes(), n_cores(), fmt::join(distances_, ":"));
    std::vector<int> sizes;
    for (int group = 0; group < n_groups(); ++group) sizes.push_back(group_size(group));
    return fmt::format("{};{}", fmt::join(sizes, ","), fmt::join(distances_, ":"));
  }
  std::string levels;
  for (std::size_t level = 0; level < shape_.size(); ++level) {
    const bool leaves_node = n_node_levels_ > 1 && level == at(n_node_levels_);
    levels += fmt::format("{}{}", level == 0 ? "" : leaves_node ? "/" : ":", shape_[level]);
  }
  return fmt::format("{};{}", levels, fmt::join(distances_, ":"));
}

std::string Machine::node_name(int node) const { return names_.empty() ? fmt::format("node{}", node) : names_[node]; }

std::vector<int> Machine::fill_order() const {
  if (!fill_order_.empty()) return fill_order_;
  std::vector<int> nodes(at(n_nodes()));
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

void Machine::set_fill_order(std::vector<int> nodes) {
  std::vector<int> sorted = nodes;
  std::ranges::sort(sorted);
  fill_order_.clear();
  if (sorted != fill_order())
    refuse(ErrorCode::usage, "order of nodes", fmt::format("must have {} nodes, each once", n_nodes()),
           "name each node once");
  fill_order_ = std::move(nodes);
}

void Machine::set_node_names(std::vector<std::string> names) {
  if (std::ssize(names) != n_nodes())
    refuse(ErrorCode::usage, "node names", fmt::format("are {}, but the machine has {} nodes", names.size(), n_nodes()),
           "give one name per node, in the order in which the launcher fills them");
  std::set<std::string_view> seen;
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
  for (const std::string& name : names) {
    if (name.empty() || name.find_first_not_of(allowed) != std::string::npos || name.front() == '-')
      refuse(ErrorCode::usage, fmt::format("node name '{}'", name), "is not a host name",
             "use letters, digits, '.', '-' and '_'");
    if (!seen.insert(name).second)
      refuse(ErrorCode::usage, fmt::format("node name '{}'", name), "is given twice", "give each node once");
  }
  names_ = std::move(names);
}

std::uint64_t Machine::memory_bytes() const noexcept {
  return barrio::memory_bytes(distances_) + barrio::memory_bytes(group_of_) + barrio::memory_bytes(coordinates_) +
         barrio::memory_bytes(group_begin_) + barrio::memory_bytes(node_of_group_) + barrio::memory_bytes(node_begin_);
}

}  // namespace barrio::rankmap
