#pragma once

/// @file Adaptation of a mesh of tetrahedra to wanted edge lengths: adapt(), its options and its report.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "barrio/adapt/sizes.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::adapt {

/// Cause that keeps a vertex at an edge below 1/sqrt(2) of the wanted length; or that it ends a long edge.
enum class HeldBy : std::int32_t {
  nothing = 0,    ///< it has no such edge
  curved = 1,     ///< a surface or line that is not flat or straight there
  fixed = 2,      ///< it is a corner, or sets of vertices hold it
  frozen = 3,     ///< a frozen cell or face
  quality = 4,    ///< cells would get too bad, or edges too long
  long_edge = 5,  ///< it has an edge of more than twice the wanted length, and none that is too short
};

/// Options of `adapt()`; the same on all ranks.
struct AdaptOptions {
  /// Degrees. Where the boundary turns by more there is a feature edge; where feature edges turn by more, a corner.
  double feature_angle = 40.0;
  /// Model units. Vertices leave planes and straight lines by no more than that; where the boundary and the faces of
  /// sets turn by more, they keep their vertices. 0: a few units of the last digit that the coordinates have, at most
  /// 1e-5 of the diagonal of the mesh, and at least 1e-11 of it.
  double tolerance = 0.0;
  /// Mean ratio. No change but the halving of an edge makes a cell worse than both this and the worst cell that it
  /// replaces. The limit is at most 0.6 of the mean over the mesh, which matters where cells are bad on the whole, as
  /// in a thin plate.
  double min_quality = 0.3;
  /// Move cells between ranks: before, to balance the predicted work, and after, to balance the number of cells.
  bool balances = true;
  bool leaves_out = false;  ///< drop data that cannot be kept yet instead of refusing: see AdaptReport::left_out
  /// Sets, by name or as "material 3", whose cells and faces stay as they are, with their vertices.
  std::vector<std::string> frozen_sets = {};
  SizeLimits limits = {};  ///< of the wanted sizes; growth applies to sizes in a field only
  /// Name of a field to add on cells, two int64 each: the number of the parent, which is the old cell in whose place
  /// the new one is, from 1 as GLOBAL_ID in files; and 0 if the cell is its parent unchanged, else 1. Empty: no field.
  std::string parent_field = {};
  /// Name of a field to add on vertices, one int32 each: a HeldBy, 0 elsewhere. Empty: no field.
  std::string held_field = {};
  /// Data that the program itself keeps for cells or vertices; the same list on every rank. `pack` is called before,
  /// `unpack` afterwards for each local entity, with the data of its parent. If `adapt` throws, `unpack` is called all
  /// the same, unless `pack` threw.
  std::vector<mesh::Payload> payloads = {};
  /// Sizes that would need more cells, averaged over ranks, are refused. 0: as many as the memory that the nodes have
  /// available takes, at 320 bytes each.
  double max_cells_per_rank = 0.0;
  double max_seconds = 1e9;  ///< rounds end after that; the mesh is then valid, but not fully adapted
  /// Called between rounds on every rank with an estimate of the part that is done, from 0 to 1, ascending. It differs
  /// between ranks, must not communicate, and must not throw. Empty: not called.
  std::function<void(double)> progress = {};
};

/// Totals of one operator, over all ranks.
struct ChangeCounts {
  std::int64_t n_made = 0;    ///< changes made
  std::int64_t n_tried = 0;   ///< candidates of which the cavity was examined
  std::int64_t n_rounds = 0;  ///< of the operator; all ranks take part in each
  std::int64_t n_passes = 0;  ///< of all rounds: one message a pass to each neighbour, and at most 2 more a round
};

/// Edges by length in units of the wanted one, each counted once, over all ranks; and vertices at edges below
/// 1/sqrt(2), by what keeps them from leaving.
struct EdgeCounts {
  std::int64_t n_edges = 0;            ///< edges of tetrahedra, after the last round
  std::int64_t n_in_range = 0;         ///< from 1/sqrt(2) to sqrt(2)
  std::int64_t n_beyond = 0;           ///< longer than 2
  std::int64_t n_held_curved = 0;      ///< vertices on a surface or line that is not flat or straight there
  std::int64_t n_held_fixed = 0;       ///< corners, and vertices that sets of vertices hold
  std::int64_t n_held_frozen = 0;      ///< vertices of frozen cells and faces
  std::int64_t n_held_by_quality = 0;  ///< the others: cells would get too bad, or edges too long
};

