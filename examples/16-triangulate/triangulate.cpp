// Triangulation in a program: the sea around an island, fine at the coast.
//
//   barrio exec triangulate sea.vtkhdf
#include <cmath>
#include <cstdio>
#include <string>

#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/delaunay/shapes.hpp"
#include "barrio/delaunay/write.hpp"
#include "barrio/mpi/run.hpp"

namespace delaunay = barrio::delaunay;

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](barrio::Context& context) {
    // points, and segments between them: the coast with marker 1, the open sea with marker 2, and a hole for the land
    delaunay::PlanarGraph graph = delaunay::fractal_island(1000, 7);
    delaunay::add_circle(graph, {0, 0}, 6, 40, 2);
    graph.holes.push_back({0, 0});

    // a min angle of 25 degrees, and a max area that grows with the distance from the island
    const auto area_at = [](const delaunay::Point& place) {
      const double edge = 0.02 + 0.25 * std::abs(std::hypot(place[0], place[1]) - 1);
      return 0.4 * edge * edge;
    };
    delaunay::Triangulation mesh;
    if (context.is_root()) {  // one rank triangulates; all write together
      mesh = delaunay::triangulate(graph);
      delaunay::refine(mesh, {.min_angle = 25, .area_at = area_at});
      delaunay::compact(mesh);

      const delaunay::Audit audit = delaunay::audit(delaunay::audited(mesh), graph, {.min_angle = 25});
      std::printf("%lld triangles, angles from %.1f degrees, %s\n", static_cast<long long>(mesh.n_triangles()),
                  audit.min_angle, audit.passes() ? "audited" : "with faults");
    }
    delaunay::write_vtkhdf(context, mesh, argc > 1 ? argv[1] : "sea.vtkhdf");
  });
}
