#pragma once

#include <cstdint>
#include <vector>

#include "barrio/rankmap/assignment.hpp"
#include "barrio/rankmap/search/deadline.hpp"

namespace barrio::rankmap {

/// Compute the load of each node: the sum of w_ij times the distance over pairs with one rank in it. Cost: O(edges)
std::vector<double> compute_node_loads(const CommunicationGraph& graph, const Machine& machine,
                                       const Placement& placement);

/// Return the largest of these loads; 0 on a machine without nodes. Cost: O(edges)
double busiest_load(const CommunicationGraph& graph, const Machine& machine, const Placement& placement);

/// Compute Z as if each node were as loaded as the busiest one: the traffic inside nodes, plus half the largest load
/// times the number of nodes that the ranks would fill. The slowest node decides the time of a step, and Z does not
/// show it. Never below Z if no more nodes are used than filled. Cost: O(edges)
double bottleneck_cost(const CommunicationGraph& graph, const Machine& machine, const Placement& placement);

/// Compute the objective of a search: Z, the bottleneck cost, or a mixture. @param share  of the bottleneck, 0..1
double mixed_cost(const CommunicationGraph& graph, const Machine& machine, const Placement& placement, double share);

/// Improve a placement in its mixed cost. First exchange ranks of the busiest node, with ranks at most two steps away
/// in the communication graph and with those of the least busy nodes, until none helps. Then anneal, with a norm of all
/// nodes' loads instead of the largest load, and repeat the exchanges. Never worse in the mixed cost.
/// Local. Deterministic for a seed unless the deadline passes. @param[in] is_fixed  by rank; empty: no rank is fixed
/// @param seconds  time of each of the two searches, about, counted in evaluated exchanges
/// @return false if the deadline passed. Cost: O(partners + nodes) per evaluated exchange
bool relieve_bottleneck(const CommunicationGraph& graph, const Machine& machine, Placement& placement, double share,
                        const std::vector<bool>& is_fixed = {}, Deadline deadline = {}, double seconds = 0.05,
                        std::uint64_t seed = 1);

}  // namespace barrio::rankmap
