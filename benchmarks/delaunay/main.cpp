// Quality triangulation, compared with Triangle and CGAL: triangles per second, bytes per triangle, and their number.
//
//   barrio bench delaunay
//   barrio bench delaunay --parts pipe --millions 16 --repeats 3
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "barrio/base/memory.hpp"
#include "barrio/base/text.hpp"
#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/delaunay/shapes.hpp"
#include "benchmarks/delaunay/peers.hpp"
#include "benchmarks/goals.hpp"
#include "benchmarks/output.hpp"

namespace {

using namespace barrio;

constexpr double max_audited = 2e6;  // triangles: an audit needs 100 bytes each

struct Options {
  std::vector<std::string> parts{"pipe", "square", "square400", "points"};
  std::vector<double> millions{1};
  int repeats = 9;
  bool has_peers = true;
  bench::Output output;
};

/// A graph of known area.
struct Shape {
  delaunay::PlanarGraph graph;
  double area = 1.0;
  double speed_goal = 1.0;  ///< relative to Triangle
};

Shape make_shape(const std::string& name) {
  if (name == "pipe") return {delaunay::pipe_section(400, 100), std::numbers::pi * (1 - 7 * 0.18 * 0.18), 1.0};
  if (name == "square") return {delaunay::unit_square(1), 1.0, 2.5};
  if (name == "square400") return {delaunay::unit_square(400), 1.0, 1.0};
  refuse_together(ErrorCode::usage, fmt::format("part '{}'", name), "is not known",
                  "use pipe, square, square400 or points");
}

/// Times of interleaved runs.
struct Times {
  std::vector<double> seconds;
  [[nodiscard]] double least() const { return *std::ranges::min_element(seconds); }
  [[nodiscard]] double median() const {
    std::vector<double> sorted = seconds;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }
};

Json to_json(const Times& times, std::int64_t n_triangles) {
  return {{"min_seconds", times.least()},
          {"median_seconds", times.median()},
          {"triangles", n_triangles},
          {"triangles_per_second", static_cast<double>(n_triangles) / times.least()}};
}

/// Audit a triangulation. @throws Error{internal} if it has faults
void check(delaunay::Triangulation& mesh, const delaunay::PlanarGraph& graph, const delaunay::AuditOptions& options) {
  if (static_cast<double>(mesh.n_triangles()) > max_audited) return;
  delaunay::compact(mesh);
  const delaunay::Audit found = delaunay::audit(delaunay::audited(mesh), graph, options);
  for (const delaunay::Audit::Check& one : found.checks)
    if (!one.is_met) refuse(ErrorCode::internal, "bench delaunay: " + one.name, one.text);
}

/// Runs of barrio.
struct Ours {
  Times times;
  std::int64_t n_triangles = 0;
  double bytes = 0.0;  ///< peak, per triangle

