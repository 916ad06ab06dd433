#pragma once

/// @file Meshes from the arrays of a program: as tables, or distributed.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "barrio/mesh/mesh.hpp"

namespace barrio::mesh {

/// One rank's share of a mesh that a program has in arrays. Any rank gives any share, or nothing; exactly one rank
/// gives each cell. All spans are borrowed. `CellType::vertex` stands for the vertices.
struct MeshArrays {
  /// Cells of one type.
  struct Cells {
    CellType type = CellType::tet;               ///< any but CellType::vertex
    int nodes_per_cell = 0;                      ///< the same on every rank; 0: varies, see offsets
    std::span<const std::int64_t> offsets = {};  ///< if it varies: one longer than the number of cells
    std::span<const std::int64_t> nodes = {};    ///< vertices, cell after cell
    std::span<const std::int32_t> parts = {};    ///< of each top cell; on all ranks or on none
    /// Return the number of cells of the type that this rank gives.
    [[nodiscard]] std::size_t size() const noexcept;
  };
  /// Members of a set: places among this rank's vertices, or among its cells of a type.
  struct Members {
    CellType type;                         ///< CellType::vertex: members are vertices
    std::span<const std::int64_t> places;  ///< 0-based
  };
  /// A set, with the members that this rank gives.
  struct Set {
    SetInfo info;                       ///< the same on every rank
    std::vector<Members> members = {};  ///< of this rank; may be empty
  };
  /// One row of numbers for each of this rank's vertices, or for each of its cells of a type.
  struct Values {
    CellType type;                     ///< CellType::vertex: values of vertices
    std::span<const std::byte> bytes;  ///< row after row, each of `TagInfo::value_bytes` bytes
  };
  /// A tag, with the values that this rank gives.
  struct Tag {
    TagInfo info;                     ///< int32 or float64; the same on every rank that has values
    std::vector<Values> values = {};  ///< of this rank, each type at most once; may be empty
  };

  std::span<const double> coordinates = {};  ///< shape (n, 3), model units
  /// Numbers by which nodes name the vertices, >= 0, in any order. Ranks that give the same vertex give the same
  /// coordinates. Empty on all ranks: the vertices are numbered 0, 1, 2, ... rank by rank.
  std::span<const std::int64_t> vertex_ids = {};
  std::vector<Cells> cells = {};  ///< each type at most once
  std::vector<Set> sets = {};     ///< the same list on every rank
  std::vector<Tag> tags = {};     ///< the same list on every rank
  int n_parts = 0;                ///< 0: one more than the highest part

  /// Append a set without members. Local. The reference is valid until another set is added.
  Set& add_set(SetKind kind, std::int32_t id, std::string name);
  /// Append a tag without values. Local. The reference is valid until another tag is added.
  Tag& add_tag(std::string name, TagType type, int n_components = 1);
};

/// Make tables from the arrays of all ranks. Collective.
///
/// The global ids of vertices are the numbers by which nodes name them. Gaps close up: each id becomes the number of
/// given ids below it. Cells of a dimension are numbered type by type in the order of `CellType`, and within a type
/// rank by rank in the order given. If several ranks give one vertex, the tag value of the lowest rank counts.
/// @throws AgreedError{usage} for arrays that do not fit each other or differ between ranks, {bad_input} for
/// coordinates that are not finite, ids that do not exist, parts out of range and all errors that `validate` finds
/// Cost: one routed exchange for vertices, one for each type of cells and each array of a tag; with ids three more, and
/// two if these have gaps. Memory O(given + slab).
[[nodiscard]] MeshTables tables_from_arrays(mpi::Context& context, const MeshArrays& arrays);

/// Options of `mesh_from_arrays`, the same on all ranks.
struct FromArraysOptions {
  std::string partitioner = "rcb";  ///< for arrays without parts: into n_parts, or one per rank
  BuildOptions build = {};          ///< ghosts of the mesh
};

/// Make a distributed mesh from the arrays of all ranks. Collective. To leave cells on the ranks that give them, set
/// the part of each cell to its rank, with as many parts as ranks.
/// @throws AgreedError as tables_from_arrays, partition_cells and the mesh
[[nodiscard]] Mesh mesh_from_arrays(mpi::Context& context, const MeshArrays& arrays,
                                    const FromArraysOptions& options = {});

}  // namespace barrio::mesh
