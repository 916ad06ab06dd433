#include "benchmarks/delaunay/peers.hpp"

#ifdef BARRIO_HAS_CGAL
#include <CGAL/Delaunay_triangulation_2.h>
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>

#include <chrono>
#include <vector>

namespace barrio::bench {

std::string why_no_cgal() { return {}; }

MesherRun run_cgal(std::span<const delaunay::Point> points) {
  using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
  std::vector<Kernel::Point_2> copy;
  copy.reserve(points.size());
  for (const delaunay::Point& p : points) copy.emplace_back(p[0], p[1]);
  const auto start = std::chrono::steady_clock::now();
  const CGAL::Delaunay_triangulation_2<Kernel> triangulation(copy.begin(), copy.end());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return {seconds.count(), static_cast<std::int64_t>(triangulation.number_of_faces())};
}

}  // namespace barrio::bench

#else

namespace barrio::bench {

std::string why_no_cgal() { return BARRIO_NO_CGAL; }
MesherRun run_cgal(std::span<const delaunay::Point>) { return {}; }

}  // namespace barrio::bench
#endif
