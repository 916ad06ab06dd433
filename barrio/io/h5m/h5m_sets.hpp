#pragma once

#include "barrio/files/h5m_file.hpp"
#include "barrio/io/h5m/h5m_tags.hpp"
#include "barrio/mesh/part_contents.hpp"

namespace barrio::io::detail {

/// Write the table of sets, parts first, and their contents. Collective. The file does not depend on the rank count.
/// @param[in] contents  contents of parts besides their cells
/// Cost: memory O((sets + parts) x blocks) on each rank
void write_sets(mpi::Context& context, files::H5mFile& file, const mesh::MeshTables& tables, const WrittenIds& ids,
                const mesh::PartContents& contents);

}  // namespace barrio::io::detail
