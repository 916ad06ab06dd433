#pragma once

/// @file Conversion of a distributed mesh to tables, for files and checkpoints.

#include "barrio/mesh/mesh.hpp"

namespace barrio::mesh {

/// Options of `to_tables`, the same on all ranks.
struct ToTablesOptions {
  bool with_fields = true;  ///< fields become tags
};

/// Make the tables of a mesh: those it was built from, however its cells have moved since. Collective over
/// mesh.context(). Each rank gets its slabs. The tables are the same on any number of ranks, except for the parts,
/// which are those of the mesh.
///
/// - Rows are global ids. A mesh leaves out vertices and listed faces and edges that belong to no cell. The remaining
///   rows then close up, each id becoming the number of present ones below it, and the log says so (`info`).
/// - Blocks are runs of cells of one type and number of nodes, cells first, then faces, then edges. The number of nodes
///   varies in blocks of polygons and of polyhedra.
/// - A set lists only members that no set it contains has; sets that contain each other list all. A mesh does not keep
///   the order of ordered sets: they become plain ones.
/// - Tags come with all their values, those of a dense tag in dense columns where every row of a block has one. A value
///   that is an entity becomes none if the mesh has left that entity out.
/// - Parts keep the values and tags that their sets have in the file, unless cells have migrated.
/// - A field becomes a dense tag of its name with the owners' values, and replaces a tag of that name. int32 stays; all
///   other types become float64. Fields of one name on several dimensions are one tag.
/// @throws AgreedError{usage} for a field of 64-bit integers that doubles cannot hold, and for two fields of one name
/// with different types or numbers of components
/// @pre all ranks have the same fields
/// Cost: one routed exchange for vertices, for each dimension of cells and for each tag; one more, of runs of ids, if
/// ids close up or cells of several types are mixed; if ids close up, also a request to the homes of all local
/// vertices. Memory O(n_local + slab).
[[nodiscard]] MeshTables to_tables(const Mesh& mesh, const ToTablesOptions& options = {});

}  // namespace barrio::mesh
