#pragma once

/// @file Umbrella header of the room `delaunay`: triangulation and refinement of planar graphs.

#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/checksum.hpp"
#include "barrio/delaunay/flat_mesh.hpp"
#include "barrio/delaunay/forecast.hpp"
#include "barrio/delaunay/geojson_file.hpp"
#include "barrio/delaunay/parted.hpp"
#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/poly_file.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/delaunay/segment_edges.hpp"
#include "barrio/delaunay/shapes.hpp"
#include "barrio/delaunay/size_field.hpp"
#include "barrio/delaunay/snap.hpp"
#include "barrio/delaunay/statistics.hpp"
#include "barrio/delaunay/triangulation.hpp"
#include "barrio/delaunay/write.hpp"
