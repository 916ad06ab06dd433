#pragma once

#include "barrio/rankmap/assignment.hpp"

namespace barrio::rankmap {

/// Build a placement by the construction method: the rank that communicates most goes to the core that is nearest to
/// all others; then, again and again, the rank with the largest traffic with the placed ranks goes to the free core
/// with the smallest distance to the used cores. Ties go to the lowest rank and the lowest core.
/// It may be worse than the order given. Local. @pre no more ranks than cores
/// Cost: O(edges log edges + ranks * groups), groups being the machine's sets of interchangeable cores.
/// Source: Mueller-Merbach 1970, in Brandfass, Alrutz, Gerhold 2012, section 5.2.1.
Placement construct(const CommunicationGraph& graph, const Machine& machine);

}  // namespace barrio::rankmap
