#include "barrio/delaunay/parted.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/checksum.hpp"
#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/shapes.hpp"
#include "barrio/delaunay/write.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mesh/mesh.hpp"
#include "barrio/mobile/store.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/delaunay/cases.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::delaunay {
namespace {

mpi::Context& world() { return barrio::test::world(); }

/// A context of this rank alone.
mpi::Context& alone() {
  static mpi::Context context(MPI_COMM_SELF);
  return context;
}

struct Refined {
  PartedTriangulation parted;
  PartReport report;
};

Refined refine_in_parts(mpi::Context& context, const PlanarGraph& graph, const RefineOptions& options,
                        const PartOptions& part_options) {
  Refined made;
  Triangulation mesh = context.is_root() ? triangulate(graph) : Triangulation();
  made.parted = delaunay::refine_in_parts(context, std::move(mesh), options, part_options, made.report);
  return made;
}
Refined refine_in_parts(mpi::Context& context, const PlanarGraph& graph, const RefineOptions& options,
                        std::int32_t n_parts) {
  return refine_in_parts(context, graph, options, PartOptions{.n_parts = n_parts});
}

/// Write a mesh in parts and audit the file. @return it
AuditedMesh audited(const Refined& made, const PlanarGraph& graph, const RefineOptions& options) {
  const std::string path = barrio::test::scratch() / "parted.h5m";
  write_h5m(world(), made.parted, path);
  AuditedMesh back = read_audited(path);
  const Audit found = audit(back, graph,
                            {.min_angle = options.min_angle,
                             .max_area = options.max_area,
                             .keeps_regions = options.keeps_regions,
                             .area_at = options.area_at,
                             .size = options.size,
                             .in_parts = true});
  for (const Audit::Check& check : found.checks) EXPECT_TRUE(check.is_met) << check.name << ": " << check.text;
  mpi::barrier(world());  // the next case writes to the same file
  return back;
}

/// Refine on all ranks, write, audit what was written, and compare with a rank alone.
void check_case(const std::string& what, const PlanarGraph& graph, const RefineOptions& options, std::int32_t n_parts) {
  SCOPED_TRACE(what);
  const Refined made = refine_in_parts(world(), graph, options, n_parts);
  validate(world(), made.parted);
  const PartedSummary all = summarize(world(), made.parted);
  const Refined again = refine_in_parts(alone(), graph, options, n_parts);
  const PartedSummary of_again = summarize(alone(), again.parted);
  EXPECT_EQ(of_again.checksum, all.checksum);
  EXPECT_EQ(of_again.n_triangles, all.n_triangles);
  EXPECT_EQ(of_again.n_vertices, all.n_vertices);
  EXPECT_EQ(of_again.shape.area, all.shape.area);
  EXPECT_EQ(again.report.n_interface_points, made.report.n_interface_points);
  EXPECT_EQ(again.report.refinement.n_segment_points, made.report.refinement.n_segment_points);

  const AuditedMesh back = audited(made, graph, options);
  EXPECT_EQ(std::ssize(back.triangles), all.n_triangles);
  EXPECT_EQ(std::ssize(back.points), all.n_vertices);
  EXPECT_EQ(checksum(back), all.checksum);
}

TEST(Parted, SamplesPassTheAuditAndDoNotDependOnRanks) {
  check_case("pipe", pipe_section(60, 20), {.max_area = 0.0003}, 16);
  check_case("square", unit_square(5), {.min_angle = 30, .max_area = 0.0002}, 7);
  check_case("coast by angle", fractal_island(1024, 3), {}, 5);
  check_case("coast by area", fractal_island(1024, 3), {.min_angle = 25, .max_area = 0.0005}, 12);
  check_case("saw", saw(12, 0.2, 1.0), {.max_area = 0.002}, 9);
  check_case("graded", pipe_section(60, 20),
             {.area_at = [](const Point& p) { return 1e-4 + 0.003 * std::hypot(p[0] - 0.3, p[1]); }}, 11);
}

TEST(Parted, FewTrianglesInManyParts) {
  check_case("one part", pipe_section(20, 8), {.max_area = 0.01}, 1);
  check_case("two parts", pipe_section(20, 8), {.max_area = 0.01}, 2);
  check_case("more parts than triangles", unit_square(1), {.max_area = 0.3}, 40);
}

TEST(Parted, RegionsMarkersAndAttributesStay) {
  PlanarGraph graph = unit_square(3);
  const auto n = static_cast<std::int32_t>(graph.points.size());
  graph.points.insert(graph.points.end(), {{0.3, 0.2}, {0.8, 0.5}, {0.35, 0.9}});
  graph.segments.push_back({.ends = {n, n + 1}, .marker = 8});
  graph.segments.push_back({.ends = {n + 1, n + 2}, .marker = 9});
  graph.segments.push_back({.ends = {n + 2, n}, .marker = 8});
  graph.regions = {{.place = {0.45, 0.5}, .attribute = 2.5, .max_area = 0.0002, .number = 4, .name = "inside"},
                   {.place = {0.01, 0.01}, .attribute = -1, .max_area = 0.002, .number = 7, .name = "around"}};
  graph.marker_names = {{8, "two sides"}};
  graph.attributes = {{.name = "depth", .n_components = 1}, {.name = "flow", .n_components = 2}};
  for (const Point& p : graph.points)
    graph.attribute_values.insert(graph.attribute_values.end(), {p[0] + 2 * p[1], 3 * p[0], -p[1]});
  check_case("regions", graph, {}, 10);

  const Refined made = refine_in_parts(world(), graph, {}, 10);
  const std::string path = barrio::test::scratch() / "regions.h5m";
  write_h5m(world(), made.parted, path);
  const mesh::Mesh read = io::read(world(), path);
  read.validate();
  std::vector<std::string> names;
  for (const mesh::MeshSet& set : read.sets())
    if (!set.info.name.empty()) names.push_back(set.info.name);
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"around", "inside", "two sides"}));
  const AuditedMesh back = read_audited(path);
  ASSERT_EQ(back.attribute_values.size(), 3 * back.points.size());
  for (std::size_t v = 0; v < back.points.size(); ++v) {
    const Point& p = back.points[v];
    EXPECT_NEAR(back.attribute_values[3 * v], p[0] + 2 * p[1], 1e-12);
    EXPECT_NEAR(back.attribute_values[3 * v + 2], -p[1], 1e-12);
  }
}

