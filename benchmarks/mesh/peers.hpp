#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "barrio/files/hdf5.hpp"
#include "benchmarks/mesh/files.hpp"

namespace barrio::bench {

/// Rows of a file that a peer loads: the rank's parts, which are contiguous since the file is in their order.
struct PeerTask {
  MeshFile file;
  files::Rows cells;
  files::Rows vertices;  ///< this rank's slab of coordinates, for any user
  std::int64_t first_id = 1;
  int ghost_layers = 1;

  [[nodiscard]] int nodes_per_cell() const noexcept { return file.is_tets ? 4 : 8; }
  [[nodiscard]] std::string connectivity() const {
    return std::string("/tstt/elements/") + (file.is_tets ? "Tet4" : "Hex8") + "/connectivity";
  }
};

/// Counts of a program's mesh, summed over ranks, if the program has them. Equal counts mean the same mesh.
struct PeerCounts {
  std::optional<std::int64_t> n_shared_vertices = {};  ///< each counted once
  std::optional<std::int64_t> n_ghosts = {};           ///< cells
  std::optional<std::uint64_t> ghost_hash = {};        ///< of the rows of ghosts, modulo 2^64
  std::optional<std::int64_t> n_faces = {};
  std::optional<std::int64_t> n_edges = {};
};

/// Return the hash of a ghost for `PeerCounts::ghost_hash`.
std::uint64_t ghost_hash(std::int64_t row, Rank rank) noexcept;

using Phases = std::map<std::string, double>;

/// Stopwatch for phases of one rank, by name.
class Laps {
 public:
  void lap(const std::string& name) {
    const double now = MPI_Wtime();
    phases_[name] += now - last_;
    last_ = now;
  }
  [[nodiscard]] const Phases& phases() const noexcept { return phases_; }

 private:
  double last_ = MPI_Wtime();
  Phases phases_;
};

/// Another program that builds a distributed mesh from a file. Made for one load.
class Peer {
 public:
  virtual ~Peer() = default;
  /// Load the mesh; timed. Collective. @return seconds of this rank by phase
  virtual Phases load(mpi::Context& context, const PeerTask& task) = 0;
  /// Count the loaded mesh, and check its contents. Collective. @throws Error{differs}
  virtual PeerCounts count(mpi::Context& context, const PeerTask& task) = 0;
  /// Make an exchange of a double on each ghost cell, to be timed; empty if the peer has no exchange. The values are
  /// the rows of cells, and are checked. Collective.
  virtual std::function<void()> make_exchange(mpi::Context& /*context*/) { return {}; }
};

/// A kind of peer, perhaps not in this build.
struct PeerKind {
  std::string name;
  std::string about;  ///< short description for --help
  bool has_sides = false;
  std::function<std::unique_ptr<Peer>()> make = {};  ///< collective; empty if this build lacks it
  std::string lacking = {};                          ///< why this build lacks it
};

std::vector<PeerKind> probe_kinds();
std::vector<PeerKind> dmplex_kinds();  ///< defined only with PETSc

const std::vector<PeerKind>& all_peers();
/// Return the peer of this name. @throws AgreedError{usage} if it is unknown, or not in this build
PeerKind find_peer(const std::string& name);

}  // namespace barrio::bench
