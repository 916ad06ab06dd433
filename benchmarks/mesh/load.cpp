#include "benchmarks/mesh/load.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/base/slabs.hpp"
#include "barrio/files/h5m.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mesh/sides.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::bench {
namespace {

[[noreturn]] void wrong(const std::string& what) {
  throw Error(ErrorCode::internal, {.subject = "bench mesh", .cause = what, .remedy = "this is a bug in barrio"});
}

Phases seconds_by_region(const Trace& trace) {
  Phases all;
  for (const RegionTotal& total : trace.totals()) all[total.name] = total.seconds;
  return all;
}

/// Return the resident bytes, without free memory of the allocator.
std::uint64_t held_bytes() {
  ::malloc_trim(0);
  return resident_bytes();
}

void check_counts(mpi::Context& context, const MeshFile& file, const mesh::Mesh& mesh) {
  using mesh::Dim;
  agree_after(context, [&] {
    const std::int64_t n_sides = mesh.n_global(Dim::face) + mesh.n_global(Dim::edge);
    if (mesh.n_global(Dim::volume) != file.n_cells || mesh.n_global(Dim::vertex) != file.n_vertices ||
        n_sides != file.n_sides || static_cast<std::int64_t>(mesh.sets().size()) + mesh.n_parts() != file.n_sets) {
      wrong(fmt::format("{}: {} cells, {} vertices, {} sides, {} sets; expected {}, {}, {}, {}", file.path,
                        mesh.n_global(Dim::volume), mesh.n_global(Dim::vertex), n_sides,
                        mesh.sets().size() + static_cast<std::size_t>(mesh.n_parts()), file.n_cells, file.n_vertices,
                        file.n_sides, file.n_sets));
    }
  });
}

/// Return the min time of an exchange, as the mean of a batch.
template <class Exchange>
double shortest(mpi::Context& context, Exchange&& exchange) {
  constexpr int n_batches = 20;
  constexpr int n_exchanges = 50;
  double best = 1e9;
  for (int batch = 0; batch < n_batches; ++batch) {
    mpi::barrier(context);
    const double begin = MPI_Wtime();
    for (int i = 0; i < n_exchanges; ++i) exchange();
    best = std::min(best, mpi::max(context, MPI_Wtime() - begin) / n_exchanges);
  }
  return best;
}

/// Time an exchange of one double, and check its contents.
double time_exchange(mpi::Context& context, mesh::Mesh& mesh, mesh::Dim dim) {
  auto field = mesh.add_field<double>("bench", dim);
  const std::vector<GlobalId>& ids =
      dim == mesh::Dim::vertex ? mesh.vertices().global_ids : mesh.entities(dim).global_ids;
  for (std::size_t i = 0; i < mesh.n_owned(dim); ++i) field.values()[i] = static_cast<double>(value(ids[i]));
  auto halo = mesh.plan(field);
  halo.exchange();
  agree_after(context, [&] {
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (field.values()[i] != static_cast<double>(value(ids[i]))) wrong("received a wrong value in an exchange");
  });
  return shortest(context, [&] { halo.exchange(); });
}

/// Time all faces and edges. Their numbers must obey Euler's formula for a ball: V - E + F - C = 1.
void time_all_sides(mpi::Context& context, const MeshOptions& options, const mesh::Mesh& mesh, LoadFigures& figures) {
  figures.all_sides_seconds = 1e9;
  for (int repeat = 0; repeat < options.n_repeats; ++repeat) {
    mpi::barrier(context);
    const double begin = MPI_Wtime();
    const mesh::Sides faces(mesh, mesh::Dim::face);
    const mesh::Sides edges(mesh, mesh::Dim::edge);
    figures.all_sides_seconds = std::min(figures.all_sides_seconds, mpi::max(context, MPI_Wtime() - begin));
    figures.n_faces = faces.table().n_global;
    figures.n_edges = edges.table().n_global;
  }
  agree_after(context, [&] {
    if (figures.file.n_vertices - figures.n_edges + figures.n_faces - figures.file.n_cells != 1)
      wrong(fmt::format("{} faces and {} edges break Euler's formula", figures.n_faces, figures.n_edges));
  });
}

/// Make the task of the peers: the rows of this rank's parts.
PeerTask make_task(mpi::Context& context, const MeshOptions& options, const MeshFile& file, const mesh::Mesh& mesh) {
  const std::span<const GlobalId> owned = std::span(mesh.cells().global_ids).first(mesh.n_owned(mesh::Dim::volume));
  const Slabs vertices{file.n_vertices, context.size()};
  PeerTask task{.file = file,
                .cells = {0, static_cast<std::int64_t>(owned.size())},
                .vertices = {vertices.first(context.rank()), static_cast<std::int64_t>(vertices.size(context.rank()))},
                .first_id = files::read_h5m_catalog(files::open_to_read(file.path).get(), file.path).first_vertex,
                .ghost_layers = options.ghost_layers};
  agree_after(context, [&] {
    if (owned.empty()) return;
    const auto [low, high] = std::ranges::minmax(owned);
    task.cells.first = value(low);
    if (value(high) - value(low) + 1 != task.cells.count) wrong("the file is not in the order of its parts");
  });
  return task;
}

PeerFigures load_by_peer(mpi::Context& context, const PeerTask& task, const PeerKind& kind, bool is_first) {
  PeerFigures figures{.name = kind.name, .has_sides = kind.has_sides};
  const std::unique_ptr<Peer> peer = kind.make();
  mpi::barrier(context);
  const double begin = MPI_Wtime();
  figures.phases = peer->load(context, task);
  figures.seconds = mpi::max(context, MPI_Wtime() - begin);
  for (auto& [name, seconds] : figures.phases) seconds = mpi::max(context, seconds);
  figures.counts = peer->count(context, task);
  if (!is_first) return figures;
  if (figures.counts.n_ghosts.value_or(0) == 0) return figures;
  if (const auto exchange = peer->make_exchange(context)) figures.cell_exchange_seconds = shortest(context, exchange);
  return figures;
}

/// Repetitions of the peers, each between two of barrio's.
class PeerRuns {
 public:
  explicit PeerRuns(const MeshOptions& options) : options_(options) {
    for (const std::string& name : options.peers) kinds_.push_back(find_peer(name));
  }
  void run(mpi::Context& context, const MeshFile& file, const mesh::Mesh& mesh) {
    if (kinds_.empty() || !file.is_in_order_of_parts) return;
    if (!task_) task_ = make_task(context, options_, file, mesh);
    const bool is_first = figures_.empty();
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      if (!is_first && figures_[i].seconds > options_.max_seconds) continue;
      PeerFigures now = load_by_peer(context, *task_, kinds_[i], is_first);
      if (is_first) {
        figures_.push_back(std::move(now));
      } else if (now.seconds < figures_[i].seconds) {
        now.cell_exchange_seconds = figures_[i].cell_exchange_seconds;
        figures_[i] = std::move(now);
      }
    }
  }
  [[nodiscard]] const std::vector<PeerFigures>& figures() const noexcept { return figures_; }

