#include "barrio/adapt/adapt.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "barrio/adapt/assembly/from_mesh.hpp"
#include "barrio/adapt/assembly/to_mesh.hpp"
#include "barrio/adapt/kernel/measure.hpp"
#include "barrio/adapt/rounds/rounds.hpp"
#include "barrio/base/error.hpp"
#include "barrio/mesh/balance.hpp"
#include "barrio/mesh/local_mesh.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::adapt {
namespace {

using detail::OperatorCounts;

constexpr RegionName adapt_region{"adapt"};
constexpr RegionName balance_region{"adapt.balance"};
constexpr RegionName rounds_region{"adapt.rounds"};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The order of rounds.
class Schedule {
 public:
  Schedule(mpi::Context& context, detail::Tets& tets, const SizeFunction& size, const AdaptOptions& options)
      : context_(context),
        tets_(tets),
        limits_{.floor = std::pow(options.least_quality, 3)},
        rounds_(context, tets, size),
        collapse_(tets, size, limits_, 1U << 0U),
        split_(tets, size, limits_, 1U << 1U),
        swap_(tets, size, limits_, 1U << 2U),
        smooth_(tets, size, limits_, 1U << 3U) {}

  void run() {
    // What has good cells and the wanted lengths stays where it is: a second call has little to do.
    rounds_.activate(collapse_.activity() | split_.activity() | swap_.activity(), smooth_.activity(),
                     static_cast<float>(limits_.bad));
    constexpr int most_sweeps = 4;
    constexpr double little = 0.004;  // changes of lengths in a sweep, for each cell
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
      std::int64_t n = repeat(split_, counts[1], 0.0);
      n += repeat(collapse_, counts[0], 0.0);
      repeat(swap_, counts[2], 0.03);
      repeat(smooth_, counts[3], 0.0, 6);
      if (static_cast<double>(n) >= little * static_cast<double>(n_cells())) continue;
      if (sweep == 0) return;  // the mesh had what is wanted
      break;
    }
    repeat(swap_, counts[2], 0.03);
    repeat(smooth_, counts[3], 0.0, 6);
  }
  /// Ranks that see tetrahedra that this one sees.
  [[nodiscard]] std::span<const Rank> neighbours() { return rounds_.neighbours(); }

  std::array<OperatorCounts, 4> counts;

 private:
  /// Rounds until one makes no more changes than a part of those of the first. @return changes
  std::int64_t repeat(detail::Operator& op, OperatorCounts& of, double part, int most_rounds = 100) {
    std::int64_t n_first = -1;
    std::int64_t n_all = 0;
    for (int round = 0; round < most_rounds; ++round) {
      const std::int64_t n = rounds_.run(op, of);
      if (n_first < 0) n_first = n;
      n_all += n;
      if (static_cast<double>(n) <= part * static_cast<double>(n_first)) break;
    }
    return n_all;
  }
  /// On all ranks; those that several ranks see count once.
  [[nodiscard]] std::int64_t n_cells() const {
    std::int64_t n = 0;
    for (const detail::Tet& tet : tets_.tets)
      if (!tet.is_free() && detail::owner_of(tets_, tet) == context_.rank()) n += 1;
    return mpi::sum(context_, n);
  }

  mpi::Context& context_;
  const detail::Tets& tets_;
  detail::Limits limits_;
  detail::Rounds rounds_;
  detail::Collapse collapse_;
  detail::Split split_;
  detail::Swap swap_;
  detail::Smooth smooth_;
};

ChangeCounts sum_of(mpi::Context& context, const OperatorCounts& mine) {
  std::array<std::int64_t, 2> totals{mine.n_applied, mine.n_decided};
  mpi::all_reduce(context, std::span<std::int64_t>(totals), MPI_SUM);
  return {totals[0], totals[1], mine.n_rounds, mine.n_passes};
}

