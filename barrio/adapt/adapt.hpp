#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/adapt/sizes.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::adapt {

struct AdaptOptions {
  double feature_angle = 40.0;  ///< degrees: edges where the boundary turns by more stay edges, at its angles corners
  /// Mean ratio: no change makes a cell worse than both this and what was there. Where cells are worse on the whole, as
  /// those of a thin plate are, 0.6 of their mean counts instead.
  double min_quality = 0.3;
  /// Whether cells move to other ranks before, by the cells that they are to become, and after, so that all ranks have
  /// as many.
  bool balances = true;
  bool leaves_out = false;  ///< go on without what cannot be kept yet, and name it: see AdaptReport::left_out
  /// Sets whose cells and faces stay as they are, with their vertices; also by kind and id, "material 3".
  std::vector<std::string> frozen_sets = {};
  SizeLimits limits = {};  ///< of the sizes that are wanted; growth is for those in a field
  /// Add a field of this name on cells, of two int64: the id of the cell in whose place a new one is, and 1 if it is
  /// not that cell unchanged. Empty: none.
  std::string parent_field = {};
  /// What the program keeps itself for cells or vertices, the same list on every rank: `pack` is called before,
  /// `unpack` for each local entity after, with what the one had that it is inherited from. Also where `adapt` throws,
  /// unless `pack` did.
  std::vector<mesh::Payload> payloads = {};
  double max_cells_per_rank = 1e8;  ///< sizes that would need more, in the mean, are refused
  double max_seconds = 1e9;         ///< rounds end after that; the mesh is a sound one, if not as wanted
};

/// What rounds of one kind of change came to, on all ranks.
struct ChangeCounts {
  std::int64_t n_made = 0;
  std::int64_t n_tried = 0;
  std::int64_t n_rounds = 0;
  std::int64_t n_passes = 0;  ///< in rounds: messages to each neighbour, at most 2 a round more
};

struct AdaptReport {
  std::int64_t n_cells_before = 0;
  std::int64_t n_cells = 0;
  std::int64_t n_unchanged = 0;  ///< cells that are as they were, but for their ids
  double min_quality = 0.0;      ///< mean ratio, 1 for a regular tetrahedron
  double mean_quality = 0.0;
  double in_range = 0.0;  ///< part of the edges between 1/sqrt(2) and sqrt(2) of the wanted length, those of each cell
  bool is_complete = true;  ///< false: the time was over before rounds had an end
  ChangeCounts splits;
  ChangeCounts collapses;
  ChangeCounts swaps;
  ChangeCounts moves;
  std::vector<std::string> left_out;  ///< what the mesh had and has no more: see AdaptOptions::leaves_out
  double seconds = 0.0;               ///< of this rank, in all
  double balance_seconds = 0.0;       ///< of that for moving cells
  double kernel_seconds = 0.0;        ///< of that in rounds
};

/// Change the cells of a mesh until its edges have the wanted lengths. Collective.
///
/// Tetrahedra change; hexes, prisms, pyramids and knives beside them stay as they are. Short edges are collapsed, long
/// ones split, bad cells swapped and their vertices moved, in rounds, until little is left to do. Faces of sets and the
/// boundary stay where they are: vertices move in its planes and along its edges. Sets keep their members: new cells
/// and listed faces are in the sets of those they lie in; vertices in sets stay. Coordinates, cells, ids and values are
/// the same, bit by bit, on any number of ranks and from any distribution. Ids are new, along a Hilbert curve; each
/// rank is one part; ghosts are as many layers as before. Ask again for fields, plans and spans.
///
/// Fields and tags go along. On vertices, fields of reals, and tags of reals that all vertices have, are linear: a
/// vertex in the middle of an edge gets the mean of its ends, one that moves gets what its cells say there. So linear
/// functions stay what they are, and no value leaves the range of those before. Everything else is inherited: a cell
/// has the values of the one in whose place it is, a new vertex those of an end of the edge that it halves.
/// @param mesh  replaced. @return what was done, the same on all ranks but for seconds
/// @throws AgreedError on all ranks, with the mesh as it was, though its cells may be on other ranks: {usage} for cells
/// of more nodes than corners, polyhedra, and a mesh of other cells alone; for values on faces or edges, values that
/// are entities, and listed edges, unless `leaves_out` (a tag GLOBAL_ID goes in any case, since ids are new); for sizes
/// that need too many cells; for payloads of other dimensions or that ranks do not have alike; {bad_input}
/// for an inverted or flat cell, a boundary that is no surface, or a size that is not above 0 and finite. What `size`
/// throws at a new vertex, or says there that is no size, comes after rounds have ended: then the mesh is a sound one,
/// adapted in part. Cost: see decision 0016. Source: Ovcharenko et al. 2012, section 6; Blelloch et al. 2012
AdaptReport adapt(mesh::Mesh& mesh, const SizeFunction& size, const AdaptOptions& options = {});

/// The same with sizes that a solver has computed: a field of one real number on vertices, or a tag of such that all
/// vertices have (see size_fields.hpp for sizes from errors). Sizes are linear between vertices, and stay in the field,
/// without the limits.
/// @throws AgreedError as above, and {usage} if there is no such field
AdaptReport adapt(mesh::Mesh& mesh, const std::string& size_field, const AdaptOptions& options = {});

}  // namespace barrio::adapt
