#include "barrio/geometry/index_box.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <random>
#include <set>
#include <span>
#include <vector>

#include "tests/support/mpi_test.hpp"

namespace barrio::geometry {
namespace {

using Box2 = IndexBox<2>;
using Box3 = IndexBox<3>;

template <std::size_t D>
using Cells = std::set<std::array<std::int64_t, D>>;

/// List all cells of a box by the definition, in a loop over a larger space.
template <std::size_t D>
Cells<D> cells_of(const IndexBox<D>& box) {
  constexpr std::int64_t reach = 12;
  Cells<D> cells;
  std::array<std::int64_t, D> at;
  at.fill(-reach);
  for (;;) {
    bool is_in = true;
    for (std::size_t k = 0; k < D; ++k) is_in = is_in && box.low[k] <= at[k] && at[k] < box.high[k];
    if (is_in) cells.insert(at);
    std::size_t k = 0;
    while (k < D && ++at[k] == reach) at[k++] = -reach;
    if (k == D) return cells;
  }
}

class Boxes {
 public:
  explicit Boxes(std::uint64_t seed) : random_(seed) {}

  /// Make a random box within -5 .. 4. Some are empty, or have reversed ends.
  template <std::size_t D>
  IndexBox<D> next() {
    IndexBox<D> box;
    for (std::size_t k = 0; k < D; ++k) {
      box.low[k] = number(-5, 4);
      box.high[k] = box.low[k] + number(-1, 5);
    }
    return box;
  }
  std::int64_t number(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }

 private:
  std::mt19937_64 random_;
};

template <std::size_t D>
void expect_as_sets_of_cells(Boxes& boxes) {
  const auto a = boxes.next<D>();
  const auto b = boxes.next<D>();
  const Cells<D> in_a = cells_of(a);
  const Cells<D> in_b = cells_of(b);
  EXPECT_EQ(a.size(), static_cast<std::int64_t>(in_a.size()));
  EXPECT_EQ(a.empty(), in_a.empty());
  EXPECT_EQ(a.contains(b), std::ranges::includes(in_a, in_b));
  Cells<D> both;
  std::ranges::set_intersection(in_a, in_b, std::inserter(both, both.end()));
  EXPECT_EQ(cells_of(a.intersected(b)), both);
  EXPECT_GE(a.intersected(b).extent(0), 0);
  for (std::int64_t place = 0; place < a.size(); ++place) {
    EXPECT_TRUE(in_a.contains(a.at(place)));
    EXPECT_EQ(a.place(a.at(place)), place);
  }

  const std::int64_t ratio = boxes.number(1, 4);
  Cells<D> coarse;
  for (auto cell : in_a) {
    for (std::int64_t& i : cell) i = (i + 12 * ratio) / ratio - 12;  // of non-negative numbers
    coarse.insert(cell);
  }
  EXPECT_EQ(cells_of(a.coarsened(ratio)), coarse) << ratio;
  EXPECT_TRUE(a.coarsened(ratio).refined(ratio).contains(a)) << ratio;
  if (!a.empty()) {
    EXPECT_EQ(a.refined(ratio).coarsened(ratio), a) << ratio;
  }
  EXPECT_EQ(a.grown(ratio).grown(-ratio), a);
  EXPECT_EQ(a.grown(1).extent(D - 1), a.extent(D - 1) + 2);
}

TEST(IndexBox, IsASetOfCells) {
  Boxes boxes(test::seed());
  for (int repeat = 0; repeat < 200; ++repeat) {
    expect_as_sets_of_cells<1>(boxes);
    expect_as_sets_of_cells<2>(boxes);
    if (repeat % 10 == 0) expect_as_sets_of_cells<3>(boxes);
  }
}

template <std::size_t D>
void expect_what_is_left(Boxes& boxes) {
  const auto box = boxes.next<D>();
  std::vector<IndexBox<D>> taken;
  for (std::int64_t n = boxes.number(0, 4); n > 0; --n) taken.push_back(boxes.next<D>());
  Cells<D> wanted = cells_of(box);
  for (const auto& one : taken)
    for (const auto& cell : cells_of(one)) wanted.erase(cell);
  Cells<D> found;
  std::int64_t n_found = 0;
  for (const auto& part : subtract(box, std::span<const IndexBox<D>>(taken))) {
    EXPECT_FALSE(part.empty());
    n_found += part.size();
    found.merge(cells_of(part));
  }
  EXPECT_EQ(found, wanted);
  EXPECT_EQ(n_found, static_cast<std::int64_t>(wanted.size())) << "parts meet";
}

TEST(IndexBox, SubtractedLeavesTheOtherCellsOnce) {
  Boxes boxes(test::seed());
  for (int repeat = 0; repeat < 200; ++repeat) {
    expect_what_is_left<2>(boxes);
    if (repeat % 10 == 0) expect_what_is_left<3>(boxes);
  }
  // From within: at most two boxes per axis.
  std::vector<Box3> left;
  subtract(Box3{{0, 0, 0}, {9, 9, 9}}, Box3{{3, 3, 3}, {6, 6, 6}}, left);
  EXPECT_EQ(left.size(), 6U);
}

TEST(IndexBox, IsKnownWhenItIsCompiled) {
  constexpr Box2 box{{-3, 0}, {3, 4}};
  static_assert(box.size() == 24 && box.coarsened(2) == Box2{{-2, 0}, {2, 2}});
  static_assert(box.shifted({3, 0}).low[0] == 0 && box.grown(1, 2).high[1] == 6);
  EXPECT_EQ(box.place({-3, 1}), 6);
}

}  // namespace
}  // namespace barrio::geometry
