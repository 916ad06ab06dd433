#pragma once

#include <cstdint>
#include <vector>

#include "barrio/rankmap/assignment.hpp"
#include "barrio/rankmap/search/deadline.hpp"
#include "barrio/rankmap/search/search_counts.hpp"

namespace barrio::rankmap {

struct AnnealOptions {
  std::uint64_t n_moves = 1'000'000;  ///< exchanges tried
  std::uint64_t seed = 1;
  double hottest = 0.0;             ///< initial temperature, in units of the cost, see `mean_loss`
  std::vector<bool> is_fixed = {};  ///< by rank, whether it stays where it is; empty: no rank is fixed
};

/// Improve a placement by simulated annealing. Exchanges of two ranks (or of a rank and a free core) are tried at
/// random, three of four of them between a rank and a core in the group of one of its partners. One that costs more is
/// made with a probability that falls from step to step. The best placement seen between the steps is the result: never
/// worse than the start.
/// Local. Deterministic for a seed, unless the deadline passes. @pre is_fixed is empty or of all ranks
/// Cost: about 30 ns per tried move on machines whose ranks x groups fit into 64 MB; O(partners) on larger ones.
/// Source: Kirkpatrick, Gelatt, Vecchi 1983; the table of sums follows Taillard's for the dense problem.
SearchCounts anneal(const CommunicationGraph& graph, const Machine& machine, Placement& placement,
                    const AnnealOptions& options, Deadline deadline = {});

/// Estimate the mean cost increase of an exchange tried by `anneal`, over those that do not gain; 0 without such
/// exchanges. A good start needs a fifth to a half of it as temperature. Local. Cost: some hundred exchanges evaluated
double mean_loss(const CommunicationGraph& graph, const Machine& machine, const Placement& placement,
                 std::uint64_t seed);

/// Tell whether `anneal` keeps a table, which makes its moves cheap.
bool has_gain_table(const CommunicationGraph& graph, const Machine& machine) noexcept;

/// Tell whether `anneal` ends with a check of all pairs of ranks, after which single exchanges gain nothing.
bool ends_with_all_pairs(const CommunicationGraph& graph, const Machine& machine) noexcept;

/// Estimate the seconds of a move of `anneal` on a core of this decade: for the division of time.
double nominal_move_seconds(const CommunicationGraph& graph, const Machine& machine) noexcept;

}  // namespace barrio::rankmap
