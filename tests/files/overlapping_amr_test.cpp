#include "barrio/files/overlapping_amr.hpp"

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
using Box = OverlappingAmrFile::Box;
namespace fs = std::filesystem;

const AmrGeometry two_levels{.spacing = {{1.0, 1.0, 1.0}, {0.5, 0.5, 0.5}}};

/// Make a cube of eight cells per rank, side by side, and on the next level a row of two cells in the last cube.
std::vector<std::vector<Box>> boxes_of(bool has_fine) {
  const std::int64_t at = 2 * world().rank();
  std::vector<std::vector<Box>> boxes(2);
  boxes[0] = {{{at, 0, 0}, {at + 2, 2, 2}}};
  if (has_fine && world().rank() == world().size() - 1) boxes[1] = {{{2 * at, 0, 0}, {2 * at + 2, 1, 1}}};
  return boxes;
}

std::vector<double> values_of(const Box& box, double more) {
  std::vector<double> values;
  for (std::int64_t at = 0; at < box.size(); ++at)
    values.push_back(static_cast<double>(box.at(at)[0] + 100 * box.at(at)[1] + 10'000 * box.at(at)[2]) + more);
  return values;
}

void put_all(OverlappingAmrFile& file, const OverlappingAmrFile::ArrayRows& array,
             const std::vector<std::vector<Box>>& boxes, double more) {
  for (std::size_t level = 0; level < boxes.size(); ++level)
    for (std::size_t b = boxes[level].size(); b-- > 0;)
      file.put_array<double>(array, level, b, values_of(boxes[level][b], more));
}

TEST(OverlappingAmrFile, LevelsComeAndGoInASeries) {
  const fs::path path = test::scratch() / "levels.vtkhdf";
  const std::int64_t n = world().size();
  OverlappingAmrFile file(world(), path.string(), 4096, two_levels, true);
  for (const int step : {0, 1, 2, 3}) {
    if (step != 2) {  // in step 2, the previous values remain
      const auto boxes = boxes_of(step == 1);
      file.make_boxes(boxes);
      put_all(file, file.make_array<double>("density"), boxes, 0.25 * step);
    }
    file.end_step(10.0 * step);
  }
  file.close();
  if (!world().is_root()) return;
  const Handle hdf = open_to_read(path.string());
  using Numbers = std::vector<std::int64_t>;
  const auto integers = [&](const std::string& name) { return read_integers(hdf.get(), "/VTKHDF/" + name); };
  EXPECT_EQ(integers("Steps/Level0/AMRBoxOffsets"), (Numbers{0, n, n, 2 * n}));
  EXPECT_EQ(integers("Steps/Level0/NumberOfAMRBoxes"), (Numbers{n, n, n, n}));
  EXPECT_EQ(integers("Steps/Level1/AMRBoxOffsets"), (Numbers{0, 0, 0, 1}));
  EXPECT_EQ(integers("Steps/Level1/NumberOfAMRBoxes"), (Numbers{0, 1, 1, 0}));
  EXPECT_EQ(integers("Steps/Level0/CellDataOffsets/density"), (Numbers{0, 8 * n, 8 * n, 16 * n}));
  EXPECT_EQ(integers("Steps/Level1/CellDataOffsets/density"), (Numbers{0, 0, 0, 2}));
  EXPECT_EQ(integers("Level1/AMRBox"), (Numbers{4 * n - 4, 4 * n - 3, 0, 0, 0, 0}));
  const Numbers coarse = integers("Level0/AMRBox");
  ASSERT_EQ(std::ssize(coarse), 6 * 3 * n);
  EXPECT_EQ(Numbers(coarse.end() - 6, coarse.end()), (Numbers{2 * n - 2, 2 * n - 1, 0, 1, 0, 1}));
  EXPECT_EQ(read_reals(hdf.get(), "/VTKHDF/Level1/CellData/density"),
            (std::vector<double>{static_cast<double>(4 * n - 4) + 0.25, static_cast<double>(4 * n - 3) + 0.25}));
  const std::vector<double> density = read_reals(hdf.get(), "/VTKHDF/Level0/CellData/density");
  ASSERT_EQ(std::ssize(density), 24 * n);
  EXPECT_EQ(density[7], 10'101.0);
  EXPECT_EQ(density.back(), static_cast<double>(2 * n - 1) + 10'100.75);
}

/// A series copied step by step has the same boxes and values at each step.
TEST(OverlappingAmrFile, StepsAreCopied) {
  const fs::path from = test::scratch() / "steps.vtkhdf";
  const fs::path to = test::scratch() / "copied.vtkhdf";
  OverlappingAmrFile file(world(), from.string(), 4096, two_levels, true);
  for (const int step : {0, 1, 2}) {
    const auto boxes = boxes_of(step == 1);
    file.make_boxes(boxes);
    put_all(file, file.make_array<double>("density"), boxes, 0.25 * step);
    file.end_step(10.0 * step);
  }
  file.close();
  {
    const OverlappingAmrSteps steps(world(), from.string());
    EXPECT_EQ(steps.times(), (std::vector<double>{0.0, 10.0, 20.0}));
    OverlappingAmrFile copied(world(), to.string(), 4096, two_levels, true);
    for (const std::size_t step : {0U, 1U, 2U}) steps.copy(step, copied);
    copied.close();
  }
  EXPECT_THROW(OverlappingAmrSteps(world(), (test::scratch() / "none.vtkhdf").string()), AgreedError);
  if (!world().is_root()) return;
  const Handle one = open_to_read(from.string());
  const Handle other = open_to_read(to.string());
  for (const std::string name : {"Level0/AMRBox", "Level1/AMRBox", "Steps/Level0/AMRBoxOffsets",
                                 "Steps/Level1/NumberOfAMRBoxes", "Steps/Level0/CellDataOffsets/density"})
    EXPECT_EQ(read_integers(other.get(), "/VTKHDF/" + name), read_integers(one.get(), "/VTKHDF/" + name)) << name;
  for (const std::string name : {"Level0/CellData/density", "Level1/CellData/density", "Steps/Values"})
    EXPECT_EQ(read_reals(other.get(), "/VTKHDF/" + name), read_reals(one.get(), "/VTKHDF/" + name)) << name;
}

TEST(OverlappingAmrFile, ALevelWithoutBoxesIsLeftOut) {
  const fs::path path = test::scratch() / "one_level.vtkhdf";
  OverlappingAmrFile file(world(), path.string(), 4096, two_levels);
  const auto boxes = boxes_of(false);
  file.make_boxes(boxes);
  const auto velocity = file.make_array<float>("velocity", 3);
  file.put_array<float>(velocity, 0, 0, std::vector<float>(24, 2.5F));
  file.close();
  if (!world().is_root()) return;
  const Handle hdf = open_to_read(path.string());
  EXPECT_EQ(std::ssize(read_reals(hdf.get(), "/VTKHDF/Level0/CellData/velocity")), 24 * world().size());
  EXPECT_FALSE(has(hdf.get(), "/VTKHDF/Level1"));
  EXPECT_FALSE(has(hdf.get(), "/VTKHDF/Steps"));
}

/// Return the message of a failure, the same on all ranks. Checks that no file exists afterwards.
std::string refusal_of_levels(bool has_steps, const std::function<void(OverlappingAmrFile&)>& work,
                              const AmrGeometry& geometry = two_levels) {
  const fs::path path = test::scratch() / "no_levels.vtkhdf";
  std::string said = "nothing";
  try {
    OverlappingAmrFile file(world(), path.string(), 4096, geometry, has_steps);
    work(file);
    file.close();
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    said = error.subject().substr(path.string().size()) + " " + error.cause();
  }
  mpi::barrier(world());
  EXPECT_FALSE(fs::exists(path));
  return said;
}

TEST(OverlappingAmrFile, WhatDoesNotFitIsRefusedOnAllRanks) {
  const auto nothing = [](OverlappingAmrFile&) {};
  EXPECT_EQ(refusal_of_levels(false, nothing, {}), " must have at least one level");
  EXPECT_EQ(refusal_of_levels(false, nothing, {.spacing = {{1, 1, 0}}}),
            ": level 0 must have a positive, finite cell size, but has 0");
  EXPECT_EQ(refusal_of_levels(false, nothing, {.spacing = {{1, 1, 1}, {0.5, 0.5, 1}}}),
            ": level 1 has cells of 1 along axis 2, but level 0 of 1");
  EXPECT_EQ(refusal_of_levels(false, nothing, {.spacing = {{1, 1, 1}, {0.4, 0.4, 0.4}}}),
            ": level 1 has cells of 0.4 along axis 0, but level 0 of 1");
  const bool is_last = world().rank() == world().size() - 1;
  const auto boxes = boxes_of(true);
  EXPECT_EQ(refusal_of_levels(false, [&](OverlappingAmrFile& file) { file.make_boxes(std::span(boxes).first(1)); }),
            " is given boxes of 1 levels, but has 2");
  const auto with = [&](const Box& box) {
    return refusal_of_levels(false, [&](OverlappingAmrFile& file) {
      auto others = boxes;
      if (is_last) others[1].push_back(box);
      file.make_boxes(others);
    });
  };
  EXPECT_EQ(with({{1, 2, 3}, {4, 2, 5}}), ": level 1: box from 1, 2, 3 to 4, 2, 5 must have at least one cell");
  EXPECT_EQ(with({{1, 2, 3}, {4, 1LL << 31, 5}}),
            ": level 1: box from 1, 2, 3 to 4, 2147483648, 5 has indices beyond 32 bits");
  EXPECT_EQ(refusal_of_levels(false,
                              [&](OverlappingAmrFile& file) {
                                file.make_boxes(boxes);
                                file.make_boxes(boxes);
                              }),
            " has boxes already");
  EXPECT_EQ(refusal_of_levels(false, [](OverlappingAmrFile& file) { static_cast<void>(file.make_array<double>("p")); }),
            ": array 'p' is given before boxes");
  const auto put = [&](std::size_t level, std::size_t box, std::size_t n) {
    return refusal_of_levels(false, [&](OverlappingAmrFile& file) {
      file.make_boxes(boxes);
      const auto p = file.make_array<double>("p");
      put_all(file, p, boxes, 0.0);
      if (is_last) file.put_array<double>(p, level, box, std::vector<double>(n));
    });
  };
  EXPECT_EQ(put(0, 1, 8), ": array 'p' is put on box 1 of level 0, which this rank does not have");
  EXPECT_EQ(put(2, 0, 8), ": array 'p' is put on box 0 of level 2, which this rank does not have");
  EXPECT_EQ(put(1, 0, 8), ": array 'p' has 8 numbers for box 0 of level 1, but needs 2");
  EXPECT_NE(put(1, 0, 2).find("rows were put, but there are"), std::string::npos) << "twice";
  EXPECT_NE(refusal_of_levels(false,
                              [&](OverlappingAmrFile& file) {
                                file.make_boxes(boxes);
                                static_cast<void>(file.make_array<double>("p"));
                              })
                .find("rows were put, but there are"),
            std::string::npos)
      << "never";
  EXPECT_EQ(refusal_of_levels(true,
                              [&](OverlappingAmrFile& file) {
                                file.make_boxes(boxes);
                                put_all(file, file.make_array<double>("p"), boxes, 0.0);
                                file.end_step(0.0);
                                file.make_boxes(boxes);
                                file.end_step(1.0);
                              }),
            ": array 'p' belongs to the previous boxes");
}

}  // namespace
}  // namespace barrio::files