/// What each owned cell will cost: the cells that it is to become, and the looks at it that it takes to get there.
std::vector<std::int64_t> predicted_work(const mesh::Mesh& mesh, const SizeFunction& size) {
  constexpr double cells_of_unit = 12;  // tetrahedra of unit edges in a unit of volume, as meshes have them
  constexpr double most = 1 << 16;      // a cell becomes more only where one call is not enough
  constexpr double steps = 64;          // of the weight of a cell that stays
  const std::vector<double>& x = mesh.vertices().coordinates;
  std::vector<std::int64_t> work;
  work.reserve(mesh.n_owned(mesh::Dim::volume));
  for (std::size_t c = 0; c < mesh.n_owned(mesh::Dim::volume); ++c) {
    std::array<detail::Point, 4> p{};
    detail::Point centre{};
    const auto nodes = mesh.cells().nodes_of(c);
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        p[i][k] = x[3 * index(nodes[i]) + k];
        centre[k] += p[i][k] / 4;
      }
    }
    const double h = size(centre);
    const double n = std::abs(detail::volume6(p[0], p[1], p[2], p[3])) / 6 * cells_of_unit / (h * h * h);
    work.push_back(static_cast<std::int64_t>(steps * (1 + (n < most ? n : most))));  // the most for what is no number
  }
  return work;
}

/// Give a mesh other ghosts. @return the options that it had
mesh::BuildOptions change_ghosts(mesh::Mesh& mesh, const mesh::BuildOptions& wanted) {
  mpi::Context& context = mesh.context();
  mesh::LocalMesh local = std::move(mesh).release();
  const mesh::BuildOptions had = std::exchange(local.options, wanted);
  mesh = mesh::adopt(context, std::move(local));
  return had;
}

}  // namespace

AdaptReport adapt(mesh::Mesh& mesh, const SizeFunction& size, const AdaptOptions& options) {
  mpi::Context& context = mesh.context();
  const Region region(context.trace(), adapt_region);
  const auto start = std::chrono::steady_clock::now();
  AdaptReport report;
  report.left_out = detail::check_adaptable(mesh);
  if (!report.left_out.empty() && !options.leaves_out)
    throw AgreedError(ErrorCode::usage, {.subject = report.left_out[0],
                                         .cause = "cannot be kept while cells change",
                                         .remedy = "drop it first, or ask to leave such things out"});
  report.n_cells_before = mesh.n_global(mesh::Dim::volume);
  const std::uint64_t revision = mesh.revision();
  const auto balance = [&](std::span<const std::int64_t> weights) {
    if (!options.balances || context.size() == 1) return;
    const Region balancing(context.trace(), balance_region);
    const auto start_of_balance = std::chrono::steady_clock::now();
    mesh.migrate(mesh::balanced_ranks(mesh, weights));
    report.balance_seconds += seconds_since(start_of_balance);
  };
  if (options.balances && context.size() > 1) {
    std::vector<std::int64_t> work;
    mpi::agree_after(context, [&] { work = predicted_work(mesh, size); });
    balance(work);
  }
  const mesh::BuildOptions had =
      change_ghosts(mesh, {.ghost_layers = 1, .bridge = mesh::Dim::vertex, .ghost_sides = true});
  std::optional<detail::Taken> taken;
  try {
    taken = detail::take_mesh(mesh, size, options.feature_angle);
  } catch (const AgreedError&) {
    change_ghosts(mesh, had);
    throw;
  }
  {
    const mesh::Mesh consumed = std::move(mesh);
  }
  Schedule schedule(context, taken->tets, size, options);
  {
    const Region in_rounds(context.trace(), rounds_region);
    const auto start_of_rounds = std::chrono::steady_clock::now();
    schedule.run();
    report.kernel_seconds = seconds_since(start_of_rounds);
  }
  mesh::LocalMesh local = detail::give_back(context, *std::move(taken), schedule.neighbours());
  local.options = had;
  local.revision = revision;
  mesh = mesh::adopt(context, std::move(local));
  balance({});
  report.n_cells = mesh.n_global(mesh::Dim::volume);
  report.collapses = sum_of(context, schedule.counts[0]);
  report.splits = sum_of(context, schedule.counts[1]);
  report.swaps = sum_of(context, schedule.counts[2]);
  report.moves = sum_of(context, schedule.counts[3]);
  report.seconds = seconds_since(start);
  return report;
}

}  // namespace barrio::adapt
