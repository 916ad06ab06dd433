#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/adapt/sizes.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::adapt {

struct AdaptOptions {
  double feature_angle = 40.0;  ///< degrees: edges where the boundary turns by more stay edges, at its angles corners
  double least_quality = 0.3;   ///< mean ratio: no change makes a cell worse than both this and what was there
  /// Whether cells move to other ranks before, by the cells that they are to become, and after, so that all ranks have
  /// as many.
  bool balances = true;
  bool leaves_out = false;  ///< go on without fields, tags and listed edges, which cannot be kept yet, and name them
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
/// Tetrahedra only. Short edges are collapsed, long ones split, bad cells swapped and their vertices moved, in rounds,
/// until little is left to do. Faces of sets and the boundary stay where they are: vertices move in its planes and
/// along its edges. Sets keep their members: new cells and listed faces are in the sets of those they lie in; vertices
/// in sets stay. Coordinates, cells and ids are the same, bit by bit, on any number of ranks and from any distribution.
/// Ids are new, along a Hilbert curve; each rank is one part; ghosts are as many layers as before. Ask again for plans
/// and spans.
/// @param mesh  replaced. @return what was done, the same on all ranks but for seconds
/// @throws AgreedError on all ranks, with the mesh as it was, though its cells may be on other ranks: {usage} for cells
/// that are no tetrahedra of 4 nodes, and for fields, tags and listed edges unless `leaves_out` (a tag GLOBAL_ID goes
/// in any case, since ids are new); {bad_input} for an inverted or flat cell, a boundary that is no surface, or a size
/// that is not above 0 and finite Cost: see decision 0016. Source: Ovcharenko et al. 2012, section 6; Blelloch et al.
/// 2012
AdaptReport adapt(mesh::Mesh& mesh, const SizeFunction& size, const AdaptOptions& options = {});

}  // namespace barrio::adapt