TEST(Parted, HardGraphsPassTheAudit) {
  std::mt19937_64 random(20261129);
  for (int i = 0; i < 2 * test::n_hardnesses; ++i) {
    const auto hardness = static_cast<test::Hardness>(i % test::n_hardnesses);
    const PlanarGraph graph = test::random_graph(random, hardness);
    const auto n_parts = static_cast<std::int32_t>(2 + random() % 14);
    check_case(fmt::format("graph {} in {} parts", i, n_parts), graph,
               {.min_angle = i % 2 == 0 ? 20.0 : 28.0, .max_area = 0.002}, n_parts);
  }
}

TEST(Parted, SegmentsAndBoundaryMayBeKept) {
  const PlanarGraph graph = pipe_section(64, 24);
  const Refined made = refine_in_parts(world(), graph, {.max_area = 0.001, .splits_boundary = false}, 8);
  validate(world(), made.parted);
  EXPECT_EQ(made.report.refinement.n_segment_points, made.report.n_interface_points);
  EXPECT_GT(made.report.n_interface_points, 0);
}

TEST(Parted, SegmentsWithAMarkerAreKept) {
  const PlanarGraph graph = pipe_section(64, 24);
  const Refined made = refine_in_parts(world(), graph, {.max_area = 0.0001, .kept_markers = {1, 4}}, 8);
  validate(world(), made.parted);
  const std::string path = barrio::test::scratch() / "kept.h5m";
  write_h5m(world(), made.parted, path);
  const AuditedMesh back = read_audited(path);
  EXPECT_EQ(std::ranges::count(back.edge_markers, 1), 64);
  EXPECT_EQ(std::ranges::count(back.edge_markers, 4), 24);
  EXPECT_GT(std::ranges::count(back.edge_markers, 2), 24);
}

