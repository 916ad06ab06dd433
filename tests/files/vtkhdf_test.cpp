#include "barrio/files/vtkhdf.hpp"

#include <gtest/gtest.h>

#include <array>
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

/// A triangle per rank, each a piece; `n` triangles on the last rank.
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
  [[nodiscard]] VtkhdfSizes sizes() const { return {.n_points = n_points, .n_cells = n_cells, .n_nodes = n_nodes}; }
  [[nodiscard]] VtkhdfArrays arrays() const {
    return {.points = points, .connectivity = connectivity, .offsets = offsets, .types = types};
  }
  void write_to(VtkhdfFile& file) const { file.write_grid(sizes(), arrays()); }
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
  one.write_to(file);
  file.write_array<double>(Of::points, "heat", 1, heat);
  file.end_step(0.0);
  file.end_step(1.0);  // everything is kept
  file.write_array<double>(Of::points, "heat", 1, heat);
  file.end_step(2.0);  // the same again
  two.write_to(file);
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

TEST(VtkhdfFile, PiecesArePutAsTheyCome) {
  const fs::path path = path_of("pieces.vtkhdf");
  const Triangles mine(3);
  const std::size_t n_pieces = mine.n_points.size();
  VtkhdfFile file(world(), path.string(), 4096, true);
  using Of = VtkhdfFile::Of;
  for (const double time : {0.0, 1.0}) {
    file.make_grid(mine.sizes());
    const auto rank = file.make_array<std::int32_t>(Of::cells, "rank", 1);
    const auto place = file.make_array<double>(Of::points, "place", 3);
    for (std::size_t p = n_pieces; p-- > 0;) {
      const auto points = std::span<const double>(mine.points).subspan(9 * p, 9);
      file.put_piece(p, {.points = points,
                         .connectivity = std::span(mine.connectivity).subspan(3 * p, 3),
                         .offsets = std::span(mine.offsets).subspan(2 * p, 2),
                         .types = std::span(mine.types).subspan(p, 1)});
      const std::array<std::int32_t, 1> here{10 * world().rank() + static_cast<std::int32_t>(time)};
      file.put_array<std::int32_t>(rank, p, here);
      file.put_array<double>(place, p, points);
    }
    file.end_step(time);
  }
  file.close();
  if (!world().is_root()) return;
  const Handle hdf = open_to_read(path.string());
  const auto places = read_reals(hdf.get(), "/VTKHDF/PointData/place");
  EXPECT_EQ(places, read_reals(hdf.get(), "/VTKHDF/Points"));
  const std::int64_t n = world().size() + 2;
  ASSERT_EQ(std::ssize(places), 2 * 9 * n);
  for (std::int64_t t = 0; t < n; ++t) {
    const std::int64_t owner = std::min<std::int64_t>(t, world().size() - 1);
    EXPECT_EQ(places[9 * t + 4], static_cast<double>(owner + 1 + 10 * (t - owner)));
    EXPECT_EQ(places[9 * (n + t) + 4], places[9 * t + 4]);
  }
  const auto ranks = read_integers(hdf.get(), "/VTKHDF/CellData/rank");
  EXPECT_EQ(ranks.front(), 0);
  EXPECT_EQ(ranks[n], 1);
  EXPECT_EQ(ranks.back(), 10 * (world().size() - 1) + 1);
  EXPECT_EQ(read_integers(hdf.get(), "/VTKHDF/Steps/CellDataOffsets/rank"), (std::vector<std::int64_t>{0, n}));
}