 private:
  const MeshOptions& options_;
  std::vector<PeerKind> kinds_;
  std::optional<PeerTask> task_;
  std::vector<PeerFigures> figures_;
};

}  // namespace

void check_peers(const LoadFigures& figures) {
  for (const PeerFigures& peer : figures.peers) {
    const auto check = [&](const auto& theirs, auto ours, const char* what) {
      if (!theirs || *theirs == ours) return;
      throw AgreedError(ErrorCode::differs,
                        {.subject = fmt::format("peer '{}'", peer.name),
                         .cause = fmt::format("{}: {} {}, barrio has {}", figures.file.path, *theirs, what, ours)});
    };
    check(peer.counts.n_shared_vertices, figures.n_shared_vertices, "shared vertices");
    check(peer.counts.n_ghosts, figures.n_ghosts, "ghosts");
    check(peer.counts.ghost_hash, figures.ghost_hash, "is the hash of its ghosts");
    if (figures.n_faces == 0) continue;  // with --load-only
    check(peer.counts.n_faces, figures.n_faces, "faces");
    check(peer.counts.n_edges, figures.n_edges, "edges");
  }
}

LoadFigures measure_load(mpi::Context& context, const MeshOptions& options, const MeshFile& file) {
  LoadFigures figures;
  figures.file = file;
  PeerRuns peers(options);
  for (int repeat = 0; repeat < options.n_repeats; ++repeat) {
    mpi::barrier(context);
    const std::uint64_t resident_before = repeat == 0 ? held_bytes() : 0;
    if (repeat == 0) reset_peak_resident_bytes();
    auto before = seconds_by_region(context.trace());
    const double begin = MPI_Wtime();
    mesh::Mesh mesh = io::read(context, file.path, {.ghost_layers = options.ghost_layers});
    const double seconds = mpi::max(context, MPI_Wtime() - begin);
    Phases phases;
    for (const auto& [name, total] : seconds_by_region(context.trace()))
      phases[name] = mpi::max(context, total - before[name]);
    check_counts(context, file, mesh);
    if (repeat == 0) {
      figures.peak_growth_bytes =
          mpi::sum(context, static_cast<double>(peak_resident_bytes()) - static_cast<double>(resident_before));
      const auto growth = static_cast<double>(held_bytes()) - static_cast<double>(resident_before);
      figures.resident_growth_bytes = mpi::sum(context, growth);
      figures.n_ghosts = mpi::sum(context, static_cast<std::int64_t>(mesh.n_ghost(mesh.cell_dim())));
      std::uint64_t hash = 0;
      for (const GlobalId id : std::span(mesh.cells().global_ids).subspan(mesh.n_owned(mesh.cell_dim())))
        hash += ghost_hash(value(id), context.rank());
      figures.ghost_hash = mpi::sum(context, hash);
      const auto& v = mesh.vertices();
      figures.n_shared_vertices = mpi::sum(context, static_cast<std::int64_t>(std::ranges::count_if(
                                                        v.shared, [&](LocalId id) { return index(id) < v.n_owned; })));
      figures.memory_bytes = mpi::sum(context, static_cast<std::int64_t>(mesh.memory_bytes()));
      figures.checksum = mesh.checksum();
    }
    if (repeat == 0 || seconds < figures.load_seconds) {
      figures.load_seconds = seconds;
      figures.phases = phases;
    }
    peers.run(context, file, mesh);
  }
  figures.peers = peers.figures();
  mesh::Mesh mesh = io::read(context, file.path, {.ghost_layers = options.ghost_layers});
  mesh.validate();
  if (!options.is_load_only) time_all_sides(context, options, mesh, figures);
  check_peers(figures);
  if (options.is_load_only) return figures;
  figures.vertex_exchange_seconds = time_exchange(context, mesh, mesh::Dim::vertex);
  figures.cell_exchange_seconds = time_exchange(context, mesh, mesh.cell_dim());
  figures.change = measure_change(context, options, std::move(mesh));
  return figures;
}

}  // namespace barrio::bench
