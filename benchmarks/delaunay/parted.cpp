#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/parted.hpp"
#include "barrio/delaunay/shapes.hpp"
#include "barrio/mpi/collectives.hpp"
#include "benchmarks/delaunay/runs.hpp"

namespace barrio::bench {
namespace {

using delaunay::PlanarGraph;
using delaunay::Point;

/// A graph to refine in parts.
struct PartedCase {
  std::string name;
  PlanarGraph graph;
  delaunay::RefineOptions refining;
  double speed_goal = 0.0;  ///< of two ranks over one; 0: none
};

/// Make the cases. @param n  triangles wanted where areas decide
std::vector<PartedCase> make_cases(double n) {
  constexpr double usual = 1.55;  // triangles over the area divided by its bound
  const double pipe_area = std::numbers::pi * (1 - 7 * 0.18 * 0.18);
  const auto by_area = [&](double area) { return delaunay::RefineOptions{.max_area = usual * area / n}; };
  std::vector<PartedCase> cases;
  cases.push_back({"pipe", delaunay::pipe_section(400, 100), by_area(pipe_area), 1.85});
  cases.push_back({"square", delaunay::unit_square(1), by_area(1.0)});
  cases.push_back({"square400", delaunay::unit_square(400), by_area(1.0)});
  const double finest = by_area(pipe_area).max_area / 10;
  cases.push_back({"pipe, graded", delaunay::pipe_section(400, 100), {.area_at = [finest](const Point& p) {
                     const double distance = std::hypot(p[0] - 0.3, p[1] - 0.2);
                     return finest * std::pow(1 + 10 * distance, 2);
                   }}});
  constexpr double island_area = 0.83;  // about
  cases.push_back({"coast of 65 536 points", delaunay::fractal_island(1 << 16, 1), by_area(island_area)});
  cases.push_back({"coast, by angle", delaunay::fractal_island(1 << 18, 1), {}});
  return cases;
}

/// Runs with a quarter of the memory that all parts need.
struct OutOfCore {
  Times times;
  double written = 0.0;   ///< bytes, in parts of those of all parts
  double finished = 0.0;  ///< of those written: of parts that were done
  double read = 0.0;
  /// Return the bytes moved but for those of finished parts, which have to leave once.
  [[nodiscard]] double needed_again() const noexcept { return written - finished + read; }
};

/// Runs of one case.
struct PartedRuns {
  Times whole;         ///< on rank 0, by `refine`
  Times one;           ///< in parts, on rank 0 alone
  Times all;           ///< in parts, on all ranks
  Times asynchronous;  ///< the same, each split as soon as it is known
  std::int64_t n_asynchronous = 0;
  std::int64_t n_whole = 0;
  double min_angle_of_whole = 0.0;
  delaunay::PartedSummary all_parts;
  delaunay::PartReport report;
  std::uint64_t checksum = 0;
  std::uint64_t bytes_of_rank = 0;  ///< of the parts of the rank with most, in memory
  std::uint64_t bytes_of_all = 0;
  OutOfCore along;     ///< in the order of a curve
  OutOfCore shuffled;  ///< in a random order
};

void run_whole(const PartedCase& one, PartedRuns& runs) {
  const double start = MPI_Wtime();
  delaunay::Triangulation mesh = delaunay::triangulate(one.graph);
  delaunay::refine(mesh, one.refining);
  runs.whole.seconds.push_back(MPI_Wtime() - start);
  runs.n_whole = mesh.n_triangles();
  runs.min_angle_of_whole = delaunay::shape_statistics(mesh).min_angle;
}

/// Triangulate on rank 0 and refine in parts. Collective. @return checksum
std::uint64_t run_parts(mpi::Context& context, const PartedCase& one, const delaunay::PartOptions& options,
                        PartedRuns& runs, Times& times) {
  mpi::barrier(context);
  const double start = MPI_Wtime();
  delaunay::Triangulation mesh = context.is_root() ? delaunay::triangulate(one.graph) : delaunay::Triangulation();
  runs.report = {};
  const delaunay::PartedTriangulation parted =
      delaunay::refine_in_parts(context, std::move(mesh), one.refining, options, runs.report);
  times.seconds.push_back(mpi::max(context, MPI_Wtime() - start));
  runs.all_parts = delaunay::summarize(context, parted);
  delaunay::validate(context, parted);
  runs.bytes_of_rank = mpi::max(context, parted.memory_bytes());
  runs.bytes_of_all = mpi::sum(context, parted.memory_bytes());
  return runs.all_parts.checksum;
}

/// Refine in parts with a quarter of the memory, after a run in memory. Collective.
/// @param shuffle_seed  of the order; 0: along a curve
void run_out_of_core(mpi::Context& context, const PartedCase& one, const MesherOptions& options,
                     std::uint64_t shuffle_seed, PartedRuns& runs, OutOfCore& to) {
  const std::uint64_t n_bytes = runs.bytes_of_all;
  const std::uint64_t of_rank = runs.bytes_of_rank;
  const std::uint64_t checksum = run_parts(context, one,
                                           {.n_parts = options.n_parts,
                                            .max_memory_bytes = of_rank / 4,
                                            .scratch = options.scratch,
                                            .shuffle_seed = shuffle_seed},
                                           runs, to.times);
  if (checksum != runs.checksum)
    refuse_together(ErrorCode::internal, "bench delaunay", fmt::format("{} differs out of core", one.name));
  to.written = static_cast<double>(runs.report.bytes_written) / static_cast<double>(n_bytes);
  to.finished = static_cast<double>(runs.report.bytes_finished) / static_cast<double>(n_bytes);
  to.read = static_cast<double>(runs.report.bytes_read) / static_cast<double>(n_bytes);
  runs.bytes_of_all = n_bytes;
  runs.bytes_of_rank = of_rank;
}

Json to_json(const OutOfCore& runs) {
  return {{"seconds", runs.times.least()}, {"written", runs.written}, {"finished", runs.finished}, {"read", runs.read}};
}

}  // namespace

Json measure_parted(mpi::Context& context, double millions, const MesherOptions& options, Goals& goals) {
  Json part{{"part", "pcdm"}, {"millions", millions}, {"ranks", context.size()}};
  mpi::Context alone(MPI_COMM_SELF);
  for (const PartedCase& one : make_cases(1e6 * millions)) {
    PartedRuns runs;
    std::uint64_t of_one = 0;
    double share_of_other_steps = 1.0;
    for (int i = 0; i < options.repeats; ++i) {
      if (context.is_root()) {
        run_whole(one, runs);
        of_one = run_parts(alone, one, {.n_parts = options.n_parts}, runs, runs.one);
        const delaunay::PartReport& report = runs.report;
        share_of_other_steps =
            std::min(share_of_other_steps,
                     report.seconds_of_other_steps / (report.seconds_of_first_step + report.seconds_of_other_steps));
      }
      (void)run_parts(context, one, {.n_parts = options.n_parts, .order = delaunay::PartOrder::asynchronous}, runs,
                      runs.asynchronous);
      runs.n_asynchronous = std::max(runs.n_asynchronous, runs.all_parts.n_triangles);
      runs.checksum = run_parts(context, one, {.n_parts = options.n_parts}, runs, runs.all);
      const delaunay::PartReport in_core = runs.report;
      if (!options.scratch.empty() && one.name == "pipe") {
        run_out_of_core(context, one, options, 0, runs, runs.along);
        run_out_of_core(context, one, options, 1, runs, runs.shuffled);
      }
      runs.report = in_core;
    }
    mpi::broadcast<std::uint64_t>(context, std::span(&of_one, 1));
    if (of_one != runs.checksum)
      refuse_together(ErrorCode::internal, "bench delaunay",
                      fmt::format("{} differs on {} ranks", one.name, context.size()));
    if (!context.is_root()) continue;
    const double triangles = static_cast<double>(runs.all_parts.n_triangles) / static_cast<double>(runs.n_whole);
    Json row{{"name", one.name},
             {"barrio", to_json(runs.whole, runs.n_whole)},
             {"parts_on_one_rank", to_json(runs.one, runs.all_parts.n_triangles)},
             {"parts_on_all_ranks", to_json(runs.all, runs.all_parts.n_triangles)},
             {"parts_asynchronous", to_json(runs.asynchronous, runs.n_asynchronous)},
             {"triangles_of_whole", triangles},
             {"share_of_other_steps", share_of_other_steps},
             {"min_angle", runs.all_parts.shape.min_angle},
             {"min_angle_of_whole", runs.min_angle_of_whole},
             {"decomposition", delaunay::to_json(runs.report)}};
    const std::string name = "pcdm." + one.name;
    if (!runs.along.times.seconds.empty()) {
      row["out_of_core"] = {{"along", to_json(runs.along)}, {"shuffled", to_json(runs.shuffled)}};
      goals.add(name + ".quarter.time", runs.along.times.least() / runs.all.least(), "x", 1.08);
      goals.add(name + ".quarter.bytes", runs.along.written + runs.along.read, "x", 0.2);
      // without finished parts, which leave once: by count none
      goals.add(name + ".quarter.bytes_needed_again", runs.along.needed_again(), "x", 0.2);
      goals.add(name + ".quarter.shuffled.time", runs.shuffled.times.least() / runs.all.least(), "x", 1.2);
      goals.add(name + ".quarter.shuffled.bytes", runs.shuffled.written + runs.shuffled.read, "x", 2.2);
    }
    const double per_part = static_cast<double>(runs.n_whole) / runs.report.n_parts;
    goals.add(name + ".triangles", triangles, "x", per_part >= 4000 ? 1.005 : 1.01);
    goals.add(name + ".triangles_asynchronous",
              static_cast<double>(runs.n_asynchronous) / static_cast<double>(runs.n_whole), "x",
              per_part >= 4000 ? 1.005 : 1.01);
    goals.add(name + ".exchanges", runs.report.n_exchanges, "", 3);
    goals.add(name + ".other_steps", share_of_other_steps, "", 0.03);
    goals.add(name + ".min_angle", runs.all_parts.shape.min_angle, " degrees",
              std::min(one.refining.min_angle, runs.min_angle_of_whole), true);
    if (context.size() == 2 && one.speed_goal > 0)
      goals.add(name + ".speed_of_two_ranks", runs.one.least() / runs.all.least(), "x", one.speed_goal, true);
    part["cases"].push_back(std::move(row));
  }
  return part;
}

}  // namespace barrio::bench
