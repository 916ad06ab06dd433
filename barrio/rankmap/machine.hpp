#pragma once

/// @file Machine: nodes, cores and the distances between them, as tree, torus or matrix.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace barrio::rankmap {

/// A machine: the distance between any two cores, without a matrix of cores x cores (except `dense`). Cores are
/// numbered node by node, as launchers fill them; nodes are numbered along the tree or the torus, the first dimension
/// fastest. Memory: O(cores).
/// Cores come in groups of interchangeable cores: equally far from every other core.
class Machine {
 public:
  static constexpr int max_cores = 1 << 26;  ///< of a machine; more are refused

  /// Build a tree: arities from the inside out ({8, 16, 4} = 8 cores per node, 16 nodes per switch, 4 switches) and one
  /// distance per level. @param[in] n_node_levels  number of inner levels in one node (sockets): less than the number
  /// of levels, or 1
  /// @throws Error{usage} for empty or unequal lists, values < 1, negative distances, too many cores
  static Machine tree(std::span<const int> arities, std::span<const double> distances, int n_node_levels = 1);
  /// Build n_nodes equal nodes: the distance matrix of the paper, with its values 1 and 10.
  static Machine nodes(int n_nodes, int cores_per_node, double inside = 1.0, double outside = 10.0);

  /// A tree with branches that may differ: nodes of several sizes, switches with several numbers of nodes.
  struct Branches {
    /// Cores per group, group after group; each >= 1.
    std::vector<int> group_sizes;
    /// For each level between the groups and the whole, from the inside out: the branch number of each group. Numbers
    /// start at 0, never fall, have no gaps, and each branch is inside one branch of the next level.
    std::vector<std::vector<int>> levels;
    /// Distance in a group, in a branch of each level, and between all others: two more than levels, or one more if
    /// there is only one group.
    std::vector<double> distances;
    /// Number of inner levels (the groups included) in one node.
    int n_node_levels = 1;
  };
  /// Build a tree from branches. @throws Error{usage} if they violate the rules of `Branches`
  static Machine uneven_tree(Branches branches);

  /// Build a torus of nodes: `inside` in a node, `per_hop` times the hops between nodes.
  static Machine torus(std::span<const int> dimensions, int cores_per_node, double inside, double per_hop);
  /// Build from a full symmetric matrix, row by row, with `cores_per_node` cores in each node.
  static Machine dense(int n_cores, std::vector<double> distances, int cores_per_node = 1);
  /// Parse the text form: "8:16:4;1:10:20" (tree), "8:2/4:4;1:2:10:20" (the levels before '/' are in one node),
  /// "8,8,4,8;1:10" (four nodes of different sizes), "2x4" (2 nodes of 4 cores, distances 1 and 10),
  /// "torus:4x4x2;8;1:10" (nodes; cores per node; inside:per hop).
  /// @throws Error{usage} quoting the text, with these forms as remedy
  static Machine parse(std::string_view text);

  /// Tell whether this is a matrix, without known structure.
  [[nodiscard]] bool is_dense() const noexcept { return kind_ == Kind::dense; }
  /// Return the number of cores of all nodes.
  [[nodiscard]] int n_cores() const noexcept { return static_cast<int>(group_of_.size()); }
  /// Return the number of nodes, each with at least one core.
  [[nodiscard]] int n_nodes() const noexcept { return static_cast<int>(node_begin_.size()) - 1; }
  /// Return the node to which a core belongs.
  [[nodiscard]] int node_of(int core) const noexcept { return node_of_group_[at(group_of(core))]; }
  /// Return the first core of a node; its cores are numbered consecutively.
  [[nodiscard]] int first_core(int node) const noexcept { return node_begin_[at(node)]; }
  /// Return the number of cores of a node.
  [[nodiscard]] int cores_of_node(int node) const noexcept { return node_begin_[at(node) + 1] - node_begin_[at(node)]; }
  /// Return the index of a core in its node, from 0.
  [[nodiscard]] int slot_of(int core) const noexcept { return core - first_core(node_of(core)); }
  /// Return the largest number of cores in a node.
  [[nodiscard]] int max_cores_per_node() const noexcept;

  /// Return the distance between two cores; 0 for a core and itself. Cost: O(levels) or O(dimensions).
  [[nodiscard]] double distance(int core_a, int core_b) const noexcept {
    return core_a == core_b ? 0.0 : group_distance(group_of(core_a), group_of(core_b));
  }

  /// Return the group of interchangeable cores to which a core belongs.
  [[nodiscard]] int group_of(int core) const noexcept { return group_of_[at(core)]; }
  /// Return the number of groups of interchangeable cores; for a matrix that of cores.
  [[nodiscard]] int n_groups() const noexcept { return static_cast<int>(group_begin_.size()) - 1; }
  /// Return the first core of a group; its cores are `group_begin` to before `group_end`.
  [[nodiscard]] int group_begin(int group) const noexcept { return group_begin_[at(group)]; }
  /// Return one past the last core of a group.
  [[nodiscard]] int group_end(int group) const noexcept { return group_begin_[at(group) + 1]; }
  /// Return the number of cores of a group.
  [[nodiscard]] int group_size(int group) const noexcept { return group_end(group) - group_begin(group); }
  /// Return the distance between cores of two groups, or between two cores of one group if both are the same.
  [[nodiscard]] double group_distance(int group_a, int group_b) const noexcept;

  /// Return the sum of distances from a core of a group to all other cores. A torus has the same sum for all groups and
  /// returns 0. Cost: O(levels); for a dense machine O(cores)
  [[nodiscard]] double total_distance(int group) const;

