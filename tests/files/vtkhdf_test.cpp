#include "barrio/files/vtkhdf.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>

#include "barrio/base/error.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::files {
namespace {

using test::world;
namespace fs = std::filesystem;

/// A triangle a rank, each a piece; `n` of them on the last rank.
struct Triangles {
  std::vector<std::int64_t> n_points, n_cells, n_nodes, connectivity, offsets;
  std::vector<double> points;
  std::vector<std::uint8_t> types;

  explicit Triangles(int n = 1) {
    if (world().rank() < world().size() - 1) n = 1;
    for (int t = 0; t < n; ++t) {
      n_points.push_back(3);
      n_cells.push_back(1);
      n_nodes.push_back(3);
      connectivity.insert(connectivity.end(), {0, 1, 2});
      offsets.insert(offsets.end(), {0, 3});
      for (int k = 0; k < 9; ++k) points.push_back(world().rank() + 0.25 * k + 10.0 * t);
      types.push_back(5);
    }
  }
  [[nodiscard]] VtkhdfGrid grid() const {
    return {.n_points = n_points,
            .n_cells = n_cells,
            .n_nodes = n_nodes,
            .points = points,
            .connectivity = connectivity,
            .offsets = offsets,
            .types = types};
  }
};

fs::path path_of(const std::string& name) { return test::scratch() / name; }

TEST(VtkhdfFile, ASeriesKeepsWhatDoesNotChange) {
  const fs::path path = path_of("series.vtkhdf");
  const std::int64_t n = world().size();
  VtkhdfFile file(world(), path.string(), 4096, true);
  const Triangles one;
  const Triangles two(2);
  using Of = VtkhdfFile::Of;
  const std::vector<double> heat(3, 1.5);
  file.write_grid(one.grid());
  file.write_array<double>(Of::points, "heat", 1, heat);
  file.end_step(0.0);
  file.end_step(1.0);  // all is kept
  file.write_array<double>(Of::points, "heat", 1, heat);
  file.end_step(2.0);  // the same once more
  file.write_grid(two.grid());
  std::vector<double> more(3 * two.n_points.size(), 2.5);
  file.write_array<double>(Of::points, "heat", 1, more);
  file.end_step(3.0);
  if (world().rank() == 0) more[0] = 3.5;  // on one rank alone
  file.write_array<double>(Of::points, "heat", 1, more);
  file.end_step(4.0);
  file.close();
  if (!world().is_root()) return;
  const Handle hdf = open_to_read(path.string());
  const auto steps = [&](const std::string& name) { return read_integers(hdf.get(), "/VTKHDF/Steps/" + name); };
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(steps("PartOffsets"), (Numbers{0, 0, 0, n, n}));
  EXPECT_EQ(steps("NumberOfParts"), (Numbers{n, n, n, n + 1, n + 1}));
  EXPECT_EQ(steps("PointOffsets"), (Numbers{0, 0, 0, 3 * n, 3 * n}));
  EXPECT_EQ(steps("PointDataOffsets/heat"), (Numbers{0, 0, 0, 3 * n, 6 * n + 3}));
  const auto values = read_reals(hdf.get(), "/VTKHDF/PointData/heat");
  ASSERT_EQ(values.size(), static_cast<std::size_t>(9 * n + 6));
  EXPECT_EQ(values[0], 1.5);
  EXPECT_EQ(values[static_cast<std::size_t>(3 * n)], 2.5);
  EXPECT_EQ(values[static_cast<std::size_t>(6 * n + 3)], 3.5);
}

/// What is said on all ranks when something is wrong, and whether the file stays away.
std::string refusal(bool has_steps, const std::function<void(VtkhdfFile&)>& work) {
  const fs::path path = path_of("refused.vtkhdf");
  std::string said = "nothing";
  {
    VtkhdfFile file(world(), path.string(), 4096, has_steps);
    try {
      work(file);
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      said = error.cause();
    }
  }
  mpi::barrier(world());
  EXPECT_FALSE(fs::exists(path));
  return said;
}

TEST(VtkhdfFile, WhatDoesNotFitIsRefusedOnAllRanks) {
  using Of = VtkhdfFile::Of;
  const Triangles one;
  const bool is_last = world().rank() == world().size() - 1;
  EXPECT_EQ(refusal(false,
                    [&](VtkhdfFile& file) {
                      VtkhdfGrid grid = one.grid();
                      if (is_last) grid.types = {};
                      file.write_grid(grid);
                    }),
            "are 0, not 1");
  EXPECT_EQ(refusal(false,
                    [&](VtkhdfFile& file) {
                      file.write_grid(one.grid());
                      file.write_grid(one.grid());
                    }),
            "has a grid already");
  if (world().size() > 1) {
    EXPECT_EQ(refusal(false,
                      [&](VtkhdfFile& file) {
                        VtkhdfGrid grid = one.grid();
                        const std::vector<std::int64_t> n{1};
                        const std::vector<std::int64_t> n_nodes{3};
                        const std::vector<std::int64_t> ends{0, 3};
                        const std::vector<std::int64_t> cell_ends{0, 1};
                        const std::vector<std::int64_t> faces{0};
                        if (is_last) {
                          grid.n_faces = n;
                          grid.n_face_nodes = n_nodes;
                          grid.face_nodes = grid.connectivity;
                          grid.face_offsets = ends;
                          grid.cell_faces = faces;
                          grid.cell_offsets = cell_ends;
                        }
                        file.write_grid(grid);
                      }),
              "are 0, not 1: another rank has polyhedra");
  }
  const std::vector<double> three(3);
  EXPECT_EQ(refusal(false,
                    [&](VtkhdfFile& file) {
                      file.write_grid(one.grid());
                      file.write_array<double>(Of::points, "x", 1, std::span(three).first(is_last ? 2 : 3));
                    }),
            "has 2 numbers, and this rank's pieces have 3 rows of 1");
  EXPECT_EQ(refusal(false,
                    [&](VtkhdfFile& file) {
                      file.write_grid(one.grid());
                      file.write_array<double>(Of::points, "x", 1, three);
                      file.write_array<double>(Of::points, "x", 1, three);
                    }),
            "is given twice");
  EXPECT_EQ(refusal(false, [&](VtkhdfFile& file) { file.end_step(0.0); }), "is no series");
  EXPECT_EQ(refusal(true,
                    [&](VtkhdfFile& file) {
                      file.write_grid(one.grid());
                      file.write_array<double>(Of::points, "x", 1, three);
                      file.end_step(0.0);
                      file.write_grid(one.grid());
                      file.end_step(1.0);
                    }),
            "is of a grid that was there before");
  EXPECT_EQ(refusal(true,
                    [&](VtkhdfFile& file) {
                      file.write_grid(one.grid());
                      file.end_step(0.0);
                      file.write_array<double>(Of::points, "x", 1, three);
                    }),
            "is new");
  EXPECT_EQ(refusal(true,
                    [&](VtkhdfFile& file) {
                      file.write_grid(one.grid());
                      file.write_array<double>(Of::points, "x", 1, three);
                      file.write_array<double>(Of::points, "x", 3, three);
                    }),
            "has numbers of another type, or another number of them a row, than before");
}

}  // namespace
}  // namespace barrio::files
