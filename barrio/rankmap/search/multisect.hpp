#pragma once

#include <cstdint>
#include <vector>

#include "barrio/rankmap/assignment.hpp"
#include "barrio/rankmap/search/deadline.hpp"

namespace barrio::rankmap {

/// Build a placement by recursive bisection of the ranks together with the machine: the outermost level of a tree
/// first, or a torus' longest side, down to groups of interchangeable cores. Nodes are filled in order; free cores are
/// at the end. If distances in a part depend on where its partners outside are, as in a torus, the bisection accounts
/// for them.
/// Local. Deterministic for a seed. @pre no more ranks than cores
/// When the deadline passes, the remaining ranks are taken in their order.
/// @param[in] fixed  a placement whose ranks with `is_fixed` keep their cores; null: no rank is fixed
/// Cost: O(edges log ranks log groups)
/// Source: dual recursive bipartitioning, Pellegrini 1994; multisection, Schulz and Traeff 2017.
Placement multisect(const CommunicationGraph& graph, const Machine& machine, std::uint64_t seed,
                    const Placement* fixed = nullptr, const std::vector<bool>& is_fixed = {}, Deadline deadline = {});

}  // namespace barrio::rankmap
