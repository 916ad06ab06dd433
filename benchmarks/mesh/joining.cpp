#include "benchmarks/mesh/joining.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "barrio/base/error.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/join.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::bench {

JoinFigures measure_join(mpi::Context& context, const MeshOptions& options) {
  const auto n = static_cast<std::int64_t>(std::lround(std::cbrt(options.millions * 1e6 / 4.0)));
  std::vector<mesh::MeshTables> blocks;
  for (int b = 0; b < 4; ++b) {
    const double low = b;
    blocks.push_back(mesh::make_box(context, {.n = {n, n, n}, .low = {low, 0.0, 0.0}, .high = {low + 1.0, 1.0, 1.0}}));
  }
  JoinFigures figures;
  figures.n_cells = 4 * n * n * n;
  figures.seconds = 1e9;
  const std::int64_t expected = (4 * n + 1) * (n + 1) * (n + 1);
  for (int repeat = 0; repeat < options.n_repeats; ++repeat) {
    std::vector<mesh::MeshTables> pieces = blocks;
    mpi::barrier(context);
    const double begin = MPI_Wtime();
    const mesh::Joined joined = mesh::join(context, std::move(pieces), {.tolerance = 1e-6});
    figures.seconds = std::min(figures.seconds, mpi::max(context, MPI_Wtime() - begin));
    figures.n_vertices_before = joined.report.n_vertices_before;
    figures.n_vertices = joined.report.n_vertices;
    if (figures.n_vertices != expected || joined.tables.n_global(mesh::Dim::volume) != figures.n_cells) {
      throw AgreedError(ErrorCode::internal, {.subject = "bench mesh",
                                              .cause = fmt::format("made {} vertices by joining, but must make {}",
                                                                   figures.n_vertices, expected),
                                              .remedy = "this is a bug in barrio"});
    }
  }
  return figures;
}

}  // namespace barrio::bench
