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

/// What a peer is to load: the rows of a file that the rank's parts are, all in a piece since the file is in their
/// order.
struct PeerTask {
  MeshFile file;
  files::Rows cells;
  files::Rows vertices;  ///< this rank's slab of coordinates, whoever uses them
  std::int64_t first_id = 1;
  int ghost_layers = 1;

  [[nodiscard]] int nodes_per_cell() const noexcept { return file.is_tets ? 4 : 8; }
  [[nodiscard]] std::string connectivity() const {
    return std::string("/tstt/elements/") + (file.is_tets ? "Tet4" : "Hex8") + "/connectivity";
  }
};

/// What the mesh of a program holds, summed over ranks; only what the program has. Equal numbers are the same mesh.
struct PeerCounts {
  std::optional<std::int64_t> n_shared_vertices = {};  ///< different ones
  std::optional<std::int64_t> n_ghosts = {};           ///< cells
  std::optional<std::uint64_t> ghost_hash = {};        ///< of the rows of ghosts, modulo 2^64
  std::optional<std::int64_t> n_faces = {};
  std::optional<std::int64_t> n_edges = {};
};

/// Hash of a ghost in `PeerCounts::ghost_hash`.
std::uint64_t ghost_hash(std::int64_t row, Rank rank) noexcept;

using Phases = std::map<std::string, double>;

/// Seconds between moments of one rank, by name.
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

/// Another program's way from a file to a distributed mesh. Made for one load.
class Peer {
 public:
  virtual ~Peer() = default;
  /// What is timed. Collective. @return seconds of this rank by phase
  virtual Phases load(mpi::Context& context, const PeerTask& task) = 0;
  /// Look at what was loaded, and check its contents. Collective. @throws Error{differs}
  virtual PeerCounts count(mpi::Context& context, const PeerTask& task) = 0;
  /// An exchange of a double on each ghost cell, ready to be timed; empty if the peer has none. The values are the rows
  /// of cells, and are checked. Collective.
  virtual std::function<void()> make_exchange(mpi::Context& /*context*/) { return {}; }
};

/// A peer there is, or one that this build lacks.
struct PeerKind {
  std::string name;
  std::string about;  ///< in a few words, for --help
  bool has_sides = false;
  std::function<std::unique_ptr<Peer>()> make = {};  ///< collective; empty if this build lacks it
  std::string lacking = {};                          ///< what this build lacks it for
};

std::vector<PeerKind> probe_kinds();
std::vector<PeerKind> dmplex_kinds();  ///< defined only with PETSc

const std::vector<PeerKind>& all_peers();
/// @throws AgreedError{usage} if there is no such peer, or not in this build
PeerKind find_peer(const std::string& name);

}  // namespace barrio::bench