TEST(Parted, CountsAreNearThoseOfTheWhole) {
  const PlanarGraph graph = pipe_section(100, 30);
  const RefineOptions options{.max_area = 0.00004};
  Triangulation whole = triangulate(graph);
  refine(whole, options);
  const Refined made = refine_in_parts(world(), graph, options, 16);
  EXPECT_LE(static_cast<double>(summarize(world(), made.parted).n_triangles),
            1.005 * static_cast<double>(whole.n_triangles()));
  EXPECT_LE(made.report.n_exchanges, 3);
  EXPECT_LE(made.report.part_imbalance, 1.15);
  EXPECT_GE(made.report.min_corner, 35.0);
}

/// A folder on a disk. The usual scratch folder may lie in memory.
std::string folder_on_disk() {
  const auto path = std::filesystem::current_path() / "parted-scratch";
  std::filesystem::create_directories(path);
  return path.string();
}

TEST(Parted, AsynchronousPartsPassTheAudit) {
  struct Sample {
    const char* name;
    PlanarGraph graph;
    RefineOptions options;
  };
  const std::vector<Sample> samples{
      {"pipe", pipe_section(60, 20), {.max_area = 0.0001}},
      {"coast by angle", fractal_island(1024, 3), {.min_angle = 25}},
      {"coast by area", fractal_island(1024, 3), {.max_area = 0.0002}},
      {"square", unit_square(5), {.min_angle = 30, .max_area = 0.0001}},
  };
  const std::string scratch = folder_on_disk();
  for (const Sample& sample : samples) {
    SCOPED_TRACE(sample.name);
    const PartedSummary in_steps =
        summarize(world(), refine_in_parts(world(), sample.graph, sample.options, 12).parted);
    for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{300'000}}) {
      if (limit > 0 && mobile::folder_kind(scratch) == mobile::FolderKind::memory) continue;
      const Refined made = refine_in_parts(
          world(), sample.graph, sample.options,
          PartOptions{.n_parts = 12, .max_memory_bytes = limit, .scratch = scratch, .order = PartOrder::asynchronous});
      validate(world(), made.parted);
      const PartedSummary all = summarize(world(), made.parted);
      EXPECT_EQ(std::ssize(audited(made, sample.graph, sample.options).triangles), all.n_triangles);
      EXPECT_LE(static_cast<double>(all.n_triangles), 1.02 * static_cast<double>(in_steps.n_triangles));
      EXPECT_GT(made.report.n_messages, 0);
    }
  }
}

