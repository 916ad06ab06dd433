#pragma once

#include <array>
#include <optional>
#include <string>

#include "barrio/files/h5m.hpp"
#include "barrio/mesh/tables.hpp"

namespace barrio::io::detail {

/// @param without_tags  tags to leave out; "*" leaves out all
mesh::MeshTables read_h5m(mpi::Context& context, const std::string& path, const std::vector<std::string>& without_tags);
mesh::MeshTables read_gmsh(mpi::Context& context, const std::string& path);
/// Element blocks become material sets, node sets Dirichlet sets, side sets Neumann sets of faces or edges.
mesh::MeshTables read_exodus(mpi::Context& context, const std::string& path,
                             const std::vector<std::string>& without_tags);
/// CGNS on HDF5. Sections of the cells' dimension become material sets, conditions Neumann sets (on vertices of an
/// unstructured zone: Dirichlet sets) with the name of their family, other sections sets of no kind.
mesh::MeshTables read_cgns(mpi::Context& context, const std::string& path);

/// The type that a .h5m file calls by a name; empty for an unknown name.
std::optional<mesh::CellType> cell_type_of(const std::string& h5m_name);
/// And back: "Tet" for tets.
std::string h5m_name(mesh::CellType type);

/// The number barrio writes for a type; readers go by the name.
std::uint8_t h5m_type_number(mesh::CellType type);
/// The enumeration of types as barrio writes it.
files::Handle h5m_element_enum();
/// Name of an element table, by convention type and number of nodes: "Tet4"; a second one alike gets a number.
std::string block_name(const mesh::MeshTables& tables, std::size_t block);

/// The tags by which .h5m files mark their sets, and what they mean.
struct SetTag {
  const char* name;
  mesh::SetKind kind;
};
inline constexpr std::array<SetTag, 4> set_tags{{{"MATERIAL_SET", mesh::SetKind::material},
                                                 {"DIRICHLET_SET", mesh::SetKind::dirichlet},
                                                 {"NEUMANN_SET", mesh::SetKind::neumann},
                                                 {"GEOM_DIMENSION", mesh::SetKind::geometry}}};
inline constexpr const char* partition_tag = "PARALLEL_PARTITION";
inline constexpr const char* name_tag = "NAME";
inline constexpr const char* global_id_tag = "GLOBAL_ID";

}  // namespace barrio::io::detail
