#include "barrio/delaunay/write.hpp"

#include <gtest/gtest.h>

#include <string>

#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/delaunay/shapes.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mesh/mesh.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::delaunay {
namespace {

TEST(Write, H5mHoldsTrianglesMarkersAndRegions) {
  PlanarGraph graph = pipe_section(40, 12);
  graph.regions = {{.place = {0, 0}, .attribute = 2.5}};
  Triangulation mesh = triangulate(graph);
  refine(mesh, {.max_area = 0.01});
  compact(mesh);
  const std::string path = barrio::test::scratch() / "pipe.h5m";
  const Triangulation none;  // arguments of other ranks are ignored
  write_h5m(barrio::test::world(), barrio::test::world().is_root() ? mesh : none, path);

  const AuditedMesh back = read_audited(path);
  const Audit found = audit(back, graph, {.min_angle = 20, .max_area = 0.01});
  for (const Audit::Check& check : found.checks) EXPECT_TRUE(check.is_met) << check.name << ": " << check.text;

  mesh::Mesh read = io::read(barrio::test::world(), path);
  read.validate();
  EXPECT_EQ(read.n_global(mesh::Dim::face), mesh.n_triangles());
  EXPECT_EQ(read.n_global(mesh::Dim::vertex), mesh.n_vertices());
  int n_markers = 0;
  int n_regions = 0;
  for (const mesh::MeshSet& set : read.sets()) {
    n_markers += set.info.kind == mesh::SetKind::neumann ? 1 : 0;
    n_regions += set.info.kind == mesh::SetKind::material ? 1 : 0;
  }
  EXPECT_EQ(n_markers, 8);
  EXPECT_EQ(n_regions, 1);
}

}  // namespace
}  // namespace barrio::delaunay
