#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/delaunay/flat_mesh.hpp"
#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/snap.hpp"

namespace barrio::apps {

/// A graph read from a file of any format.
struct GraphInput {
  delaunay::PlanarGraph graph;
  std::vector<std::string> left_out = {};          ///< contents that a graph cannot hold, in words for the user
  std::vector<std::int64_t> segment_numbers = {};  ///< of segments in the file; empty: their positions, from 0
  std::string projection = {};                     ///< definition given to PROJ; empty without
  bool has_default_projection = false;             ///< chosen here
  std::int64_t n_points = 0;                       ///< in the file, as `n_segments`
  std::int64_t n_segments = 0;
  std::optional<delaunay::SnapReport> snapped = {};
  bool has_default_tolerance = false;      ///< derived from the digits of the file
  std::int64_t n_cut_rings = 0;            ///< at 180 degrees
  std::vector<std::string> vanished = {};  ///< features, rings and regions that snapping leaves nothing of
  std::vector<std::string> overlaps = {};  ///< in words for the user
  std::vector<std::string> inverted = {};  ///< areas left out on the outer side of borders, likewise
};

/// Options of `read_graph`.
struct GraphInputOptions {
  std::string project = {};             ///< see `make_projection`; GeoJSON only. Empty: auto for degrees
  std::vector<std::string> holes = {};  ///< features of GeoJSON whose areas stay empty: names or numbers
  std::optional<double> snap = {};      ///< tolerance; 0: none. Without it: from the digits of GeoJSON, none for others
};

/// Read Triangle's files (.poly, .node, .ele), polygons of GeoJSON (.geojson, .json), or a triangle mesh in any format
/// that barrio reads. Local, also on one rank of many.
/// @throws Error{failed}, {bad_input}; {usage} for options that do not apply to the file
[[nodiscard]] GraphInput read_graph(const std::string& path, const GraphInputOptions& options);

/// Return what snapping did as JSON; null if nothing was snapped.
[[nodiscard]] Json snapping_to_json(const GraphInput& input);

/// Write the same for people, in lines.
[[nodiscard]] std::string text_of_snapping(const Json& snapping);

/// Read a triangle mesh of the plane: Triangle's .ele, or any format that barrio reads. Local, also on one rank of
/// many.
/// @throws as read_graph
[[nodiscard]] delaunay::FlatMesh read_flat_mesh(const std::string& path, std::vector<std::string>& left_out);

}  // namespace barrio::apps
