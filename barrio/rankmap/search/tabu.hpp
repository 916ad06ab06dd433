#pragma once

#include <cstdint>
#include <vector>

#include "barrio/rankmap/assignment.hpp"
#include "barrio/rankmap/search/deadline.hpp"

namespace barrio::rankmap {

/// Largest machine for `tabu_search`, which keeps matrices of cores x cores.
inline constexpr int max_cores_for_tabu = 1024;

struct TabuOptions {
  std::uint64_t n_steps = 10'000;  ///< exchanges made
  std::uint64_t seed = 1;
  std::vector<bool> is_fixed = {};  ///< by rank, whether it stays where it is; empty: no rank is fixed
};

/// Counts of a tabu search.
struct TabuCounts {
  std::uint64_t n_steps = 0;
  std::uint64_t n_restarts = 0;
  bool is_complete = true;  ///< false: the deadline passed first
};

/// Improve a placement by iterated robust tabu search. Each step makes the best exchange of any two cores that was not
/// undone lately. When this finds nothing better for long, the best placement is perturbed and the search restarts from
/// it. For machines without structure, such as a measured or a QAPLIB matrix. Never worse. Local. Deterministic for a
/// seed, unless the deadline passes. @pre at most max_cores_for_tabu cores
/// Cost: O(cores^2) per step, 1 to 2 ns per pair. Memory: 48 bytes x cores^2
/// Source: Taillard 1991 (robust tabu search), Misevicius 2012 (iterated).
TabuCounts tabu_search(const CommunicationGraph& graph, const Machine& machine, Placement& placement,
                       const TabuOptions& options, Deadline deadline = {});

/// Estimate the seconds of a step on a core of this decade: for the division of time.
double nominal_tabu_step_seconds(const Machine& machine) noexcept;

}  // namespace barrio::rankmap
