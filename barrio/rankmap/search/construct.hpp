#pragma once

#include "barrio/rankmap/assignment.hpp"

namespace barrio::rankmap {

/// Build a placement by the construction method. The rank that communicates most goes to the core that is nearest to
/// all others. Then, repeatedly, the rank with the largest traffic with the placed ranks goes to the free core with the
/// smallest distance to the used cores. Ties go to the lowest rank and the lowest core.
/// The result may be worse than the given order. Local. @pre no more ranks than cores
/// Cost: O(edges log edges + ranks * groups), groups being the machine's sets of interchangeable cores.
/// Source: Mueller-Merbach 1970, in Brandfass, Alrutz, Gerhold 2012, section 5.2.1.
Placement construct(const CommunicationGraph& graph, const Machine& machine);

/// Build a placement in the same order of ranks, but with the best core for each: the free one that is nearest to the
/// rank's placed partners, by their weights; ties go to the one nearest to all used cores. In the construction method
/// the two choices are independent, which spoils it where distances vary, as in a torus. Local.
/// Cost: O(ranks * groups + edges * groups)
/// Source: the "greedyAllC" of Glantz and others 2015.
Placement construct_nearest(const CommunicationGraph& graph, const Machine& machine);

}  // namespace barrio::rankmap
