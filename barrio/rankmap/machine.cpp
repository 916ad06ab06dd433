#include "barrio/rankmap/machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"

namespace barrio::rankmap {
namespace {

[[noreturn]] void refuse_machine(std::string subject, std::string cause, std::string remedy = {}) {
  throw Error(ErrorCode::usage,
              {.subject = std::move(subject), .cause = std::move(cause), .remedy = std::move(remedy)});
}

// The product of counts, each >= 1.
int checked_product(std::span<const int> counts, std::int64_t product = 1) {
  for (const int count : counts) {
    if (count < 1) refuse_machine("machine", fmt::format("has a count of {}", count), "use counts of 1 or more");
    product *= count;
    if (product > Machine::max_cores)
      refuse_machine("machine", fmt::format("has more than {} cores", Machine::max_cores), "describe a part of it");
  }
  return static_cast<int>(product);
}

void check_distances(std::span<const double> distances) {
  for (const double distance : distances)
    if (!(distance >= 0.0 && distance <= 1e18))
      refuse_machine("machine", fmt::format("has a distance of {}", distance), "use finite distances >= 0");
}

std::vector<int> to_vector(std::span<const int> items) { return {items.begin(), items.end()}; }

}  // namespace

Machine::Machine(Kind kind, std::vector<int> shape, std::vector<double> distances, int group_size, int cores_per_node)
    : kind_(kind),
      shape_(std::move(shape)),
      distances_(std::move(distances)),
      cores_per_node_(cores_per_node),
      group_size_(group_size) {
  n_cores_ = checked_product(shape_, kind_ == Kind::torus ? cores_per_node : 1);
  check_distances(distances_);
  if (kind_ != Kind::dense) inside_ = distances_.front();
  group_of_.resize(static_cast<std::size_t>(n_cores_));
  for (int core = 0; core < n_cores_; ++core) group_of_[static_cast<std::size_t>(core)] = core / group_size_;
  place_groups();
}

void Machine::place_groups() {
  if (kind_ == Kind::dense) return;
  // Tree: the subtree of each level but the lowest (the group itself) and the highest (everything).
  n_coordinates_ = kind_ == Kind::torus ? shape_.size() : std::max<std::size_t>(shape_.size(), 2) - 2;
  coordinates_.reserve(static_cast<std::size_t>(n_groups()) * n_coordinates_);
  for (int group = 0; group < n_groups(); ++group) {
    int rest = group;
    for (std::size_t i = 0; i < n_coordinates_; ++i) {
      const int count = kind_ == Kind::torus ? shape_[i] : shape_[i + 1];
      coordinates_.push_back(kind_ == Kind::torus ? rest % count : rest / count);
      rest /= count;
    }
  }
}

Machine Machine::tree(std::span<const int> arities, std::span<const double> distances, int n_node_levels) {
  if (arities.empty() || arities.size() != distances.size())
    refuse_machine("machine", fmt::format("has {} levels and {} distances", arities.size(), distances.size()),
                   "give one distance per level, from the inside out");
  const int n_levels = static_cast<int>(arities.size());
  if (n_node_levels < 1 || n_node_levels > std::max(1, n_levels - 1))
    refuse_machine("machine", fmt::format("{} of {} levels in a node", n_node_levels, n_levels),
                   "leave at least one level outside the node");
  const int cores_per_node = checked_product(arities.first(static_cast<std::size_t>(n_node_levels)));
  Machine machine(Kind::tree, to_vector(arities), {distances.begin(), distances.end()}, arities.front(),
                  cores_per_node);
  machine.n_node_levels_ = n_node_levels;
  return machine;
}

Machine Machine::nodes(int n_nodes, int cores_per_node, double inside, double outside) {
  return tree(std::vector{cores_per_node, n_nodes}, std::vector{inside, outside});
}

Machine Machine::torus(std::span<const int> dimensions, int cores_per_node, double inside, double per_hop) {
  if (dimensions.empty()) refuse_machine("machine", "is a torus without dimensions", "give at least one");
  checked_product(std::vector{cores_per_node});
  return {Kind::torus, to_vector(dimensions), {inside, per_hop}, cores_per_node, cores_per_node};
}

Machine Machine::dense(int n_cores, std::vector<double> distances) {
  const auto n = static_cast<std::size_t>(std::max(n_cores, 0));
  if (distances.size() != n * n)
    refuse_machine("machine", fmt::format("{} distances for {} cores", distances.size(), n_cores),
                   "give cores x cores");
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!(distances[i * n + j] == distances[j * n + i]))
        refuse_machine("machine", fmt::format("distance {} to {} differs from {} to {}", i, j, j, i),
                       "give a symmetric matrix");
  return {Kind::dense, {n_cores}, std::move(distances), 1, 1};
}

