#include "benchmarks/mesh/load.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mesh/sides.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::bench {
namespace {

[[noreturn]] void wrong(const std::string& what) {
  throw Error(ErrorCode::internal, {.subject = "bench mesh", .cause = what, .remedy = "this is a bug in barrio"});
}

std::map<std::string, double> seconds_by_region(const Trace& trace) {
  std::map<std::string, double> all;
  for (const RegionTotal& total : trace.totals()) all[total.name] = total.seconds;
  return all;
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

/// Shortest time of an exchange of one double, the mean of a batch. Contents are checked.
double time_exchange(mpi::Context& context, mesh::Mesh& mesh, mesh::Dim dim) {
  auto field = mesh.add_field<double>("bench", dim);
  const std::vector<GlobalId>& ids =
      dim == mesh::Dim::vertex ? mesh.vertices().global_ids : mesh.entities(dim).global_ids;
  for (std::size_t i = 0; i < mesh.n_owned(dim); ++i) field.values()[i] = static_cast<double>(value(ids[i]));
  auto halo = mesh.plan(field);
  halo.exchange();
  agree_after(context, [&] {
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (field.values()[i] != static_cast<double>(value(ids[i]))) wrong("an exchanged value is not its owner's");
  });
  constexpr int n_batches = 20;
  constexpr int n_exchanges = 50;
  double best = 1e9;
  for (int batch = 0; batch < n_batches; ++batch) {
    mpi::barrier(context);
    const double begin = MPI_Wtime();
    for (int i = 0; i < n_exchanges; ++i) halo.exchange();
    best = std::min(best, mpi::max(context, MPI_Wtime() - begin) / n_exchanges);
  }
  return best;
}

/// All faces and edges; their numbers obey Euler's formula for a ball: V - E + F - C = 1.
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

}  // namespace

LoadFigures measure_load(mpi::Context& context, const MeshOptions& options, const MeshFile& file) {
  LoadFigures figures;
  figures.file = file;
  for (int repeat = 0; repeat < options.n_repeats; ++repeat) {
    mpi::barrier(context);
    const std::uint64_t resident_before = resident_bytes();
    auto before = seconds_by_region(context.trace());
    const double begin = MPI_Wtime();
    mesh::Mesh mesh = io::read(context, file.path, {.ghost_layers = options.ghost_layers});
    const double seconds = mpi::max(context, MPI_Wtime() - begin);
    std::map<std::string, double> phases;
    for (const auto& [name, total] : seconds_by_region(context.trace()))
      phases[name] = mpi::max(context, total - before[name]);
    check_counts(context, file, mesh);
    if (repeat == 0) {
      const auto growth = static_cast<double>(resident_bytes()) - static_cast<double>(resident_before);
      figures.resident_growth_bytes = mpi::sum(context, growth);
      figures.n_ghosts = mpi::sum(context, static_cast<std::int64_t>(mesh.n_ghost(mesh.cell_dim())));
      const auto& v = mesh.vertices();
      figures.n_shared_vertices = mpi::sum(context, static_cast<std::int64_t>(std::ranges::count_if(
                                                        v.shared, [&](LocalId id) { return index(id) < v.n_owned; })));
      figures.memory_bytes = mpi::sum(context, static_cast<std::int64_t>(mesh.memory_bytes()));
      figures.checksum = mesh.checksum();
    }
    if (repeat > 0 && seconds >= figures.load_seconds) continue;
    figures.load_seconds = seconds;
    figures.phases = phases;
  }
  mesh::Mesh mesh = io::read(context, file.path, {.ghost_layers = options.ghost_layers});
  mesh.validate();
  time_all_sides(context, options, mesh, figures);
  figures.vertex_exchange_seconds = time_exchange(context, mesh, mesh::Dim::vertex);
  figures.cell_exchange_seconds = time_exchange(context, mesh, mesh.cell_dim());
  return figures;
}

}  // namespace barrio::bench
