#include "barrio/delaunay/kernel/carving.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/kernel/insertion.hpp"

namespace barrio::delaunay::detail {
namespace {

/// Visit the triangles that can be reached from one without crossing a segment. @param enter  whether to enter one
template <class Enter>
void spread(Triangulation& mesh, std::int32_t from, Enter&& enter) {
  std::vector<std::int32_t> stack;
  if (enter(mesh.triangle(from))) stack.push_back(from);
  while (!stack.empty()) {
    const Triangle& t = mesh.triangle(stack.back());
    stack.pop_back();
    for (std::uint32_t e = 0; e < 3; ++e) {
      if (!t.neighbours[e] || t.is_segment(e)) continue;
      const std::int32_t row = t.neighbours[e].triangle();
      if (enter(mesh.triangle(row))) stack.push_back(row);
    }
  }
}

/// Mark a triangle for removal. @return whether it was not marked before
bool leave_out(Triangle& t) noexcept {
  const bool is_new = t.is_used();
  t.state |= Triangle::unused;
  return is_new;
}

std::int32_t any_used(const Triangulation& mesh) noexcept {
  for (std::int32_t row = 0; row < std::ssize(mesh.triangles); ++row)
    if (mesh.triangles[row].is_used() && !is_outside(mesh.triangles[row])) return row;
  return -1;
}

/// Find the triangle that contains a position. @return its row, or -1
std::int32_t find_place(Triangulation& mesh, Insertion& walk, const Point& place, std::int32_t from) {
  // outside triangles and holes are still there, so a walk can end only at the hull
  std::int32_t row = from;
  for (;;) {
    const Place found = walk.locate(place, row);
    if (found.kind == Place::Kind::exterior) return -1;
    if (found.kind != Place::Kind::blocked) return found.side.triangle();
    const Side beyond = mesh.triangle(found.side.triangle()).neighbours[found.side.edge()];
    if (!beyond || is_outside(mesh.triangle(beyond.triangle()))) return -1;
    row = beyond.triangle();
  }
}

/// Put marked rows on the list of unused ones, and detach the remaining triangles from them.
void release(Triangulation& mesh) noexcept {
  mesh.n_unused_triangles = 0;
  mesh.first_unused_triangle = -1;
  for (std::size_t row = mesh.triangles.size(); row-- > 0;) {
    Triangle& t = mesh.triangles[row];
    if (t.is_used()) continue;
    for (const Side side : t.neighbours) {
      if (!side) continue;
      Triangle& u = mesh.triangle(side.triangle());
      if (!u.is_used()) continue;
      u.neighbours[side.edge()] = {};
      u.state |= Triangle::segment_bit(side.edge());  // no segment yet if it bounds a filled hull
    }
    t.next = mesh.first_unused_triangle;
    mesh.first_unused_triangle = static_cast<std::int32_t>(row);
    ++mesh.n_unused_triangles;
  }
}

void check_left(const Triangulation& mesh) {
  if (mesh.n_triangles() == 0)
    refuse(ErrorCode::bad_input, "segments", "enclose nothing: everything would lie outside",
           "close the boundary, or triangulate the convex hull");
}

std::string place_text(const Point& p) { return fmt::format("({}, {})", p[0], p[1]); }

Point centroid(const Triangulation& mesh, const Triangle& t) {
  Point sum{};
  for (const std::int32_t v : t.vertices)
    for (std::size_t k = 0; k < 2; ++k) sum[k] += mesh.point(v)[k] / 3;
  return sum;
}

void name_regions(Triangulation& mesh, const PlanarGraph& graph) {
  if (graph.regions.size() > Triangle::region_mask)
    refuse(ErrorCode::bad_input, "regions", "are more than 2^24", "merge neighbouring regions");
  mesh.regions.assign(1, {});
  std::int32_t position = 0;
  for (const PlanarGraph::RegionSeed& seed : graph.regions) {
    ++position;
    mesh.regions.push_back({.attribute = seed.attribute,
                            .max_area = seed.max_area,
                            .number = seed.number != 0 ? seed.number : position,
                            .name = seed.name});
  }
  mesh.marker_names = graph.marker_names;
}

std::string name_of(std::int32_t side) {
  if (side == PlanarGraph::outside) return "outside";
  return side == PlanarGraph::no_region ? "inside, without a region" : fmt::format("in region {}", side);
}

}  // namespace

void merge(const Triangulation& mesh, std::vector<PieceSides>& pieces) {
  std::ranges::sort(pieces, {}, &PieceSides::ends);
  std::size_t n = 0;
  for (const PieceSides& piece : pieces) {
    if (n == 0 || pieces[n - 1].ends != piece.ends) {
      pieces[n++] = piece;
      continue;
    }
    for (std::size_t i = 0; i < 2; ++i) {
      std::int32_t& side = pieces[n - 1].sides[i];
      if (side == PlanarGraph::outside) {
        side = piece.sides[i];
      } else if (piece.sides[i] != PlanarGraph::outside && piece.sides[i] != side) {
        refuse(ErrorCode::bad_input,
               fmt::format("the segment from {} to {}", place_text(mesh.point(piece.ends[0])),
                           place_text(mesh.point(piece.ends[1]))),
               fmt::format("is there twice, and one side is both {} and {}", name_of(side), name_of(piece.sides[i])),
               "areas must not overlap");
      }
    }
  }
  pieces.resize(n);
}

void carve(Triangulation& mesh, const PlanarGraph& graph, bool fills_hull) {
  Insertion walk(mesh);
  const auto find = [&](const Point& place, const char* what) {
    const std::int32_t from = any_used(mesh);
    const std::int32_t row = from < 0 ? -1 : find_place(mesh, walk, place, from);
    if (row < 0)
      refuse(ErrorCode::bad_input, fmt::format("{} {}", what, place_text(place)), "lies outside all points",
             "give a position between the segments");
    return row;
  };
  // find all positions before anything is removed: walks need all triangles
  std::vector<std::int32_t> holes;
  std::vector<std::int32_t> seeds;
  for (const Point& hole : graph.holes) holes.push_back(find(hole, "hole"));
  for (const PlanarGraph::RegionSeed& seed : graph.regions) seeds.push_back(find(seed.place, "region"));

  std::vector<std::int32_t> beyond_hull;
  for (std::int32_t row = 0; row < std::ssize(mesh.triangles); ++row) {
    if (!mesh.triangles[row].is_used() || !is_outside(mesh.triangles[row])) continue;
    if (fills_hull) {
      leave_out(mesh.triangles[row]);
      beyond_hull.push_back(row);
    } else {
      spread(mesh, row, leave_out);
    }
  }
  for (const std::int32_t row : holes) spread(mesh, row, [](Triangle& t) { return !is_outside(t) && leave_out(t); });

  name_regions(mesh, graph);
  for (std::uint32_t i = 0; i < seeds.size(); ++i) {
    if (!mesh.triangle(seeds[i]).is_used())
      refuse(ErrorCode::bad_input, fmt::format("region {}", place_text(graph.regions[i].place)),
             "lies outside the segments, or in a hole", "give a position that is triangulated");
    const std::uint32_t number = i + 1;
    spread(mesh, seeds[i], [number](Triangle& t) {
      if (!t.is_used() || t.region() == number) return false;
      t.set_region(number);
      return true;
    });
  }
  // edges of a filled hull become segments: refinement has to know their small angles
  mesh.segments.reserve(mesh.segments.size() + beyond_hull.size());
  for (const std::int32_t row : beyond_hull) {
    const Triangle& t = mesh.triangle(row);
    const std::uint32_t i = corner_of(t, outside_vertex);
    if (!t.is_segment(i) && mesh.triangle(t.neighbours[i].triangle()).is_used())
      mesh.segments.push_back({.ends = {t.vertices[previous_corner(i)], t.vertices[next_corner(i)]}, .marker = 0});
  }
  release(mesh);
  check_left(mesh);
}

void carve_by_sides(Triangulation& mesh, const PlanarGraph& graph, std::vector<PieceSides> pieces) {
  merge(mesh, pieces);
  name_regions(mesh, graph);
  constexpr std::int32_t unsaid = PlanarGraph::outside - 1;
  std::vector<std::int32_t> labels(mesh.triangles.size(), unsaid);
  const auto label_of = [&](const Triangle& t) -> std::int32_t& { return labels[&t - mesh.triangles.data()]; };
  for (std::int32_t row = 0; row < std::ssize(mesh.triangles); ++row) {
    const Triangle& t = mesh.triangles[row];
    for (std::uint32_t e = 0; e < 3; ++e) {
      if (!t.is_segment(e)) continue;
      const std::int32_t from = t.vertices[next_corner(e)];
      const std::int32_t to = t.vertices[previous_corner(e)];
      const std::array<std::int32_t, 2> ends{std::min(from, to), std::max(from, to)};
      const std::int32_t label =
          std::ranges::lower_bound(pieces, ends, {}, &PieceSides::ends)->sides[from < to ? 0 : 1];
      if (is_outside(t)) {
        if (label != PlanarGraph::outside)
          refuse(ErrorCode::bad_input,
                 fmt::format("the segment from {} to {}", place_text(mesh.point(from)), place_text(mesh.point(to))),
                 fmt::format("has only the outside on this side, but names it {}", name_of(label)),
                 "close the segments around areas");
        continue;
      }
      if (labels[row] == label) continue;
      if (labels[row] != unsaid)
        refuse(ErrorCode::bad_input, fmt::format("the part around {}", place_text(centroid(mesh, t))),
               fmt::format("is both {} and {}", name_of(labels[row]), name_of(label)),
               "segments around one part must name the same region, and close around it");
      spread(mesh, row, [&](const Triangle& u) {
        if (is_outside(u) || label_of(u) != unsaid) return false;
        label_of(u) = label;
        return true;
      });
    }
  }
  for (std::size_t row = 0; row < mesh.triangles.size(); ++row) {
    Triangle& t = mesh.triangles[row];
    if (!t.is_used()) continue;
    const std::int32_t label = labels[row];
    if (is_outside(t) || label < 0)
      leave_out(t);
    else
      t.set_region(label);
    for (std::uint32_t e = 0; e < 3 && t.is_used(); ++e) {
      if (!is_outside(mesh.triangle(t.neighbours[e].triangle())) || t.is_segment(e)) continue;
      refuse(ErrorCode::bad_input, fmt::format("the part around {}", place_text(centroid(mesh, t))),
             fmt::format("is {}, but open to the outside", name_of(label)), "close the segments around it");
    }
  }
  release(mesh);
  check_left(mesh);
}

}  // namespace barrio::delaunay::detail
