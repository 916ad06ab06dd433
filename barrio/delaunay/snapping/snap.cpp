#include "barrio/delaunay/snap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/snapping/arrangement.hpp"
#include "barrio/delaunay/snapping/coverage.hpp"
#include "barrio/delaunay/snapping/crossings.hpp"
#include "barrio/delaunay/snapping/seeds.hpp"

namespace barrio::delaunay {
namespace {

using detail::Arrangement;
using detail::BorderPiece;

void check_rows(const PlanarGraph& graph) {
  for (std::size_t i = 0; i < graph.points.size(); ++i)
    for (const double x : graph.points[i])
      if (!std::isfinite(x))
        refuse(ErrorCode::bad_input, fmt::format("point {}", i), fmt::format("has the coordinate {}", x),
               "coordinates must be finite");
  const std::int64_t n = std::ssize(graph.points);
  for (std::size_t s = 0; s < graph.segments.size(); ++s)
    for (const std::int32_t end : graph.segments[s].ends)
      if (end < 0 || end >= n)
        refuse(ErrorCode::bad_input, fmt::format("segment {}", s),
               fmt::format("ends in point {}, but there are {} points", end, n), "number points from 0");
  if (!graph.point_markers.empty() && graph.point_markers.size() != graph.points.size())
    refuse(ErrorCode::bad_input, "markers", "are not as many as points", "give one for each point, or none at all");
  if (graph.attribute_values.size() != width_of(graph.attributes) * graph.points.size())
    refuse(ErrorCode::bad_input, "attributes", "are not as many as points need", "give all components at each point");
  if (!graph.sides.empty() && graph.sides.size() != graph.segments.size())
    refuse(ErrorCode::bad_input, "sides", "are not as many as segments", "give two for each segment, or none at all");
}

void check_tolerance(const PlanarGraph& graph, double tolerance) {
  if (!(tolerance > 0.0) || std::isinf(tolerance))
    refuse(ErrorCode::usage, "tolerance", fmt::format("is {}", tolerance), "give a positive number");
  if (graph.points.empty()) return;
  Point low = graph.points.front();
  Point high = low;
  double largest = 0.0;
  for (const Point& p : graph.points)
    for (std::size_t k = 0; k < 2; ++k) {
      low[k] = std::min(low[k], p[k]);
      high[k] = std::max(high[k], p[k]);
      largest = std::max(largest, std::abs(p[k]));
    }
  const double width = std::max(high[0] - low[0], high[1] - low[1]);
  if (tolerance >= width)
    refuse(ErrorCode::usage, "tolerance",
           fmt::format("is {}, but all points lie within a square of size {}", tolerance, width),
           "give a tolerance smaller than the details to keep");
  if (tolerance < min_tolerance(largest))
    refuse(ErrorCode::usage, "tolerance",
           fmt::format("is {}, which doubles cannot resolve beside the coordinate {}", tolerance, largest),
           fmt::format("give at least {:.1g}, or move the origin nearer", 2 * min_tolerance(largest)));
}

/// Conversion of an arrangement of segments to a graph.
class Snapping {
 public:
  Snapping(PlanarGraph& graph, const SnapOptions& options)
      : graph_(graph),
        options_(options),
        rows_(sorted_rows(graph)),
        arrangement_(graph.points, ends_of(graph, rows_), options.tolerance) {
    report_.tolerance = options.tolerance;
  }

  SnapReport run() {
    arrangement_.cut();
    detail::check_seeds(graph_, rows_, arrangement_);
    collect_pieces();
    std::vector<char> is_kept(pieces_.size(), 1);
    if (!graph_.sides.empty()) resolve_sides(is_kept);
    report_.n_points_on_segments = arrangement_.n_taken_in();
    report_.n_crossings = std::ssize(arrangement_.crossings());
    PlanarGraph made{.attributes = graph_.attributes,
                     .holes = graph_.holes,
                     .regions = graph_.regions,
                     .marker_names = graph_.marker_names};
    make_points(made, is_kept);
    make_segments(made, is_kept);
    if (!graph_.segments.empty() && made.segments.empty())
      refuse(ErrorCode::bad_input, "segments",
             fmt::format("{} the tolerance {}",
                         graph_.sides.empty() ? "all vanish within" : "enclose no area that is wider than",
                         options_.tolerance),
             "lower the tolerance, or check the input");
    graph_ = std::move(made);
    return std::move(report_);
  }

