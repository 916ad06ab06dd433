#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "barrio/base/error.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "tests/io/damage.hpp"
#include "tests/io/tagged_box.hpp"
#include "tests/support/mpi_test.hpp"

// Tags and fields of a mesh are arrays in VTKHDF. A notice names the ones that do not fit there.

namespace barrio::io {
namespace {

using mesh::TagType;
using test::world;
namespace fs = std::filesystem;

/// Make the box with tags of all kinds, and three more: with gaps and without a default, on cells and on vertices.
mesh::MeshTables with_gaps(mpi::Context& context) {
  mesh::MeshTables tables = test::tagged_box(context);
  const auto add = [&](const std::string& name, TagType type, std::int32_t block, const Slabs& slabs) {
    mesh::TagTable& tag = tables.tags.emplace_back(
        mesh::TagTable{.info = {.name = name, .type = type, .storage = mesh::TagStorage::sparse}});
    tag.columns.push_back({.block = block, .is_dense = false});
    for (std::int64_t row = slabs.first(context.rank()); row < slabs.first(context.rank() + 1); ++row) {
      if (row % 3 != 1) continue;
      tag.columns[0].rows.push_back(static_cast<std::int32_t>(row - slabs.first(context.rank())));
      const auto as_int = static_cast<std::int32_t>(row);
      const auto as_real = static_cast<double>(row);
      if (type == TagType::int32) {
        tag.columns[0].items.add(std::as_bytes(std::span(&as_int, 1)), false);
      } else {
        tag.columns[0].items.add(std::as_bytes(std::span(&as_real, 1)), false);
      }
    }
  };
  add("third", TagType::int32, 0, tables.blocks[0].rows);
  add("third of points", TagType::float64, -1, tables.vertices);
  add("material", TagType::int32, 0, tables.blocks[0].rows);
  tables.tags.back().info.default_value.assign(4, std::byte{1});
  mesh::partition_cells(context, tables, 5);
  return tables;
}

void write_tagged(mpi::Context& context, const fs::path& path) {
  mesh::Mesh mesh(context, with_gaps(context), {.ghost_layers = 1});
  auto heat = mesh.add_field<double>("heat", mesh::Dim::vertex);
  auto twice = mesh.add_field<float>("heat", mesh::Dim::volume, 2);
  const auto& ids = mesh.cells().global_ids;
  for (std::size_t c = 0; c < ids.size(); ++c) {
    twice.values()[2 * c] = static_cast<float>(value(ids[c]));
    twice.values()[2 * c + 1] = -1.0F;
  }
  for (std::size_t v = 0; v < mesh.n_local(mesh::Dim::vertex); ++v)
    heat.values()[v] = 0.5 * static_cast<double>(value(mesh.vertices().global_ids[v]));
  io::write(mesh, path.string());
}

TEST(VtkhdfTags, AreTheSameOnAnyNumberOfRanks) {
  const fs::path by_all = test::scratch() / "tags_by_all.vtkhdf";
  const fs::path by_one = test::scratch() / "tags_by_one.vtkhdf";
  write_tagged(world(), by_all);
  const mpi::Comm split = mpi::Comm::split(world().comm(), world().rank() == 0 ? 0 : MPI_UNDEFINED, 0);
  if (world().rank() != 0) return;
  mpi::Context alone(split.get());
  testing::internal::CaptureStderr();
  write_tagged(alone, by_one);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(test::digest(by_all), test::digest(by_one));
  for (const char* part : {"tags_by_one.vtkhdf: VTKHDF cannot hold", "other than materials", "listed faces",
                           "tag 'few' on sets and the mesh as a whole", "tag 'lists' (values of varying length)",
                           "tag 'partner' (entities)", "tag 'flags' (bits)", "tag 'label' (bytes)",
                           ".h5m keeps all of it; NaN stands where 'third', 'third of points' have no value"})
    EXPECT_NE(said.find(part), std::string::npos) << part << "\n" << said;
  EXPECT_EQ(said.find("nowhere"), std::string::npos) << said;
}

TEST(VtkhdfTags, HaveTheirValuesTypesAndComponents) {
  const fs::path path = test::scratch() / "tags.vtkhdf";
  write_tagged(world(), path);
  if (world().rank() != 0) return;
  const auto read = [&](const std::string& name) { return test::numbers(path, "/VTKHDF/" + name); };
  // Fields with the row of each point and cell.
  const auto heat = read("PointData/heat");
  const auto of_cells = read("CellData/heat");
  const std::string odd = "a_b \\ \x01\xff";
  const auto at_points = read("PointData/" + odd);
  const auto gaps = read("PointData/third of points");
  ASSERT_EQ(at_points.size(), 3 * heat.size());
  for (std::size_t p = 0; p < heat.size(); ++p) {
    const double row = 2.0 * heat[p];
    EXPECT_EQ(at_points[3 * p], row);
    EXPECT_EQ(at_points[3 * p + 1], -row);
    EXPECT_EQ(at_points[3 * p + 2], 0.5);
    if (std::fmod(row, 3.0) == 1.0) {
      EXPECT_EQ(gaps[p], row);
    } else {
      EXPECT_TRUE(std::isnan(gaps[p]));
    }
  }
  const auto few = read("CellData/few");
  const auto third = read("CellData/third");
  const auto material = read("CellData/material");
  const auto at_cells = read("CellData/" + odd);
  ASSERT_EQ(few.size(), 36U);
  for (std::size_t c = 0; c < few.size(); ++c) {
    const double row = of_cells[2 * c];
    EXPECT_EQ(of_cells[2 * c + 1], -1.0);
    EXPECT_EQ(at_cells[3 * c + 1], row);
    EXPECT_EQ(few[c], std::fmod(row, 5.0) == 2.0 ? row : 0x07070707);  // the default where there is no value
    EXPECT_EQ(material[c], std::fmod(row, 3.0) == 1.0 ? row : 0x01010101);
    if (std::fmod(row, 3.0) == 1.0) {
      EXPECT_EQ(third[c], row);
    } else {
      EXPECT_TRUE(std::isnan(third[c]));
    }
  }
}

TEST(VtkhdfTags, MaterialsOfOneIdStayApart) {
  mesh::MeshTables tables = mesh::make_box(world(), {.n = {4, 1, 1}});
  tables.sets.clear();
  tables.members.clear();
  for (const auto& [id, row] : {std::pair(1, 0), std::pair(3, 1), std::pair(1, 2), std::pair(2, 3)}) {
    tables.sets.push_back({.kind = mesh::SetKind::material, .id = id, .name = "m" + std::to_string(row)});
    if (world().rank() == 0) tables.members.push_back({row, mesh::Dim::volume, row, 1});
  }
  mesh::partition_cells(world(), tables, world().size());
  const fs::path path = test::scratch() / "one_id.vtkhdf";
  testing::internal::CaptureStderr();
  io::write(mesh::Mesh(world(), tables), path.string());
  const std::string said = testing::internal::GetCapturedStderr();
  const mesh::MeshTables found = read_tables(world(), path.string());
  std::vector<std::int32_t> ids;
  for (const mesh::SetInfo& set : found.sets)
    if (set.kind == mesh::SetKind::material) ids.push_back(set.id);
  EXPECT_EQ(ids, (std::vector<std::int32_t>{1, 2, 3, 4}));
  if (world().rank() == 0) {
    EXPECT_NE(said.find("a second material of id 1 ('m2' is written as 4)"), std::string::npos) << said;
  }
}

TEST(VtkhdfTags, StandStillInATimeSeries) {
  const fs::path path = test::scratch() / "tags_and_steps.vtkhdf";
  mesh::Mesh mesh(world(), with_gaps(world()));
  const auto heat = mesh.add_field<double>("heat", mesh::Dim::vertex);
  VtkhdfWriter writer(mesh, path.string(), {.fields = {"heat"}, .has_steps = true, .with_tags = true});
  writer.write_step(0.0);
  std::ranges::fill(heat.values(), 1.0);
  writer.write_step(1.0);
  writer.write_step(2.0);  // nothing has changed, so nothing is written
  writer.close();
  if (world().rank() != 0) return;
  const auto read = [&](const std::string& name) { return test::numbers(path, "/VTKHDF/" + name); };
  EXPECT_EQ(read("PointData/heat").size(), 2 * read("PointData/third of points").size());
  const auto n_points = static_cast<double>(read("Points").size() / 3);
  EXPECT_EQ(read("Steps/PointDataOffsets/heat"), (std::vector<double>{0, n_points, n_points}));
  EXPECT_EQ(read("Steps/PointDataOffsets/third of points"), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(read("Steps/CellDataOffsets/few"), (std::vector<double>{0, 0, 0}));
}

TEST(VtkhdfTags, NamesThatAreWrittenAlike) {
  const fs::path path = test::scratch() / "alike.vtkhdf";
  mesh::Mesh mesh(world(), with_gaps(world()));
  mesh.add_field<double>("a_b \\ \x01\xff", mesh::Dim::vertex);  // the name that the tag 'a/b ...' would get
  testing::internal::CaptureStderr();
  io::write(mesh, path.string());
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(world().rank() > 0 || said.find("is taken)") != std::string::npos) << said;
  mesh.add_field<double>("x/y", mesh::Dim::vertex);
  mesh.add_field<double>("x_y", mesh::Dim::volume);  // on cells: no conflict
  io::write(mesh, path.string());
  mesh.add_field<double>("x_y", mesh::Dim::vertex);
  try {
    io::write(mesh, path.string());
    ADD_FAILURE();
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(error.cause().find("is written as 'x_y', and so is another"), std::string::npos) << error.what();
  }
}

TEST(Write, RefusesSuffixesItDoesNotKnow) {
  const mesh::Mesh mesh(world(), with_gaps(world()));
  const auto refusal = [&](const std::string& name) -> std::string {
    const fs::path path = test::scratch() / name;
    try {
      io::write(mesh, path.string());
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_FALSE(fs::exists(path));
      return error.cause() + " (" + error.remedy() + ")";
    }
    return "";
  };
  EXPECT_EQ(refusal("o.vtu"),
            "has the suffix '.vtu', which barrio does not write. (use .h5m (for barrio and MOAB), .vtkhdf (for "
            "ParaView), .mesh or .meshb (for Medit and Mmg))");
  EXPECT_NE(refusal("o.vtkhd").find("Did you mean '.vtkhdf'?"), std::string::npos);
  EXPECT_NE(refusal("o"), "");
}

}  // namespace
}  // namespace barrio::io
