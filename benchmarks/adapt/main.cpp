// Adapt a cube to a shock, and to bubbles that move: what a solver with an error estimate does every so many steps.
// The mesh is judged by formulas of its own, and compared with the wanted counts, qualities and lengths.
//
//   barrio --ranks 2 bench adapt --cases cube bubble
//   barrio --ranks 2 bench adapt --boxes 35 --scale 1.57
//   benchmarks/adapt/run.py --build build/release --mmg mmg3d_O3     # beside Mmg, and one rank against two
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "barrio/adapt/adapt.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/report.hpp"
#include "benchmarks/adapt/cases.hpp"
#include "benchmarks/adapt/evaluate.hpp"
#include "benchmarks/goals.hpp"
#include "benchmarks/output.hpp"

namespace {

using namespace barrio;

struct Options {
  std::vector<std::string> cases{"cube", "bubble"};
  int n_boxes = 55;
  double scale = 1.0;
  std::string start = "slabs";
  bench::Output output;
};

Json counts(const adapt::ChangeCounts& of) {
  return {{"made", of.n_made}, {"tried", of.n_tried}, {"rounds", of.n_rounds}, {"passes", of.n_passes}};
}

/// Of a count, over ranks.
Json spread(Context& context, std::uint64_t of_rank) {
  const auto n = static_cast<double>(of_rank);
  return {{"mean", mpi::sum(context, n) / context.size()}, {"max", mpi::max(context, n)}};
}

/// @param idle_bytes  that this rank had before it had a mesh
Json measure(Context& context, const Options& options, const bench::AdaptCase& wanted, std::uint64_t idle_bytes,
             bench::Goals& goals) {
  mesh::Mesh mesh = bench::tet_cube(context, options.n_boxes, options.start);
  for (std::size_t step = 0; step + 1 < wanted.sizes.size(); ++step) adapt::adapt(mesh, wanted.sizes[step]);
  const adapt::SizeFunction& size = wanted.sizes.back();
  mpi::barrier(context);
  reset_peak_resident_bytes();
  const mpi::Counters before = context.counters();
  const adapt::AdaptReport report = adapt::adapt(mesh, size);
  const auto peak = static_cast<double>(peak_resident_bytes()) - static_cast<double>(idle_bytes);
  const mpi::Counters after = context.counters();
  const bench::MeshWorth worth = bench::evaluate(mesh, size);
  const std::uint64_t checksum = mesh.checksum();
  const double seconds = mpi::max(context, report.seconds);
  const adapt::AdaptReport again = adapt::adapt(mesh, size);
  constexpr int n_points = 256;
  const double unit_cells = bench::complexity(context, size, n_points);
  Json row = bench::to_json(worth);
  row["case"] = wanted.name;
  row["cells_before"] = report.n_cells_before;
  row["complexity"] = unit_cells;
  row["checksum"] = fmt::format("{:016x}", checksum);
  row["seconds"] = seconds;
  row["seconds_of_rounds"] = mpi::max(context, report.kernel_seconds);
  row["seconds_of_balance"] = mpi::max(context, report.balance_seconds);
  row["seconds_of_second_call"] = mpi::max(context, again.seconds);
  const auto most_cells = static_cast<double>(std::max(report.n_cells_before, report.n_cells));
  row["peak_bytes_per_cell"] = mpi::sum(context, peak) / most_cells;
  const std::int64_t n_passes =
      report.splits.n_passes + report.collapses.n_passes + report.swaps.n_passes + report.moves.n_passes;
  row["passes"] = n_passes;
  row["messages"] = spread(context, after.messages_sent - before.messages_sent);
  row["bytes"] = spread(context, after.bytes_sent - before.bytes_sent);
  row["collectives"] = spread(context, after.collectives - before.collectives);
  row["changes"] = {{"splits", counts(report.splits)},
                    {"collapses", counts(report.collapses)},
                    {"swaps", counts(report.swaps)},
                    {"moves", counts(report.moves)}};
  const auto goal = [&](const char* what, double value, const char* unit, double limit, bool higher = false) {
    goals.add(fmt::format("{}.{}", wanted.name, what), value, unit, limit, higher);
  };
  const double per_unit = static_cast<double>(worth.n_cells) / unit_cells;
  goal("least_quality", worth.least_quality, "", wanted.least_quality, true);
  goal("mean_quality", worth.mean_quality, "", wanted.mean_quality, true);
  goal("edges_in_range", worth.part_in_range, "", 0.95, true);
  goal("longest_edge", worth.longest, "", 2.0);
  goal("fewest_cells", per_unit, "C", wanted.fewest, true);
  goal("most_cells", per_unit, "C", wanted.most);
  goal("volume_error", std::abs(worth.volume - 1), "", 1e-12);
  goal("second_call", row["seconds_of_second_call"].get<double>() / seconds, "x", 0.05);
  goal("imbalance_of_cells", worth.imbalance_of_cells, "x", 1.05);
  goal("imbalance_of_vertices", worth.imbalance_of_vertices, "x", 1.05);
  goal("peak_bytes_per_cell", row["peak_bytes_per_cell"].get<double>(), " B", 250);
  goal("share_of_balance", row["seconds_of_balance"].get<double>() / seconds, "", 0.03);
  return row;
}

std::string to_text(const Json& document) {
  std::string text;
  for (const Json& row : document["cases"]) {
    const double seconds = row["seconds"].get<double>();
    const auto n = row["cells"].get<std::int64_t>();
    const auto n_before = row["cells_before"].get<std::int64_t>();
    text += fmt::format("{}: {} -> {} tets in {:.3f} s ({:.0f} k in/s, {:.0f} k out/s), a second call {:.3f} s; {}\n",
                        row["case"].get<std::string>(), format_count(n_before), format_count(n), seconds,
                        static_cast<double>(n_before) / seconds / 1e3, static_cast<double>(n) / seconds / 1e3,
                        row["seconds_of_second_call"].get<double>(), row["checksum"].get<std::string>());
    for (const auto& [what, of] : row["changes"].items())
      text += fmt::format("  {}: {} of {} tried, {} rounds, {} passes\n", what,
                          format_count(of["made"].get<std::int64_t>()), format_count(of["tried"].get<std::int64_t>()),
                          of["rounds"].get<std::int64_t>(), of["passes"].get<std::int64_t>());
  }
  for (const Json& goal : document["goals"])
    text += fmt::format("goal {:<40} {:>9.4f}{} ({} {})  {}\n", goal["id"].get<std::string>(),
                        goal["value"].get<double>(), goal["unit"].get<std::string>(),
                        goal["better"] == "higher" ? ">=" : "<=", goal["goal"].get<double>(),
                        goal["met"].get<bool>() ? "met" : "NOT MET");
  return text;
}

void run(Context& context, const Options& options) {
  bench::begin_output(context, options.output);
  Json document = mpi::document(context, "barrio.bench.adapt", 1);
  document["boxes"] = options.n_boxes;
  document["scale"] = options.scale;
  bench::Goals goals;
  const std::uint64_t idle_bytes = peak_resident_bytes();
  for (const std::string& name : options.cases)
    document["cases"].push_back(measure(context, options, bench::adapt_case(name, options.scale), idle_bytes, goals));
  document["peak_resident_bytes"] = mpi::max(context, static_cast<std::int64_t>(peak_resident_bytes()));
  document["goals"] = goals.list();
  bench::print_output(context, options.output, document, to_text);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark(argc, argv, [&](Context& context) {
    Options options;
    CLI::App app("Adapt a cube to a shock, and to bubbles that move");
    app.add_option("--cases", options.cases, "Which: cube, bubble")->capture_default_str();
    app.add_option("--boxes", options.n_boxes, "Boxes of six tets along each side of the cube")
        ->check(CLI::Range(2, 400))
        ->capture_default_str();
    app.add_option("--scale", options.scale, "Factor of all sizes: with --boxes 35 --scale 1.57 a quarter of the work")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--start", options.start, "Where cells are at first: slabs, all on one rank, or scattered by id")
        ->check(CLI::IsMember({"slabs", "one", "scattered"}))
        ->capture_default_str();
    bench::add_output_options(app, options.output);
    if (bench::parse(app, "barrio bench adapt", context, argc, argv)) run(context, options);
  });
}
