#include "barrio/mpi/window.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/support/mpi_test.hpp"

namespace barrio::mpi {
namespace {

static_assert(!std::is_copy_constructible_v<Window<int>>);

TEST(Window, PutsArriveAtTheirPlaceAfterTheFence) {
  Context& context = test::world();
  const auto n = static_cast<std::size_t>(context.size());
  Window<std::int64_t> window(context, n + 1);
  ASSERT_EQ(window.local().size(), n + 1);
  for (std::int64_t& item : window.local()) item = -1;
  window.fence();
  // Everybody writes its rank into its own place on everybody.
  const std::vector<std::int64_t> mine{(std::int64_t{1} << 40U) + context.rank()};
  for (Rank to = 0; to < context.size(); ++to)
    window.put(std::span(mine), to, static_cast<std::size_t>(context.rank()));
  window.fence();
  for (std::size_t r = 0; r < n; ++r)
    EXPECT_EQ(window.local()[r], (std::int64_t{1} << 40U) + static_cast<std::int64_t>(r));
  EXPECT_EQ(window.local()[n], -1) << "nobody wrote there";
}

TEST(Window, OfAnySizeGetsWhatIsPutThere) {
  // MPICH 4.0 puts beside the place in windows whose size is no multiple of 16 bytes.
  Context& context = test::world();
  const Rank next = (context.rank() + 1) % context.size();
  const Rank before = (context.rank() + context.size() - 1) % context.size();
  for (std::size_t n = 1; n <= 9; ++n) {
    Window<std::int16_t> window(context, n + static_cast<std::size_t>(context.rank() % 3));
    for (std::int16_t& item : window.local()) item = -1;
    window.fence();
    const std::vector<std::int16_t> mine{static_cast<std::int16_t>(context.rank())};
    window.put(std::span(mine), next, n - 1);
    window.fence();
    for (std::size_t i = 0; i < window.local().size(); ++i)
      EXPECT_EQ(window.local()[i], i == n - 1 ? before : -1) << "item " << i << " of a window of " << n;
  }
}

TEST(Window, MayBeEmptyOnSomeRanks) {
  Context& context = test::world();
  const Rank last = context.size() - 1;
  Window<double> window(context, context.rank() == last ? 10 : 0);
  EXPECT_EQ(window.local().size(), context.rank() == last ? 10U : 0U);
  window.fence();
  const std::vector<double> items{0.5, 1.5, 2.5};
  if (context.is_root()) window.put(std::span(items), last, 7);
  window.fence();
  if (context.rank() == last) {
    EXPECT_EQ(window.local()[7], 0.5);
    EXPECT_EQ(window.local()[9], 2.5);
  }
}

TEST(Window, CarriesStructuresAndManyBytes) {
  struct Item {
    std::int32_t id;
    double weight;
  };
  Context& context = test::world();
  const Rank next = (context.rank() + 1) % context.size();
  const Rank before = (context.rank() + context.size() - 1) % context.size();
  constexpr std::size_t n = 40'000;
  Window<Item> window(context, n);
  std::vector<Item> items(n);
  for (std::size_t i = 0; i < n; ++i) items[i] = {static_cast<std::int32_t>(i) + context.rank(), 0.25};
  window.fence();
  window.put(std::span<const Item>(items), next, 0);
  window.fence();
  EXPECT_EQ(window.local()[0].id, before);
  EXPECT_EQ(window.local()[n - 1].id, static_cast<std::int32_t>(n) - 1 + before);
  EXPECT_EQ(window.local()[n - 1].weight, 0.25);
}

TEST(Window, MovesAndClosesOnce) {
  Context& context = test::world();
  Window<int> first(context, 3);
  first.local()[2] = 5;
  Window<int> second = std::move(first);
  EXPECT_TRUE(first.local().empty());  // NOLINT(bugprone-use-after-move): that is the point
  ASSERT_EQ(second.local().size(), 3U);
  EXPECT_EQ(second.local()[2], 5);
  first.close();  // nothing
  second.fence();
  second.close();
  second.close();
  EXPECT_TRUE(second.local().empty()) << "what is closed has no memory to show";
}

}  // namespace
}  // namespace barrio::mpi
