// Adapt a cube to a shock, and to moving bubbles, as a solver with an error estimate does every few steps. The mesh is
// evaluated by independent formulas, and compared with the goals for counts, qualities and lengths.
//
//   barrio --ranks 2 bench adapt --cases cube bubble
//   barrio --ranks 2 bench adapt --boxes 35 --scale 1.57
//   barrio --ranks 2 bench adapt --cases cube --migrating            # compared with the paper's method
//   benchmarks/adapt/run.py --build build/release --mmg mmg3d_O3     # compared with Mmg, and one rank with two
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "barrio/adapt/adapt.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/report.hpp"
#include "benchmarks/adapt/cases.hpp"
#include "benchmarks/adapt/evaluate.hpp"
#include "benchmarks/adapt/migrating.hpp"
#include "benchmarks/adapt/shares.hpp"
#include "benchmarks/goals.hpp"
#include "benchmarks/output.hpp"
#include "benchmarks/spread.hpp"

namespace {

using namespace barrio;

struct Options {
  std::vector<std::string> cases{"cube", "bubble"};
  int n_boxes = 55;
  double scale = 1.0;
  std::string start = "slabs";
  bool is_migrating = false;
  bool has_fields = false;
  bench::Output output;
};

Json counts(const adapt::ChangeCounts& of) {
  return {{"made", of.n_made}, {"tried", of.n_tried}, {"rounds", of.n_rounds}, {"passes", of.n_passes}};
}

/// Make the mesh before the last step of a case. Collective.
mesh::Mesh mesh_before(Context& context, const Options& options, const bench::AdaptCase& wanted) {
  mesh::Mesh mesh = bench::tet_cube(context, options.n_boxes, options.start);
  for (std::size_t step = 0; step + 1 < wanted.sizes.size(); ++step) adapt::adapt(mesh, wanted.sizes[step]);
  return mesh;
}

double linear(const mesh::Mesh& mesh, std::size_t v) {
  const double* x = &mesh.vertices().coordinates[3 * v];
  return 1 + 2 * x[0] - 3 * x[1] + x[2];
}

/// Add a linear field on vertices, and a field of ids on cells.
void add_fields(mesh::Mesh& mesh) {
  const auto u = mesh.add_field<double>("u", mesh::Dim::vertex);
  for (std::size_t v = 0; v < mesh.n_owned(mesh::Dim::vertex); ++v) u.values()[v] = linear(mesh, v);
  const auto id = mesh.add_field<std::int64_t>("id", mesh::Dim::volume);
  for (std::size_t c = 0; c < mesh.n_owned(mesh::Dim::volume); ++c) id.values()[c] = value(mesh.cells().id(c));
}

/// Return hashes of the fields, and the error of the linear one. Collective.
Json fields_of(const mesh::Mesh& mesh) {
  const auto u = mesh.field<double>("u", mesh::Dim::vertex);
  double off = 0;
  for (std::size_t v = 0; v < mesh.n_owned(mesh::Dim::vertex); ++v)
    off = std::max(off, std::abs(u.values()[v] - linear(mesh, v)));
  Json fields{{"linear_error", mpi::max(mesh.context(), off)}};
  for (const auto& field : mesh.fields()) fields["checksums"].push_back(fmt::format("{:016x}", mesh.checksum(*field)));
  return fields;
}

Json counts(const adapt::detail::OperatorCounts& of_rank, Context& context) {
  return {{"made", mpi::sum(context, of_rank.n_applied)},
          {"tried", mpi::sum(context, of_rank.n_decided)},
          {"rounds", mpi::max(context, of_rank.n_rounds)}};
}

/// Measure adaptation by the paper's method, and validate its mesh.
Json measure_migrating(Context& context, const Options& options, const bench::AdaptCase& wanted) {
  mesh::Mesh mesh = mesh_before(context, options, wanted);
  const std::int64_t n_before = mesh.n_global(mesh::Dim::volume);
  std::optional<bench::Watch> watch(context);
  const bench::MigrationReport report = bench::adapt_by_migration(mesh, wanted.sizes.back());
  const Json ranks = watch->result(mesh);
  watch.reset();
  mesh.validate();
  Json row = bench::to_json(bench::evaluate(mesh, wanted.sizes.back()));
  std::int64_t n_made = 0;
  constexpr std::array names{"splits", "collapses", "swaps", "moves"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    n_made += report.counts[i].n_applied;
    row["changes"][names[i]] = counts(report.counts[i], context);
  }
  row["cells_before"] = n_before;
  row["seconds"] = mpi::max(context, report.seconds);
  row["sweeps"] = report.n_sweeps;
  row["is_complete"] = report.is_complete;
  row["stars_pulled"] = report.n_pulled;
  row["cells_migrated"] = mpi::sum(context, report.n_migrated);
  row["cells_migrated_of_rank"] = bench::spread(context, static_cast<double>(report.n_migrated));
  row["cavities_of_rank"] = bench::spread(context, static_cast<double>(n_made));
  row["ranks"] = ranks;
  return row;
}

/// Measure adaptation in rounds. @param idle_bytes  memory of this rank before it had a mesh
Json measure(Context& context, const Options& options, const bench::AdaptCase& wanted, std::uint64_t idle_bytes,
             bench::Goals& goals) {
  mesh::Mesh mesh = mesh_before(context, options, wanted);
  const adapt::SizeFunction& size = wanted.sizes.back();
  if (options.has_fields) add_fields(mesh);
  mpi::barrier(context);
  reset_peak_resident_bytes();
  std::optional<bench::Watch> watch;
  if (options.is_migrating) watch.emplace(context);
  const mpi::Counters before = context.counters();
  const adapt::AdaptReport report = adapt::adapt(mesh, size);
  const auto peak = static_cast<double>(peak_resident_bytes()) - static_cast<double>(idle_bytes);
  const mpi::Counters after = context.counters();
  const Json ranks = watch ? watch->result(mesh) : Json();
  watch.reset();
  const bench::MeshWorth worth = bench::evaluate(mesh, size);
  const std::uint64_t checksum = mesh.checksum();
  const Json fields = options.has_fields ? fields_of(mesh) : Json();
  const double seconds = mpi::max(context, report.seconds);
  const adapt::AdaptReport again = adapt::adapt(mesh, size);
  constexpr int n_points = 256;
  const double unit_cells = bench::complexity(context, size, n_points);
  Json row = bench::to_json(worth);
  row["case"] = wanted.name;
  row["cells_before"] = report.n_cells_before;
  row["complexity"] = unit_cells;
  row["checksum"] = fmt::format("{:016x}", checksum);
  if (options.has_fields) row["fields"] = fields;
  row["seconds"] = seconds;
  row["seconds_of_rounds"] = mpi::max(context, report.kernel_seconds);
  row["seconds_of_balance"] = mpi::max(context, report.balance_seconds);
  row["seconds_of_second_call"] = mpi::max(context, again.seconds);
  const auto max_cells = static_cast<double>(std::max(report.n_cells_before, report.n_cells));
  row["peak_bytes_per_cell"] = mpi::sum(context, peak) / max_cells;
  const std::int64_t n_passes =
      report.splits.n_passes + report.collapses.n_passes + report.swaps.n_passes + report.moves.n_passes;
  row["passes"] = n_passes;
  bench::add_counts(row, context, before, after);
  row["changes"] = {{"splits", counts(report.splits)},
                    {"collapses", counts(report.collapses)},
                    {"swaps", counts(report.swaps)},
                    {"moves", counts(report.moves)}};
  const auto goal = [&](const char* what, double value, const char* unit, double limit, bool higher = false) {
    goals.add(fmt::format("{}.{}", wanted.name, what), value, unit, limit, higher);
  };
  const double per_unit = static_cast<double>(worth.n_cells) / unit_cells;
  goal("min_quality", worth.min_quality, "", wanted.min_quality, true);
  goal("mean_quality", worth.mean_quality, "", wanted.mean_quality, true);
  goal("edges_in_range", worth.part_in_range, "", 0.95, true);
  goal("longest_edge", worth.longest, "", 2.0);
  goal("fewest_cells", per_unit, "C", wanted.fewest, true);
  goal("max_cells", per_unit, "C", wanted.most);
  goal("volume_error", std::abs(worth.volume - 1), "", 1e-12);
  if (options.has_fields) goal("linear_error", fields["linear_error"].get<double>(), "", 1e-12);
  goal("second_call", row["seconds_of_second_call"].get<double>() / seconds, "x", wanted.second_call);
  goal("imbalance_of_cells", worth.imbalance_of_cells, "x", 1.05);
  goal("imbalance_of_vertices", worth.imbalance_of_vertices, "x", 1.05);
  goal("peak_bytes_per_cell", row["peak_bytes_per_cell"].get<double>(), " B", 250);
  goal("share_of_balance", row["seconds_of_balance"].get<double>() / seconds, "", 0.03);
  if (!options.is_migrating) return row;
  row["ranks"] = ranks;
  row["migrating"] = measure_migrating(context, options, wanted);
  goal("volume_error_by_migration", std::abs(row["migrating"]["volume"].get<double>() - 1), "", 1e-12);
  return row;
}

std::string shares_to_text(const char* way, const Json& ranks) {
  std::string text = fmt::format("  {}:", way);
  for (const auto& [what, part] : ranks["shares"].items())
    if (part.get<double>() > 0) text += fmt::format(" {} {:.3f}", what, part.get<double>());
  return text + fmt::format("; a rank sends {:.0f} messages, {:.0f} bytes; {:.3f} of the vertices are shared\n",
                            ranks["messages"]["mean"].get<double>(), ranks["bytes"]["mean"].get<double>(),
                            ranks["shared_vertices"].get<double>());
}

std::string migrating_to_text(const Json& row) {
  const Json& of = row["migrating"];
  const auto n = of["cells"].get<std::int64_t>();
  std::string text =
      fmt::format("  by migration: {} tets ({:.3f} of those above) in {:.3f} s, {} sweeps{}\n", format_count(n),
                  static_cast<double>(n) / row["cells"].get<double>(), of["seconds"].get<double>(),
                  of["sweeps"].get<std::int64_t>(), of["is_complete"].get<bool>() ? "" : ", not complete");
  text += fmt::format("  by migration: {} stars pulled, {} tets migrated; cavities of a rank {:.0f} to {:.0f}\n",
                      format_count(of["stars_pulled"].get<std::int64_t>()),
                      format_count(of["cells_migrated"].get<std::int64_t>()),
                      of["cavities_of_rank"]["min"].get<double>(), of["cavities_of_rank"]["max"].get<double>());
  text += fmt::format("  by migration: quality min {:.3f}, mean {:.3f}; {:.3f} of the edges in range\n",
                      of["quality"]["min"].get<double>(), of["quality"]["mean"].get<double>(),
                      of["lengths"]["in_range"].get<double>());
  text += shares_to_text("by migration", of["ranks"]);
  return text + shares_to_text("in rounds", row["ranks"]);
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
    if (row.contains("migrating")) text += migrating_to_text(row);
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
    CLI::App app("Adapt a cube to a shock, and to moving bubbles");
    app.add_option("--cases", options.cases, "Cases to run: cube, bubble")->capture_default_str();
    app.add_option("--boxes", options.n_boxes, "Boxes of six tets along each side of the cube")
        ->check(CLI::Range(2, 400))
        ->capture_default_str();
    app.add_option("--scale", options.scale, "Factor of all sizes; --boxes 35 --scale 1.57 is a quarter of the work")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_flag("--fields", options.has_fields,
                 "Add a field on vertices and one on cells, and check that they are kept");
    app.add_option("--start", options.start,
                   "Initial distribution of cells: slabs, all on one rank, or scattered by id")
        ->check(CLI::IsMember({"slabs", "one", "scattered"}))
        ->capture_default_str();
    app.add_flag("--migrating", options.is_migrating,
                 "Also run the paper's method, in which cells migrate to the rank of their cavity, and compare times");
    bench::add_output_options(app, options.output);
    if (bench::parse(app, "barrio bench adapt", context, argc, argv)) run(context, options);
  });
}
