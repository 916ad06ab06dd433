#pragma once

/// @file Generated box meshes of hexes or tets, with boundaries, geometric volumes and parts.

#include <array>
#include <cstdint>
#include <string>

#include "barrio/mesh/tables.hpp"

namespace barrio::mesh {

/// A box cut into a regular grid.
struct BoxOptions {
  std::array<std::int64_t, 3> n{8, 8, 8};     ///< cells along x, y, z; each >= 1
  std::array<double, 3> low{0.0, 0.0, 0.0};   ///< corner, model units
  std::array<double, 3> high{1.0, 1.0, 1.0};  ///< opposite corner; above `low` along each axis
  bool tets = false;                          ///< cut each hex into six tets around its diagonal (Kuhn)
  /// Geometric volumes along x, y, z: bricks of about equally many cells. More than one volume gives a model like one
  /// from CAD: see `make_box`.
  std::array<int, 3> volumes{1, 1, 1};
  /// Parts along x, y, z: boxes of whole hexes; 0: no partition. Part numbers run x first.
  std::array<int, 3> parts{0, 0, 0};
};

/// Make the tables of a box. Collective, without messages: each rank computes its slabs in closed form.
///
/// Vertices run x first; hexes too, volume after volume. The sets are the boundaries "x-", "x+", ... "z+" with their
/// faces, and a material per volume: "box", or "volume 1", "volume 2", ... Several volumes also give sets of geometry:
/// each volume with its cells, each surface between or around volumes with its faces, each curve with its edges, each
/// point with its vertex. For instance, 4 x 4 x 4 volumes have 64 materials, 240 surfaces, 300 curves and 125 points:
/// the model of Tautges et al. 2012, section I.C.
/// @throws AgreedError{usage} for n < 1, more than 2^31 vertices per rank, or more volumes or parts along an axis than
/// cells
MeshTables make_box(mpi::Context& context, const BoxOptions& options);

}  // namespace barrio::mesh
