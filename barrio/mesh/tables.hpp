#pragma once

/// @file Meshes as flat tables, cut by rows into one slab per rank, as files hold them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "barrio/base/slabs.hpp"
#include "barrio/mesh/cell_type.hpp"
#include "barrio/mesh/tags.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::mesh {

/// Meaning of a set of entities.
enum class SetKind : std::uint8_t {
  material,   ///< cells of one material or block
  dirichlet,  ///< vertices of a boundary condition, a node set
  neumann,    ///< faces or edges of a boundary condition, a side set
  geometry,   ///< entities on a point, curve, surface or volume of a CAD model
  other,      ///< none of these
};

/// Return the name of a kind, that of its enumerator, as in messages: "material".
std::string_view name(SetKind kind) noexcept;

/// A meaning of a set besides its first one.
struct SetRole {
  SetKind kind;      ///< another one than the set's first
  std::int32_t id;   ///< of the set in this kind
  Dim geometry_dim;  ///< for geometry: dimension of the CAD entity
};

/// A set contained in another set.
struct SetInSet {
  std::int32_t set;            ///< place in MeshTables::sets
  std::int64_t position = -1;  ///< in the contents of the containing set, if that is ordered
};

/// Definition of a named set of entities and of other sets; its entities are stored elsewhere (`SetRows`).
struct SetInfo {
  SetKind kind = SetKind::other;            ///< the first meaning
  std::int32_t id = 0;                      ///< the number users know it by (block id, side-set id)
  std::string name;                         ///< may be empty
  Dim geometry_dim = Dim::vertex;           ///< for geometry sets: dimension of the CAD entity
  std::vector<SetRole> more_roles = {};     ///< meanings in other kinds; may be empty
  bool is_ordered = false;                  ///< a list: order counts and members may repeat
  bool tracks_members = false;              ///< members must know that they are in it
  std::vector<SetInSet> contained = {};     ///< may include the set itself and sets that contain it
  std::vector<std::int32_t> children = {};  ///< places in MeshTables::sets, as in a model's topology
  std::vector<std::int32_t> parents = {};   ///< likewise: sets that have this one as a child

  /// Return the id that the set has in a kind, or nothing if it is not of that kind.
  [[nodiscard]] std::optional<std::int32_t> id_as(SetKind wanted) const noexcept;
};

/// Rows of one dimension that belong to a set. Any rank may hold them, not only their homes.
struct SetRows {
  std::int32_t set;            ///< place in MeshTables::sets
  Dim dim;                     ///< of the rows; Dim::vertex for vertices
  std::int64_t first;          ///< the first row, among all of its dimension
  std::int64_t count;          ///< of consecutive rows
  std::int64_t position = -1;  ///< of the first row in an ordered set's contents; the others follow
};

/// Cells of one type and one number of nodes (which may vary for polygons and polyhedra), cut into slabs.
struct CellBlock {
  CellType type = CellType::tet;      ///< of all cells of the block
  Slabs rows;                         ///< of this block alone
  int nodes_per_cell = 0;             ///< 0: varies, see offsets
  std::vector<std::int64_t> offsets;  ///< of this rank's cells, if the number varies; one longer than their number
  std::vector<GlobalId> nodes;        ///< vertex rows, cell after cell

  /// Return the nodes of a cell, as vertex rows.
  /// @param i  place in this rank's slab
  [[nodiscard]] std::span<const GlobalId> cell(std::size_t i) const& noexcept {
    if (nodes_per_cell > 0) {
      const std::size_t n = nodes_per_cell;
      return std::span<const GlobalId>(nodes).subspan(i * n, n);
    }
    const std::size_t first = offsets[i];
    return std::span<const GlobalId>(nodes).subspan(first, offsets[i + 1] - first);
  }
};

/// Data of a file on the sets that are its parts, besides their cells. Each rank holds only its slice of the parts,
/// Slabs{n_parts, ranks}, so that no rank holds the data of all parts.
struct PartSets {
  /// Values of a tag on parts.
  struct Tag {
    std::string name;    ///< of the mesh's tag that defines the values
    TagOnSets on_parts;  ///< `sets` are parts of the slice
  };
  /// Numbers of the parts in the file, ascending; empty on all ranks if they are 0, 1, 2, ...
  std::vector<std::int64_t> values = {};
  std::vector<Tag> tags = {};  ///< the same list on every rank
};

