#pragma once

/// @file Write meshes, fields and tags: .h5m for restarts, VTKHDF for ParaView, Medit for Mmg.

#include <memory>
#include <string>
#include <vector>

#include "barrio/io/read.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::io {

/// Options of `write_h5m()`; the same on all ranks.
struct H5mOptions {
  /// Also list in each part's set the faces, edges and sets that belong to it: `mesh::compute_part_contents`. Some
  /// readers look for them by part; barrio's does not.
  bool full_parts = false;
  std::string partition_tag = default_partition_tag;  ///< marks the sets of parts
  bool with_fields = true;                            ///< of a Mesh: its fields become tags
};

/// Write tables as a .h5m file that other readers of the format can open: vertices, elements, sets, and one set per
/// part. Collective; each rank writes its slabs. The file appears under its name when it is complete.
/// @throws AgreedError{failed} if it cannot be written, and an existing file of that name stays untouched; {usage} for
/// a partition tag whose name is reserved, or is that of another tag of the mesh
void write_h5m(mpi::Context& context, const mesh::MeshTables& tables, const std::string& path,
               const H5mOptions& options = {});

/// Write a distributed mesh as a .h5m file from which any number of ranks can restart: with sets, tags, parts, and
/// fields as tags, under the same global ids. Collective. `mesh::to_tables` says what a mesh keeps, and what happens to
/// ids where it has left something out. The file is the same on any number of ranks if the parts are.
///
/// `read` returns the fields as tags. A field that is added under the name of such a tag replaces it when the mesh is
/// written again.
/// @throws AgreedError as for tables and as `mesh::to_tables`; {usage} for a field or a tag whose name is reserved in
/// .h5m files
void write_h5m(const mesh::Mesh& mesh, const std::string& path, const H5mOptions& options = {});

/// Write tables as a Medit file, binary if the path ends in `.meshb`, else as text. Collective; each rank writes its
/// slabs. The file appears under its name when it is complete, and is the same on any number of ranks.
///
/// The reference of a cell is the id of its material set, that of a listed side the id of its Neumann set, that of a
/// vertex the id of its Dirichlet set; 0 means no set. Of several sets the first one counts. Sets of kind `other` with
/// the name of a list of Medit (Corners, Ridges, RequiredVertices, RequiredEdges, RequiredTriangles,
/// RequiredQuadrilaterals, RequiredTetrahedra) become that list. One notice names what Medit cannot hold: other sets,
/// names of sets, tags, the partition. A mesh of faces with all vertices at z = 0 has two dimensions. Files are of
/// version 2, which old programs read, unless numbers or positions need 64 bits: version 3 beyond 2 GiB, version 4
/// beyond 2^31.
/// @throws AgreedError{failed} if it cannot be written, and an existing file of that name stays untouched; {usage} for
/// cells of second order, polygons, knives and polyhedra
void write_medit(mpi::Context& context, const mesh::MeshTables& tables, const std::string& path);

/// Division of a VTKHDF file into pieces.
enum class Pieces {
  parts,              ///< one piece per part of the mesh: the file is the same for any number of ranks
  ranks_with_ghosts,  ///< one piece per rank, ghost cells included and marked by `vtkGhostType`; shows the distribution
};

/// Options of `VtkhdfWriter`; the same on all ranks.
struct VtkhdfOptions {
  Pieces pieces = Pieces::parts;         ///< ranks_with_ghosts: for a look at the distribution
  std::vector<std::string> fields = {};  ///< vertex and cell fields to write, by name; their copies must be up to date
  bool has_steps = false;  ///< a time series: fields change from step to step, and the mesh may change too
  bool with_tags = false;  ///< also write the tags on vertices and cells, as arrays of their names
};

/// Writer of a mesh and its fields as VTKHDF (unstructured grid, version 2), with time steps if wanted. ParaView 5.12,
/// VTK 9.3 and newer read it. All functions are collective.
/// Cell data besides fields and tags: `part`, `material` (id of the material set, -1 without one), and for
/// ranks_with_ghosts `owner` and `rank`; a field or tag of such a name replaces it. A '/' in a name becomes '_'. Files
/// of several pieces, and series, have the global ids, marked as VTK marks them: by these `read` makes one mesh of the
/// pieces.
///
/// Tags of int32 and float64 keep type and components. An entity without a value gets the tag's default; without a
/// default it gets NaN, and the array is float64 whatever the tag is. One notice names what VTKHDF cannot hold: values
/// of bits, bytes, entities and of varying length, values on sets and on listed faces and edges, these entities
/// themselves, and sets other than materials.
class VtkhdfWriter {
 public:
  /// Write the geometry. @throws AgreedError{usage} for a field that does not exist, {failed} if the file cannot be
  /// written
  VtkhdfWriter(const mesh::Mesh& mesh, const std::string& path, VtkhdfOptions options = {});
  /// Discard the file unless `close()` completed it: nothing appears under its name, and the log says so.
  ~VtkhdfWriter();
  /// Append the current values of the fields as a time step. If the mesh's revision has grown, the mesh is written
  /// anew, with cell data and tags; what has not changed since the last step is not written again.
  /// @pre options.has_steps. @throws AgreedError{usage} for a field that the mesh no longer has, and for polyhedra that
  /// changed, which VTKHDF cannot hold
  void write_step(double time);
  /// Append a step of another mesh, with the same fields and context; the writer then refers to that mesh.
  void write_step(const mesh::Mesh& mesh, double time);
  /// Complete the file and give it its name.
  void close();

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

/// Formats that `write` knows.
enum class WrittenFormat {
  h5m,     ///< suffix .h5m
  vtkhdf,  ///< suffix .vtkhdf
  medit,   ///< suffix .mesh, text, or .meshb, binary
};

/// Choose the format by the suffix of a path. Local.
/// @throws AgreedError{usage} for any other suffix, with "did you mean"
WrittenFormat written_format(const std::string& path);

/// Write a mesh in the format of the suffix. Collective. A .h5m file has its fields and tags, for a restart; a .vtkhdf
/// file those on vertices and cells, for ParaView; a .mesh or .meshb file has neither, and is for programs that read
/// Medit, such as Mmg.
/// @throws as written_format, before anything is written, and write_h5m, VtkhdfWriter or write_medit
void write(const mesh::Mesh& mesh, const std::string& path);

/// Write tables in the format of the suffix, as for a mesh; for .vtkhdf, tables without parts get one for each rank.
/// Collective. @param tables  consumed @param partition_tag  see H5mOptions @throws as for a mesh
void write(mpi::Context& context, mesh::MeshTables tables, const std::string& path,
           const std::string& partition_tag = default_partition_tag);

}  // namespace barrio::io