  /// Tell whether all groups are equally far from each other.
  [[nodiscard]] bool has_equal_groups() const noexcept { return kind_ == Kind::tree && n_coordinates_ == 0; }

  /// A run of groups.
  struct Slice {
    int begin = 0;
    int end = 0;
  };
  /// Find the groups that are not equally far from these two: outside of both slices the distances to a and b are the
  /// same.
  [[nodiscard]] std::array<Slice, 2> told_apart_by(int group_a, int group_b) const noexcept;
  /// Cut a set of groups into two compact halves: half of a tree's branches, half of a torus' longest side. @pre
  /// ascending, at least two @return both halves, ascending, neither empty
  [[nodiscard]] std::pair<std::vector<int>, std::vector<int>> halve(std::span<const int> groups) const;

  /// Number of cores at a distance.
  struct Ring {
    double distance;       ///< from the core that looks; it is not counted itself
    std::int64_t n_cores;  ///< cores at this distance, in the best view
  };
  /// Return the best view of any core, nearest first: for every k, no core has its k-th nearest core nearer than this.
  [[nodiscard]] std::vector<Ring> rings() const;

  /// Return the cost on a core of each unit that its rank sends to itself: the diagonal of a QAPLIB matrix. 0 unless
  /// set.
  [[nodiscard]] double core_cost(int core) const noexcept { return core_costs_.empty() ? 0.0 : core_costs_[at(core)]; }
  /// Tell whether core costs were set.
  [[nodiscard]] bool has_core_costs() const noexcept { return !core_costs_.empty(); }
  /// Set the core costs. @pre this is a matrix. @throws Error{usage} unless there is one for each core, finite and >= 0
  void set_core_costs(std::vector<double> costs);

  /// Describe a fault of the distances, in words: a nearer level that costs more than a farther one. Empty if there is
  /// none. Cost: O(levels); O(cores^2) for a matrix of nodes with several cores
  [[nodiscard]] std::string fault_of_distances() const;

  /// Return the text form, which `parse` reads back; a description for a matrix and for a tree with uneven outer
  /// levels.
  [[nodiscard]] std::string text() const;

  /// Return the name of a node: "node0", "node1", ... unless names were given.
  [[nodiscard]] std::string node_name(int node) const;
  /// Name the nodes, by their numbers.
  /// @throws Error{usage} if there are not n_nodes() names, if one repeats, or if one is not a host name
  void set_node_names(std::vector<std::string> names);

  /// List the nodes in the order in which the launcher fills them: by number unless another order was set.
  [[nodiscard]] std::vector<int> fill_order() const;
  /// Set that order. @throws Error{usage} unless each node appears once
  void set_fill_order(std::vector<int> nodes);

  /// Make a machine with each group as one core, for the placement of whole groups.
  [[nodiscard]] Machine of_groups() const;

  /// Return the memory of distances, groups and nodes, without names and core costs.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  enum class Kind { tree, torus, dense };
  Machine(Kind kind, std::vector<double> distances, std::vector<int> group_sizes);
  static constexpr std::size_t at(int i) noexcept { return i; }
  [[nodiscard]] const int* coordinates(int group) const noexcept {
    return coordinates_.data() + at(group) * n_coordinates_;
  }
  void set_nodes(std::vector<int> node_of_group);
  [[nodiscard]] std::vector<Ring> rings_of_matrix() const;
  [[nodiscard]] std::vector<Ring> rings_of_tree() const;
  [[nodiscard]] std::pair<std::vector<int>, std::vector<int>> halve_by_branch(std::span<const int> groups) const;
  [[nodiscard]] std::pair<std::vector<int>, std::vector<int>> halve_by_side(std::span<const int> groups) const;
  [[nodiscard]] std::pair<std::vector<int>, std::vector<int>> halve_by_distance(std::span<const int> groups) const;

  Kind kind_;
  std::vector<double> distances_;  // tree: per level; torus: {inside, per hop}; dense: groups x groups
  std::vector<int> shape_;         // torus: dimensions; tree: arities if all branches are alike
  int n_node_levels_ = 1;          // tree: number of levels in a node
  std::size_t n_coordinates_ = 0;
  std::vector<int> coordinates_;  // n_coordinates_ per group: enclosing branches, or position in the torus
  std::vector<std::vector<int>> branch_begin_;  // tree: by level between groups and whole, first group of each branch
  std::vector<int> group_begin_;                // first core, one longer than the groups
  std::vector<int> group_of_;                   // by core
  std::vector<int> node_of_group_;
  std::vector<int> node_begin_;  // first core, one longer than the nodes
  std::vector<std::string> names_;
  std::vector<double> core_costs_;  // empty: 0
  std::vector<int> fill_order_;     // empty: by number
  std::string text_;                // as it was read, where `text` cannot reproduce it
};

// Inline: the searches spend their time here.
inline double Machine::group_distance(int group_a, int group_b) const noexcept {
  if (kind_ == Kind::dense) return distances_[at(group_a) * at(n_groups()) + at(group_b)];
  if (group_a == group_b) return distances_.front();
  const int* const a = coordinates(group_a);
  const int* const b = coordinates(group_b);
  if (kind_ == Kind::tree) {
    for (std::size_t i = 0; i < n_coordinates_; ++i)
      if (a[i] == b[i]) return distances_[i + 1];
    return distances_.back();
  }
  int hops = 0;
  for (std::size_t i = 0; i < n_coordinates_; ++i) {
    const int steps = std::abs(a[i] - b[i]);
    hops += steps < shape_[i] - steps ? steps : shape_[i] - steps;
  }
  return distances_[1] * hops;
}

}  // namespace barrio::rankmap
