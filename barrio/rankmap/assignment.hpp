#pragma once

/// @file Placement of ranks on cores, and its cost, figures and lower bound.

#include <span>
#include <utility>
#include <vector>

#include "barrio/rankmap/machine.hpp"
#include "barrio/rankmap/traffic.hpp"

namespace barrio::rankmap {

/// Marks a core in `Placement` that no rank uses.
inline constexpr Rank no_rank = -1;

/// Placement of ranks on cores, one to one, in both directions: rank -> core and core -> rank.
/// A rank file or a host list needs rank -> core (the inverse of the paper's permutation). MPICH_RANK_ORDER needs core
/// -> rank (the paper's permutation itself).
class Placement {
 public:
  Placement() = default;
  /// Make a placement from its cores. @param[in] core_of_rank  a core per rank, each used once
  /// @throws Error{bad_input} naming the rank, if a core is not in 0..n_cores-1 or is used twice; Error{usage} if there
  /// are more ranks than cores
  Placement(std::vector<int> core_of_rank, int n_cores);
  /// Put rank i on core i.
  static Placement in_order(int n_ranks, int n_cores);
  /// Fill node after node, as launchers do: `in_order`, unless the machine has another `fill_order`.
  /// @throws Error{usage} for too many ranks
  static Placement filled(int n_ranks, const Machine& machine);
  /// Deal ranks round robin to the nodes, skipping full ones, as some launchers do. @throws Error{usage} for too many
  /// ranks
  static Placement cyclic(int n_ranks, const Machine& machine);

  /// Return the number of ranks; each has a core.
  [[nodiscard]] int n_ranks() const noexcept { return static_cast<int>(core_of_rank_.size()); }
  /// Return the number of cores, free ones included.
  [[nodiscard]] int n_cores() const noexcept { return static_cast<int>(rank_at_core_.size()); }
  /// Return the core of a rank. @pre 0 <= rank < n_ranks()
  [[nodiscard]] int core_of(Rank rank) const noexcept { return core_of_rank_[rank]; }
  /// Return the rank on a core, or `no_rank`.
  [[nodiscard]] Rank rank_at(int core) const noexcept { return rank_at_core_[core]; }
  /// Return the cores by rank, shape (n_ranks()). Borrowed from the placement.
  [[nodiscard]] std::span<const int> core_of_rank() const& noexcept { return core_of_rank_; }
  /// Return the ranks by core, shape (n_cores()), `no_rank` on free ones. Borrowed from the placement.
  [[nodiscard]] std::span<const Rank> rank_at_core() const& noexcept { return rank_at_core_; }
  /// Refuse a span into a temporary.
  std::span<const int> core_of_rank() const&& = delete;
  /// Refuse a span into a temporary.
  std::span<const Rank> rank_at_core() const&& = delete;

  /// Exchange the ranks of two cores; either may be free.
  void exchange(int core_a, int core_b) noexcept;

  /// Check that both directions agree. @throws Error{internal}
  void validate() const;
  bool operator==(const Placement&) const = default;

 private:
  static Placement first_of(std::vector<int> cores, int n_ranks, const Machine& machine);

  std::vector<int> core_of_rank_;
  std::vector<Rank> rank_at_core_;
};

/// Give a placement of the same cost that leaves as many ranks as possible where `old` has them. Ranks in a group of
/// interchangeable cores keep their old cores there. If all groups are equally far from each other, whole groups move
/// to where most of their ranks were. Cost: O(cores log cores)
Placement keep_in_place(const Placement& placement, const Placement& old, const Machine& machine);

/// Compute the objective Z: the sum over unordered pairs of ranks of w_ij times the distance of their cores.
/// With directed traffic and a symmetric machine this is the paper's Z(A, B, pi), equation (1). Traffic of ranks to
/// themselves counts if the machine has core costs; a graph does not hold it.
/// Local. @pre the placement is one of these ranks on this machine. Cost: O(edges)
double cost(const CommunicationGraph& graph, const Machine& machine, const Placement& placement);
/// Compute Z of the weights that a weighing gives the entries of the traffic. As above. Cost: O(entries)
double cost(const TrafficMatrix& traffic, const Machine& machine, const Placement& placement, Weighing weighing = {});

/// Compute the change of Z if two cores exchanged their ranks; negative is better.
/// Cost: O(partners of the two ranks).
double exchange_delta(const CommunicationGraph& graph, const Machine& machine, const Placement& placement, int core_a,
                      int core_b) noexcept;

/// Figures of a placement on a machine.
struct PlacementFigures {
  double cost = 0.0;                ///< Z
  double total_weight = 0.0;        ///< w_ij over all pairs
  double inter_node_weight = 0.0;   ///< w_ij over pairs on different nodes
  double max_node_out_bytes = 0.0;  ///< bytes that leave the busiest node
  /// Return the part of the traffic between nodes, 0..1; 0 without traffic.
  [[nodiscard]] double inter_node_share() const noexcept {
    return total_weight > 0.0 ? inter_node_weight / total_weight : 0.0;
  }
};

/// Compute the figures of a placement. Cost: O(entries)
PlacementFigures compute_figures(const TrafficMatrix& traffic, const Machine& machine, const Placement& placement,
                                 Weighing weighing = {});

/// Compute the bytes sent from node to node, n_nodes x n_nodes, row = sender, traffic inside a node included.
/// @pre the machine has few nodes: memory O(n_nodes^2)
std::vector<double> compute_node_bytes(const TrafficMatrix& traffic, const Machine& machine,
                                       const Placement& placement);

/// Compute a bound below Z for every placement: each rank has its heaviest partners on the nearest cores.
/// Cost: O(edges log edges); for a dense machine also O(cores^2 log cores).
double compute_lower_bound(const CommunicationGraph& graph, const Machine& machine);

}  // namespace barrio::rankmap
