#pragma once

/// @file Joining of several meshes, whose vertices within a tolerance are merged, and of vertices known to be one.

#include <limits>
#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/mesh/tables.hpp"

namespace barrio::mesh {

/// Options of the joint between two pieces that differ from those of all joints.
struct JointOptions {
  int a;             ///< place in the list of pieces
  int b;             ///< place of the other piece; may be the lower one
  double tolerance;  ///< model units
};

/// Options of `join`, the same on all ranks.
struct JoinOptions {
  /// Largest distance at which vertices of different pieces are merged, model units; < 0: 1e-8 of the diagonal of all
  /// pieces together.
  double tolerance = -1.0;
  std::vector<JointOptions> joints = {};  ///< may be empty; of several for one joint the last counts
  /// Leave a joint open unless every vertex there has exactly one partner.
  bool require_conforming = false;
  /// Merge vertices of one piece too, as in a file whose parts were never merged. All its vertices are then examined.
  bool within_pieces = false;
};

/// Findings where two pieces meet: in the overlap of their bounding boxes, each grown by twice the tolerance. With a ==
/// b: within a piece, where most vertices have no partner.
struct Joint {
  int a = 0;                     ///< place in the list of pieces
  int b = 0;                     ///< place of the other piece, >= a
  double tolerance = 0.0;        ///< that counted for this joint, model units
  std::int64_t n_near = 0;       ///< vertices of both pieces in the region
  std::int64_t n_matched = 0;    ///< of these, those with a partner in the other piece
  std::int64_t n_ambiguous = 0;  ///< of these, those with more than one partner there
  std::int64_t n_chained = 0;    ///< those merged, through others, with a vertex beyond the tolerance
  double max_gap = 0.0;          ///< largest distance between partners
  double nearest_miss = std::numeric_limits<double>::infinity();  ///< smallest distance above the tolerance, up to
                                                                  ///< twice the tolerance; infinity if there is none
  bool is_joined = false;                                         ///< some vertices were merged
  /// Return the number of vertices in the region without a partner; 0 within a piece, where most have none.
  [[nodiscard]] std::int64_t n_unmatched() const noexcept { return a == b ? 0 : n_near - n_matched; }
};

/// Findings of `join`, the same on all ranks.
struct JoinReport {
  std::vector<Joint> joints;           ///< of pieces whose regions meet, by (a, b)
  std::int64_t n_vertices_before = 0;  ///< of all pieces together, global
  std::int64_t n_vertices = 0;         ///< of the result, global
};
/// Convert to JSON with the keys joints, vertices_before and vertices.
Json to_json(const JoinReport& report);

/// Result of `join`.
struct Joined {
  MeshTables tables;  ///< of the joined mesh, this rank's slabs
  JoinReport report;  ///< the same on all ranks
};

/// Merge pieces of a mesh by the positions of their vertices. Collective. The result does not depend on the rank count.
///
/// Vertices of different pieces within the tolerance become one: that of the first piece, lowest row. Elements keep
/// their order, piece after piece; blocks of one type become one. Sets of one kind, id and name become one, except sets
/// of geometry, ordered sets, and sets with neither meaning nor name. Parts are numbered piece after piece if all
/// pieces have some; otherwise the result has no parts. A tag that only some pieces have stays on their entities only;
/// a merged vertex has the values of the vertex that stays.
/// @throws AgreedError{usage} for an empty list of pieces, a joint of pieces that do not exist, or a tolerance that is
/// not finite; {bad_input} if a tag is not of the same type in all pieces; {differs} for a tolerance so wide that cells
/// would lose corners
/// Cost: memory O(slab and the values of tags on it); vertices near joints travel to ranks found by hashing space. Time
/// grows with the number of vertices near joints, whatever the tolerance: one wider than cells is refused before pairs
/// are compared.
/// Source: Tautges et al. 2012, section V; here space is hashed, so no rank has more than its share.
Joined join(mpi::Context& context, std::vector<MeshTables> pieces, const JoinOptions& options = {});

/// Two rows of vertices that are one vertex.
struct VertexPair {
  GlobalId a;  ///< row of a vertex
  GlobalId b;  ///< row of the other one; may be the lower one
};

/// Result of `merge_vertices`.
struct MergedVertices {
  std::int64_t n_merged = 0;            ///< number of vertices that became another one; the same on every rank
  std::vector<GlobalId> new_rows = {};  ///< of each row of this rank's slab before
};

/// Merge vertices by pairs of rows, whatever their positions. Collective. Pairs act through others too: with (1, 2) and
/// (2, 3), three vertices become one. The result does not depend on the rank count, nor on who holds which pair.
///
/// Of vertices that become one, the lowest row stays, with its coordinates; rows are numbered again, in their order.
/// Cells keep their rows. Sets keep their members; an ordered set that listed several of them lists one several times.
/// Of each tag, the value of the lowest row that has one stays. Values that are entities name the new rows.
///
/// A cell with several corners in one class becomes degenerate (see `validate_all_but_degenerate`): whether that is
/// meant, and what becomes of it (see `reduce_degenerate`), is the caller's choice.
/// @param[in] pairs  any pairs, on any ranks; repeated ones, and pairs of a row with itself, do no harm
/// @throws AgreedError{bad_input} naming `subject` if a row does not exist; the tables are then unchanged
/// Cost: memory O(slab + pairs of its vertices); all routes are without a collective call per rank. Rounds grow like
/// the logarithm of the longest chain of pairs.
MergedVertices merge_vertices(mpi::Context& context, MeshTables& tables, const std::vector<VertexPair>& pairs,
                              const std::string& subject);

}  // namespace barrio::mesh
