#include "benchmarks/mesh/structured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "barrio/base/error.hpp"
#include "barrio/mesh/mesh.hpp"
#include "barrio/mesh/structured.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::bench {
namespace {

double seconds_in(const Trace& trace, std::string_view name) {
  for (const RegionTotal& total : trace.totals())
    if (total.name == name) return total.seconds;
  return 0.0;
}

}  // namespace

std::vector<StructuredFigures> measure_structured(mpi::Context& context, const MeshOptions& options) {
  using mesh::Decomposition;
  std::vector<StructuredFigures> all;
  const auto n = static_cast<std::int64_t>(std::lround(std::cbrt(options.millions * 1e6)));
  for (const Decomposition decomposition : {Decomposition::alljorkori, Decomposition::alljkbal, Decomposition::sqij,
                                            Decomposition::sqjk, Decomposition::sqijk}) {
    StructuredFigures figures{.decomposition = std::string(mesh::name(decomposition)), .n_cells = n * n * n};
    figures.implicit_seconds = figures.explicit_seconds = figures.general_seconds = 1e9;
    const mesh::StructuredOptions box{.n = {n, n, n}, .decomposition = decomposition};
    const auto cells = static_cast<double>(figures.n_cells);
    for (int repeat = 0; repeat < options.n_repeats; ++repeat) {
      mpi::barrier(context);
      const double begin = MPI_Wtime();
      const mesh::StructuredMesh blocks(context, box);
      const std::int64_t n_shared = blocks.n_shared_vertices();
      const double implicit = MPI_Wtime() - begin;
      const std::vector<double> coordinates = blocks.make_coordinates();
      const double both = MPI_Wtime() - begin;
      figures.implicit_seconds = std::min(figures.implicit_seconds, mpi::max(context, implicit));
      figures.explicit_seconds = std::min(figures.explicit_seconds, mpi::max(context, both));
      figures.n_shared = mpi::sum(context, n_shared);
      const auto bytes = static_cast<double>(mpi::sum(context, blocks.memory_bytes()));
      figures.implicit_bytes_per_cell = bytes / cells;
      figures.explicit_bytes_per_cell =
          (bytes + static_cast<double>(mpi::sum(context, static_cast<std::uint64_t>(8 * coordinates.size())))) / cells;
    }
    const mesh::StructuredMesh blocks(context, box);
    const mesh::MeshTables tables = blocks.to_tables();
    for (int repeat = 0; repeat < std::min(options.n_repeats, 3); ++repeat) {
      const double before = seconds_in(context.trace(), "mesh.share");
      const mesh::Mesh mesh(context, tables);
      const double seconds = mpi::max(context, seconds_in(context.trace(), "mesh.share") - before);
      figures.general_seconds = std::min(figures.general_seconds, seconds);
      const auto n_shared = mpi::sum(context, static_cast<std::int64_t>(mesh.vertices().shared.size()));
      const auto [a, b, c] = blocks.grid();
      if (a * b * c == context.size() && n_shared != figures.n_shared) {
        throw AgreedError(ErrorCode::internal,
                          {.subject = "bench mesh",
                           .cause = fmt::format("{}: {} shared vertices in closed form, {} by messages",
                                                figures.decomposition, figures.n_shared, n_shared),
                           .remedy = "this is a bug in barrio"});
      }
    }
    all.push_back(figures);
  }
  return all;
}

}  // namespace barrio::bench
