#include "barrio/delaunay/size_field.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "delaunay.hpp"

// The basis of the size fields of barrio/delaunay.py.

namespace barrio::python {
namespace {

using delaunay::SizeField;

delaunay::SizeProfile profile_of(double min_size, double max_size, double width, double growth) {
  return {.min_size = min_size, .max_size = max_size, .width = width, .growth = growth};
}

SizeField near_marker(const GraphArrays& arrays, std::int32_t marker, double min_size, double max_size, double width,
                      double growth) {
  return delaunay::size_near(graph_of(arrays), marker, profile_of(min_size, max_size, width, growth));
}

SizeField near_place(double x, double y, double min_size, double max_size, double width, double growth) {
  return delaunay::size_near(delaunay::Point{x, y}, profile_of(min_size, max_size, width, growth));
}

/// Make a field from the arrays of a background mesh.
template <class Make>
SizeField on_background(const Places& places, const CornerRows& corners, const Reals& values, Make&& make) {
  std::vector<delaunay::Point> points;
  for (std::size_t i = 0; i < places.shape(0); ++i) points.push_back({places(i, 0), places(i, 1)});
  std::vector<std::array<std::int32_t, 3>> triangles;
  const auto row = [](std::int64_t v) { return v >= 0 && v < 0x7fffffff ? static_cast<std::int32_t>(v) : -1; };
  for (std::size_t i = 0; i < corners.shape(0); ++i)
    triangles.push_back({row(corners(i, 0)), row(corners(i, 1)), row(corners(i, 2))});
  const nb::gil_scoped_release unlocked;
  return make(delaunay::Background{points, triangles}, std::span<const double>(values.data(), values.size()));
}

SizeField on_mesh(const Places& points, const CornerRows& triangles, const Reals& sizes) {
  return on_background(points, triangles, sizes,
                       [](const auto& mesh, auto values) { return delaunay::size_on_mesh(mesh, values); });
}

SizeField of_areas(const Places& points, const CornerRows& triangles, const Reals& areas) {
  return on_background(points, triangles, areas,
                       [](const auto& mesh, auto values) { return delaunay::size_of_areas(mesh, values); });
}

SizeField limited(const nb::object& field, double growth, const std::array<double, 4>& box) {
  const delaunay::Rectangle domain{{box[0], box[1]}, {box[2], box[3]}};
  if (nb::isinstance<SizeField>(field)) {
    const auto given = nb::cast<SizeField>(field);
    const nb::gil_scoped_release unlocked;
    return delaunay::limit_growth(given, growth, domain);
  }
  const auto function = function_of(field, "size");
  const nb::gil_scoped_release unlocked;
  return delaunay::limit_growth(function, growth, domain);
}

}  // namespace

void bind_size_field(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<SizeField>(module, "SizeField", "Wanted edge length by position; see barrio.delaunay.")
      .def(
          "__call__", [](const SizeField& field, double x, double y) { return field({x, y}); }, "x"_a, "y"_a,
          "Return the wanted length at a position; inf where nothing is wanted.");
  module.def("_uniform_size", &delaunay::uniform_size);
  module.def("_size_near_marker", &near_marker);
  module.def("_size_near_place", &near_place);
  module.def("_size_on_mesh", &on_mesh);
  module.def("_size_of_areas", &of_areas);
  module.def("_size_by_function", [](const nb::object& size, double growth) {
    return delaunay::size_by_function(function_of(size, "size"), growth);
  });
  module.def("_smallest_size", &delaunay::smallest_size);
  module.def("_limit_growth", &limited);
  module.def("_read_areas", &delaunay::read_areas);
}

}  // namespace barrio::python
