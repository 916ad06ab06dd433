#include "barrio/delaunay/write.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "barrio/base/error.hpp"
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

/// A pipe with two regions, named, and attributes.
Triangulation named_pipe() {
  PlanarGraph graph = pipe_section(40, 12);
  graph.regions = {
      {.place = {0, 0}, .attribute = 2.5, .number = 8, .name = "steel, \"hard\" and with a name of many bytes"}};
  graph.marker_names = {{1, "outside"}, {3, "Rohr Nr. 3 \u00fc"}};
  graph.attributes = {{.name = "depth"}, {.name = "wind", .n_components = 2}};
  for (const Point& p : graph.points)
    graph.attribute_values.insert(graph.attribute_values.end(), {p[0] + 1, p[1], p[0]});
  graph.segments[0].marker = -4;
  Triangulation mesh = triangulate(graph);
  refine(mesh, {.max_area = 0.01});
  compact(mesh);
  return mesh;
}

std::int64_t n_with_name(const mesh::Mesh& mesh, mesh::SetKind kind, std::int32_t id, const std::string& name) {
  std::int64_t n = 0;
  for (const mesh::MeshSet& set : mesh.sets()) n += set.info.id_as(kind) == id && set.info.name == name ? 1 : 0;
  return n;
}

TEST(Write, NamesAreThoseOfSets) {
  const Triangulation mesh = named_pipe();
  const Triangulation none;
  const auto& given = barrio::test::world().is_root() ? mesh : none;
  const std::string h5m = barrio::test::scratch() / "names.h5m";
  write(barrio::test::world(), given, h5m);
  const mesh::Mesh of_h5m = io::read(barrio::test::world(), h5m);
  EXPECT_EQ(n_with_name(of_h5m, mesh::SetKind::material, 8, "steel, \"hard\" and with a name of"), 1);
  EXPECT_EQ(n_with_name(of_h5m, mesh::SetKind::neumann, 3, "Rohr Nr. 3 \u00fc"), 1);
  EXPECT_EQ(n_with_name(of_h5m, mesh::SetKind::neumann, 2, ""), 1);
  const std::string msh = barrio::test::scratch() / "names.msh";
  write(barrio::test::world(), given, msh);
  const mesh::Mesh of_msh = io::read(barrio::test::world(), msh);
  EXPECT_EQ(n_with_name(of_msh, mesh::SetKind::material, 8, "steel,  hard  and with a name of many bytes"), 1);
  EXPECT_EQ(n_names_lost(mesh, TriangulationFormat::h5m), 0);
  EXPECT_EQ(n_names_lost(mesh, TriangulationFormat::vtu), 3);
}

TEST(Write, GmshAndVtuHoldTheMesh) {
  const Triangulation mesh = named_pipe();
  const Triangulation none;
  for (const char* const suffix : {".msh", ".vtu"}) {
    const std::string path = barrio::test::scratch() / fmt::format("pipe{}", suffix);
    write(barrio::test::world(), barrio::test::world().is_root() ? mesh : none, path);
    const mesh::Mesh read = io::read(barrio::test::world(), path);
    read.validate();
    EXPECT_EQ(read.n_global(mesh::Dim::face), mesh.n_triangles()) << suffix;
    EXPECT_EQ(read.n_global(mesh::Dim::vertex), mesh.n_vertices()) << suffix;
    std::vector<std::string> tags;
    for (const mesh::MeshTag& tag : read.tags()) tags.push_back(tag.info.name);
    for (const char* const name : {"depth", "wind", "attribute"})
      EXPECT_EQ(std::ranges::count(tags, name), suffix == std::string(".vtu") ? 1 : 0) << suffix << ": " << name;
  }
}

TEST(Write, GmshHoldsAttributes) {
  const Triangulation mesh = named_pipe();
  const std::string path = barrio::test::scratch() / fmt::format("own{}.msh", barrio::test::world().rank());
  write_local(mesh, path);
  std::ifstream in(path);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  // three components for a vector of two; the wind at a vertex is its position, turned
  const std::string head = "$NodeData\n1\n\"{}\"\n1\n0\n3\n0\n{}\n{}\n";
  EXPECT_NE(text.find(fmt::format(fmt::runtime(head), "depth", 1, mesh.n_vertices())), std::string::npos);
  const std::string wind = fmt::format(fmt::runtime(head), "wind", 3, mesh.n_vertices());
  ASSERT_NE(text.find(wind), std::string::npos);
  std::istringstream rows(text.substr(text.find(wind) + wind.size()));
  for (std::int64_t v = 0; v < mesh.n_vertices(); ++v) {
    std::int64_t number = 0;
    std::array<double, 3> x{};
    rows >> number >> x[0] >> x[1] >> x[2];
    EXPECT_EQ(number, v + 1);
    EXPECT_NEAR(x[0], mesh.points[static_cast<std::size_t>(v)][1], 1e-12);
    EXPECT_NEAR(x[1], mesh.points[static_cast<std::size_t>(v)][0], 1e-12);
    EXPECT_EQ(x[2], 0.0);
  }
  EXPECT_NE(text.find(fmt::format("$ElementData\n1\n\"attribute\"\n1\n0\n3\n0\n1\n{}\n", mesh.n_triangles())),
            std::string::npos);
  EXPECT_EQ(text.find("-4 "), std::string::npos);  // no group below 0
}

TEST(Write, UnknownFormatsAreRefusedTogether) {
  try {
    write(barrio::test::world(), Triangulation(), barrio::test::scratch() / "mesh.stl");
    ADD_FAILURE() << "no error";
  } catch (const AgreedError& error) {
    EXPECT_NE(std::string(error.what()).find("is not a format of triangulations"), std::string::npos);
  }
  try {
    write_local(named_pipe(), barrio::test::scratch() / "mesh.h5m");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("is in a format that needs MPI"), std::string::npos);
  }
}

}  // namespace
}  // namespace barrio::delaunay
