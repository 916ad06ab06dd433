// A heat source that spreads: each vertex takes the mean of its cells, each cell the mean of its vertices.
// solver MESH OUT.vtkhdf
#include <barrio/base/error.hpp>
#include <barrio/io/read.hpp>
#include <barrio/io/write.hpp>
#include <barrio/mpi/collectives.hpp>
#include <barrio/mpi/run.hpp>
#include <cstdio>

using barrio::index, barrio::LocalId, barrio::mesh::Dim;

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](barrio::Context& context) {
    if (argc != 3)
      throw barrio::AgreedError(barrio::ErrorCode::usage, {"solver", "needs two arguments", "solver MESH OUT.vtkhdf"});
    barrio::Mesh mesh = barrio::io::read(context, argv[1], {.ghost_layers = 1});  // this rank's parts, with ghosts
    const auto& cells = mesh.cells();
    const auto& x = mesh.vertices().coordinates;
    auto heat = mesh.add_field<double>("heat", Dim::vertex);
    const std::size_t n_local = mesh.n_local(Dim::vertex);
    for (std::size_t v = 0; v < n_local; ++v) heat.values()[v] = x[3 * v] < 0.1 ? 1.0 : 0.0;

    std::vector<double> sum(n_local);
    std::vector<int> n_cells(n_local);
    const auto add_cells = [&](std::size_t first, std::size_t last) {
      for (std::size_t c = first; c < last; ++c) {
        const auto nodes = cells.nodes_of(c);
        double mean = 0.0;
        for (const LocalId v : nodes) mean += heat[v] / static_cast<double>(nodes.size());
        for (const LocalId v : nodes) {
          sum[index(v)] += mean;
          n_cells[index(v)] += 1;
        }
      }
    };
    auto halo = mesh.plan(heat);  // built once, for neighbours only
    barrio::io::VtkhdfWriter out(mesh, argv[2], {.fields = {"heat"}, .has_steps = true});
    for (int step = 0; step < 50; ++step) {
      sum.assign(n_local, 0.0);
      n_cells.assign(n_local, 0);
      halo.begin();                    // send ghosts ...
      add_cells(0, cells.n_interior);  // ... while computing the interior, which needs no ghosts
      halo.end();
      add_cells(cells.n_interior, cells.size());
      for (std::size_t v = 0; v < mesh.n_owned(Dim::vertex); ++v) heat.values()[v] = sum[v] / n_cells[v];
      if (step % 10 != 9) continue;
      halo.exchange();
      out.write_step(step + 1.0);
    }
    out.close();
    double total = 0.0;  // over owned vertices: each counts once
    for (std::size_t v = 0; v < mesh.n_owned(Dim::vertex); ++v) total += heat.values()[v];
    const auto n = static_cast<double>(mesh.n_global(Dim::vertex));
    total = barrio::mpi::sum(context, total);
    if (context.is_root()) std::printf("mean heat %.6f after 50 steps\n", total / n);
  });
}