TEST(Parted, PartsOnTheDiskGiveTheSameFile) {
  const std::string scratch = folder_on_disk();
  if (mobile::folder_kind(scratch) == mobile::FolderKind::memory) GTEST_SKIP() << scratch << " is in memory";
  const PlanarGraph graph = pipe_section(60, 20);
  const RefineOptions options{.max_area = 0.0001};
  const std::filesystem::path in_memory = barrio::test::scratch() / "memory";
  const std::filesystem::path on_disk = barrio::test::scratch() / "disk";
  const Refined one = refine_in_parts(world(), graph, options, 40);
  for (const char* ending : {".h5m", ".vtkhdf"}) write(world(), one.parted, in_memory.string() + ending);
  for (const auto& [max_bytes, seed] : {std::pair{1U, 0U}, {200'000U, 0U}, {200'000U, 7U}}) {
    PartReport report;
    const PartedTriangulation other = delaunay::refine_in_parts(
        world(), world().is_root() ? triangulate(graph) : Triangulation(), options,
        {.n_parts = 40, .max_memory_bytes = max_bytes, .scratch = scratch, .shuffle_seed = seed}, report);
    // of about 2 MB, a limit leaves its bytes on every rank
    EXPECT_GT(report.bytes_written, max_bytes == 1 ? 500'000U : 100'000U);
    EXPECT_GT(report.bytes_finished, 0U);
    EXPECT_LE(report.bytes_finished, report.bytes_written);
    EXPECT_LE(other.memory_bytes(), std::max(max_bytes, 200'000U));
    validate(world(), other);
    EXPECT_EQ(summarize(world(), other).checksum, summarize(world(), one.parted).checksum);
    EXPECT_EQ(report.n_exchanges, one.report.n_exchanges);
    EXPECT_EQ(report.n_parts_told, one.report.n_parts_told);
    for (const char* ending : {".h5m", ".vtkhdf"}) {
      write(world(), other, on_disk.string() + ending);
      const auto bytes_of = [&](const std::filesystem::path& path) {
        std::ifstream file(path.string() + ending, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
      };
      EXPECT_EQ(bytes_of(on_disk), bytes_of(in_memory)) << ending;
      mpi::barrier(world());
    }
  }
}

TEST(Parted, AnAngleThatIsNotReachedIsRefused) {
  const std::string scratch = folder_on_disk();
  if (mobile::folder_kind(scratch) == mobile::FolderKind::memory) GTEST_SKIP() << scratch << " is in memory";
  std::mt19937_64 random(1133);
  random.discard(1);
  const PlanarGraph graph = test::random_graph(random, test::Hardness::fans, 0.02);
  PartReport report;
  try {
    static_cast<void>(delaunay::refine_in_parts(world(), world().is_root() ? triangulate(graph) : Triangulation(),
                                                {.min_angle = 33, .max_area = 0.0003},
                                                {.n_parts = 18, .max_memory_bytes = 1000, .scratch = scratch}, report));
    ADD_FAILURE() << "no error";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::failed);
    EXPECT_NE(std::string(error.what()).find("is not reached"), std::string::npos) << error.what();
  }
}

TEST(Parted, FaultsAreToldToAllRanks) {
  const auto code_of = [&](const RefineOptions& options, std::int32_t n_parts) {
    try {
      refine_in_parts(world(), unit_square(2), options, n_parts);
    } catch (const AgreedError& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(code_of({.moves_points = true}, 4), ErrorCode::usage);
  EXPECT_EQ(code_of({.max_triangles = 100}, 4), ErrorCode::usage);
  EXPECT_EQ(code_of({}, -1), ErrorCode::usage);
  EXPECT_EQ(code_of({.min_angle = 50}, 4), ErrorCode::usage);
  // a function that fails in some parts only
  EXPECT_EQ(code_of({.area_at = [](const Point& p) { return p[0] > 0.9 && p[1] > 0.9 ? -1.0 : 0.001; }}, 8),
            ErrorCode::bad_input);
  PartReport report;
  const PartOptions no_folder{.n_parts = 4, .max_memory_bytes = 1000, .scratch = "/no/such/folder"};
  try {
    static_cast<void>(delaunay::refine_in_parts(
        world(), world().is_root() ? triangulate(unit_square(2)) : Triangulation(), {}, no_folder, report));
    ADD_FAILURE() << "no error";
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::failed);
  }
  Triangulation mesh = world().is_root() ? triangulate(unit_square(1)) : Triangulation();
  const PartedTriangulation parted =
      delaunay::refine_in_parts(world(), std::move(mesh), {.max_area = 0.1}, {.n_parts = 2}, report);
  EXPECT_THROW(write(world(), parted, barrio::test::scratch() / "parted.msh"), AgreedError);
}

}  // namespace
}  // namespace barrio::delaunay
