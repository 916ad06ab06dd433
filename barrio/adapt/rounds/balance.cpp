#include "barrio/adapt/rounds/balance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>

#include "barrio/adapt/assembly/other_cells.hpp"
#include "barrio/adapt/kernel/measure.hpp"
#include "barrio/adapt/kernel/sizes.hpp"
#include "barrio/base/error.hpp"
#include "barrio/mesh/balance.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/node_memory.hpp"

namespace barrio::adapt::detail {
namespace {

constexpr RegionName balance_region{"adapt.balance"};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double sum_of(std::span<const std::int64_t> work) {
  return static_cast<double>(std::accumulate(work.begin(), work.end(), std::int64_t{0}));
}

}  // namespace

std::vector<double> predicted_cells(const mesh::Mesh& mesh, const SizeFunction* function,
                                    std::span<const double> nodal) {
  constexpr double cells_of_unit = 12;  // tetrahedra of unit edges in a unit of volume of a usual mesh
  const std::vector<double>& x = mesh.vertices().coordinates;
  std::vector<double> n;
  n.reserve(mesh.n_owned(mesh::Dim::volume));
  mpi::agree_after(mesh.context(), [&] {
    const mesh::EntityTable& cells = mesh.cells();
    const std::size_t n_cells = mesh.n_owned(mesh::Dim::volume);
    for (std::size_t c = 0; c < n_cells; ++c) {
      if (!is_tet(cells, c)) {  // stays one cell
        n.push_back(1.0);
        continue;
      }
      std::array<Point, 4> p{};
      Point centre{};
      double h = 0.0;
      const auto nodes = cells.nodes_of(c);
      for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t k = 0; k < 3; ++k) {
          p[i][k] = x[3 * index(nodes[i]) + k];
          centre[k] += p[i][k] / 4;
        }
        if (function == nullptr) h += nodal[index(nodes[i])] / 4;
      }
      if (function != nullptr) h = (*function)(centre);
      (void)Sizes::inverse(h, centre);
      n.push_back(std::abs(volume6(p[0], p[1], p[2], p[3])) / 6 * cells_of_unit / (h * h * h));
    }
  });
  return n;
}

std::vector<std::int64_t> predicted_work(std::span<const double> n_cells) {
  constexpr double max_cells = 1 << 16;  // to become more, a cell needs more than one call
  constexpr double steps = 64;           // resolution of one unit of work
  std::vector<std::int64_t> work;
  work.reserve(n_cells.size());
  for (const double n : n_cells) work.push_back(static_cast<std::int64_t>(steps * (1 + std::min(n, max_cells))));
  return work;
}

Forecast forecast(mpi::Context& context, std::span<const double> n_cells, std::span<const std::int64_t> work,
                  double max_per_rank) {
  std::array<double, 2> sums{std::accumulate(n_cells.begin(), n_cells.end(), 0.0), sum_of(work)};
  mpi::all_reduce(context, std::span<double>(sums), MPI_SUM);
  constexpr double bytes_of_cell = 320;
  constexpr double max_slots = 5e8;  // numbers of faces have 31 bits
  const bool is_by_memory = max_per_rank == 0.0;
  const auto bytes = static_cast<double>(mpi::available_bytes_per_rank(context));
  if (is_by_memory) max_per_rank = std::min(bytes / bytes_of_cell, max_slots);
  const double n = sums[0];
  if (n > max_per_rank * context.size())
    throw AgreedError(
        ErrorCode::usage,
        {.subject = "wanted sizes",
         .cause = fmt::format("need about {:.2g} cells, but at most {:.2g} {} on {} {}", n,
                              max_per_rank * context.size(), is_by_memory ? "fit into the memory" : "are allowed",
                              context.size(), context.size() == 1 ? "rank" : "ranks"),
         .remedy = is_by_memory
                       ? "ask for larger cells, use more nodes, or try all the same (max_cells_per_rank, --max-cells)"
                       : "ask for larger cells, use more ranks, or allow more cells on each (max_cells_per_rank, "
                         "--max-cells)"});
  return {.cells = n / context.size(), .work = sums[1] / context.size()};
}

bool Balance::is_even(double of_rank, double mean) {
  constexpr double max_ratio = 1.03;
  return !is_wanted_ || mpi::max(context_, of_rank) <= max_ratio * mean;
}

void Balance::before(mesh::Mesh& mesh, std::span<const std::int64_t> work, double mean) {
  if (context_.size() == 1) return;  // a single rank has all cells and needs no ghosts
  const Region region(context_.trace(), balance_region);
  const auto start = std::chrono::steady_clock::now();
  const double sum = sum_of(work);
  const bool stay = is_even(sum, mean);
  const std::vector<Rank> to =
      stay ? std::vector<Rank>(work.size(), context_.rank()) : mesh::balanced_ranks(mesh, {.weights = work});
  mesh.migrate(to, {}, mesh::BuildOptions{.ghost_layers = 1, .bridge = mesh::Dim::vertex, .ghost_sides = true});
  if (!stay) seconds_ += seconds_since(start);
}

void Balance::after(mesh::Mesh& mesh, const mesh::BuildOptions& ghosts) {
  const Region region(context_.trace(), balance_region);
  const auto start = std::chrono::steady_clock::now();
  mesh.migrate(mesh::balanced_ranks(mesh), {}, ghosts);
  seconds_ += seconds_since(start);
}

}  // namespace barrio::adapt::detail