 private:
  /// Sort segments by their places, so that their order in the input does not matter.
  static std::vector<std::int32_t> sorted_rows(const PlanarGraph& graph) {
    std::vector<std::int32_t> rows(graph.segments.size());
    std::iota(rows.begin(), rows.end(), 0);
    std::ranges::stable_sort(rows, {}, [&](std::int32_t row) {
      const Point& a = graph.points[graph.segments[row].ends[0]];
      const Point& b = graph.points[graph.segments[row].ends[1]];
      return std::pair(std::min(a, b), std::max(a, b));
    });
    return rows;
  }
  static std::vector<std::array<std::int32_t, 2>> ends_of(const PlanarGraph& graph,
                                                          const std::vector<std::int32_t>& rows) {
    std::vector<std::array<std::int32_t, 2>> ends;
    for (const std::int32_t row : rows) ends.push_back(graph.segments[row].ends);
    return ends;
  }

  /// Collect the pieces of all segments, in the order of segments; those that coincide become one.
  void collect_pieces() {
    std::vector<std::int32_t> place_of(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) place_of[rows_[i]] = static_cast<std::int32_t>(i);
    std::map<std::array<std::int32_t, 2>, std::int32_t> known;
    std::vector<std::int32_t> chain;
    for (std::size_t s = 0; s < graph_.segments.size(); ++s) {
      arrangement_.find_chain(place_of[s], chain);
      first_piece_.push_back(piece_of_.size());
      for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
        const std::array<std::int32_t, 2> ends{std::min(chain[i], chain[i + 1]), std::max(chain[i], chain[i + 1])};
        const auto [at, is_new] = known.try_emplace(ends, static_cast<std::int32_t>(pieces_.size()));
        if (is_new) {
          pieces_.push_back({.ends = {chain[i], chain[i + 1]}});
          markers_.push_back(graph_.segments[s].marker);
          is_inner_.push_back(0);
        } else {
          ++report_.n_repeated_segments;
          if (markers_[at->second] == 0) markers_[at->second] = graph_.segments[s].marker;
        }
        piece_of_.push_back(at->second);
        if (!graph_.sides.empty()) add_steps(at->second, s, pieces_[at->second].ends[0] == chain[i]);
      }
    }
    first_piece_.push_back(piece_of_.size());
  }

  /// Add the change between the sides of a segment to a piece of it.
  void add_steps(std::int32_t piece, std::size_t segment, bool is_forward) {
    const auto [left, right] = graph_.sides[segment];
    if (left == right && left != PlanarGraph::outside) is_inner_[piece] = 1;
    for (const auto& [region, by] : {std::pair(left, 1), std::pair(right, -1)}) {
      if (region == PlanarGraph::outside) continue;
      std::vector<BorderPiece::Step>& steps = pieces_[piece].steps;
      auto at = std::ranges::lower_bound(steps, region, {}, &BorderPiece::Step::region);
      if (at == steps.end() || at->region != region) at = steps.insert(at, {region, 0});
      at->by += is_forward ? by : -by;
    }
  }

  /// Decide the sides of pieces, and drop those that separate nothing.
  void resolve_sides(std::vector<char>& is_kept) {
    const detail::Coverage coverage = detail::cover(arrangement_.sites(), pieces_);
    sides_ = coverage.sides;
    for (std::size_t i = 0; i < pieces_.size(); ++i)
      is_kept[i] = sides_[i][0] != sides_[i][1] || (is_inner_[i] != 0 && sides_[i][0] != PlanarGraph::outside) ? 1 : 0;
    std::vector<std::int32_t> named;
    for (const auto& sides : graph_.sides)
      for (const std::int32_t side : sides)
        if (side > 0) named.push_back(side);
    std::ranges::sort(named);
    const auto repeated = std::ranges::unique(named);
    named.erase(repeated.begin(), repeated.end());
    for (const std::int32_t region : named)
      if (!coverage.areas.contains(region)) report_.vanished_regions.push_back(region);
    for (const auto& [region, area] : coverage.inverted) report_.inverted.push_back({.region = region, .area = area});
    for (const auto& [regions, area] : coverage.overlaps) {
      report_.overlaps.push_back({.kept = regions.first, .lost = regions.second, .area = area});
      report_.overlap_area += area;
    }
  }

  /// Add a site to the graph. @param from  row of the point that gives marker and attributes
  void add_point(PlanarGraph& made, std::int32_t site, std::int32_t from) {
    const std::size_t width = width_of(graph_.attributes);
    point_of_[site] = static_cast<std::int32_t>(made.points.size());
    made.points.push_back(arrangement_.sites()[site]);
    if (!graph_.point_markers.empty()) made.point_markers.push_back(graph_.point_markers[from]);
    const auto values = std::span(graph_.attribute_values).subspan(from * width, width);
    made.attribute_values.insert(made.attribute_values.end(), values.begin(), values.end());
  }

