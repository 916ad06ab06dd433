#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "barrio/base/slabs.hpp"
#include "barrio/mesh/cell_type.hpp"
#include "barrio/mesh/tags.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::mesh {

/// What a set of entities means to its users.
enum class SetKind : std::uint8_t { material, dirichlet, neumann, geometry, other };

std::string_view name(SetKind kind) noexcept;

/// A meaning that a set has besides its first one.
struct SetRole {
  SetKind kind;
  std::int32_t id;
  Dim geometry_dim;
};

/// A set that belongs to another set.
struct SetInSet {
  std::int32_t set;            ///< place in MeshTables::sets
  std::int64_t position = -1;  ///< in the contents of the other one, if that is ordered
};

/// A named set of entities and of other sets; which entities belong to it is kept elsewhere.
struct SetInfo {
  SetKind kind = SetKind::other;
  std::int32_t id = 0;             ///< the number users know it by (block id, side-set id)
  std::string name;                ///< may be empty
  Dim geometry_dim = Dim::vertex;  ///< for geometry sets: dimension of the CAD entity
  std::vector<SetRole> more_roles = {};
  bool is_ordered = false;                  ///< a list: order counts and members may repeat
  bool tracks_members = false;              ///< members shall know that they are in it
  std::vector<SetInSet> contained = {};     ///< may include the set itself and sets that contain it
  std::vector<std::int32_t> children = {};  ///< places in MeshTables::sets, as in a model's topology
  std::vector<std::int32_t> parents = {};

  /// The id that the set has in a kind. @return nothing if it is not of that kind
  [[nodiscard]] std::optional<std::int32_t> id_as(SetKind wanted) const noexcept;
};

/// Rows of one dimension that belong to a set. Any rank may hold it, not only their homes.
struct SetRows {
  std::int32_t set;  ///< place in MeshTables::sets
  Dim dim;           ///< of the rows; Dim::vertex for vertices
  std::int64_t first;
  std::int64_t count;
  std::int64_t position = -1;  ///< of the first row in an ordered set's contents; the others follow
};

/// Cells of one type and one number of nodes (or polygons of any), cut into slabs.
struct CellBlock {
  CellType type = CellType::tet;
  Slabs rows;                         ///< of this block alone
  int nodes_per_cell = 0;             ///< 0: varies, see offsets
  std::vector<std::int64_t> offsets;  ///< of this rank's cells, if the number varies; one longer than their number
  std::vector<GlobalId> nodes;        ///< vertex rows, cell after cell

  [[nodiscard]] std::span<const GlobalId> cell(std::size_t i) const& noexcept {
    if (nodes_per_cell > 0) {
      const std::size_t n = nodes_per_cell;
      return std::span<const GlobalId>(nodes).subspan(i * n, n);
    }
    const std::size_t first = offsets[i];
    return std::span<const GlobalId>(nodes).subspan(first, offsets[i + 1] - first);
  }
};

/// What a file says of the sets that are its parts, besides their cells. Each rank holds only its slice of the parts,
/// Slabs{n_parts, ranks}, so that no rank holds this for all parts.
struct PartSets {
  struct Tag {
    std::string name;    ///< of the tag of the mesh that defines the values
    TagOnSets on_parts;  ///< `sets` are parts of the slice
  };
  /// The numbers by which the file knows the parts, ascending; empty on all ranks if they are 0, 1, 2, ...
  std::vector<std::int64_t> values = {};
  std::vector<Tag> tags = {};  ///< the same list on every rank
};

/// Drop what a file said of parts that no longer exist. Local; the log names the tags that go.
void drop_part_sets(mpi::Context& context, PartSets& sets);

/// A mesh as flat tables, each cut by rows into one contiguous slab per rank. This is what files hold and what readers,
/// generators and partitioners exchange; `Mesh` is what computations use.
///
/// A vertex is known by its row, 0-based: that is its GlobalId. A cell of dimension d is known by its row among all
/// cells of that dimension, the blocks of the dimension counted one after the other in their order here.
struct MeshTables {
  Slabs vertices;
  std::vector<double> coordinates;  ///< shape (this rank's rows, 3), model units
  std::vector<CellBlock> blocks;    ///< the same list of blocks on every rank
  std::vector<SetInfo> sets;        ///< the same on every rank
  std::vector<SetRows> members;     ///< this rank's share
  std::vector<TagTable> tags;       ///< the same list on every rank
  int n_parts = 0;                  ///< 0: no partition
  /// Part of each of this rank's cells of the top dimension, the blocks' slabs one after the other; empty if n_parts is
  /// 0.
  std::vector<std::int32_t> parts;
  PartSets part_sets;  ///< of the file that the parts are from

  /// Highest dimension of cells; Dim::vertex without cells.
  [[nodiscard]] Dim top_dim() const noexcept;
  [[nodiscard]] std::int64_t n_global(Dim dim) const noexcept;
  /// How the rows of a block are shared out; -1: those of vertices.
  [[nodiscard]] const Slabs& slabs_of(std::int32_t block) const& noexcept {
    return block < 0 ? vertices : blocks[block].rows;
  }
  /// Row, in its dimension, of the first cell of a block.
  [[nodiscard]] std::int64_t first_row(std::size_t block) const noexcept;
  /// The rank whose slab holds a row of a dimension. @pre the row exists
  [[nodiscard]] Rank home(Dim dim, std::int64_t row) const noexcept;
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
};

/// Compute the centre of each of this rank's top cells: the mean of its corner vertices. Collective.
/// Sums run in corner order, so the result does not depend on the rank count.
/// @return shape (cells, 3). Cost: one request to the homes of the vertices and one answer
std::vector<double> compute_centres(mpi::Context& context, const MeshTables& tables);

/// Global ids of this rank's top cells, in the order of `MeshTables::parts`. Local.
std::vector<GlobalId> top_ids(mpi::Context& context, const MeshTables& tables);

/// Rows of the top dimension that are in a part. Any rank may hold it, not only their homes.
struct PartRows {
  std::int64_t first;
  std::int32_t count;
  std::int32_t part;
};

/// Give cells the parts that runs of rows name. Collective. Fills `tables.parts` and `tables.n_parts`.
/// @param rows  consumed. Cells that no run names get part -1, which `validate` reports.
/// @throws AgreedError{bad_input} naming `subject` if a cell is in two parts
/// Cost: one routed exchange of 16 bytes a run; runs that cover more than 64 slabs are handed on in pieces.
void assign_parts(mpi::Context& context, MeshTables& tables, std::vector<PartRows> rows, int n_parts,
                  const std::string& subject);

/// Check rows, connectivity, sets and parts. Collective.
/// @throws AgreedError{bad_input} naming `subject` and the first fault: a vertex that does not exist, a coordinate
/// that is not a number, a cell in no part
void validate(mpi::Context& context, const MeshTables& tables, const std::string& subject);

/// The same, but a cell may have one vertex at two corners (see `reduce_degenerate`). Collective.
/// @return whether any has, the same on every rank
bool validate_all_but_degenerate(mpi::Context& context, const MeshTables& tables, const std::string& subject);

/// Move cells so that those of a part stand together, parts in ascending order, and renumber vertices by first use.
/// Collective. Within a part the old order is kept. Sets follow. A partitioned file in this order is read in
/// contiguous pieces.
/// @pre tables.n_parts > 0
MeshTables reorder_by_part(mpi::Context& context, MeshTables tables);

}  // namespace barrio::mesh
