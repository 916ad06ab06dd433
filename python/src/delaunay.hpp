#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "barrio/delaunay/planar_graph.hpp"
#include "bindings.hpp"

namespace barrio::python {

using Places = nb::ndarray<const double, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
using Pairs = nb::ndarray<const std::int32_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
using CornerRows = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Markers = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Seeds = nb::ndarray<const double, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>;
using Columns = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Reals = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// The arrays of a graph of Python, in the order of Graph._arrays: points, their markers, attributes, segments,
/// markers, sides, holes, regions, names of regions, names of markers.
using GraphArrays = std::tuple<Places, Markers, Columns, Pairs, Markers, Pairs, Places, Seeds, std::vector<std::string>,
                               std::vector<std::pair<std::int32_t, std::string>>>;

/// Make a graph. @throws Error{usage}
delaunay::PlanarGraph graph_of(const GraphArrays& arrays);

/// Make a function of a callable of x and y that returns a number. It may be called, copied and destroyed without the
/// GIL. @param name  for messages
std::function<double(const delaunay::Point&)> function_of(const nb::object& callable, std::string name);

void bind_size_field(nb::module_& module);

}  // namespace barrio::python
