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
/// References become sets: of cells materials, of sides Neumann sets, of vertices Dirichlet sets; 0 stands for none.
/// Corners, Ridges and Required... become sets of these names and of no kind.
mesh::MeshTables read_medit(mpi::Context& context, const std::string& path);
/// Element blocks become material sets, node sets Dirichlet sets, side sets Neumann sets of faces or edges.
mesh::MeshTables read_exodus(mpi::Context& context, const std::string& path,
                             const std::vector<std::string>& without_tags);
/// Places of a grid of longitudes, latitudes and maybe levels become vertices; their coordinates are the file's
/// numbers, in degrees and so on. Variables over them become tags.
mesh::MeshTables read_climate(mpi::Context& context, const std::string& path,
                              const std::vector<std::string>& without_tags);
/// CGNS on HDF5. Sections of the cells' dimension become material sets, conditions Neumann sets (on vertices of an
/// unstructured zone: Dirichlet sets) with the name of their family, other sections sets of no kind.
mesh::MeshTables read_cgns(mpi::Context& context, const std::string& path);
/// Whether a file that begins so is a legacy VTK file.
bool is_vtk(std::string_view head);
mesh::MeshTables read_vtk(mpi::Context& context, const std::string& path);
mesh::MeshTables read_vtu(mpi::Context& context, const std::string& path);

/// The type that a .h5m file calls by a name; empty for an unknown name.
std::optional<mesh::CellType> cell_type_of(const std::string& h5m_name);
/// And back: "Tet" for tets.
std::string h5m_name(mesh::CellType type);

/// The tags by which .h5m files mark their sets, and what they mean.
struct SetTag {
  const char* name;
  mesh::SetKind kind;
};
inline constexpr std::array<SetTag, 4> set_tags{{{"MATERIAL_SET", mesh::SetKind::material},
                                                 {"DIRICHLET_SET", mesh::SetKind::dirichlet},
                                                 {"NEUMANN_SET", mesh::SetKind::neumann},
                                                 {"GEOM_DIMENSION", mesh::SetKind::geometry}}};
/// Whether a tag says what sets mean.
bool is_set_tag(const std::string& name);
inline constexpr const char* name_tag = "NAME";
inline constexpr const char* global_id_tag = "GLOBAL_ID";

/// A tag that may mark parts: one integer, on sets only.
struct PartitionTag {
  std::string name;
  std::int64_t n_parts;  ///< different values
};
/// Local, on a file open on this process alone. Without the tags that have another meaning.
std::vector<PartitionTag> find_partition_tags(hid_t file, const files::H5mCatalog& catalog);

/// Whether a tag gives each thing a number of its own, so that it is no partition.
bool is_id_tag(const std::string& name);
/// Whether a tag has one integer of 32 or 64 bits on elements, so that its values may be parts.
bool may_give_parts(const files::H5mTag& tag, const files::H5mCatalog& catalog);

}  // namespace barrio::io::detail
