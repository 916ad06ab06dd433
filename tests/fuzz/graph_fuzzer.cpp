// Coverage-guided fuzzing of the readers of planar graphs (libFuzzer): the bytes become a file, which its reader reads.
// A small graph is triangulated, refined and compacted, and each result validated and audited. A file may be properly
// refused; everything else is a find, also wrong triangles. One executable per format, with the suffix
// BARRIO_FUZZ_SUFFIX.
// Two comments anywhere in the file control more: the text after a line `#node` becomes the .node file, and
// `#options ANGLE AREA FLAGS` sets the refinement.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/flat_mesh.hpp"
#include "barrio/delaunay/geojson_file.hpp"
#include "barrio/delaunay/poly_file.hpp"
#include "barrio/delaunay/refine.hpp"
#include "tests/fuzz/finds.hpp"
#include "tests/fuzz/mutate_poly.hpp"

namespace barrio::test {
namespace {

constexpr bool is_poly = std::string_view(BARRIO_FUZZ_SUFFIX) == ".poly";

std::string the_stem;

struct Options {
  double min_angle = 20.0;
  double max_area = 0.0;
  bool fills_hull = false;
  bool keeps_boundary = false;
  bool keeps_segments = false;
  bool is_compacted_first = false;
};

Options options_of(std::string_view text) {
  Options options;
  const std::size_t at = text.find(options_word);
  if (at == std::string_view::npos) return options;
  const std::string line(text.substr(at + options_word.size(), 80));
  unsigned flags = 0;
  std::sscanf(line.c_str(), "%lf %lf %u", &options.min_angle, &options.max_area, &flags);
  options.fills_hull = (flags & 1U) != 0;
  options.keeps_boundary = (flags & 2U) != 0;
  options.keeps_segments = (flags & 4U) != 0;
  options.is_compacted_first = (flags & 8U) != 0;
  return options;
}

/// Tell whether a graph is small enough to be fast: there are many files.
bool is_small(const delaunay::PlanarGraph& graph) {
  constexpr std::size_t most = 200;
  return std::max({graph.points.size(), graph.segments.size(), graph.holes.size(), graph.regions.size()}) <= most;
}

/// Tell whether the audit can tell points on a segment from points near it: it accepts distances of rounding.
bool is_coarse(const delaunay::Triangulation& mesh) {
  constexpr double least = 1e-9;  // min height of a triangle, relative to the largest coordinate
  double largest = 0.0;
  for (const delaunay::Point& p : mesh.points.items()) largest = std::max({largest, std::abs(p[0]), std::abs(p[1])});
  return std::ranges::all_of(mesh.triangles.items(), [&](const delaunay::Triangle& t) {
    if (!t.is_used()) return true;
    double longest = 0.0;
    for (std::uint32_t e = 0; e < 3; ++e) {
      const delaunay::Point& a = mesh.point(t.vertices[e]);
      const delaunay::Point& b = mesh.point(t.vertices[delaunay::next_corner(e)]);
      longest = std::max(longest, std::hypot(b[0] - a[0], b[1] - a[1]));
    }
    return 2 * mesh.area(t) > least * largest * longest;
  });
}

/// Tell whether the point of a hole or a region lies on a segment, so on neither side.
bool has_places_on_segments(const delaunay::PlanarGraph& graph, const std::vector<delaunay::Point>& places) {
  return std::ranges::any_of(graph.segments, [&](const delaunay::PlanarGraph::Edge& edge) {
    const delaunay::Point& a = graph.points[static_cast<std::size_t>(edge.ends[0])];
    const delaunay::Point& b = graph.points[static_cast<std::size_t>(edge.ends[1])];
    return std::ranges::any_of(places, [&](const delaunay::Point& p) {
      return std::min(a, b) <= p && p <= std::max(a, b) && geometry::orient2d(a, b, p) == 0;
    });
  });
}

/// Tell whether points (also those outside and those of holes and regions) and segments are far enough apart.
bool can_be_audited(const delaunay::PlanarGraph& graph) {
  std::vector<delaunay::Point> places = graph.holes;
  if (graph.sides.empty())
    for (const delaunay::PlanarGraph::RegionSeed& seed : graph.regions) places.push_back(seed.place);
  delaunay::PlanarGraph all{.points = graph.points, .segments = graph.segments};
  all.points.insert(all.points.end(), places.begin(), places.end());
  std::vector<delaunay::Point> sorted = all.points;
  std::ranges::sort(sorted);
  return std::ranges::adjacent_find(sorted) == sorted.end() && !has_places_on_segments(graph, places) &&
         is_coarse(triangulate(all, {.fills_hull = true}));
}

constexpr std::int64_t max_audited = 300;  // triangles: exact fractions are slow

void expect_audit(const char* doing, const delaunay::Triangulation& mesh, const delaunay::PlanarGraph& graph) {
  if (mesh.n_triangles() > max_audited || !is_coarse(mesh) || !can_be_audited(graph)) return;
  for (const auto& check : audit(delaunay::audited(mesh), graph, {.keeps_regions = false}).checks)
    if (!check.is_met) find(std::string(doing) + " fails the audit: " + check.name + ": " + check.text);
}

/// Expect as many triangles in a triangulation of the mesh as a graph.
void expect_same_again(const delaunay::Triangulation& mesh) {
  if (mesh.n_triangles() > max_audited) return;
  std::vector<std::string> left_out;
  const delaunay::Triangulation again = triangulate(to_graph(to_flat_mesh(mesh), left_out));
  validate(again);
  if (again.n_triangles() != mesh.n_triangles()) find("the triangulation of a mesh has other triangles");
}

void mesh_graph(const delaunay::PlanarGraph& graph, const Options& options) {
  delaunay::Triangulation mesh = triangulate(graph, {.fills_hull = options.fills_hull});
  validate(mesh);
  if (options.is_compacted_first) {
    compact(mesh);
    validate(mesh);
    if (!options.fills_hull) expect_audit("triangulate", mesh, graph);
  }
  constexpr std::int64_t max_triangles = 1000;
  const delaunay::RefineReport report = refine(mesh, {.min_angle = options.min_angle,
                                                      .max_area = options.max_area,
                                                      .splits_boundary = !options.keeps_boundary,
                                                      .splits_segments = !options.keeps_segments,
                                                      .max_triangles = max_triangles});
  validate(mesh);
  compact(mesh);
  validate(mesh);
  if (!std::ranges::all_of(mesh.attribute_values.items(), [](double value) { return std::isfinite(value); }))
    find("an attribute is no number");
  if (mesh.n_triangles() > max_triangles && report.n_free_points + report.n_segment_points > 0)
    find("refine makes more triangles than it may");
  if (!options.fills_hull) expect_audit("refine", mesh, graph);
  expect_same_again(mesh);
}

void write_files(std::string_view text) {
  const std::size_t at = std::min(text.find(node_word), text.size());
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  write_bytes(the_stem + BARRIO_FUZZ_SUFFIX, bytes.first(at));
  std::remove((the_stem + ".node").c_str());
  if (at < text.size()) write_bytes(the_stem + ".node", bytes.subspan(at + node_word.size()));
}

delaunay::PlanarGraph read_graph() {
  if constexpr (is_poly) return delaunay::read_poly(the_stem + ".poly").graph;
  return delaunay::read_geojson(the_stem + BARRIO_FUZZ_SUFFIX).graph;
}

void remove_files() {
  for (const char* suffix : {BARRIO_FUZZ_SUFFIX, ".node"}) std::remove((the_stem + suffix).c_str());
}

}  // namespace
}  // namespace barrio::test

extern "C" {

std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

int LLVMFuzzerInitialize(int*, char***) {
  ::setenv("BARRIO_LOG", "off", 0);
  barrio::test::the_stem = barrio::test::scratch_stem();
  std::atexit(barrio::test::remove_files);
  return 0;
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace barrio;
  using namespace barrio::test;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  write_files(text);
  try {
    const delaunay::PlanarGraph graph = read_graph();
    if (is_small(graph)) mesh_graph(graph, options_of(text));
  } catch (const Error& error) {
    expect_in_good_order("the graph", error);
  } catch (const std::exception& error) {
    find(std::string("the graph throws ") + error.what());
  }
  return 0;
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  using namespace barrio::test;
  // random bytes rarely leave a consistent file
  if (is_poly && seed % 4 != 0)
    if (const std::size_t changed = mutate_poly({data, max_size}, size, the_stem + ".poly", seed); changed > 0)
      return changed;
  return LLVMFuzzerMutate(data, size, max_size);
}

}  // extern "C"
