#include "barrio/delaunay/snapping/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "barrio/base/error.hpp"

namespace barrio::delaunay::detail {
namespace {

using Step = BorderPiece::Step;
using Counts = std::vector<Step>;  // of each region: times it covers a part; ascending, none is 0

/// Add steps, forwards or backwards.
Counts after(const Counts& counts, const Counts& steps, std::int32_t direction) {
  Counts sum;
  std::size_t i = 0;
  for (const Step& step : steps) {
    while (i < counts.size() && counts[i].region < step.region) sum.push_back(counts[i++]);
    std::int32_t n = direction * step.by;
    if (i < counts.size() && counts[i].region == step.region) n += counts[i++].by;
    if (n != 0) sum.push_back({step.region, n});
  }
  sum.insert(sum.end(), counts.begin() + static_cast<std::ptrdiff_t>(i), counts.end());
  return sum;
}

/// Return the regions that cover a part, the one that has it first.
std::vector<std::int32_t> covering(const Counts& counts) {
  std::vector<std::int32_t> regions;
  for (const Step& one : counts)
    if (one.by > 0) regions.push_back(one.region);
  if (regions.size() > 1 && regions.front() == PlanarGraph::no_region)
    std::rotate(regions.begin(), regions.begin() + 1, regions.end());
  return regions;
}

/// CoverageWalk over the triangles between pieces that counts the regions covering each of them.
class CoverageWalk {
 public:
  CoverageWalk(std::span<const Point> points, std::span<const BorderPiece> pieces) : pieces_(pieces) {
    PlanarGraph graph;
    graph.points.assign(points.begin(), points.end());
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      graph.segments.push_back({.ends = pieces[i].ends});
      const auto& [a, b] = pieces[i].ends;
      by_ends_.push_back({{std::min(a, b), std::max(a, b)}, static_cast<std::int32_t>(i)});
    }
    std::ranges::sort(by_ends_);
    mesh_ = triangulate(graph, {.fills_hull = true});
    counts_of_.assign(mesh_.triangles.size(), unknown);
    sides_.assign(pieces.size(), {outside, outside});
  }

  Coverage run() {
    for (std::int32_t row = 0; row < std::ssize(mesh_.triangles); ++row) {
      const Triangle& t = mesh_.triangle(row);
      if (!t.is_used()) continue;
      for (std::uint32_t e = 0; e < 3; ++e)
        if (!t.neighbours[e]) enter(row, e, outside);
    }
    spread();
    Coverage coverage;
    for (const auto& [left, right] : sides_) coverage.sides.push_back({region(left), region(right)});
    for (std::int32_t row = 0; row < std::ssize(mesh_.triangles); ++row) {
      const Triangle& t = mesh_.triangle(row);
      if (!t.is_used()) continue;
      for (const Step& one : *known_[counts_of_[row]])
        if (one.by < 0) coverage.inverted[one.region] += mesh_.area(t);
      const std::vector<std::int32_t> regions = covering(*known_[counts_of_[row]]);
      if (!regions.empty()) coverage.areas[regions.front()] += mesh_.area(t);
      for (std::size_t i = 1; i < regions.size(); ++i)
        coverage.overlaps[{regions.front(), regions[i]}] += mesh_.area(t);
    }
    return coverage;
  }

 private:
  static constexpr std::int32_t unknown = -1;
  static constexpr std::int32_t outside = 0;  // row of `known_`

  [[nodiscard]] std::int32_t region(std::int32_t counts) const {
    const std::vector<std::int32_t> regions = covering(*known_[counts]);
    return regions.empty() ? PlanarGraph::outside : regions.front();
  }
  [[nodiscard]] std::int32_t number(const Counts& counts) {
    const auto [at, is_new] = numbers_.try_emplace(counts, static_cast<std::int32_t>(known_.size()));
    if (is_new) known_.push_back(&at->first);
    return at->second;
  }
  /// Find the piece on an edge. @return its row, or -1
  [[nodiscard]] std::int32_t piece_on(const Triangle& t, std::uint32_t e) const {
    const std::int32_t a = mesh_.input_numbers[t.vertices[next_corner(e)]];
    const std::int32_t b = mesh_.input_numbers[t.vertices[previous_corner(e)]];
    const std::array<std::int32_t, 2> ends{std::min(a, b), std::max(a, b)};
    const auto at = std::ranges::lower_bound(by_ends_, ends, {}, &Named::first);
    return at != by_ends_.end() && at->first == ends ? at->second : -1;
  }

  /// Note the counts of a triangle, entered across one of its edges from a part with known counts.
  void enter(std::int32_t row, std::uint32_t e, std::int32_t from) {
    const Triangle& t = mesh_.triangle(row);
    const std::int32_t piece = t.is_segment(e) ? piece_on(t, e) : -1;
    std::int32_t to = from;
    if (piece >= 0) {
      // the triangle lies left of its edges
      const bool is_left = mesh_.input_numbers[t.vertices[next_corner(e)]] == pieces_[piece].ends[0];
      to = number(after(*known_[from], pieces_[piece].steps, is_left ? 1 : -1));
      sides_[piece] = is_left ? std::array{to, from} : std::array{from, to};
    }
    if (counts_of_[row] == to) return;
    if (counts_of_[row] != unknown) refuse_open(row, to);
    counts_of_[row] = to;
    stack_.push_back(row);
  }

  void spread() {
    while (!stack_.empty()) {
      const std::int32_t row = stack_.back();
      stack_.pop_back();
      for (std::uint32_t e = 0; e < 3; ++e) {
        const Side side = mesh_.triangle(row).neighbours[e];
        if (side)
          enter(side.triangle(), side.edge(), counts_of_[row]);
        else
          enter(row, e, outside);  // nothing may cover the outside
      }
    }
  }

  [[noreturn]] void refuse_open(std::int32_t row, std::int32_t counts) const {
    const Counts differing = after(*known_[counts], *known_[counts_of_[row]], -1);
    const Point& p = mesh_.point(mesh_.triangle(row).vertices[0]);
    refuse(ErrorCode::bad_input, fmt::format("region {}", differing.front().region),
           fmt::format("has segments beside it that do not close around it, near ({}, {})", p[0], p[1]),
           "close the segments around each region");
  }

  using Named = std::pair<std::array<std::int32_t, 2>, std::int32_t>;
  std::span<const BorderPiece> pieces_;
  std::vector<Named> by_ends_;
  Triangulation mesh_;
  std::map<Counts, std::int32_t> numbers_{{Counts{}, outside}};
  std::vector<const Counts*> known_{&numbers_.begin()->first};
  std::vector<std::int32_t> counts_of_;             // of triangles: rows of `known_`
  std::vector<std::array<std::int32_t, 2>> sides_;  // of pieces: rows of `known_`
  std::vector<std::int32_t> stack_;
};

}  // namespace

Coverage cover(std::span<const Point> points, std::span<const BorderPiece> pieces) {
  return CoverageWalk(points, pieces).run();
}

}  // namespace barrio::delaunay::detail
