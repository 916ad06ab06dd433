#pragma once

#include <cstdint>

#include "barrio/mesh/tables.hpp"

namespace barrio::mesh::detail {

/// Tell whether all vertices of this rank's cells exist and no cell repeats a vertex at two corners; false also if in
/// doubt. Local. Cost: one quick pass, vectorised over cells
bool has_sound_nodes(const CellBlock& block, std::int64_t n_vertices);

}  // namespace barrio::mesh::detail
