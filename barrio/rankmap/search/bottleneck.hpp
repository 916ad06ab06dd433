#pragma once

#include <cstdint>
#include <vector>

#include "barrio/rankmap/assignment.hpp"
#include "barrio/rankmap/search/deadline.hpp"

namespace barrio::rankmap {

/// What leaves or enters each node: the sum of w_ij times the distance over pairs with one rank in it. Cost: O(edges)
std::vector<double> compute_node_loads(const CommunicationGraph& graph, const Machine& machine,
                                       const Placement& placement);

/// The largest of these loads; 0 on a machine without nodes. Cost: O(edges)
double busiest_load(const CommunicationGraph& graph, const Machine& machine, const Placement& placement);

/// Z as it would be if each node were as loaded as the busiest one: the traffic inside nodes, and half the largest load
/// times the nodes that the ranks would fill. The slowest node decides how long a step takes, and Z does not see it.
/// Never below Z if no more nodes are used than filled. Cost: O(edges)
double bottleneck_cost(const CommunicationGraph& graph, const Machine& machine, const Placement& placement);

/// What a search minimises: Z, the bottleneck cost, or something between. @param share  of the bottleneck, 0..1
double mixed_cost(const CommunicationGraph& graph, const Machine& machine, const Placement& placement, double share);

/// Improve a placement in its mixed cost: by exchanges of ranks of the busiest node, with ranks at most two steps away
/// in the communication graph and with those of the least busy nodes, until none helps; by annealing, in which a norm
/// of all nodes' loads stands for the largest; and by such exchanges again. Never worse in the mixed cost.
/// Local. Deterministic for a seed unless the deadline passes. @param[in] is_fixed  by rank; empty: none
/// @param seconds  about how long each of the two searches, counted in exchanges that are looked at
/// @return whether the deadline let it. Cost: O(partners + nodes) an exchange that is looked at
bool relieve_bottleneck(const CommunicationGraph& graph, const Machine& machine, Placement& placement, double share,
                        const std::vector<bool>& is_fixed = {}, Deadline deadline = {}, double seconds = 0.05,
                        std::uint64_t seed = 1);

}  // namespace barrio::rankmap