/// Length of the edges of a set, area of its faces or volume of its cells, before and after.
struct SetMeasure {
  std::string name;                   ///< of the set, or its kind and id; empty for the whole mesh
  std::int32_t set = -1;              ///< place among the sets of the mesh; -1 for the whole mesh
  mesh::Dim dim = mesh::Dim::volume;  ///< edge: a length, face: an area
  double before = 0.0;                ///< model units to the power of `dim`, in the mesh that was given
  double after = 0.0;                 ///< the same, in the adapted mesh
};

/// Outcome of `adapt()`; the same on all ranks, except the times.
struct AdaptReport {
  std::int64_t n_cells_before = 0;    ///< cells of all types, global, without ghosts
  std::int64_t n_cells = 0;           ///< the same, in the adapted mesh
  std::int64_t n_unchanged = 0;       ///< cells of which only the id has changed
  double min_quality = 0.0;           ///< mean ratio, 1 for a regular tetrahedron
  double mean_quality = 0.0;          ///< mean ratio, averaged over all tetrahedra; 0 without any
  double tolerance = 0.0;             ///< model units, that of planes and straight lines: see AdaptOptions::tolerance
  double in_range = 0.0;              ///< part of the edges from 1/sqrt(2) to sqrt(2) of the wanted length
  EdgeCounts edges;                   ///< in the adapted mesh
  double n_cells_wanted = 0.0;        ///< estimate, from the sizes at the cells before
  bool is_complete = true;            ///< false: max_seconds ended the rounds early
  ChangeCounts splits;                ///< halvings of long edges
  ChangeCounts collapses;             ///< removals of vertices at short edges
  ChangeCounts swaps;                 ///< new connections of the same vertices, for better cells
  ChangeCounts moves;                 ///< moves of vertices of bad cells
  std::vector<SetMeasure> measures;   ///< of the whole mesh, and of each set with edges, faces or cells
  std::vector<std::string> left_out;  ///< names of the data that was dropped: see AdaptOptions::leaves_out
  double seconds = 0.0;               ///< total on this rank
  double balance_seconds = 0.0;       ///< part of it spent moving cells between ranks
  double kernel_seconds = 0.0;        ///< part of it spent in rounds
};

/// Change the cells of a mesh until its edges have the wanted lengths. Collective.
///
/// Tetrahedra change; hexes, prisms, pyramids and knives beside them stay as they are. Rounds of operators collapse
/// short edges, split long ones, swap bad cells and move their vertices, until few changes are left. The boundary and
/// the faces of sets keep their shape: vertices on them move in planes and along feature edges only. Listed edges are
/// feature edges. Sets keep their members: new cells and listed sides are in the sets of those they lie in; vertices in
/// sets stay. Coordinates, cells, ids and values are the same, bit by bit, on any number of ranks and from any
/// distribution. Ids are new, along a Hilbert curve; each rank is one part; the number of ghost layers is kept. Ask
/// again for fields, plans and spans.
///
/// Fields and tags are transferred. Fields of reals on vertices, and tags of reals that all vertices have, are linear
/// between vertices: a vertex that splits an edge gets the mean of its ends, a vertex that moves gets the value of its
/// cells at the new point. Linear functions are kept, and no value leaves the range before. All other values are
/// inherited: a cell has those of its parent, a new vertex those of one end of the edge that it splits, listed faces
/// and edges those of the side that they are part of.
/// @param mesh  replaced. @return counts, quality and times; all but the times are the same on all ranks
/// @throws AgreedError on all ranks, with the mesh as it was, though its cells may be on other ranks: {usage} for cells
/// or listed sides of more nodes than corners, polyhedra, and a mesh of one cell type other than tetrahedra; for values
/// that are entities, and a field or tag with more than 1 000 different values on faces or edges, unless `leaves_out`
/// (a tag GLOBAL_ID is dropped in any case, since ids are new); for sizes that need too many cells; for payloads on
/// other dimensions, or that differ between ranks; {bad_input} for an inverted or flat cell, a boundary that is not a
/// surface, or a size that is not above 0
/// and finite. If `size` throws or is invalid at a new vertex only, the error comes after the rounds have ended: the
/// mesh is then valid, and adapted in part.
/// Cost: see decision 0016. Source: Ovcharenko et al. 2012, section 6; Blelloch et al. 2012
AdaptReport adapt(mesh::Mesh& mesh, const SizeFunction& size, const AdaptOptions& options = {});

/// Adapt to sizes that the mesh has: a field of one real number on vertices, or a tag of such numbers that all vertices
/// have (size_fields.hpp makes sizes from errors). Sizes are linear between vertices; the field keeps those given,
/// without the limits. Collective.
/// @throws AgreedError as above, and {usage} if there is no such field
AdaptReport adapt(mesh::Mesh& mesh, const std::string& size_field, const AdaptOptions& options = {});

}  // namespace barrio::adapt
