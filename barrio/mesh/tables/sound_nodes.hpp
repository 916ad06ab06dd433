#pragma once

#include <cstdint>

#include "barrio/mesh/tables.hpp"

namespace barrio::mesh::detail {

/// Whether all vertices of this rank's cells exist and no cell has one at two corners; false also where it cannot tell.
/// Local. Cost: one quick pass, cells side by side
bool has_sound_nodes(const CellBlock& block, std::int64_t n_vertices);

}  // namespace barrio::mesh::detail
