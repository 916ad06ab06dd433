#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <utility>

#include "barrio/base/error.hpp"
#include "benchmarks/delaunay/peers.hpp"
#include "benchmarks/delaunay/runs.hpp"

namespace barrio::bench {
namespace {

using delaunay::Point;
using Points = std::vector<Point>;

/// Make n points, or a few less.
struct Kind {
  const char* name;
  double goal;  ///< speed relative to the best peer
  Points (*make)(std::mt19937_64& random, std::size_t n);
};

double uniform(std::mt19937_64& random) { return std::ldexp(random() >> 11U, -53); }
std::size_t root(std::size_t n) { return static_cast<std::size_t>(std::sqrt(n)); }

Points make_uniform(std::mt19937_64& random, std::size_t n) {
  Points points(n);
  for (Point& p : points)
    for (double& x : p) x = uniform(random);
  return points;
}

/// @param place  of row i and column j of a lattice
template <class Place>
Points make_lattice(std::size_t n, Place&& place) {
  Points points;
  for (std::size_t i = 0; i < root(n); ++i)
    for (std::size_t j = 0; j < root(n); ++j) points.push_back(place(static_cast<double>(i), static_cast<double>(j)));
  return points;
}

Points make_grid(std::mt19937_64&, std::size_t n) {
  return make_lattice(n, [](double i, double j) { return Point{j, i}; });
}
Points make_tenths(std::mt19937_64&, std::size_t n) {
  return make_lattice(n, [](double i, double j) { return Point{0.1 * j, 0.1 * i}; });
}
Points make_hexagons(std::mt19937_64&, std::size_t n) {
  return make_lattice(
      n, [](double i, double j) { return Point{j + 0.5 * std::fmod(i, 2.0), i * std::numbers::sqrt3 / 2}; });
}
/// Points that are ever denser towards both axes.
Points make_gamma(std::mt19937_64& random, std::size_t n) {
  std::gamma_distribution<double> gamma(0.1, 1.0);
  const auto coordinate = [&] {
    double x = gamma(random);
    while (x < 1e-40) x = gamma(random);
    return x;
  };
  Points points(n);
  for (Point& p : points)
    for (double& x : p) x = coordinate();
  return points;
}
Points make_clusters(std::mt19937_64& random, std::size_t n) {
  const Points centres = make_uniform(random, 20);
  std::normal_distribution<double> normal(0.0, 1e-9);
  Points points(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t d = 0; d < 2; ++d) points[i][d] = centres[i % 20][d] + normal(random);
  return points;
}
Points make_circle(std::mt19937_64& random, std::size_t n) {
  Points points(n);
  for (Point& p : points) {
    const double angle = 2 * std::numbers::pi * uniform(random);
    p = {std::cos(angle), std::sin(angle)};
  }
  return points;
}
Points make_outlier(std::mt19937_64& random, std::size_t n) {
  Points points = make_uniform(random, n);
  points.back() = {1e9, 1e9};
  return points;
}
/// Survey points in metres, to the centimetre.
Points make_survey(std::mt19937_64& random, std::size_t n) {
  Points points(n);
  for (Point& p : points)
    p = {400000 + std::round(uniform(random) * 1e5) / 100, 5000000 + std::round(uniform(random) * 1e5) / 100};
  return points;
}

constexpr Kind kinds[] = {
    {"uniform", 1.4, make_uniform},   {"grid", 1.0, make_grid},       {"tenths", 1.0, make_tenths},
    {"hexagons", 1.0, make_hexagons}, {"gamma", 1.0, make_gamma},     {"clusters", 1.0, make_clusters},
    {"circle", 1.0, make_circle},     {"outlier", 1.0, make_outlier}, {"survey", 1.0, make_survey}};

/// A mesher to compare with. Counts of delabella are its own: it may leave out points that nearly coincide.
struct Peer {
  const char* name;
  MesherRun (*run)(std::span<const Point>);
  bool counts;
  Times times = {};
  std::int64_t n_triangles = 0;
};

std::vector<Peer> built_in_peers(bool has_peers) {
  std::vector<Peer> peers;
  if (!has_peers) return peers;
  if (why_no_cgal().empty()) peers.push_back({.name = "cgal", .run = run_cgal, .counts = true});
  if (why_no_triangle().empty()) peers.push_back({.name = "triangle", .run = run_triangle, .counts = true});
  if (why_no_delabella().empty()) peers.push_back({.name = "delabella", .run = run_delabella, .counts = false});
  return peers;
}

Json measure_kind(const Kind& kind, double millions, const MesherOptions& options, Goals& goals) {
  std::mt19937_64 random(20261127);
  delaunay::PlanarGraph graph;
  graph.points = kind.make(random, static_cast<std::size_t>(millions * 1e6));
  std::ranges::sort(graph.points);
  graph.points.erase(std::ranges::unique(graph.points).begin(), graph.points.end());
  std::ranges::shuffle(graph.points, random);
  std::vector<Peer> peers = built_in_peers(options.has_peers);
  Ours ours;
  for (int i = 0; i < options.repeats; ++i) {
    ours.run(graph, nullptr);
    for (Peer& peer : peers) {
      const MesherRun run = peer.run(graph.points);
      peer.times.seconds.push_back(run.seconds);
      peer.n_triangles = run.n_triangles;
    }
  }
  Json row{{"name", kind.name},
           {"points", graph.points.size()},
           {"peak_bytes_per_triangle", ours.bytes},
           {"barrio", to_json(ours.times, ours.n_triangles)}};
  double best = 0.0;
  for (const Peer& peer : peers) {
    // the number of triangles of a Delaunay triangulation of points is unique
    if (peer.counts && peer.n_triangles != ours.n_triangles)
      refuse(ErrorCode::internal, "bench delaunay",
             fmt::format("{}: {} triangles, {} has {}", kind.name, ours.n_triangles, peer.name, peer.n_triangles));
    row[peer.name] = to_json(peer.times, peer.n_triangles);
    if (best == 0.0 || peer.times.least() < best) best = peer.times.least();
  }
  if (!peers.empty())
    goals.add(fmt::format("points.{}.{:g}M.speed_of_the_best", kind.name, millions), best / ours.times.least(), "x",
              kind.goal, true);
  return row;
}

}  // namespace

Json measure_points(double millions, const MesherOptions& options, Goals& goals) {
  Json rows = Json::array();
  for (const Kind& kind : kinds) rows.push_back(measure_kind(kind, millions, options, goals));
  return {{"part", "points"}, {"millions", millions}, {"cases", std::move(rows)}};
}

}  // namespace barrio::bench