/// Drop a file's data on parts that no longer exist. Local; the log names the tags that are lost.
void drop_part_sets(mpi::Context& context, PartSets& sets);

/// A mesh as flat tables, each cut by rows into one contiguous slab per rank. Files hold tables, and readers,
/// generators and partitioners exchange them; computations use `Mesh`.
///
/// The identity of a vertex is its row, 0-based: that is its GlobalId. The identity of a cell of dimension d is its row
/// among all cells of that dimension; the blocks of the dimension are counted one after the other in their order here.
struct MeshTables {
  Slabs vertices;                   ///< rows of vertices
  std::vector<double> coordinates;  ///< shape (this rank's rows, 3), model units
  std::vector<CellBlock> blocks;    ///< the same list of blocks on every rank
  std::vector<SetInfo> sets;        ///< the same on every rank
  std::vector<SetRows> members;     ///< this rank's share
  std::vector<TagTable> tags;       ///< the same list on every rank
  int n_parts = 0;                  ///< 0: no partition
  /// Part of each of this rank's top cells, the blocks' slabs one after the other; empty if n_parts is 0.
  std::vector<std::int32_t> parts;
  PartSets part_sets;  ///< of the file that the parts are from

  /// Return the highest dimension of cells; Dim::vertex without cells.
  [[nodiscard]] Dim top_dim() const noexcept;
  /// Return the number of rows of a dimension on all ranks. Local.
  [[nodiscard]] std::int64_t n_global(Dim dim) const noexcept;
  /// Return the distribution of a block's rows; -1: that of vertices.
  [[nodiscard]] const Slabs& slabs_of(std::int32_t block) const& noexcept {
    return block < 0 ? vertices : blocks[block].rows;
  }
  /// Return the row, in its dimension, of the first cell of a block.
  [[nodiscard]] std::int64_t first_row(std::size_t block) const noexcept;
  /// Return the rank whose slab holds a row of a dimension.
  /// @pre the row exists
  [[nodiscard]] Rank home(Dim dim, std::int64_t row) const noexcept;
  /// Return the bytes of this rank's slabs, sets and parts, without tags.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
};

/// Compute the centre of each of this rank's top cells: the mean of its corner vertices. Collective.
/// Sums run in corner order, so the result does not depend on the rank count.
/// @return shape (cells, 3)
/// Cost: one request to the homes of the vertices and one answer
std::vector<double> compute_centres(mpi::Context& context, const MeshTables& tables);

/// Return the global ids of this rank's top cells, in the order of `MeshTables::parts`. Local.
std::vector<GlobalId> top_ids(mpi::Context& context, const MeshTables& tables);

/// Rows of the top dimension that belong to a part. Any rank may hold them, not only their homes.
struct PartRows {
  std::int64_t first;  ///< the first row, among all of the top dimension
  std::int32_t count;  ///< of consecutive rows
  std::int32_t part;   ///< 0-based
};

/// Assign parts to cells, from runs of rows. Collective. Fills `tables.parts` and `tables.n_parts`.
/// @param rows  consumed. Cells in no run get part -1, which `validate` reports.
/// @throws AgreedError{bad_input} naming `subject` if a cell is in two parts
/// Cost: one routed exchange of 16 bytes a run; runs that cover more than 64 slabs are forwarded in pieces.
void assign_parts(mpi::Context& context, MeshTables& tables, std::vector<PartRows> rows, int n_parts,
                  const std::string& subject);

/// Check rows, connectivity, sets and parts. Collective.
/// @throws AgreedError{bad_input} naming `subject` and the first fault: a vertex that does not exist, a coordinate
/// that is not a number, a cell in no part
void validate(mpi::Context& context, const MeshTables& tables, const std::string& subject);

/// Check the same, but allow cells with one vertex at two corners (see `reduce_degenerate`). Collective.
/// @return whether there is such a cell, the same on every rank
bool validate_all_but_degenerate(mpi::Context& context, const MeshTables& tables, const std::string& subject);

/// Move cells so that those of a part are contiguous, parts in ascending order, and renumber vertices by first use.
/// Collective. Cells of a part keep their order. Sets follow. A partitioned file in this order is read in contiguous
/// pieces.
/// @pre tables.n_parts > 0
MeshTables reorder_by_part(mpi::Context& context, MeshTables tables);

}  // namespace barrio::mesh