  /// Run once. @param refining  null: a triangulation of points
  void run(const delaunay::PlanarGraph& graph, const delaunay::RefineOptions* refining) {
    reset_peak_resident_bytes();
    const std::uint64_t before = resident_bytes();
    const auto start = std::chrono::steady_clock::now();
    delaunay::Triangulation mesh = delaunay::triangulate(graph);
    delaunay::RefineReport report;
    if (refining != nullptr) report = delaunay::refine(mesh, *refining);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    times.seconds.push_back(seconds.count());
    n_triangles = mesh.n_triangles();
    if (!report.is_complete) refuse(ErrorCode::internal, "bench delaunay", "did not complete refinement");
    if (times.seconds.size() > 1) return;
    // only in the first run: later runs reuse memory that earlier ones freed
    bytes = static_cast<double>(peak_resident_bytes() - before) / static_cast<double>(n_triangles);
    delaunay::AuditOptions options;
    if (refining != nullptr) options = {.min_angle = refining->min_angle, .max_area = refining->max_area};
    check(mesh, graph, options);
  }
};

Json measure_refinement(const std::string& name, double millions, const Options& options, bench::Goals& goals) {
  const Shape shape = make_shape(name);
  constexpr double yardstick = 1.55;  // triangles / (area / bound)
  const double max_area = shape.area * yardstick / (millions * 1e6);
  const delaunay::RefineOptions refining{.min_angle = delaunay::guaranteed_angle, .max_area = max_area};
  const bool has_triangle = options.has_peers && bench::why_no_triangle().empty();
  Ours ours;
  Times theirs;
  std::int64_t n_theirs = 0;
  for (int i = 0; i < options.repeats; ++i) {
    ours.run(shape.graph, &refining);
    if (!has_triangle) continue;
    const bench::MesherRun run = bench::run_triangle(shape.graph, refining.min_angle, max_area);
    theirs.seconds.push_back(run.seconds);
    n_theirs = run.n_triangles;
  }
  Json row{{"part", name},
           {"millions", millions},
           {"peak_bytes_per_triangle", ours.bytes},
           {"barrio", to_json(ours.times, ours.n_triangles)}};
  const std::string id = fmt::format("{}.{:g}M", name, millions);
  if (millions >= 1) goals.add(id + ".peak_bytes_per_triangle", ours.bytes, " B", 64.0);
  if (has_triangle) {
    row["triangle"] = to_json(theirs, n_theirs);
    const double count = static_cast<double>(ours.n_triangles) / static_cast<double>(n_theirs);
    goals.add(id + ".speed_of_triangle", count * theirs.least() / ours.times.least(), "x", shape.speed_goal, true);
    goals.add(id + ".triangles_of_triangle", count, "x", 1.01);
  }
  return row;
}

Json measure_points(double millions, const Options& options, bench::Goals& goals) {
  std::mt19937_64 random(20261127);
  delaunay::PlanarGraph graph;
  graph.points.resize(static_cast<std::size_t>(millions * 1e6));
  for (delaunay::Point& p : graph.points)
    for (double& x : p) x = std::ldexp(static_cast<double>(random() >> 11U), -53);
  const bool has_cgal = options.has_peers && bench::why_no_cgal().empty();
  const bool has_triangle = options.has_peers && bench::why_no_triangle().empty();
  Ours ours;
  Times of_cgal;
  Times of_triangle;
  std::int64_t n_of_cgal = 0;
  std::int64_t n_of_triangle = 0;
  for (int i = 0; i < options.repeats; ++i) {
    ours.run(graph, nullptr);
    if (has_cgal) {
      const bench::MesherRun run = bench::run_cgal(graph.points);
      of_cgal.seconds.push_back(run.seconds);
      n_of_cgal = run.n_triangles;
    }
    if (has_triangle) {
      const bench::MesherRun run = bench::run_triangle(graph.points);
      of_triangle.seconds.push_back(run.seconds);
      n_of_triangle = run.n_triangles;
    }
  }
  Json row{{"part", "points"},
           {"millions", millions},
           {"peak_bytes_per_triangle", ours.bytes},
           {"barrio", to_json(ours.times, ours.n_triangles)}};
  const std::string id = fmt::format("points.{:g}M", millions);
  for (const auto& [n, name] : {std::pair{n_of_cgal, "CGAL"}, std::pair{n_of_triangle, "Triangle"}})
    if (n != 0 && n != ours.n_triangles)  // the number of triangles of a Delaunay triangulation of points is unique
      refuse(ErrorCode::internal, "bench delaunay", fmt::format("{} triangles, {} has {}", ours.n_triangles, name, n));
  if (has_cgal) {
    row["cgal"] = to_json(of_cgal, n_of_cgal);
    goals.add(id + ".speed_of_cgal", of_cgal.least() / ours.times.least(), "x", 1.0, true);
  }
  if (has_triangle) row["triangle"] = to_json(of_triangle, n_of_triangle);
  return row;
}

std::string to_text(const Json& document) {
  std::string text;
  for (const Json& row : document["parts"]) {
    text += fmt::format("{}, {:g} M\n", row["part"].get<std::string>(), row["millions"].get<double>());
    for (const char* who : {"barrio", "triangle", "cgal"}) {
      if (!row.contains(who)) continue;
      const Json& one = row[who];
      text += fmt::format("  {:<9} {:>12} triangles, {:.3f} s (median {:.3f}), {:.2f} M/s", who,
                          format_count(one["triangles"].get<std::int64_t>()), one["min_seconds"].get<double>(),
                          one["median_seconds"].get<double>(), one["triangles_per_second"].get<double>() / 1e6);
      text += who == std::string("barrio")
                  ? fmt::format(", peak {:.1f} B each\n", row["peak_bytes_per_triangle"].get<double>())
                  : "\n";
    }
  }
  for (const auto& [peer, reason] : document["left_out"].items())
    text += fmt::format("without {}: {}\n", peer, reason.get<std::string>());
  for (const Json& one : document["goals"])
    text += fmt::format("{} {:<38} {:.4g}{} (goal {} {:.3g})\n", one["met"].get<bool>() ? "met    " : "NOT MET",
                        one["id"].get<std::string>(), one["value"].get<double>(), one["unit"].get<std::string>(),
                        one["better"].get<std::string>() == "higher" ? ">=" : "<=", one["goal"].get<double>());
  return text;
}

void run(Context& context, int argc, char** argv) {
  Options options;
  CLI::App app("Measure quality triangulation, on one core");
  app.add_option("--parts", options.parts,
                 "pipe, square, square400: refinement; points: a triangulation of random points")
      ->capture_default_str();
  app.add_option("--millions", options.millions, "Triangles, or points, in millions")->capture_default_str();
  app.add_option("--repeats", options.repeats, "Interleaved runs of each mesher")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("!--no-peers", options.has_peers, "Skip Triangle and CGAL");
  bench::add_output_options(app, options.output);
  if (!bench::parse(app, "bench delaunay", context, argc, argv)) return;
  bench::begin_output(context, options.output);
  Json document = json_document("barrio.bench.delaunay", 1);
  document["ranks"] = context.size();
  document["left_out"] = Json::object();
  if (!bench::why_no_triangle().empty()) document["left_out"]["Triangle"] = bench::why_no_triangle();
  if (!bench::why_no_cgal().empty()) document["left_out"]["CGAL"] = bench::why_no_cgal();
  bench::Goals goals;
  if (context.size() > 1)
    refuse_together(ErrorCode::usage, "bench delaunay", "must run on one rank", "barrio bench delaunay");
  document["parts"] = Json::array();
  for (const std::string& part : options.parts)
    for (const double millions : options.millions)
      document["parts"].push_back(part == "points" ? measure_points(millions, options, goals)
                                                   : measure_refinement(part, millions, options, goals));
  document["goals"] = goals.list();
  bench::print_output(context, options.output, document, to_text);
}

}  // namespace

int main(int argc, char** argv) {
  return barrio::bench::run_benchmark(argc, argv, [&](Context& context) { run(context, argc, argv); });
}
