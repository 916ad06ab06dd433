#include "barrio/adapt/adapt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "barrio/adapt/assembly/from_mesh.hpp"
#include "barrio/adapt/assembly/to_mesh.hpp"
#include "barrio/adapt/kernel/measure.hpp"
#include "barrio/adapt/rounds/rounds.hpp"
#include "barrio/adapt/size_fields.hpp"
#include "barrio/adapt/sizes/check.hpp"
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
constexpr RegionName take_region{"adapt.take"};
constexpr RegionName give_region{"adapt.give"};

/// A time that is no time limit is far away, not beyond what a clock counts.
std::chrono::steady_clock::time_point end_after(double seconds) {
  constexpr double most = 1e9;
  return std::chrono::steady_clock::now() +
         std::chrono::milliseconds(static_cast<std::int64_t>(1000 * std::clamp(seconds, 0.0, most)));
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The cube of the mean ratio below which no change may make a cell: what is asked for, or, where cells are worse on
/// the whole, a part of what they have. Collective.
double floor_of(mpi::Context& context, const detail::Tets& tets, double least_quality) {
  constexpr double least_of_all = 1e-3;  // a floor of 0 lets flat cells in, around which walks do not end
  constexpr double part = 0.6;
  constexpr double one = 1 << 30;
  std::array<std::int64_t, 2> totals{};  // cubes in fixed point, cells
  for (const detail::Tet& tet : tets.tets) {
    if (tet.is_free() || detail::owner_of(tets, tet) != context.rank()) continue;
    totals[0] += std::llround(static_cast<double>(tet.quality) * one);
    totals[1] += 1;
  }
  mpi::all_reduce(context, std::span<std::int64_t>(totals), MPI_SUM);
  const double mean =
      std::cbrt(static_cast<double>(totals[0]) / one / static_cast<double>(std::max(totals[1], std::int64_t{1})));
  return std::pow(std::max(std::min(least_quality, part * mean), least_of_all), 3);
}

/// The order of rounds.
class Schedule {
 public:
  Schedule(mpi::Context& context, detail::Tets& tets, const detail::Sizes& sizes, const AdaptOptions& options)
      : context_(context),
        tets_(tets),
        least_quality_(options.least_quality),
        rounds_(context, tets, sizes, limits_, end_after(options.most_seconds)),
        collapse_(tets, sizes, limits_, detail::collapses),
        split_(tets, sizes, limits_, detail::splits),
        swap_(tets, sizes, limits_, detail::swaps),
        smooth_(tets, sizes, limits_, detail::smooths) {}

  void run() {
    // What has good cells and the wanted lengths stays where it is: a second call has little to do.
    limits_.floor = floor_of(context_, tets_, least_quality_);
    rounds_.activate_all();
    constexpr int most_sweeps = 4;
    constexpr double little = 0.004;  // changes of lengths in a sweep, for each cell
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
      if (rounds_.must_stop()) return;
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
  /// Whether rounds went on to their end.
  [[nodiscard]] bool is_complete() const noexcept { return !rounds_.must_stop(); }
  /// Ranks that see tetrahedra that this one sees.
  [[nodiscard]] std::span<const Rank> neighbours() { return rounds_.neighbours(); }

  std::array<OperatorCounts, 4> counts;

 private:
  /// Rounds until one makes no more changes than a part of those of the first. @return changes
  std::int64_t repeat(detail::Operator& op, OperatorCounts& of, double part, int most_rounds = 100) {
    std::int64_t n_first = -1;
    std::int64_t n_all = 0;
    for (int round = 0; round < most_rounds && !rounds_.must_stop(); ++round) {
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
  double least_quality_;
  detail::Limits limits_{.floor = 0.0};
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

/// How many cells each owned one is to become. Collective.
/// @param function  or nullptr: then sizes are `nodal`
/// @throws AgreedError{bad_input} for a size that is none
std::vector<double> predicted_cells(const mesh::Mesh& mesh, const SizeFunction* function,
                                    std::span<const double> nodal) {
  constexpr double cells_of_unit = 12;  // tetrahedra of unit edges in a unit of volume, as meshes have them
  const std::vector<double>& x = mesh.vertices().coordinates;
  std::vector<double> n;
  n.reserve(mesh.n_owned(mesh::Dim::volume));
  mpi::agree_after(mesh.context(), [&] {
    for (std::size_t c = 0; c < mesh.n_owned(mesh::Dim::volume); ++c) {
      std::array<detail::Point, 4> p{};
      detail::Point centre{};
      double h = 0.0;
      const auto nodes = mesh.cells().nodes_of(c);
      for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t k = 0; k < 3; ++k) {
          p[i][k] = x[3 * index(nodes[i]) + k];
          centre[k] += p[i][k] / 4;
        }
        if (function == nullptr) h += nodal[index(nodes[i])] / 4;
      }
      if (function != nullptr) h = (*function)(centre);
      detail::Sizes::check(h, centre);
      n.push_back(std::abs(detail::volume6(p[0], p[1], p[2], p[3])) / 6 * cells_of_unit / (h * h * h));
    }
  });
  return n;
}

/// What each cell will cost, by the cells that it is to become, and the looks at it that it takes to get there.
std::vector<std::int64_t> predicted_work(std::span<const double> n_cells) {
  constexpr double most = 1 << 16;  // a cell becomes more only where one call is not enough
  constexpr double steps = 64;      // of the weight of a cell that stays
  std::vector<std::int64_t> work;
  work.reserve(n_cells.size());
  for (const double n : n_cells) work.push_back(static_cast<std::int64_t>(steps * (1 + std::min(n, most))));
  return work;
}

/// @return how many cells a rank is to have, in the mean. Collective
double check_number(mpi::Context& context, std::span<const double> n_cells, double most_per_rank) {
  double n = 0.0;
  for (const double one : n_cells) n += one;
  n = mpi::sum(context, n);
  if (n > most_per_rank * context.size())
    throw AgreedError(
        ErrorCode::usage,
        {.subject = "wanted sizes",
         .cause = fmt::format("need about {:.2g} cells, and {:.2g} on {} ranks are allowed", n,
                              most_per_rank * context.size(), context.size()),
         .remedy =
             "ask for larger cells, use more ranks, or allow more cells on each: most_cells_per_rank, --most-cells"});
  return n / context.size();
}

/// Where sizes at vertices are while the cells of the mesh go to other ranks.
constexpr const char* sizes_name = "wanted sizes while cells change";

/// Drop the field with sizes, and give the mesh the ghosts that it had.
void put_back(mesh::Mesh& mesh, const mesh::BuildOptions& had) {
  mpi::Context& context = mesh.context();
  mesh::LocalMesh local = std::move(mesh).release();
  std::erase_if(local.fields, [](const mesh::FieldData& field) { return field.name == sizes_name; });
  local.options = had;
  mesh = mesh::adopt(context, std::move(local));
}

/// The greatest of all ranks over the mean. Collective.
double imbalance(mpi::Context& context, double of_rank) {
  const double mean = mpi::sum(context, of_rank) / context.size();
  const double most = mpi::max(context, of_rank);
  return mean > 0 ? most / mean : 1.0;
}

/// Qualities and lengths of the cells that count on this rank, and how many are what they were. Collective.
void describe(mpi::Context& context, const detail::Tets& tets, AdaptReport& report) {
  constexpr double one = 1 << 20;
  std::array<std::int64_t, 4> totals{};  // qualities in fixed point, edges, those in range, cells unchanged
  float least = 1.0F;
  for (const detail::Tet& tet : tets.tets) {
    if (tet.is_free() || detail::owner_of(tets, tet) != context.rank()) continue;
    totals[0] += std::llround(std::cbrt(tet.quality) * one);
    least = std::min(least, tet.quality);
    for (const auto& [a, b] : detail::edge_of) {
      const double length = detail::metric_length(tets.vertices[tet.v[a]], tets.vertices[tet.v[b]]);
      totals[2] += length * length >= 0.5 && length * length <= 2.0 ? 1 : 0;
    }
    totals[1] += 6;
    totals[3] += tet.changed == 0 ? 1 : 0;
  }
  mpi::all_reduce(context, std::span<std::int64_t>(totals), MPI_SUM);
  mpi::all_reduce(context, std::span<float>(&least, 1), MPI_MIN);
  const auto n_edges = static_cast<double>(std::max<std::int64_t>(totals[1], 1));
  report.mean_quality = static_cast<double>(totals[0]) / one / (n_edges / 6);
  report.least_quality = std::cbrt(least);
  report.in_range = static_cast<double>(totals[2]) / n_edges;
  report.n_unchanged = totals[3];
}

/// Cells that move to other ranks, where it is worth it.
class Balance {
 public:
  Balance(mpi::Context& context, bool is_wanted) : context_(context), is_wanted_(is_wanted && context.size() > 1) {}

  /// Whether ranks have about as much. Collective.
  [[nodiscard]] bool is_even(double of_rank) {
    constexpr double most = 1.03;
    return !is_wanted_ || imbalance(context_, of_rank) <= most;
  }
  /// Share the work, and give each rank the cells around its own.
  void before(mesh::Mesh& mesh, std::span<const std::int64_t> work) {
    if (context_.size() == 1) return;  // it has all cells around its own
    const Region region(context_.trace(), balance_region);
    const auto start = std::chrono::steady_clock::now();
    const double sum = static_cast<double>(std::accumulate(work.begin(), work.end(), std::int64_t{0}));
    const bool stay = is_even(sum);
    const std::vector<Rank> to =
        stay ? std::vector<Rank>(work.size(), context_.rank()) : mesh::balanced_ranks(mesh, work);
    mesh.migrate(to, {}, mesh::BuildOptions{.ghost_layers = 1, .bridge = mesh::Dim::vertex, .ghost_sides = true});
    if (!stay) seconds_ += seconds_since(start);
  }
  /// Share the cells. @param ghosts  that the mesh is to have
  void after(mesh::Mesh& mesh, const mesh::BuildOptions& ghosts) {
    const Region region(context_.trace(), balance_region);
    const auto start = std::chrono::steady_clock::now();
    mesh.migrate(mesh::balanced_ranks(mesh), {}, ghosts);
    seconds_ += seconds_since(start);
  }
  [[nodiscard]] double seconds() const noexcept { return seconds_; }

 private:
  mpi::Context& context_;
  bool is_wanted_;
  double seconds_ = 0.0;
};

void check_kept(mesh::Mesh& mesh, const AdaptOptions& options, AdaptReport& report) {
  report.left_out = detail::check_adaptable(mesh);
  if (!report.left_out.empty() && !options.leaves_out)
    throw AgreedError(ErrorCode::usage,
                      {.subject = report.left_out[0],
                       .cause = "cannot be kept while cells change",
                       .remedy = "drop it first, or go on without such things: leaves_out, --leave-out"});
  const bool is_field = std::ranges::any_of(mesh.fields(), [&](const auto& field) {
    return field->name == options.origin_field && field->dim == mesh::Dim::volume;
  });
  const bool is_tag =
      std::ranges::any_of(mesh.tags(), [&](const mesh::MeshTag& tag) { return tag.info.name == options.origin_field; });
  if (is_field || is_tag)
    throw AgreedError(ErrorCode::usage, {.subject = fmt::format("field '{}' for origins", options.origin_field),
                                         .cause = fmt::format("cannot be: the mesh has a {} of that name",
                                                              is_field ? "field on cells" : "tag"),
                                         .remedy = "choose another name"});
}

/// @param function  wanted sizes, or nullptr: then they are in a field
AdaptReport adapt_to(mesh::Mesh& mesh, const SizeFunction* function, const std::string& size_field,
                     const AdaptOptions& options) {
  mpi::Context& context = mesh.context();
  const Region region(context.trace(), adapt_region);
  const auto start = std::chrono::steady_clock::now();
  AdaptReport report;
  Balance balance(context, options.balances);
  check_kept(mesh, options, report);
  report.n_cells_before = mesh.n_global(mesh::Dim::volume);
  const std::uint64_t revision = mesh.revision();
  const mesh::BuildOptions had = mesh.build_options();
  double n_expected = 0.0;
  {
    std::vector<double> nodal;
    if (function == nullptr) {
      nodal = detail::sizes_in_field(mesh, size_field);
      limit_sizes(mesh, nodal, options.limits);
    }
    const std::vector<double> n_cells = predicted_cells(mesh, function, nodal);
    n_expected = check_number(context, n_cells, options.most_cells_per_rank);
    if (function == nullptr)
      std::ranges::copy(nodal, mesh.add_field<double>(sizes_name, mesh::Dim::vertex).values().begin());
    balance.before(mesh, predicted_work(n_cells));
  }
  const detail::Sizes sizes(function);
  std::optional<detail::Taken> taken;
  try {
    const Region taking(context.trace(), take_region);
    taken = detail::take_mesh(mesh, sizes, sizes_name, options, static_cast<std::size_t>(n_expected));
  } catch (const AgreedError&) {
    put_back(mesh, had);
    throw;
  }
  {
    const mesh::Mesh consumed = std::move(mesh);
  }
  Schedule schedule(context, taken->tets, sizes, options);
  {
    const Region in_rounds(context.trace(), rounds_region);
    const auto start_of_rounds = std::chrono::steady_clock::now();
    schedule.run();
    report.kernel_seconds = seconds_since(start_of_rounds);
  }
  describe(context, taken->tets, report);
  {
    const Region giving(context.trace(), give_region);
    mesh::LocalMesh local = detail::give_back(context, *std::move(taken), schedule.neighbours());
    local.revision = revision;
    const bool is_even = balance.is_even(static_cast<double>(local.size(mesh::Dim::volume)));
    local.options = is_even ? had : mesh::BuildOptions();
    mesh = mesh::adopt(context, std::move(local));
    if (!is_even) balance.after(mesh, had);
  }
  report.balance_seconds = balance.seconds();
  mpi::agree_after(context, [&] { sizes.throw_fault(); });
  report.is_complete = schedule.is_complete();
  report.n_cells = mesh.n_global(mesh::Dim::volume);
  report.collapses = sum_of(context, schedule.counts[0]);
  report.splits = sum_of(context, schedule.counts[1]);
  report.swaps = sum_of(context, schedule.counts[2]);
  report.moves = sum_of(context, schedule.counts[3]);
  report.seconds = seconds_since(start);
  return report;
}

}  // namespace

AdaptReport adapt(mesh::Mesh& mesh, const SizeFunction& size, const AdaptOptions& options) {
  const SizeLimits& limits = options.limits;
  mpi::agree_after(mesh.context(), [&] { detail::check(limits); });
  if (std::isfinite(limits.growth))
    throw AgreedError(ErrorCode::usage, {.subject = "a limit to the growth of sizes",
                                         .cause = "is for sizes in a field, and these are a function"});
  if (limits.finest == 0.0 && std::isinf(limits.largest)) return adapt_to(mesh, &size, {}, options);
  const SizeFunction limited = [&](const std::array<double, 3>& x) {
    return std::clamp(size(x), limits.finest, limits.largest);
  };
  return adapt_to(mesh, &limited, {}, options);
}

AdaptReport adapt(mesh::Mesh& mesh, const std::string& size_field, const AdaptOptions& options) {
  return adapt_to(mesh, nullptr, size_field, options);
}

}  // namespace barrio::adapt