std::vector<Machine::Ring> Machine::rings() const {
  std::vector<Ring> found;
  if (kind_ == Kind::dense) {
    // The k-th nearest core of any core, at its nearest.
    const auto n = static_cast<std::size_t>(n_cores_);
    std::vector<double> best(n - 1, std::numeric_limits<double>::infinity()), row;
    for (int core = 0; core < n_cores_; ++core) {
      row.clear();
      for (int other = 0; other < n_cores_; ++other)
        if (other != core) row.push_back(distance(core, other));
      std::ranges::sort(row);
      for (std::size_t k = 0; k + 1 < n; ++k) best[k] = std::min(best[k], row[k]);
    }
    for (const double distance : best) found.push_back({distance, 1});
    return found;
  }
  // Trees and tori look alike from everywhere.
  std::map<double, std::int64_t> counts;
  counts[inside_] += group_size_ - 1;
  if (kind_ == Kind::tree) {
    std::int64_t within = group_size_;
    for (std::size_t level = 1; level < shape_.size(); ++level) {
      counts[distances_[level]] += within * (shape_[level] - 1);
      within *= shape_[level];
    }
  } else {
    for (int group = 1; group < n_groups(); ++group) counts[group_distance(0, group)] += group_size_;
  }
  for (const auto& [distance, count] : counts)
    if (count > 0) found.push_back({distance, count});
  return found;
}

std::string Machine::text() const {
  if (kind_ == Kind::dense) return fmt::format("dense:{}", n_cores_);
  if (kind_ == Kind::torus)
    return fmt::format("torus:{};{};{}", fmt::join(shape_, "x"), cores_per_node_, fmt::join(distances_, ":"));
  std::string levels;
  for (std::size_t level = 0; level < shape_.size(); ++level) {
    const bool leaves_node = n_node_levels_ > 1 && level == static_cast<std::size_t>(n_node_levels_);
    levels += fmt::format("{}{}", level == 0 ? "" : leaves_node ? "/" : ":", shape_[level]);
  }
  return fmt::format("{};{}", levels, fmt::join(distances_, ":"));
}

std::string Machine::node_name(int node) const {
  return names_.empty() ? fmt::format("node{}", node) : names_[static_cast<std::size_t>(node)];
}

void Machine::set_node_names(std::vector<std::string> names) {
  if (names.size() != static_cast<std::size_t>(n_nodes()))
    refuse_machine("node names", fmt::format("are {}, and the machine has {} nodes", names.size(), n_nodes()),
                   "give one name per node, in the order in which the launcher fills them");
  std::set<std::string_view> seen;
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
  for (const std::string& name : names) {
    if (name.empty() || name.find_first_not_of(allowed) != std::string::npos || name.front() == '-')
      refuse_machine(fmt::format("node name '{}'", name), "is no host name", "use letters, digits, '.', '-' and '_'");
    if (!seen.insert(name).second)
      refuse_machine(fmt::format("node name '{}'", name), "is given twice", "give each node once");
  }
  names_ = std::move(names);
}

std::uint64_t Machine::memory_bytes() const noexcept {
  return barrio::memory_bytes(distances_) + barrio::memory_bytes(group_of_) + barrio::memory_bytes(coordinates_);
}

}  // namespace barrio::rankmap
