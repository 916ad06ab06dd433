#include "delaunay.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>

#include "barrio/base/json.hpp"
#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/checksum.hpp"
#include "barrio/delaunay/flat_mesh.hpp"
#include "barrio/delaunay/forecast.hpp"
#include "barrio/delaunay/geojson_file.hpp"
#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/poly_file.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/delaunay/segment_edges.hpp"
#include "barrio/delaunay/snap.hpp"
#include "barrio/delaunay/write.hpp"
#include "barrio/mpi/node_memory.hpp"
#include "bindings.hpp"

// The basis of barrio/delaunay.py, which is the public interface.

namespace barrio::python {

delaunay::PlanarGraph graph_of(const GraphArrays& arrays) {
  const auto& [points, point_markers, attributes, segments, markers, sides, holes, regions, region_names,
               marker_names] = arrays;
  if (markers.shape(0) != segments.shape(0))
    throw_usage("segments", "must have one marker each", "give as many markers as segments");
  if (region_names.size() > regions.shape(0))
    throw_usage("region_names", "are more than regions", "give one for each region, or none at all");
  delaunay::PlanarGraph graph;
  for (std::size_t i = 0; i < points.shape(0); ++i) graph.points.push_back({points(i, 0), points(i, 1)});
  graph.point_markers.assign(point_markers.data(), point_markers.data() + point_markers.size());
  for (std::size_t k = 0; k < attributes.shape(1); ++k)
    graph.attributes.push_back({fmt::format("attribute_{}", k + 1)});
  graph.attribute_values.assign(attributes.data(), attributes.data() + attributes.size());
  for (std::size_t i = 0; i < sides.shape(0); ++i) graph.sides.push_back({sides(i, 0), sides(i, 1)});
  for (std::size_t i = 0; i < segments.shape(0); ++i)
    graph.segments.push_back({.ends = {segments(i, 0), segments(i, 1)}, .marker = markers(i)});
  for (std::size_t i = 0; i < holes.shape(0); ++i) graph.holes.push_back({holes(i, 0), holes(i, 1)});
  for (std::size_t i = 0; i < regions.shape(0); ++i)
    graph.regions.push_back({.place = {regions(i, 0), regions(i, 1)},
                             .attribute = regions(i, 2),
                             .max_area = regions(i, 3),
                             .name = i < region_names.size() ? region_names[i] : std::string()});
  for (const auto& [marker, name] : marker_names) graph.marker_names.push_back({marker, name});
  return graph;
}

std::function<double(const delaunay::Point&)> function_of(const nb::object& callable, std::string name) {
  const std::shared_ptr<nb::object> kept(new nb::object(callable), [](nb::object* last) {
    const nb::gil_scoped_acquire locked;
    delete last;
  });
  return [kept, name = std::move(name)](const delaunay::Point& place) {
    const nb::gil_scoped_acquire locked;
    const nb::object value = (*kept)(place[0], place[1]);
    double number = 0.0;
    if (!nb::try_cast(value, number))
      throw nb::type_error(fmt::format("{}({:g}, {:g}) returned {}, not a number", name, place[0], place[1],
                                       nb::cast<std::string>(nb::repr(value)))
                               .c_str());
    return number;
  };
}

namespace {

nb::tuple to_python(const delaunay::Triangulation& mesh) {
  std::vector<double> points;
  for (const delaunay::Point& p : mesh.points.items()) points.insert(points.end(), {p[0], p[1]});
  std::vector<std::int32_t> triangles;
  std::vector<std::int32_t> neighbours;
  std::vector<std::int32_t> regions;
  for (const delaunay::Triangle& t : mesh.triangles.items()) {
    triangles.insert(triangles.end(), t.vertices.begin(), t.vertices.end());
    for (const delaunay::Side side : t.neighbours) neighbours.push_back(side ? side.triangle() : -1);
    regions.push_back(static_cast<std::int32_t>(t.region()) - 1);
  }
  std::vector<std::int32_t> edges;
  std::vector<std::int32_t> edge_markers;
  for (const delaunay::SegmentEdge& edge : delaunay::segment_edges(mesh)) {
    edges.insert(edges.end(), edge.ends.begin(), edge.ends.end());
    edge_markers.push_back(edge.marker);
  }
  return nb::make_tuple(
      copied(std::move(points)), copied(std::move(triangles)), copied(std::move(neighbours)),
      copied(std::move(regions)), copied(std::move(edges)), copied(std::move(edge_markers)),
      copied(std::vector<std::int32_t>(mesh.input_numbers)),
      copied(std::vector<double>(mesh.attribute_values.items().begin(), mesh.attribute_values.items().end())));
}

/// Check that memory holds a refinement and the arrays for Python.
void check_fits(const delaunay::Forecast& expected) {
  constexpr double with_arrays = 2.0;
  delaunay::check_fits({.n_triangles = expected.n_triangles, .memory_bytes = with_arrays * expected.memory_bytes},
                       mpi::available_bytes(),
                       "allow larger areas by max_area, area_at or regions, or stop early by max_triangles");
}

nb::tuple triangulate(const GraphArrays& arrays, bool refines, double min_angle, double max_area,
                      const nb::object& area_at, const std::optional<delaunay::SizeField>& size, double resolution,
                      bool fills_hull, bool splits_boundary, bool splits_segments, bool moves_points,
                      std::int64_t max_triangles, std::vector<std::int32_t> kept_markers) {
  const delaunay::PlanarGraph graph = graph_of(arrays);
  delaunay::RefineOptions options{.min_angle = min_angle,
                                  .max_area = max_area,
                                  .resolution = resolution,
                                  .size = size.value_or(delaunay::SizeField()),
                                  .moves_points = moves_points,
                                  .splits_boundary = splits_boundary,
                                  .splits_segments = splits_segments,
                                  .kept_markers = std::move(kept_markers),
                                  .max_triangles = max_triangles};
  if (!area_at.is_none()) options.area_at = function_of(area_at, "area_at");
  delaunay::Triangulation mesh;
  delaunay::RefineReport report;
  delaunay::Forecast expected;
  std::uint64_t checksum = 0;
  {
    const nb::gil_scoped_release unlocked;
    mesh = delaunay::triangulate(graph, {.fills_hull = fills_hull});
    if (refines) {
      expected = delaunay::forecast(mesh, options);
      if (max_triangles == 0) check_fits(expected);
      report = delaunay::refine(mesh, options);
    }
    delaunay::compact(mesh);
    checksum = delaunay::checksum(mesh);
  }
  const nb::tuple shown = to_python(mesh);
  std::vector<std::int32_t> dropped = delaunay::dropped_segments(mesh);
  return nb::make_tuple(shown, report.n_left_at_segments, report.n_left_by_rounding, report.is_complete,
                        report.max_triangles, expected.n_triangles, checksum, copied(std::move(dropped)),
                        std::move(mesh));
}

/// Return the regions (number, attribute, name), the names of markers, and the names of attributes with their widths.
nb::tuple describe(const delaunay::Triangulation& mesh) {
  std::vector<std::tuple<std::int32_t, double, std::string>> regions;
  for (std::size_t r = 1; r < mesh.regions.size(); ++r)
    regions.emplace_back(mesh.regions[r].number, mesh.regions[r].attribute, mesh.regions[r].name);
  std::vector<std::pair<std::int32_t, std::string>> markers;
  for (const delaunay::MarkerName& one : mesh.marker_names) markers.emplace_back(one.marker, one.name);
  std::vector<std::pair<std::string, int>> attributes;
  for (const delaunay::Attribute& one : mesh.attributes) attributes.emplace_back(one.name, one.n_components);
  return nb::make_tuple(regions, markers, attributes);
}

/// Write a triangulation. @param comm  a communicator of this process alone; none for formats that need no MPI
void save(const delaunay::Triangulation& mesh, const std::string& path, const std::optional<CommArgument>& comm) {
  if (comm) {
    in_own_context(*comm, [&](const std::unique_ptr<mpi::Context>& context) { delaunay::write(*context, mesh, path); });
    return;
  }
  const nb::gil_scoped_release unlocked;
  delaunay::write_local(mesh, path);
}

nb::tuple to_python(const delaunay::PlanarGraph& graph, const std::vector<std::string>& left_out) {
  std::vector<double> points;
  for (const delaunay::Point& p : graph.points) points.insert(points.end(), {p[0], p[1]});
  std::vector<std::int32_t> segments;
  std::vector<std::int32_t> markers;
  for (const delaunay::PlanarGraph::Edge& edge : graph.segments) {
    segments.insert(segments.end(), edge.ends.begin(), edge.ends.end());
    markers.push_back(edge.marker);
  }
  std::vector<double> holes;
  for (const delaunay::Point& p : graph.holes) holes.insert(holes.end(), {p[0], p[1]});
  std::vector<double> regions;
  std::vector<std::string> region_names;
  for (const delaunay::PlanarGraph::RegionSeed& seed : graph.regions) {
    regions.insert(regions.end(), {seed.place[0], seed.place[1], seed.attribute, seed.max_area});
    region_names.push_back(seed.name);
  }
  std::vector<std::pair<std::int32_t, std::string>> marker_names;
  for (const delaunay::MarkerName& one : graph.marker_names) marker_names.emplace_back(one.marker, one.name);
  std::vector<std::int32_t> sides;
  for (const auto& [left, right] : graph.sides) sides.insert(sides.end(), {left, right});
  return nb::make_tuple(copied(std::move(points)), copied(std::vector<std::int32_t>(graph.point_markers)),
                        copied(std::vector<double>(graph.attribute_values)), copied(std::move(segments)),
                        copied(std::move(markers)), copied(std::move(sides)), copied(std::move(holes)),
                        copied(std::move(regions)), region_names, marker_names, left_out);
}

nb::tuple read_graph(const std::string& path) {
  const delaunay::PolyFile file = [&] {
    const nb::gil_scoped_release unlocked;
    return delaunay::read_poly(path);
  }();
  return to_python(file.graph, {});
}

nb::tuple read_polygons(const std::string& path, const nb::object& project, std::optional<double> snap,
                        const std::vector<std::string>& holes) {
  delaunay::GeoJsonOptions options{.tolerance = snap, .holes = holes};
  if (!project.is_none())
    options.project = [&project](std::span<delaunay::Point> places) {
      for (delaunay::Point& p : places) {
        const auto [x, y] = nb::cast<std::pair<double, double>>(project(p[0], p[1]));
        p = {x, y};
      }
    };
  const delaunay::GeoJsonFile file = delaunay::read_geojson(path, options);
  std::vector<std::string> left_out = file.left_out;
  left_out.insert(left_out.end(), file.vanished.begin(), file.vanished.end());
  return to_python(file.graph, left_out);
}

nb::tuple snap(const GraphArrays& arrays, double tolerance) {
  delaunay::PlanarGraph graph = graph_of(arrays);
  const delaunay::SnapReport report = [&] {
    const nb::gil_scoped_release unlocked;
    return delaunay::snap(graph, {.tolerance = tolerance});
  }();
  const Json told{{"merged_points", report.n_merged_points},           {"max_move", report.max_move},
                  {"points_on_segments", report.n_points_on_segments}, {"crossings", report.n_crossings},
                  {"repeated_segments", report.n_repeated_segments},   {"vanished_segments", report.vanished_segments},
                  {"vanished_regions", report.vanished_regions},       {"overlap_area", report.overlap_area}};
  return nb::make_tuple(to_python(graph, {}), told.dump());
}

nb::tuple graph_of_mesh(const Places& points, const Columns& attributes, const Pairs& edges, const Markers& markers,
                        const CornerRows& triangles, const Markers& regions, const Seeds& of_regions) {
  delaunay::FlatMesh mesh;
  for (std::size_t i = 0; i < points.shape(0); ++i) mesh.points.push_back({points(i, 0), points(i, 1)});
  for (std::size_t k = 0; k < attributes.shape(1); ++k) mesh.attributes.push_back({fmt::format("attribute_{}", k + 1)});
  mesh.attribute_values.assign(attributes.data(), attributes.data() + attributes.size());
  const auto row = [](std::int64_t v) { return v >= 0 && v < 0x7fffffff ? static_cast<std::int32_t>(v) : -1; };
  for (std::size_t i = 0; i < triangles.shape(0); ++i)
    mesh.triangles.push_back({row(triangles(i, 0)), row(triangles(i, 1)), row(triangles(i, 2))});
  for (std::size_t i = 0; i < edges.shape(0); ++i)
    mesh.edges.push_back({.ends = {edges(i, 0), edges(i, 1)}, .marker = markers(i)});
  mesh.triangle_regions.assign(regions.data(), regions.data() + regions.size());
  for (std::size_t i = 0; i < of_regions.shape(0); ++i)
    mesh.regions.push_back({.attribute = of_regions(i, 2), .max_area = of_regions(i, 3)});
  std::vector<std::string> left_out;
  const delaunay::PlanarGraph graph = delaunay::to_graph(mesh, left_out);
  return to_python(graph, left_out);
}

std::string audit(const GraphArrays& arrays, const Places& vertices, const CornerRows& triangles,
                  const CornerRows& edges, const Markers& edge_markers, const Markers& triangle_regions,
                  const Columns& vertex_attributes, double min_angle, double max_area, const nb::object& area_at,
                  const std::optional<delaunay::SizeField>& size, double resolution, bool fills_hull) {
  const delaunay::PlanarGraph graph = graph_of(arrays);
  delaunay::AuditOptions options{.min_angle = min_angle,
                                 .max_area = max_area,
                                 .size = size.value_or(delaunay::SizeField()),
                                 .resolution = resolution,
                                 .fills_hull = fills_hull};
  if (!area_at.is_none()) options.area_at = function_of(area_at, "area_at");
  delaunay::AuditedMesh mesh;
  for (std::size_t i = 0; i < vertices.shape(0); ++i) mesh.points.push_back({vertices(i, 0), vertices(i, 1)});
  const auto row = [](std::int64_t v) { return v >= 0 && v < 0x7fffffff ? static_cast<std::int32_t>(v) : -1; };
  for (std::size_t i = 0; i < triangles.shape(0); ++i)
    mesh.triangles.push_back({row(triangles(i, 0)), row(triangles(i, 1)), row(triangles(i, 2))});
  for (std::size_t i = 0; i < edges.shape(0); ++i) mesh.edges.push_back({row(edges(i, 0)), row(edges(i, 1))});
  mesh.edge_markers.assign(edge_markers.data(), edge_markers.data() + edge_markers.size());
  // regions are rows of the graph, from 0
  std::int32_t n_regions = static_cast<std::int32_t>(graph.regions.size());
  for (std::size_t i = 0; i < triangle_regions.shape(0); ++i) {
    mesh.triangle_regions.push_back(triangle_regions(i) + 1);
    n_regions = std::max(n_regions, mesh.triangle_regions.back());
  }
  for (std::int32_t r = 0; r < n_regions; ++r)
    mesh.regions.push_back({.attribute = r < std::ssize(graph.regions) ? graph.regions[r].attribute : 0.0,
                            .max_area = 0.0,
                            .number = r + 1});
  for (std::size_t k = 0; k < vertex_attributes.shape(1); ++k)
    mesh.attributes.push_back({fmt::format("attribute_{}", k + 1)});
  mesh.attribute_values.assign(vertex_attributes.data(), vertex_attributes.data() + vertex_attributes.size());
  const nb::gil_scoped_release unlocked;
  return delaunay::to_json(delaunay::audit(mesh, graph, options)).dump();
}

}  // namespace

void bind_delaunay(nb::module_& module) {
  nb::class_<delaunay::Triangulation>(module, "_Triangulation");
  bind_size_field(module);
  module.def("_triangulate", &triangulate, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
             nb::arg().none(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg());
  module.def("_describe", &describe);
  module.def("_save", &save, nb::arg(), nb::arg(), nb::arg().none());
  module.def("_read_poly", &read_graph);
  module.def("_read_geojson", &read_polygons, nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg());
  module.def("_snap", &snap);
  module.def("_graph_of_mesh", &graph_of_mesh);
  module.def("_audit", &audit, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
             nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(), nb::arg());
}

}  // namespace barrio::python
