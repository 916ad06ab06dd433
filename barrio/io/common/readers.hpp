#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "barrio/files/h5m.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mesh/tables.hpp"

namespace barrio::io::detail {

mesh::MeshTables read_h5m(mpi::Context& context, const std::string& path, const TableOptions& options);
mesh::MeshTables read_gmsh(mpi::Context& context, const std::string& path);
/// Read a Medit file. References become sets: of cells materials, of sides Neumann sets, of vertices Dirichlet sets; 0
/// means no set. Corners, Ridges and Required... become sets of these names and of kind `other`.
mesh::MeshTables read_medit(mpi::Context& context, const std::string& path);
/// Read an Exodus file. Element blocks become material sets, node sets Dirichlet sets, side sets Neumann sets of faces
/// or edges.
mesh::MeshTables read_exodus(mpi::Context& context, const std::string& path, const TableOptions& options);
/// Read a longitude/latitude grid, with or without levels. Its points become vertices, whose coordinates are the file's
/// numbers, in degrees and so on. Variables over them become tags.
mesh::MeshTables read_climate(mpi::Context& context, const std::string& path, const TableOptions& options);
/// Read CGNS on HDF5. Sections of the cells' dimension become material sets, other sections sets of kind `other`.
/// Boundary conditions become Neumann sets (Dirichlet sets on vertices of an unstructured zone), named after their
/// family. Solutions on vertices and cells become tags. Zones are joined at the 1-to-1 interfaces that the file lists.
mesh::MeshTables read_cgns(mpi::Context& context, const std::string& path, const TableOptions& options);
/// Read a mesh of SU2. Markers become Neumann sets.
mesh::MeshTables read_su2(mpi::Context& context, const std::string& path);
/// Tell whether a file that begins with `head` is a legacy VTK file.
bool is_vtk(std::string_view head);
mesh::MeshTables read_vtk(mpi::Context& context, const std::string& path);
mesh::MeshTables read_vtu(mpi::Context& context, const std::string& path);
/// Read the .vtu files that a .pvtu file names. Their pieces are one mesh: copies of points are merged, ghost cells
/// dropped.
mesh::MeshTables read_pvtu(mpi::Context& context, const std::string& path);
/// Read VTKHDF. Its pieces are one mesh: copies of points are merged.
mesh::MeshTables read_vtkhdf(mpi::Context& context, const std::string& path, const TableOptions& options);

/// Read the first grid of an XDMF file, or the pieces of a collection, with the attributes on its points and cells.
mesh::MeshTables read_xdmf(mpi::Context& context, const std::string& path, const TableOptions& options);

/// Remedy of a file that has points only.
inline constexpr const char* no_cells_remedy =
    "give a file with edges, faces or volume cells; barrio delaunay makes triangles and tets of points";

/// Return the cell type of a name in .h5m files; empty for an unknown name.
std::optional<mesh::CellType> cell_type_of(const std::string& h5m_name);
/// Return the name of a type in .h5m files: "Tet" for tets.
std::string h5m_name(mesh::CellType type);

/// A tag by which .h5m files mark sets, and its meaning.
struct SetTag {
  const char* name;
  mesh::SetKind kind;
};
inline constexpr std::array<SetTag, 4> set_tags{{{"MATERIAL_SET", mesh::SetKind::material},
                                                 {"DIRICHLET_SET", mesh::SetKind::dirichlet},
                                                 {"NEUMANN_SET", mesh::SetKind::neumann},
                                                 {"GEOM_DIMENSION", mesh::SetKind::geometry}}};
/// Tell whether a tag gives sets a meaning.
bool is_set_tag(const std::string& name);
inline constexpr const char* name_tag = "NAME";
inline constexpr const char* global_id_tag = "GLOBAL_ID";

/// A tag that may mark parts: one integer, on sets only.
struct PartitionTag {
  std::string name;
  std::int64_t n_parts;  ///< distinct values
};
/// Find the tags that may mark parts, except those with another meaning. Local, on a file open on this process alone.
std::vector<PartitionTag> find_partition_tags(hid_t file, const files::H5mCatalog& catalog);

/// Tell whether a tag gives each entity a number of its own, and so is not a partition.
bool is_id_tag(const std::string& name);
/// Tell whether a tag has one integer of 32 or 64 bits on elements: its values may be parts.
bool may_give_parts(const files::H5mTag& tag, const files::H5mCatalog& catalog);

}  // namespace barrio::io::detail
