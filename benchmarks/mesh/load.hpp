#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benchmarks/mesh/change.hpp"
#include "benchmarks/mesh/files.hpp"
#include "benchmarks/mesh/peers.hpp"

namespace barrio::bench {

/// Figures of another program for the same file; times as in LoadFigures.
struct PeerFigures {
  std::string name;
  double seconds = 0.0;
  Phases phases = {};
  double cell_exchange_seconds = 0.0;  ///< 0: it has no exchange
  bool has_sides = false;              ///< makes all faces and edges too
  PeerCounts counts = {};
};

/// Figures of one mesh: times of the slowest rank in the repetition with the fastest load.
struct LoadFigures {
  MeshFile file;
  double load_seconds = 0.0;             ///< from opening the file to a mesh with ghosts
  Phases phases;                         ///< seconds by region
  std::int64_t n_ghosts = 0;             ///< cells, all ranks
  std::uint64_t ghost_hash = 0;          ///< as in PeerCounts
  std::int64_t n_shared_vertices = 0;    ///< each counted once, on its owner
  std::int64_t memory_bytes = 0;         ///< all ranks, `Mesh::memory_bytes`
  double resident_growth_bytes = 0.0;    ///< all ranks, of the first load, without freed memory
  double peak_growth_bytes = 0.0;        ///< all ranks, peak of the first load
  double vertex_exchange_seconds = 0.0;  ///< one double on each copy of a vertex
  double cell_exchange_seconds = 0.0;    ///< one double on each ghost cell
  double all_sides_seconds = 0.0;        ///< all faces and all edges numbered, owned, shared
  std::int64_t n_faces = 0;
  std::int64_t n_edges = 0;
  std::uint64_t checksum = 0;
  std::optional<ChangeFigures> change;
  std::vector<PeerFigures> peers;
};

/// Load a mesh repeatedly, check it, and time the load; the peers load it too in each repetition. Collective.
/// @throws AgreedError{differs} if a peer's mesh differs, or a peer's exchange gives wrong values
/// @throws AgreedError{internal} if counts differ from the closed form, or an exchanged value from its owner's
LoadFigures measure_load(mpi::Context& context, const MeshOptions& options, const MeshFile& file);

/// Compare the peers' counts with barrio's.
/// @throws AgreedError{differs} with the peer and both numbers
void check_peers(const LoadFigures& figures);

}  // namespace barrio::bench
