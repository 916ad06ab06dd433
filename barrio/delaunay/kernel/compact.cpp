#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "barrio/delaunay/kernel/insertion.hpp"
#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay {
namespace {

/// Store the new row of each used triangle in `next`: by region, in the present order within one. @return their number
std::int32_t number_triangles(Triangulation& mesh) {
  std::vector<std::int32_t> first(mesh.regions.size() + 1, 0);
  for (const Triangle& t : mesh.triangles.items())
    if (t.is_used()) ++first[t.region() + 1];
  for (std::size_t r = 0; r + 1 < first.size(); ++r) first[r + 1] += first[r];
  const std::int32_t n = first.back();
  for (Triangle& t : mesh.triangles.items()) t.next = t.is_used() ? first[t.region()]++ : -1;
  return n;
}

/// Move each triangle to its new row by swaps; the triangle that a swap brings in moves next.
void move_triangles(Triangulation& mesh, std::int32_t n) {
  for (std::int32_t row = 0; row < std::ssize(mesh.triangles); ++row) {
    while (mesh.triangles[row].next >= 0 && mesh.triangles[row].next != row)
      std::swap(mesh.triangles[row], mesh.triangle(mesh.triangles[row].next));
  }
  mesh.triangles.resize(n);
}

void renumber_neighbours(Triangulation& mesh) {
  for (Triangle& t : mesh.triangles.items()) {
    if (!t.is_used()) continue;
    for (Side& side : t.neighbours)
      if (side) side = Side(mesh.triangle(side.triangle()).next, side.edge());
  }
}

/// Drop the vertices without a triangle, and bring those of the input into input order. @return number of input
/// vertices dropped
std::int64_t arrange_vertices(Triangulation& mesh) {
  const std::int64_t n_input = std::ssize(mesh.input_numbers);
  std::vector<std::int32_t> place(mesh.points.size(), -1);
  for (const Triangle& t : mesh.triangles.items())
    for (const std::int32_t v : t.vertices) place[v] = 0;

  std::vector<std::int32_t> vertex_of(mesh.n_input_points, -1);
  for (std::int32_t v = 0; v < n_input; ++v)
    if (place[v] >= 0) vertex_of[mesh.input_numbers[v]] = v;
  std::vector<Point> points;
  std::vector<std::int32_t> numbers;
  std::vector<std::int32_t> markers;
  const std::size_t width = mesh.attribute_width();
  std::vector<double> attributes;
  const auto attributes_of = [&](std::size_t v) { return mesh.attribute_values.items().subspan(v * width, width); };
  std::int32_t n = 0;
  for (std::int32_t number = 0; number < mesh.n_input_points; ++number) {
    const std::int32_t v = vertex_of[number];
    if (v < 0) continue;
    place[v] = n++;
    points.push_back(mesh.points[v]);
    numbers.push_back(number);
    if (!mesh.input_markers.empty()) markers.push_back(mesh.input_markers[v]);
    const auto values = attributes_of(v);
    attributes.insert(attributes.end(), values.begin(), values.end());
  }
  std::ranges::copy(points, mesh.points.data());
  std::ranges::copy(attributes, mesh.attribute_values.data());
  // infos of input vertices are all equal
  for (std::size_t v = n_input; v < place.size(); ++v) {
    if (place[v] < 0) continue;
    mesh.points[n] = mesh.points[v];
    mesh.infos[n] = mesh.infos[v];
    std::ranges::copy(attributes_of(v), attributes_of(n).begin());
    place[v] = n++;
  }
  mesh.points.resize(n);
  mesh.infos.resize(n);
  mesh.attribute_values.resize(n * width);
  mesh.input_numbers = std::move(numbers);
  mesh.input_markers = std::move(markers);
  for (Triangle& t : mesh.triangles.items())
    for (std::int32_t& v : t.vertices) v = place[v];
  for (Segment& segment : mesh.segments)
    for (std::int32_t& v : segment.ends)
      if (v >= 0) v = place[v];
  return n_input - std::ssize(points);
}

}  // namespace

std::int64_t compact(Triangulation& mesh) {
  const std::int32_t n = number_triangles(mesh);
  renumber_neighbours(mesh);
  move_triangles(mesh, n);
  for (Triangle& t : mesh.triangles.items()) t.next = -1;
  mesh.first_unused_triangle = -1;
  mesh.n_unused_triangles = 0;
  mesh.first_unused_vertex = -1;
  mesh.n_unused_vertices = 0;
  return arrange_vertices(mesh);
}

}  // namespace barrio::delaunay
