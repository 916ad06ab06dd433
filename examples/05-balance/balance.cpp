// A front sweeps through a mesh. Cells near it cost twenty times as much, so cells migrate to balance the load.
// balance MESH
#include <algorithm>
#include <barrio/io/read.hpp>
#include <barrio/mesh/balance.hpp>
#include <barrio/mpi/collectives.hpp>
#include <barrio/mpi/run.hpp>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <span>
#include <vector>

using barrio::index, barrio::LocalId;

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](barrio::Context& context) {
    barrio::Mesh mesh = barrio::io::read(context, argv[1], {.ghost_layers = 1});
    mesh.add_field<std::int64_t>("work", mesh.cell_dim());  // migrates with its cells

    // The program's own data of each cell: the steps at which the front was near.
    std::vector<std::vector<int>> visits(mesh.cells().size());
    const barrio::mesh::Payload with_cells{
        .dim = mesh.cell_dim(),
        .pack =
            [&](LocalId cell, std::vector<std::byte>& out) {
              const auto bytes = std::as_bytes(std::span(visits[index(cell)]));
              out.insert(out.end(), bytes.begin(), bytes.end());
            },
        .unpack =
            [&](LocalId cell, std::span<const std::byte> bytes) {
              visits.resize(mesh.cells().size());
              visits[index(cell)].resize(bytes.size() / sizeof(int));
              std::ranges::copy(bytes, std::as_writable_bytes(std::span(visits[index(cell)])).begin());
            },
    };

    // The cost of each owned cell while the front is at x.
    const auto cost = [&](double front) {
      std::vector<std::int64_t> costs;
      for (std::size_t c = 0; c < mesh.cells().n_owned; ++c) {
        const LocalId corner = mesh.cells().nodes_of(c)[0];
        costs.push_back(std::abs(mesh.vertices().coordinates[3 * index(corner)] - front) < 0.1 ? 20 : 1);
      }
      return costs;
    };
    const auto imbalance = [&](const std::vector<std::int64_t>& costs) {
      const auto mine = std::accumulate(costs.begin(), costs.end(), std::int64_t{0});
      return static_cast<double>(barrio::mpi::max(context, mine)) * context.size() /
             static_cast<double>(barrio::mpi::sum(context, mine));
    };

    for (int step = 0; step < 10; ++step) {
      std::vector<std::int64_t> costs = cost(0.1 * step);
      const double before = imbalance(costs);
      if (before > 1.1) {
        mesh.migrate(barrio::mesh::balanced_ranks(mesh, {.weights = costs}), {with_cells});  // then get fields again
        costs = cost(0.1 * step);
      }
      const double after = imbalance(costs);
      if (context.is_root()) std::fprintf(stderr, "step %d: imbalance %.2f, then %.2f\n", step, before, after);
      auto work = mesh.field<std::int64_t>("work", mesh.cell_dim());
      for (std::size_t c = 0; c < costs.size(); ++c) {
        work.values()[c] += costs[c];
        if (costs[c] > 1) visits[c].push_back(step);
      }
    }
    mesh.validate();
    const auto work = mesh.field<std::int64_t>("work", mesh.cell_dim());
    const auto owned = work.values().first(mesh.cells().n_owned);
    const auto total = barrio::mpi::sum(context, std::accumulate(owned.begin(), owned.end(), std::int64_t{0}));
    const auto most = barrio::mpi::max(context, owned.empty() ? 0 : *std::max_element(owned.begin(), owned.end()));
    std::int64_t n_visits = 0;
    for (std::size_t c = 0; c < owned.size(); ++c) n_visits += static_cast<std::int64_t>(visits[c].size());
    n_visits = barrio::mpi::sum(context, n_visits);
    if (context.is_root())
      std::printf("work %lld in all, %lld at most in a cell, %lld visits\n", static_cast<long long>(total),
                  static_cast<long long>(most), static_cast<long long>(n_visits));
  });
}