  void make_points(PlanarGraph& made, const std::vector<char>& is_kept) {
    const std::size_t n_sites = arrangement_.sites().size();
    std::vector<char> is_used(n_sites, options_.drops_loose_points ? 0 : 1);
    for (std::size_t i = 0; i < pieces_.size(); ++i)
      for (const std::int32_t site : pieces_[i].ends)
        if (is_kept[i] != 0) is_used[site] = 1;
    // of the merged points, the one at the place of the site gives marker and attributes
    std::vector<std::int32_t> giver(n_sites, -1);
    for (std::int32_t p = 0; p < std::ssize(graph_.points); ++p) {
      const std::int32_t site = arrangement_.site_of(p);
      const Point& place = arrangement_.sites()[site];
      report_.max_move = std::max(report_.max_move, std::sqrt(detail::squared_gap(graph_.points[p], place)));
      if (giver[site] < 0 && graph_.points[p] == place) giver[site] = p;
    }
    report_.n_merged_points = std::ssize(graph_.points) - arrangement_.n_point_sites();
    point_of_.assign(n_sites, -1);
    for (std::int32_t p = 0; p < std::ssize(graph_.points); ++p) {
      const std::int32_t site = arrangement_.site_of(p);
      if (point_of_[site] < 0 && is_used[site] != 0) add_point(made, site, giver[site]);
      if (point_of_[site] < 0 || graph_.point_markers.empty()) continue;
      std::int32_t& marker = made.point_markers[point_of_[site]];
      if (marker == 0) marker = graph_.point_markers[p];
    }
    for (auto site = static_cast<std::size_t>(arrangement_.n_point_sites()); site < n_sites; ++site)
      if (is_used[site] != 0) add_crossing(made, static_cast<std::int32_t>(site));
  }

  void add_crossing(PlanarGraph& made, std::int32_t site) {
    const std::size_t width = width_of(graph_.attributes);
    const Point& place = arrangement_.sites()[site];
    point_of_[site] = static_cast<std::int32_t>(made.points.size());
    made.points.push_back(place);
    if (!graph_.point_markers.empty()) made.point_markers.push_back(0);
    std::vector<double> values(width, 0.0);
    for (const std::int32_t segment : arrangement_.crossings()[site - arrangement_.n_point_sites()].segments) {
      const auto& [a, b] = graph_.segments[rows_[segment]].ends;
      const double from_a = std::sqrt(detail::squared_gap(graph_.points[a], place));
      const double from_b = std::sqrt(detail::squared_gap(graph_.points[b], place));
      const double part = from_a / (from_a + from_b);
      for (std::size_t k = 0; k < width; ++k)
        values[k] +=
            0.5 * std::lerp(graph_.attribute_values[a * width + k], graph_.attribute_values[b * width + k], part);
    }
    made.attribute_values.insert(made.attribute_values.end(), values.begin(), values.end());
  }

  void make_segments(PlanarGraph& made, const std::vector<char>& is_kept) {
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (is_kept[i] == 0) continue;
      made.segments.push_back(
          {.ends = {point_of_[pieces_[i].ends[0]], point_of_[pieces_[i].ends[1]]}, .marker = markers_[i]});
      if (!sides_.empty()) made.sides.push_back(sides_[i]);
    }
    for (std::size_t s = 0; s < graph_.segments.size(); ++s) {
      const auto of_segment = std::span(piece_of_).subspan(first_piece_[s], first_piece_[s + 1] - first_piece_[s]);
      if (std::ranges::none_of(of_segment, [&](std::int32_t piece) { return is_kept[piece] != 0; }))
        report_.vanished_segments.push_back(static_cast<std::int32_t>(s));
    }
  }

  PlanarGraph& graph_;
  const SnapOptions& options_;
  std::vector<std::int32_t> rows_;  // of segments, by their places
  Arrangement arrangement_;
  SnapReport report_;
  std::vector<BorderPiece> pieces_;  // ends are sites
  std::vector<std::int32_t> markers_;
  std::vector<char> is_inner_;  // of a piece: a segment has one region on both sides
  std::vector<std::array<std::int32_t, 2>> sides_;
  std::vector<std::int32_t> piece_of_;    // along all segments
  std::vector<std::size_t> first_piece_;  // of each segment, in `piece_of_`
  std::vector<std::int32_t> point_of_;    // of each site, in the new graph
};

}  // namespace

double min_tolerance(double largest_coordinate) noexcept { return std::ldexp(largest_coordinate, -42); }

SnapReport snap(PlanarGraph& graph, const SnapOptions& options) {
  check_rows(graph);
  check_tolerance(graph, options.tolerance);
  return Snapping(graph, options).run();
}

}  // namespace barrio::delaunay
