#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "barrio/exchange/halo.hpp"
#include "tests/exchange/mpi_calls.hpp"
#include "tests/exchange/speech.hpp"

namespace barrio::exchange {
namespace {

using namespace test;

constexpr std::int64_t n_own = 3;

Rank next() { return (world().rank() + 1) % world().size(); }

/// Each rank owns three values, and has copies of those of the next one.
std::shared_ptr<const HaloPlan> ring_plan() {
  std::vector<GlobalId> copies;
  const std::vector<Rank> owners(n_own, next());
  for (std::int64_t i = 0; i < n_own; ++i) copies.push_back(GlobalId{n_own * next() + i});
  return std::make_shared<const HaloPlan>(plan_halo(world(), copies, owners, local_id(n_own), [](GlobalId id) {
    const std::int64_t local = value(id) - n_own * world().rank();
    return local < 0 || local >= n_own ? no_local_id : local_id(local);
  }));
}

/// One field on the ring: its own values are known, its copies are not.
template <class T>
struct RingField {
  explicit RingField(int n_components = 1) : values(2 * n_own * n_components, T{77}), width(n_components) {
    for (std::size_t i = 0; i < n_own * width; ++i) values[i] = static_cast<T>(10 * world().rank() + i);
  }
  [[nodiscard]] bool is_untouched() const {
    return std::all_of(values.begin() + n_own * width, values.end(), [](T x) { return x == T{77}; });
  }
  [[nodiscard]] bool is_right(T more = T{}) const {
    for (std::size_t i = 0; i < n_own * width; ++i)
      if (values[n_own * width + i] != static_cast<T>(10 * next() + i) + more) return false;
    return true;
  }
  std::vector<T> values;
  std::size_t width;
};

using Types = std::tuple<double, float, std::int32_t, std::int64_t>;

template <class T>
std::string exchange_as(const std::shared_ptr<const HaloPlan>& plan, bool& is_untouched, Strategy strategy) {
  RingField<T> field;
  HaloExchange<T> halo(world(), plan, field.values, 1, {.strategy = strategy});
  const std::string error = error_of([&] { halo.exchange(); });
  is_untouched = field.is_untouched();
  EXPECT_TRUE(error != "no error" || field.is_right());
  return error;
}

std::string exchange_as(std::size_t type, const std::shared_ptr<const HaloPlan>& plan, bool& is_untouched,
                        Strategy strategy) {
  switch (type) {
    case 0: return exchange_as<std::tuple_element_t<0, Types>>(plan, is_untouched, strategy);
    case 1: return exchange_as<std::tuple_element_t<1, Types>>(plan, is_untouched, strategy);
    case 2: return exchange_as<std::tuple_element_t<2, Types>>(plan, is_untouched, strategy);
    default: return exchange_as<std::tuple_element_t<3, Types>>(plan, is_untouched, strategy);
  }
}

/// Tell whether this rank hears from a rank of the other kind: rank 0 is alone.
bool hears_other() { return world().rank() == 0 || next() == 0; }

TEST(Contents, OtherTypesAreNamedAndNothingArrives) {
  if (world().size() < 2) GTEST_SKIP() << "needs two ranks";
  constexpr std::array names{"float64", "float32", "int32", "int64"};
  const std::shared_ptr<const HaloPlan> plan = ring_plan();
  constexpr std::array strategies{Strategy::automatic, Strategy::delayed_waits, Strategy::wait_each,
                                  Strategy::wait_some, Strategy::persistent,    Strategy::coalesced};
  std::size_t which = 0;
  for (std::size_t of_first = 0; of_first < names.size(); ++of_first) {
    for (std::size_t of_others = 0; of_others < names.size(); ++of_others) {
      if (of_first == of_others) continue;
      const Strategy strategy = strategies[which++ % strategies.size()];
      bool is_untouched = false;
      const std::string error = exchange_as(world().rank() == 0 ? of_first : of_others, plan, is_untouched, strategy);
      if (!hears_other()) {
        EXPECT_EQ(error, "no error");
        continue;
      }
      EXPECT_TRUE(is_untouched) << names[of_first] << " and " << names[of_others];
      EXPECT_NE(error.find("message from rank " + std::to_string(next())), std::string::npos) << error;
      EXPECT_NE(error.find(names[of_first]), std::string::npos) << error;
      EXPECT_NE(error.find(names[of_others]), std::string::npos) << error;
    }
  }
}

TEST(Contents, OtherNumbersOfComponentsAreNamed) {
  if (world().size() < 2) GTEST_SKIP() << "needs two ranks";
  RingField<double> field(world().rank() == 0 ? 2 : 3);
  HaloExchange<double> halo(world(), ring_plan(), field.values, static_cast<int>(field.width));
  const std::string error = error_of([&] { halo.exchange(); });
  if (!hears_other()) return;
  EXPECT_TRUE(field.is_untouched());
  EXPECT_NE(error.find("2 x float64"), std::string::npos) << error;
  EXPECT_NE(error.find("3 x float64"), std::string::npos) << error;
}

TEST(Contents, OtherFieldsOfOneTypeAreNamed) {
  if (world().size() < 2) GTEST_SKIP() << "needs two ranks";
  RingField<double> field;
  HaloExchange<double> halo(world(), ring_plan(), field.values, 1,
                            {.contents = world().rank() == 0 ? "field 'u'" : "field 'v'"});
  const std::string error = error_of([&] { halo.exchange(); });
  if (!hears_other()) return;
  EXPECT_TRUE(field.is_untouched());
  EXPECT_NE(error.find("field 'u', float64"), std::string::npos) << error;
  EXPECT_NE(error.find("field 'v', float64"), std::string::npos) << error;
}

TEST(Contents, OtherReductionsAreNamed) {
  if (world().size() < 2) GTEST_SKIP() << "needs two ranks";
  RingField<std::int64_t> field;
  const std::vector<std::int64_t> before = field.values;
  HaloExchange<std::int64_t> halo(world(), ring_plan(), field.values, 1);
  const std::string error = error_of([&] { halo.reduce(world().rank() == 0 ? Reduction::sum : Reduction::max); });
  if (world().rank() > 1) return;  // it hears from the rank before it
  EXPECT_EQ(field.values, before);
  EXPECT_NE(error.find("sums of"), std::string::npos) << error;
  EXPECT_NE(error.find("maxima of"), std::string::npos) << error;
}

TEST(Contents, OtherSizesAreNamed) {
  if (world().size() < 2) GTEST_SKIP() << "needs two ranks";
  const Rank previous = (world().rank() + world().size() - 1) % world().size();
  std::vector<std::byte> place(16, std::byte{7});
  const std::vector<Outgoing> out{{next(), world().rank() == 0 ? 8U : 16U}};
  const std::vector<Incoming> in{{previous, place}};
  RepeatedExchange exchange(world(), out, in, world().take_tags(4), {.contents = "rows"});
  const std::string error = error_of([&] {
    exchange.begin();
    exchange.end();
  });
  if (previous != 0) return;
  EXPECT_EQ(place, std::vector<std::byte>(16, std::byte{7}));
  EXPECT_NE(error.find("rows whose messages to this rank are 1 of 8 bytes in all, but this rank expects 1 of 16"),
            std::string::npos)
      << error;
}

TEST(Contents, LaterRoundsMayBeginInAnyOrder) {
  const std::shared_ptr<const HaloPlan> plan = ring_plan();
  for (const Strategy strategy : {Strategy::automatic, Strategy::wait_some, Strategy::persistent}) {
    RingField<double> one;
    RingField<double> two;
    HaloExchange<double> first(world(), plan, one.values, 1, {.strategy = strategy});
    HaloExchange<double> second(world(), plan, two.values, 1, {.strategy = strategy});
    for (int round = 0; round < 4; ++round) {
      for (std::size_t i = 0; i < n_own; ++i) two.values[i] = one.values[i] + 0.5;
      const bool is_other = round > 0 && world().rank() == 0;
      (is_other ? second : first).begin();
      (is_other ? first : second).begin();
      first.end();
      second.end();
      EXPECT_TRUE(one.is_right());
      EXPECT_TRUE(two.is_right(0.5));
    }
  }
}

/// Reductions and exchanges of one field, again and again.
TEST(Contents, ReducesAndExchangesInTurns) {
  const std::shared_ptr<const HaloPlan> plan = ring_plan();
  std::vector<std::int64_t> values(2 * n_own, 1);
  HaloExchange<std::int64_t> halo(world(), plan, values, 1);
  std::int64_t wanted = 1;
  const std::int64_t n_copies = world().size() > 1 ? 1 : 0;
  if (n_copies == 0) return;  // a rank alone has its own values as copies
  for (int round = 0; round < 5; ++round) {
    halo.reduce(Reduction::sum);
    wanted *= 2;
    for (std::size_t i = 0; i < n_own; ++i) EXPECT_EQ(values[i], wanted);
    halo.exchange();
    halo.reduce(Reduction::max);
    halo.reduce([](std::int64_t a, std::int64_t b) { return std::min(a, b); });
    for (const std::int64_t one : values) EXPECT_EQ(one, wanted);
  }
}

}  // namespace
}  // namespace barrio::exchange