TEST(VtkhdfFile, APieceThatDoesNotFitIsRefusedOnAllRanks) {
  using Of = VtkhdfFile::Of;
  const auto cause = [](auto&& put) {
    const fs::path path = path_of("no_piece.vtkhdf");
    const Triangles one;
    std::string said = "nothing";
    {
      VtkhdfFile file(world(), path.string(), 4096);
      file.make_grid(one.sizes());
      const auto array = file.make_array<double>(Of::points, "x", 1);
      const bool is_last = world().rank() == world().size() - 1;
      if (!is_last) {
        file.put_piece(0, one.arrays());
        file.put_array<double>(array, 0, std::vector<double>(3));
      } else {
        put(file, one.arrays(), array);
      }
      try {
        file.close();
      } catch (const AgreedError& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        said = error.cause();
      }
    }
    mpi::barrier(world());
    EXPECT_FALSE(fs::exists(path));
    return said;
  };
  const std::vector<double> three(3);
  EXPECT_EQ(cause([&](VtkhdfFile& file, const VtkhdfArrays& arrays, const auto& array) {
              file.put_piece(1, arrays);
              file.put_array<double>(array, 0, three);
            }),
            "piece 1 is put, but this rank has 1");
  EXPECT_EQ(cause([&](VtkhdfFile& file, VtkhdfArrays arrays, const auto& array) {
              arrays.offsets = arrays.offsets.first(1);
              file.put_piece(0, arrays);
              file.put_array<double>(array, 0, three);
            }),
            "are 1, but must be 2");
  EXPECT_EQ(cause([&](VtkhdfFile& file, const VtkhdfArrays& arrays, const auto& array) {
              file.put_piece(0, arrays);
              file.put_array<double>(array, 0, std::span(three).first(2));
            }),
            "has 2 numbers for piece 0, but needs 3");
  const std::string never =
      cause([&](VtkhdfFile& file, const VtkhdfArrays&, const auto& array) { file.put_array<double>(array, 0, three); });
  EXPECT_NE(never.find("rows were put, but there are"), std::string::npos) << never;
  const std::string twice = cause([&](VtkhdfFile& file, const VtkhdfArrays& arrays, const auto& array) {
    file.put_piece(0, arrays);
    file.put_piece(0, arrays);
    file.put_array<double>(array, 0, three);
  });
  EXPECT_NE(twice.find("rows were put, but there are"), std::string::npos) << twice;
}

/// Return the message of a failure, the same on all ranks. Checks that no file exists afterwards.
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
                      VtkhdfArrays arrays = one.arrays();
                      if (is_last) arrays.types = {};
                      file.write_grid(one.sizes(), arrays);
                    }),
            "are 0, but must be 1");
  EXPECT_EQ(refusal(false,
                    [&](VtkhdfFile& file) {
                      one.write_to(file);
                      one.write_to(file);
                    }),
            "has a grid already");
  if (world().size() > 1) {
    EXPECT_EQ(refusal(false,
                      [&](VtkhdfFile& file) {
                        VtkhdfSizes sizes = one.sizes();
                        VtkhdfArrays arrays = one.arrays();
                        const std::vector<std::int64_t> n{1};
                        const std::vector<std::int64_t> n_nodes{3};
                        const std::vector<std::int64_t> ends{0, 3};
                        const std::vector<std::int64_t> cell_ends{0, 1};
                        const std::vector<std::int64_t> faces{0};
                        if (is_last) {
                          sizes.n_faces = n;
                          sizes.n_face_nodes = n_nodes;
                          arrays.face_nodes = arrays.connectivity;
                          arrays.face_offsets = ends;
                          arrays.cell_faces = faces;
                          arrays.cell_offsets = cell_ends;
                        }
                        file.write_grid(sizes, arrays);
                      }),
              "are 0, but must be 1: another rank has polyhedra");
  }
  const std::vector<double> three(3);
  EXPECT_EQ(refusal(false,
                    [&](VtkhdfFile& file) {
                      one.write_to(file);
                      file.write_array<double>(Of::points, "x", 1, std::span(three).first(is_last ? 2 : 3));
                    }),
            "has 2 numbers, but this rank's pieces have 3 rows of 1");
  EXPECT_EQ(refusal(false,
                    [&](VtkhdfFile& file) {
                      one.write_to(file);
                      file.write_array<double>(Of::points, "x", 1, three);
                      file.write_array<double>(Of::points, "x", 1, three);
                    }),
            "is given twice");
  EXPECT_EQ(refusal(false, [&](VtkhdfFile& file) { file.end_step(0.0); }), "is not a series");
  EXPECT_EQ(refusal(true,
                    [&](VtkhdfFile& file) {
                      one.write_to(file);
                      file.write_array<double>(Of::points, "x", 1, three);
                      file.end_step(0.0);
                      one.write_to(file);
                      file.end_step(1.0);
                    }),
            "belongs to the previous grid");
  EXPECT_EQ(refusal(true,
                    [&](VtkhdfFile& file) {
                      one.write_to(file);
                      file.end_step(0.0);
                      file.write_array<double>(Of::points, "x", 1, three);
                    }),
            "is new");
  EXPECT_EQ(refusal(true,
                    [&](VtkhdfFile& file) {
                      one.write_to(file);
                      file.write_array<double>(Of::points, "x", 1, three);
                      file.write_array<double>(Of::points, "x", 3, three);
                    }),
            "has another type or another number of components than before");
}

}  // namespace
}  // namespace barrio::files
