#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <vector>

#include "benchmarks/delaunay/peers.hpp"

#ifdef BARRIO_HAS_TRIANGLE
extern "C" {
#include <triangle.h>
}

namespace barrio::bench {
namespace {

/// Owns Triangle's output.
class Output {
 public:
  Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    for (void* part :
         {static_cast<void*>(io.pointlist), static_cast<void*>(io.trianglelist), static_cast<void*>(io.segmentlist),
          static_cast<void*>(io.pointmarkerlist), static_cast<void*>(io.segmentmarkerlist),
          static_cast<void*>(io.pointattributelist), static_cast<void*>(io.triangleattributelist)})
      std::free(part);
  }
  triangulateio io{};
};

MesherRun run(std::string options, triangulateio& in) {
  Output out;
  const auto start = std::chrono::steady_clock::now();
  triangulate(options.data(), &in, &out.io, nullptr);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return {seconds.count(), out.io.numberoftriangles};
}

}  // namespace

std::string why_no_triangle() { return {}; }

MesherRun run_triangle(const delaunay::PlanarGraph& graph, double min_angle, double max_area) {
  std::vector<double> points;
  for (const delaunay::Point& p : graph.points) points.insert(points.end(), {p[0], p[1]});
  std::vector<int> segments;
  for (const delaunay::PlanarGraph::Edge& edge : graph.segments)
    segments.insert(segments.end(), {edge.ends[0], edge.ends[1]});
  std::vector<double> holes;
  for (const delaunay::Point& p : graph.holes) holes.insert(holes.end(), {p[0], p[1]});
  triangulateio in{};
  in.pointlist = points.data();
  in.numberofpoints = static_cast<int>(graph.points.size());
  in.segmentlist = segments.data();
  in.numberofsegments = static_cast<int>(graph.segments.size());
  in.holelist = holes.data();
  in.numberofholes = static_cast<int>(graph.holes.size());
  const std::string area = max_area > 0 ? fmt::format("a{:.20f}", max_area) : "";
  return run(fmt::format("pzQBPq{:.4f}{}", min_angle, area), in);
}

MesherRun run_triangle(std::span<const delaunay::Point> points) {
  std::vector<double> copy;
  for (const delaunay::Point& p : points) copy.insert(copy.end(), {p[0], p[1]});
  triangulateio in{};
  in.pointlist = copy.data();
  in.numberofpoints = static_cast<int>(points.size());
  return run("zQB", in);
}

}  // namespace barrio::bench

#else

namespace barrio::bench {

std::string why_no_triangle() { return BARRIO_NO_TRIANGLE; }
MesherRun run_triangle(const delaunay::PlanarGraph&, double, double) { return {}; }
MesherRun run_triangle(std::span<const delaunay::Point>) { return {}; }

}  // namespace barrio::bench
#endif
