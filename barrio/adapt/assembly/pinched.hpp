#pragma once

#include <utility>
#include <vector>

#include "barrio/adapt/kernel/tets.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::adapt::detail {

/// Replace each pinched vertex, whose tetrahedra do not all hang together by faces, by copies: one for each group that
/// does. Copies stay where they are. Collective. @pre the tetrahedra are linked, and all vertices have global ids
/// Cost: O(n_local) and one reduction; where there are pinched vertices, one delivery to the ranks around them
void split_pinched(mpi::Context& context, Tets& tets);

/// Make the copies of a pinched vertex one vertex again. Walks around it see a part of its tetrahedra only. Local.
/// @return all pairs of such a vertex and a tetrahedron of it, ascending
std::vector<std::pair<Slot, Slot>> merge_pinched(Tets& tets);

}  // namespace barrio::adapt::detail
