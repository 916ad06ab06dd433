#include "benchmarks/delaunay/peers.hpp"

#ifdef BARRIO_HAS_DELABELLA
#include <cstddef>  // its header needs it
//
#include <delabella.h>

#include <chrono>

namespace barrio::bench {

std::string why_no_delabella() { return {}; }

MesherRun run_delabella(std::span<const delaunay::Point> points) {
  const auto start = std::chrono::steady_clock::now();
  IDelaBella2<double, int>* const mesher = IDelaBella2<double, int>::Create();
  const int n_indices = mesher->Triangulate(static_cast<int>(points.size()), points[0].data(), points[0].data() + 1,
                                            sizeof(delaunay::Point));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  mesher->Destroy();
  return {seconds.count(), n_indices / 3};
}

}  // namespace barrio::bench

#else

namespace barrio::bench {

std::string why_no_delabella() { return BARRIO_NO_DELABELLA; }
MesherRun run_delabella(std::span<const delaunay::Point>) { return {}; }

}  // namespace barrio::bench
#endif
