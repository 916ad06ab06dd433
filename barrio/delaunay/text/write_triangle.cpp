#include <cstddef>
#include <cstdint>
#include <vector>

#include "barrio/delaunay/poly_file.hpp"
#include "barrio/delaunay/segment_edges.hpp"
#include "barrio/delaunay/text/places.hpp"
#include "barrio/delaunay/text/text_out.hpp"

namespace barrio::delaunay {
namespace {

using detail::TextOut;

/// Number the used vertices from 1; the others get 0.
std::vector<std::int32_t> number_vertices(const Triangulation& mesh) {
  std::vector<std::int32_t> numbers(mesh.points.size(), 0);
  std::int32_t n = 0;
  for (std::size_t v = 0; v < numbers.size(); ++v)
    if (mesh.infos[v].kind() != VertexKind::unused) numbers[v] = ++n;
  return numbers;
}

/// Add the lists of holes and regions.
void add_places(TextOut& poly, const Triangulation& mesh) {
  const std::vector<Point> holes = detail::hole_places(mesh);
  poly.add("{}\n", holes.size());
  for (std::size_t i = 0; i < holes.size(); ++i) poly.add("{} {} {}\n", i + 1, holes[i][0], holes[i][1]);
  const std::vector<detail::RegionPlace> parts = detail::region_places(mesh);
  poly.add("{}\n", parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Region& region = mesh.regions[parts[i].region];
    poly.add("{} {} {} {} {}\n", i + 1, parts[i].place[0], parts[i].place[1], region.attribute,
             region.max_area > 0 ? region.max_area : -1.0);
  }
}

}  // namespace

void write_poly(const PlanarGraph& graph, const std::string& path) {
  TextOut out(path);
  const bool has_markers = !graph.point_markers.empty();
  const std::size_t width = width_of(graph.attributes);
  out.add("{} 2 {} {}\n", graph.points.size(), width, has_markers ? 1 : 0);
  for (std::size_t i = 0; i < graph.points.size(); ++i) {
    out.add("{} {} {}", i + 1, graph.points[i][0], graph.points[i][1]);
    for (std::size_t k = 0; k < width; ++k) out.add(" {}", graph.attribute_values[i * width + k]);
    if (has_markers) out.add(" {}", graph.point_markers[i]);
    out.add("\n");
  }
  out.add("{} 1\n", graph.segments.size());
  for (std::size_t i = 0; i < graph.segments.size(); ++i)
    out.add("{} {} {} {}\n", i + 1, graph.segments[i].ends[0] + 1, graph.segments[i].ends[1] + 1,
            graph.segments[i].marker);
  out.add("{}\n", graph.holes.size());
  for (std::size_t i = 0; i < graph.holes.size(); ++i)
    out.add("{} {} {}\n", i + 1, graph.holes[i][0], graph.holes[i][1]);
  out.add("{}\n", graph.regions.size());
  for (std::size_t i = 0; i < graph.regions.size(); ++i)
    out.add("{} {} {} {} {}\n", i + 1, graph.regions[i].place[0], graph.regions[i].place[1], graph.regions[i].attribute,
            graph.regions[i].max_area > 0 ? graph.regions[i].max_area : -1.0);
  out.end();
  out.appear();
}

void write_triangle_files(const Triangulation& mesh, const std::string& stem) {
  const std::vector<std::int32_t> numbers = number_vertices(mesh);
  const std::vector<SegmentEdge> edges = segment_edges(mesh);
  std::vector<std::int32_t> markers = mesh.input_markers;
  markers.resize(mesh.points.size(), 0);
  for (const SegmentEdge& edge : edges) {
    for (const std::int32_t v : edge.ends) {
      std::int32_t& marker = markers[v];
      if (marker == 0) marker = edge.marker != 0 ? edge.marker : edge.is_boundary ? 1 : 0;
    }
  }
  TextOut nodes(stem + ".node");
  const std::size_t width = mesh.attribute_width();
  nodes.add("{} 2 {} 1\n", mesh.n_vertices(), width);
  for (std::size_t v = 0; v < numbers.size(); ++v) {
    if (numbers[v] == 0) continue;
    nodes.add("{} {} {}", numbers[v], mesh.points[v][0], mesh.points[v][1]);
    for (std::size_t k = 0; k < width; ++k) nodes.add(" {}", mesh.attribute_values[v * width + k]);
    nodes.add(" {}\n", markers[v]);
  }
  TextOut elements(stem + ".ele");
  const bool has_regions = mesh.regions.size() > 1;
  elements.add("{} 3 {}\n", mesh.n_triangles(), has_regions ? 1 : 0);
  std::int64_t n = 0;
  for (const Triangle& t : mesh.triangles.items()) {
    if (!t.is_used()) continue;
    const auto number = [&](std::size_t i) { return numbers[t.vertices[i]]; };
    elements.add("{} {} {} {}", ++n, number(0), number(1), number(2));
    if (has_regions) elements.add(" {}", mesh.regions[t.region()].attribute);
    elements.add("\n");
  }
  TextOut poly(stem + ".poly");
  poly.add("0 2 0 1\n{} 1\n", edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i)
    poly.add("{} {} {} {}\n", i + 1, numbers[edges[i].ends[0]], numbers[edges[i].ends[1]], edges[i].marker);
  add_places(poly, mesh);
  // a full disk must show before any of the three replaces an old file
  for (TextOut* out : {&nodes, &elements, &poly}) out->end();
  for (TextOut* out : {&nodes, &elements, &poly}) out->appear();
}

}  // namespace barrio::delaunay
