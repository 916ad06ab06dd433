#pragma once

#include <memory>
#include <string>
#include <vector>

#include "barrio/io/read.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::io {

struct H5mOptions {
  /// Also list in each part's set the faces, edges and sets that belong to it: `mesh::compute_part_contents`. For
  /// readers that look for them by part; barrio's does not.
  bool full_parts = false;
  std::string partition_tag = default_partition_tag;  ///< marks the sets of parts
  bool with_fields = true;                            ///< of a Mesh: its fields become tags
};

/// Write tables as a .h5m file that the format's other readers open: vertices, elements, sets, and one set per part.
/// Collective; each rank writes its slabs. The file appears under its name when it is complete.
/// @throws AgreedError{failed} if it cannot be written; an old file of that name is untouched then; {usage} for a
/// partition tag whose name means something else, or is that of another tag of the mesh
void write_h5m(mpi::Context& context, const mesh::MeshTables& tables, const std::string& path,
               const H5mOptions& options = {});

/// Write a distributed mesh as a .h5m file, from which any number of ranks can go on: with sets, tags, parts, and
/// fields as tags, by the same global ids. Collective. For what a mesh keeps, and what becomes of ids where it has left
/// something out, see `mesh::to_tables`. The file is the same on any number of ranks if the parts are.
///
/// `read` gives the fields back as tags; a field that is added under the name of such a tag takes its place when the
/// mesh is written again.
/// @throws AgreedError as for tables and as `mesh::to_tables`; {usage} for a field or a tag whose name means something
/// else in .h5m files
void write_h5m(const mesh::Mesh& mesh, const std::string& path, const H5mOptions& options = {});

/// Write tables as a Medit file, binary if the path ends in `.meshb`, else as text. Collective; each rank writes its
/// slabs. The file appears under its name when it is complete, and is the same on any number of ranks.
///
/// The reference of a cell is the id of its material set, that of a listed side the id of its Neumann set, that of a
/// vertex the id of its Dirichlet set; 0 stands for none. Of several sets the first one counts. Sets of kind `other`
/// with the name of a list of Medit (Corners, Ridges, RequiredVertices, RequiredEdges, RequiredTriangles,
/// RequiredQuadrilaterals, RequiredTetrahedra) become that list. One notice names what Medit has no place for: other
/// sets, names of sets, tags, the partition. A mesh of faces with all vertices at z = 0 has two dimensions. Files are
/// of version 2, which old programs read, unless they are so large that numbers or positions need 64 bits: 3 beyond 2
/// GiB, 4 beyond 2^31.
/// @throws AgreedError{failed} if it cannot be written; an old file of that name is untouched then; {usage} for cells
/// of second order, polygons, knives and polyhedra
void write_medit(mpi::Context& context, const mesh::MeshTables& tables, const std::string& path);

/// What the pieces of a VTKHDF file are.
enum class Pieces {
  parts,              ///< one piece per part of the mesh: the file is the same for any number of ranks
  ranks_with_ghosts,  ///< one piece per rank, ghost cells included and marked by `vtkGhostType`; shows the distribution
};

struct VtkhdfOptions {
  Pieces pieces = Pieces::parts;
  std::vector<std::string> fields = {};  ///< vertex and cell fields to write, by name; their copies must be up to date
  bool has_steps = false;                ///< a time series: fields change from step to step, and the mesh may
  bool with_tags = false;                ///< also the tags on vertices and cells, as arrays of their names
};

/// Write a mesh and its fields as VTKHDF (unstructured grid, version 2), which ParaView 5.12 and VTK 9.3 and newer
/// read, with time steps if wanted. All verbs are collective.
/// Cell data besides fields and tags: `part`, `material` (id of the material set, 0 without), and for ranks_with_ghosts
/// `owner` and `rank`; a field or tag of such a name takes its place. A '/' in a name becomes '_'.
///
/// Tags of int32 and float64 keep type and components. Where an entity has no value it gets the tag's default; without
/// one it gets NaN, and the array is of float64 whatever the tag is. What has no place in VTKHDF is named in one
/// notice: values of bits, bytes, entities and of varying length, values on sets and on listed faces and edges, these
/// entities themselves, and sets other than materials.
class VtkhdfWriter {
 public:
  /// Write the geometry. @throws AgreedError{usage} for a field that does not exist, {failed} if the file cannot be
  /// written
  VtkhdfWriter(const mesh::Mesh& mesh, const std::string& path, VtkhdfOptions options = {});
  /// Without `close()` nothing appears under the file's name, and the log says so.
  ~VtkhdfWriter();
  /// Append the present values of the fields as a time step. Where the mesh's revision has grown, the mesh is written
  /// anew, with cell data and tags; what has not changed since the last step is not written again.
  /// @pre options.has_steps. @throws AgreedError{usage} for a field that the mesh no longer has, and for polyhedra that
  /// changed, for which VTKHDF has no place
  void write_step(double time);
  /// The same for another mesh, with the same fields and of the same context; the writer then refers to this one.
  void write_step(const mesh::Mesh& mesh, double time);
  /// Complete the file and give it its name.
  void close();

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

/// The formats that `write` knows.
enum class WrittenFormat { h5m, vtkhdf, medit };

/// The format that a path names by its suffix. Local.
/// @throws AgreedError{usage} for any other suffix, with "did you mean"
WrittenFormat written_format(const std::string& path);

/// Write a mesh with its fields and tags: as .h5m, for a restart, or as .vtkhdf, for pictures, with what is on vertices
/// and cells; or without them as .mesh or .meshb, for programs that speak Medit, such as Mmg. Collective. @throws as
/// written_format, before anything is written, and write_h5m, VtkhdfWriter or write_medit
void write(const mesh::Mesh& mesh, const std::string& path);

}  // namespace barrio::io
