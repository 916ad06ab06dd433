#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <numbers>
#include <random>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/poly_file.hpp"
#include "barrio/delaunay/shapes.hpp"
#include "benchmarks/delaunay/peers.hpp"
#include "benchmarks/delaunay/runs.hpp"

namespace barrio::bench {
namespace {

using delaunay::PlanarGraph;
using delaunay::Point;

constexpr double max_audited = 2e6;  // triangles: an audit needs 100 bytes each

/// A graph of known area.
struct DenseCase {
  PlanarGraph graph;
  double area;
  double speed_goal;        ///< relative to Triangle, up to 4 M triangles
  double large_speed_goal;  ///< above
};

DenseCase make_dense(const std::string& name) {
  if (name == "pipe") return {delaunay::pipe_section(400, 100), std::numbers::pi * (1 - 7 * 0.18 * 0.18), 1.8, 2.2};
  if (name == "square") return {delaunay::unit_square(1), 1.0, 6.0, 8.0};
  return {delaunay::unit_square(400), 1.0, 1.8, 2.2};
}

/// A graph, and its name.
struct NamedGraph {
  std::string name;
  PlanarGraph graph;
};

/// A square with a slit of a small angle from one side.
PlanarGraph slit(double angle) {
  const double half = 0.5 * std::tan(angle / 2 * std::numbers::pi / 180);
  return delaunay::polygon({{0, 0}, {0.5 - half, 0}, {0.5, 0.5}, {0.5 + half, 0}, {1, 0}, {1, 1}, {0, 1}});
}

/// Spokes from the centre of a square.
PlanarGraph fan(int n_spokes) {
  PlanarGraph graph = delaunay::unit_square(1);
  graph.points.push_back({0.5, 0.5});
  for (int i = 0; i < n_spokes; ++i) {
    const double angle = 2 * std::numbers::pi * i / n_spokes;
    graph.points.push_back({0.5 + 0.4 * std::cos(angle), 0.5 + 0.4 * std::sin(angle)});
    graph.segments.push_back({{4, static_cast<std::int32_t>(graph.points.size()) - 1}, 2});
  }
  return graph;
}

/// Compare with Triangle, at one angle, in numbers and in time.
struct Comparison {
  double ours = 0.0;
  double with_moves = 0.0;
  double theirs = 0.0;
  double worst = 0.0;
  std::string worst_name;
  double our_seconds = 0.0;  ///< of meshes above 10 000 triangles
  double moving_seconds = 0.0;
  double their_seconds = 0.0;
  double slowest = 1e9;
  std::string slowest_name;
};

void compare(const NamedGraph& one, double angle, const MesherOptions& options, bool has_triangle, Comparison& sum,
             Json& rows) {
  Ours plain;
  Ours moving;
  Times theirs;
  std::int64_t n_theirs = 0;
  const delaunay::RefineOptions refining{.min_angle = angle, .keeps_regions = false};
  delaunay::RefineOptions with_moves = refining;
  with_moves.moves_points = true;
  for (int i = 0; i < options.repeats; ++i) {
    plain.run(one.graph, &refining);
    moving.run(one.graph, &with_moves);
    if (!has_triangle) continue;
    const MesherRun run = run_triangle(one.graph, angle, 0.0);
    theirs.seconds.push_back(run.seconds);
    n_theirs = run.n_triangles;
  }
  Json row{{"name", one.name},
           {"min_angle", angle},
           {"barrio", to_json(plain.times, plain.n_triangles)},
           {"barrio_moving", to_json(moving.times, moving.n_triangles)}};
  sum.ours += static_cast<double>(plain.n_triangles);
  sum.with_moves += static_cast<double>(moving.n_triangles);
  if (has_triangle) {
    row["triangle"] = to_json(theirs, n_theirs);
    const double ratio = static_cast<double>(plain.n_triangles) / static_cast<double>(n_theirs);
    sum.theirs += static_cast<double>(n_theirs);
    if (n_theirs > 500 && ratio > sum.worst) {
      sum.worst = ratio;
      sum.worst_name = one.name;
    }
    if (n_theirs > 10000) {
      sum.our_seconds += plain.times.least();
      sum.moving_seconds += moving.times.least();
      sum.their_seconds += theirs.least();
      if (const double speed = theirs.least() / plain.times.least(); speed < sum.slowest) {
        sum.slowest = speed;
        sum.slowest_name = one.name;
      }
    }
  }
  rows.push_back(std::move(row));
}

}  // namespace

Json to_json(const Times& times, std::int64_t n_triangles) {
  return {{"min_seconds", times.least()},
          {"median_seconds", times.median()},
          {"triangles", n_triangles},
          {"triangles_per_second", static_cast<double>(n_triangles) / times.least()}};
}

void Ours::run(const PlanarGraph& graph, const delaunay::RefineOptions* refining) {
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
  if (static_cast<double>(mesh.n_triangles()) > max_audited) return;
  delaunay::AuditOptions audit;
  if (refining != nullptr) audit = {.min_angle = refining->min_angle, .max_area = refining->max_area};
  delaunay::compact(mesh);
  const delaunay::Audit found = delaunay::audit(delaunay::audited(mesh), graph, audit);
  for (const delaunay::Audit::Check& one : found.checks)
    if (!one.is_met) refuse(ErrorCode::internal, "bench delaunay: " + one.name, one.text);
}

Json measure_dense(const std::string& name, double millions, const MesherOptions& options, Goals& goals) {
  const DenseCase dense = make_dense(name);
  constexpr double yardstick = 1.55;  // triangles / (area / bound)
  const double max_area = dense.area * yardstick / (millions * 1e6);
  const delaunay::RefineOptions refining{.min_angle = delaunay::guaranteed_angle, .max_area = max_area};
  const bool has_triangle = options.has_peers && why_no_triangle().empty();
  Ours ours;
  Times theirs;
  std::int64_t n_theirs = 0;
  for (int i = 0; i < options.repeats; ++i) {
    ours.run(dense.graph, &refining);
    if (!has_triangle) continue;
    const MesherRun run = run_triangle(dense.graph, refining.min_angle, max_area);
    theirs.seconds.push_back(run.seconds);
    n_theirs = run.n_triangles;
  }
  Json row{{"part", name},
           {"millions", millions},
           {"peak_bytes_per_triangle", ours.bytes},
           {"barrio", to_json(ours.times, ours.n_triangles)}};
  const std::string id = fmt::format("{}.{:g}M", name, millions);
  if (millions >= 1) goals.add(id + ".peak_bytes_per_triangle", ours.bytes, " B", 48.0);
  if (has_triangle) {
    row["triangle"] = to_json(theirs, n_theirs);
    const double count = static_cast<double>(ours.n_triangles) / static_cast<double>(n_theirs);
    goals.add(id + ".speed_of_triangle", count * theirs.least() / ours.times.least(), "x",
              millions > 4 ? dense.large_speed_goal : dense.speed_goal, true);
    goals.add(id + ".triangles_of_triangle", count, "x", 1.01);
  }
  return row;
}

Json measure_coasts(const MesherOptions& options, Goals& goals) {
  std::vector<NamedGraph> graphs;
  for (const std::int64_t n : {1024, 4096, 16384, 65536})
    for (const std::uint64_t seed : {3, 7})
      graphs.push_back({fmt::format("island-{}-{}", n, seed), delaunay::fractal_island(n, seed)});
  for (const std::string& file : options.files) graphs.push_back({file, delaunay::read_poly(file).graph});
  const bool has_triangle = options.has_peers && why_no_triangle().empty();
  Json rows = Json::array();
  for (const double angle : options.angles) {
    Comparison sum;
    for (const NamedGraph& one : graphs) compare(one, angle, options, has_triangle, sum, rows);
    const std::string id = fmt::format("coasts.{:g}", angle);
    goals.add(id + ".triangles_moving", sum.with_moves / sum.ours, "x", angle < 28 ? 0.92 : 0.8);
    if (!has_triangle) continue;
    goals.add(id + ".triangles_of_triangle", sum.ours / sum.theirs, "x", 1.0);
    goals.add(fmt::format("{}.worst ({})", id, sum.worst_name), sum.worst, "x", 1.02);
    goals.add(id + ".speed_of_triangle", sum.their_seconds / sum.our_seconds, "x", 1.8, true);
    goals.add(fmt::format("{}.slowest ({})", id, sum.slowest_name), sum.slowest, "x", 1.2, true);
    goals.add(id + ".time_moving", sum.moving_seconds / sum.our_seconds, "x", 3.0);
  }
  return {{"part", "coasts"}, {"cases", std::move(rows)}};
}

Json measure_saws(const MesherOptions& options, Goals& goals) {
  std::vector<NamedGraph> graphs{{"saw-20", delaunay::saw(20, 1, 100, 0)},
                                 {"saw-200", delaunay::saw(200, 1, 100, 0)},
                                 {"saw-50", delaunay::saw(50, 1, 5, 0)},
                                 {"comb-50", delaunay::saw(50, 1, 40, 0.5)},
                                 {"comb-500", delaunay::saw(500, 1, 20, 2)},
                                 {"slit-1", slit(1)},
                                 {"slit-0.01", slit(0.01)},
                                 {"fan-36", fan(36)},
                                 {"fan-360", fan(360)}};
  std::mt19937_64 random(20261129);
  for (int i = 0; i < 200; ++i) graphs.push_back({fmt::format("random-{}", i), delaunay::random_saw(random)});
  const bool has_triangle = options.has_peers && why_no_triangle().empty();
  Json rows = Json::array();
  Comparison sum;
  MesherOptions once = options;
  once.repeats = 1;  // only numbers count
  for (const NamedGraph& one : graphs) compare(one, 20, once, has_triangle, sum, rows);
  if (has_triangle) {
    goals.add("saws.triangles_of_triangle", sum.ours / sum.theirs, "x", 1.0);
    goals.add(fmt::format("saws.worst ({})", sum.worst_name), sum.worst, "x", 1.1);
  }
  return {{"part", "saws"}, {"cases", std::move(rows)}};
}

}  // namespace barrio::bench
