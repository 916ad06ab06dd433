#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace barrio::rankmap {

/// Know how far any two cores of a machine are from each other, without a matrix of cores x cores (except `dense`).
/// Cores are numbered node by node, as launchers fill them; nodes are numbered along the tree or the torus, the
/// first dimension fastest. Memory: O(cores).
/// Cores come in groups of neighbours that are interchangeable: equally far from every other core.
class Machine {
 public:
  static constexpr int max_cores = 1 << 26;

  /// Build a tree: arities from the inside out ({8, 16, 4} = 8 cores per node, 16 nodes per switch, 4 switches) and
  /// one distance per level. @param[in] n_node_levels  how many inner levels lie in one node (sockets): less than
  /// the number of levels, or 1
  /// @throws Error{usage} for empty or unequal lists, values < 1, negative distances, too many cores
  static Machine tree(std::span<const int> arities, std::span<const double> distances, int n_node_levels = 1);
  /// Build n_nodes equal nodes: the distance matrix of the paper, with its values 1 and 10.
  static Machine nodes(int n_nodes, int cores_per_node, double inside = 1.0, double outside = 10.0);
  /// Build a torus of nodes: `inside` in a node, `per_hop` times the hops between nodes.
  static Machine torus(std::span<const int> dimensions, int cores_per_node, double inside, double per_hop);
  /// Build from a full symmetric matrix, row by row, with each core a node of its own: for QAPLIB instances.
  static Machine dense(int n_cores, std::vector<double> distances);
  /// Read the text form: "8:16:4;1:10:20" (tree), "8:2/4:4;1:2:10:20" (the levels before '/' lie in one node),
  /// "2x4" (2 nodes of 4 cores, distances 1 and 10), "torus:4x4x2;8;1:10" (nodes; cores per node; inside:per hop).
  /// @throws Error{usage} quoting the text, with the three forms as remedy
  static Machine parse(std::string_view text);

  [[nodiscard]] int n_cores() const noexcept { return n_cores_; }
  [[nodiscard]] int n_nodes() const noexcept { return n_cores_ / cores_per_node_; }
  [[nodiscard]] int cores_per_node() const noexcept { return cores_per_node_; }
  [[nodiscard]] int node_of(int core) const noexcept { return core / cores_per_node_; }
  /// The place of a core in its node, from 0.
  [[nodiscard]] int slot_of(int core) const noexcept { return core % cores_per_node_; }

  /// The distance between two cores; 0 for a core and itself. Cost: O(levels) or O(dimensions).
  [[nodiscard]] double distance(int core_a, int core_b) const noexcept {
    if (core_a == core_b) return 0.0;
    const int group_a = group_of(core_a), group_b = group_of(core_b);
    return group_a == group_b ? inside_ : group_distance(group_a, group_b);
  }

  /// The group of interchangeable cores that a core belongs to; groups are slices of `group_size()` cores.
  [[nodiscard]] int group_of(int core) const noexcept { return group_of_[static_cast<std::size_t>(core)]; }
  [[nodiscard]] int group_size() const noexcept { return group_size_; }
  [[nodiscard]] int n_groups() const noexcept { return n_cores_ / group_size_; }
  /// The distance between cores of two groups; between two cores of one group if they are the same.
  [[nodiscard]] double group_distance(int group_a, int group_b) const noexcept;

  /// So many cores at this distance.
  struct Ring {
    double distance;
    std::int64_t n_cores;
  };
  /// What a core sees at best, nearest first: for every k, no core has its k-th nearest core nearer than this.
  [[nodiscard]] std::vector<Ring> rings() const;

  /// The text form, which `parse` reads back; "dense:n" for a matrix.
  [[nodiscard]] std::string text() const;

  /// The name of a node, "node0", "node1", ... unless names were given.
  [[nodiscard]] std::string node_name(int node) const;
  /// Name the nodes, in the order in which the launcher fills them.
  /// @throws Error{usage} if there are not n_nodes() names, if one repeats, or if one is no host name
  void set_node_names(std::vector<std::string> names);

  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  enum class Kind { tree, torus, dense };
  Machine(Kind kind, std::vector<int> shape, std::vector<double> distances, int group_size, int cores_per_node);
  void place_groups();

  Kind kind_;
  std::vector<int> shape_;         // tree: arities; torus: dimensions; dense: {n}
  std::vector<double> distances_;  // tree: per level; torus: {inside, per hop}; dense: n x n
  int n_cores_ = 0;
  int cores_per_node_ = 1;
  int group_size_ = 1;
  int n_node_levels_ = 1;  // tree: how many levels lie in a node
  double inside_ = 0.0;
  std::size_t n_coordinates_ = 0;
  std::vector<int> group_of_;     // by core
  std::vector<int> coordinates_;  // n_coordinates_ per group: enclosing subtrees, or place in the torus
  std::vector<std::string> names_;
};

// Inline: the searches spend their time here.
inline double Machine::group_distance(int group_a, int group_b) const noexcept {
  if (group_a == group_b) return inside_;
  const auto a = static_cast<std::size_t>(group_a), b = static_cast<std::size_t>(group_b);
  if (kind_ == Kind::dense) return distances_[a * static_cast<std::size_t>(n_cores_) + b];
  const int* const at = coordinates_.data() + a * n_coordinates_;
  const int* const bt = coordinates_.data() + b * n_coordinates_;
  if (kind_ == Kind::tree) {
    for (std::size_t i = 0; i < n_coordinates_; ++i)
      if (at[i] == bt[i]) return distances_[i + 1];
    return distances_.back();
  }
  int hops = 0;
  for (std::size_t i = 0; i < n_coordinates_; ++i) {
    const int steps = std::abs(at[i] - bt[i]);
    hops += steps < shape_[i] - steps ? steps : shape_[i] - steps;
  }
  return distances_[1] * hops;
}

}  // namespace barrio::rankmap
