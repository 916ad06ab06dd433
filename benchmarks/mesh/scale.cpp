// Weak scaling of resolving a mesh, adding ghosts and migrating cells, with a cube of as many cells on each rank:
// counts of messages, bytes and memory. Builds for the simulator too, and so runs on more ranks than cores.
//
//   barrio --ranks 8 exec build/release/bin/barrio-bench-mesh-scale --cells 6
//   python3 benchmarks/mesh/simulate.py --ranks 64 256
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "barrio/base/error.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/mesh.hpp"
#include "barrio/mesh/sides.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/report.hpp"
#include "barrio/mpi/run.hpp"
#include "benchmarks/command_line.hpp"

namespace {

using namespace barrio;

/// Counts of one rank's communication and memory since its construction.
class Meter {
 public:
  explicit Meter(Context& context) : context_(context), begin_(context.counters()), seconds_(MPI_Wtime()) {}

  /// Return the max over ranks. Collective; not counted itself.
  [[nodiscard]] Json read() const {
    const mpi::Counters end = context_.counters();
    const double seconds = MPI_Wtime() - seconds_;
    const auto most = [&](std::uint64_t after, std::uint64_t before) {
      return mpi::max(context_, static_cast<std::int64_t>(after - before));
    };
    return Json{{"messages", most(end.messages_sent, begin_.messages_sent)},
                {"bytes", most(end.bytes_sent, begin_.bytes_sent)},
                {"collectives", most(end.collectives, begin_.collectives)},
                {"seconds", mpi::max(context_, seconds)}};
  }

 private:
  Context& context_;
  mpi::Counters begin_;
  double seconds_;
};

/// Return three factors as close to each other as possible.
std::array<int, 3> grid_of(int n_ranks) {
  std::array<int, 3> best{n_ranks, 1, 1};
  for (int a = 1; a <= n_ranks; ++a) {
    for (int b = 1; n_ranks % a == 0 && b <= n_ranks / a; ++b) {
      if (n_ranks / a % b != 0) continue;
      const std::array<int, 3> grid{a, b, n_ranks / a / b};
      if (grid[0] + grid[1] + grid[2] < best[0] + best[1] + best[2]) best = grid;
    }
  }
  return best;
}

void run(Context& context, std::int64_t n, bool tets, int n_layers) {
  const std::array<int, 3> grid = grid_of(context.size());
  mesh::MeshTables tables =
      mesh::make_box(context, {.n = {grid[0] * n, grid[1] * n, grid[2] * n}, .tets = tets, .parts = grid});
  tables = mesh::reorder_by_part(context, std::move(tables));
  mpi::barrier(context);
  const Meter of_mesh(context);
  mesh::Mesh mesh(context, tables, {.ghost_layers = n_layers});
  const Json mesh_cost = of_mesh.read();
  mpi::barrier(context);
  const Meter of_sides(context);
  const mesh::Sides faces(mesh, mesh::Dim::face);
  const Json sides_cost = of_sides.read();
  mesh.validate();
  const std::uint64_t checksum = mesh.checksum();

  Json document = mpi::document(context, "barrio.bench.mesh_scale", 1);
  document["cells_per_rank"] = mesh.n_owned(mesh::Dim::volume);
  document["mesh"] = mesh_cost;
  document["faces"] = sides_cost;
  document["neighbours"] = mpi::max(context, static_cast<std::int64_t>(mesh.neighbours().size()));
  document["ghosts"] = mpi::max(context, static_cast<std::int64_t>(mesh.n_ghost(mesh::Dim::volume)));
  document["memory_bytes"] = mpi::max(context, static_cast<std::int64_t>(mesh.memory_bytes()));
  document["checksum"] = fmt::format("{:016x}", checksum);

  // A tenth of a rank's cells move to its first neighbour.
  std::vector<Rank> to(mesh.n_owned(mesh::Dim::volume), context.rank());
  if (!mesh.neighbours().empty()) std::fill_n(to.begin(), to.size() / 10, mesh.neighbours().front());
  mpi::barrier(context);
  const Meter of_migration(context);
  mesh.migrate(to);
  document["migrate"] = of_migration.read();
  mesh.validate();
  if (mesh.checksum() != checksum) {
    throw AgreedError(ErrorCode::internal, {.subject = "the mesh", .cause = "changed when cells migrated"});
  }
  if (context.is_root()) std::fputs((document.dump() + "\n").c_str(), stdout);
}

}  // namespace

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](Context& context) {
    CLI::App app{
        "Cost per rank of resolving a mesh, adding ghosts and migrating cells, each rank with a cube of as many "
        "cells"};
    std::int64_t n = 6;
    bool tets = false;
    int n_layers = 1;
    app.add_option("--cells", n, "Hexes along each edge of a rank's cube")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_flag("--tets", tets, "Cut each hex into six tets");
    app.add_option("--ghosts", n_layers, "Layers of ghost cells")->check(CLI::NonNegativeNumber)->capture_default_str();
    if (!bench::parse(app, "bench mesh scale", context, argc, argv)) return;
    run(context, n, tets, n_layers);
  });
}
