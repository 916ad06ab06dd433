#pragma once

#include <cstdint>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::io::detail {

/// Give cells the parts that an integer tag on them names. A negative value means no part, which `validate` reports.
/// Collective. Fills `tables.parts` and `tables.n_parts`, unless no cell is in a part.
/// @return the values of the parts, ascending; empty if no cell is in a part
/// @throws AgreedError{usage} if each cell has a value of its own, as ids have
/// Cost: two routed exchanges and a broadcast of the values; memory O(n_local + parts)
std::vector<std::int64_t> take_parts_from_elements(mpi::Context& context, const mesh::TagTable& tag,
                                                   mesh::MeshTables& tables);

}  // namespace barrio::io::detail
