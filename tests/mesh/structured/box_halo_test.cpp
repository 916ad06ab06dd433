#include "barrio/mesh/box_halo.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/exchange/strategy.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mesh {
namespace {

using test::world;

/// Random boxes of a domain, some dropped, on random ranks. The same on all ranks.
template <std::size_t D>
struct RandomBoxes {
  using Box = geometry::IndexBox<D>;
  using Index = typename Box::Index;

  Box domain;
  std::array<bool, D> is_periodic{};
  std::vector<Box> boxes;
  std::vector<Rank> ranks;
  std::vector<std::int32_t> owner;  ///< box of each cell, or -1

  explicit RandomBoxes(std::mt19937_64& random) {
    const auto draw = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % n); };
    for (std::size_t k = 0; k < D; ++k) {
      domain.low[k] = draw(7) - 3;
      domain.high[k] = domain.low[k] + 4 + draw(D == 2 ? 9 : 5);
      is_periodic[k] = draw(2) == 0;
    }
    std::vector<Box> all{domain};
    for (std::int64_t cuts = draw(12); cuts > 0; --cuts) {
      const auto at = draw(std::ssize(all));
      const auto k = draw(D);
      if (all[at].extent(k) < 2) continue;
      Box upper = all[at];
      upper.low[k] += 1 + draw(upper.extent(k) - 1);
      all[at].high[k] = upper.low[k];
      all.push_back(upper);
    }
    owner.assign(domain.size(), -1);
    for (const Box& box : all) {
      if (all.size() > 1 && draw(8) == 0) continue;
      for (std::int64_t c = 0; c < box.size(); ++c)
        owner[domain.place(box.at(c))] = static_cast<std::int32_t>(boxes.size());
      boxes.push_back(box);
      ranks.push_back(static_cast<Rank>(draw(world().size())));
    }
  }
  [[nodiscard]] std::vector<Box> own() const {
    std::vector<Box> mine;
    for (std::size_t b = 0; b < boxes.size(); ++b)
      if (ranks[b] == world().rank()) mine.push_back(boxes[b]);
    return mine;
  }
  /// Return the numbers of this rank's boxes among all boxes.
  [[nodiscard]] std::vector<std::int32_t> numbers() const {
    std::vector<std::int32_t> mine;
    for (std::size_t b = 0; b < boxes.size(); ++b)
      if (ranks[b] == world().rank()) mine.push_back(static_cast<std::int32_t>(b));
    return mine;
  }

  struct Source {
    std::int32_t box;
    Index place;  ///< in that box's coordinates
  };
  /// Return the source of the value at a point: the first existing cell around it.
  [[nodiscard]] std::optional<Source> source_of(Centering centering, const Index& place) const {
    for (int step = 0; step < 1 << D; ++step) {
      Index cell = place;
      Index back{};
      bool is_around = true;
      bool exists = true;
      for (std::size_t k = 0; k < D; ++k) {
        back[k] = step >> (D - 1 - k) & 1;  // the first axis changes last
        is_around = is_around && (back[k] == 0 || is_between_cells(centering, k));
        cell[k] -= back[k];
        const std::int64_t n = domain.extent(k);
        if (is_periodic[k]) cell[k] = domain.low[k] + ((cell[k] - domain.low[k]) % n + n) % n;
        exists = exists && cell[k] >= domain.low[k] && cell[k] < domain.high[k];
      }
      if (!is_around || !exists) continue;
      const std::int32_t box = owner[domain.place(cell)];
      if (box < 0) continue;
      for (std::size_t k = 0; k < D; ++k) cell[k] += back[k];
      return Source{box, cell};
    }
    return std::nullopt;
  }
};

template <std::size_t D>
std::int64_t value_of(std::int32_t box, const typename geometry::IndexBox<D>::Index& place, std::size_t field,
                      std::int64_t component, std::int64_t round) {
  Hash64 hash(field);
  hash.add(std::int64_t{box}).add(component).add(round);
  for (const std::int64_t i : place) hash.add(i);
  return hash.value() >> 1U;
}

/// Values of one field on all boxes of this rank.
template <std::size_t D>
struct Values {
  using Box = geometry::IndexBox<D>;
  static constexpr std::int64_t never = -1;

  Centering centering;
  std::int64_t n_components;
  bool is_by_component;
  std::vector<Box> arrays;
  std::vector<std::vector<std::int64_t>> numbers;

  Values(Centering where, std::int64_t n, bool by_component, const BoxLayout<D>& layout, const BoxHaloOptions& options)
      : centering(where), n_components(n), is_by_component(by_component) {
    for (std::size_t b = 0; b < layout.boxes().size(); ++b) {
      arrays.push_back(places_with_ghosts(layout, b, centering, options));
      numbers.emplace_back(arrays.back().size() * n, never);
    }
  }
  [[nodiscard]] std::int64_t& at(std::size_t box, const typename Box::Index& place, std::int64_t component) {
    const std::int64_t p = arrays[box].place(place);
    return numbers[box][is_by_component ? component * arrays[box].size() + p : p * n_components + component];
  }
  [[nodiscard]] BoxField field() {
    const std::vector<std::span<std::int64_t>> spans(numbers.begin(), numbers.end());
    const auto n = static_cast<int>(n_components);
    return is_by_component ? BoxField::by_component<std::int64_t>(centering, spans, n)
                           : BoxField::by_place<std::int64_t>(centering, spans, n);
  }
};

template <std::size_t D>
class Trial {
 public:
  Trial(std::mt19937_64& random, exchange::Strategy strategy)
      : boxes_(random), own_(boxes_.own()), numbers_(boxes_.numbers()) {
    const auto draw = [&](std::uint64_t n) { return static_cast<int>(random() % n); };
    options_ = {.ghosts = draw(4), .has_outside = draw(2) == 0, .exchange = {.strategy = strategy}};
    layout_ = std::make_shared<BoxLayout<D>>(
        world(), boxes_.domain, own_,
        BoxLayoutOptions<D>{.is_periodic = boxes_.is_periodic, .reach = options_.ghosts + 1});
    std::vector<Centering> centerings{Centering::cell, Centering::vertex, Centering::face_i, Centering::face_j};
    if (D == 3) centerings.push_back(Centering::face_k);
    for (const Centering centering : centerings)
      values_.emplace_back(centering, 1 + draw(3), draw(2) == 0, *layout_, options_);
  }

  void run() {
    layout_->validate();
    std::vector<BoxField> fields;
    for (Values<D>& one : values_) fields.push_back(one.field());
    BoxHalo<D> halo(layout_, fields, options_);
    EXPECT_EQ(halo.interior().size() + halo.fringe().size(), own_.size());
    for (std::int64_t round = 0; round < 3; ++round) {
      fill(round);
      halo.begin();
      for (const std::int32_t box : halo.interior()) check(box, round);
      std::set<std::int32_t> ready;
      for (std::size_t n = 0; round > 0 && n < (round == 1 ? halo.fringe().size() : halo.fringe().size() / 2); ++n) {
        halo.progress();
        const auto one = n % 2 == 0 ? halo.wait_for_ready() : halo.next_ready();
        if (!one) continue;
        EXPECT_TRUE(ready.insert(*one).second) << "twice";
        check(*one, round);
      }
      if (round == 1) {
        while (const auto one = halo.wait_for_ready()) ready.insert(*one);
        EXPECT_EQ(ready.size(), halo.fringe().size());
      }
      halo.end();
      for (std::size_t b = 0; b < own_.size(); ++b) check(b, round);
    }
  }

 private:
  void fill(std::int64_t round) {
    for (std::size_t f = 0; f < values_.size(); ++f) {
      for (std::size_t b = 0; b < own_.size(); ++b) {
        std::ranges::fill(values_[f].numbers[b], Values<D>::never);
        const auto own = places(own_[b], values_[f].centering);
        for (std::int64_t p = 0; p < own.size(); ++p)
          for (std::int64_t c = 0; c < values_[f].n_components; ++c)
            values_[f].at(b, own.at(p), c) = value_of<D>(numbers_[b], own.at(p), f, c, round);
      }
    }
  }
  void check(std::size_t box, std::int64_t round) {
    for (std::size_t f = 0; f < values_.size(); ++f) {
      const auto own = places(own_[box], values_[f].centering);
      const auto& all = values_[f].arrays[box];
      int n_wrong = 0;
      for (std::int64_t p = 0; p < all.size(); ++p) {
        const auto place = all.at(p);
        const auto source = boxes_.source_of(values_[f].centering, place);
        for (std::int64_t c = 0; c < values_[f].n_components; ++c) {
          const std::int64_t expected = own.contains(place) ? value_of<D>(numbers_[box], place, f, c, round)
                                        : source            ? value_of<D>(source->box, source->place, f, c, round)
                                                            : Values<D>::never;
          if (values_[f].at(box, place, c) != expected) ++n_wrong;
        }
      }
      EXPECT_EQ(n_wrong, 0) << "of field " << f << " on box " << box << ", " << options_.ghosts << " layers";
    }
  }

  RandomBoxes<D> boxes_;
  std::vector<geometry::IndexBox<D>> own_;
  std::vector<std::int32_t> numbers_;
  BoxHaloOptions options_;
  std::shared_ptr<const BoxLayout<D>> layout_;
  std::vector<Values<D>> values_;
};

TEST(BoxHalo, GhostsHaveTheValuesOfTheBoxesTheyBelongTo) {
  std::mt19937_64 random(test::seed());
  constexpr int n_trials = 12;
  for (int trial = 0; trial < n_trials; ++trial) {
    SCOPED_TRACE("trial " + std::to_string(trial));
    exchange::Strategy strategy = exchange::all_strategies[trial % exchange::all_strategies.size()];
    if (strategy == exchange::Strategy::thread) strategy = exchange::Strategy::automatic;
    Trial<2>(random, strategy).run();
    Trial<3>(random, strategy).run();
    if (testing::Test::HasFailure()) return;
  }
}

TEST(BoxHalo, OneMessageGoesToANeighbourWhateverTheFields) {
  // A row of boxes, two per rank, which alternate: every box except the outer ones has a neighbour on each side.
  const Rank me = world().rank();
  const int n = world().size();
  const geometry::IndexBox<2> domain{{0, 0}, {8LL * n, 4}};
  std::vector<geometry::IndexBox<2>> own;
  for (const std::int64_t at : {std::int64_t{me}, std::int64_t{me} + n}) own.push_back({{4 * at, 0}, {4 * at + 4, 4}});
  const auto layout = std::make_shared<const BoxLayout<2>>(world(), domain, own);
  EXPECT_EQ(layout->neighbours_of(0).size() + layout->neighbours_of(1).size(),
            4U - (me == 0 ? 1U : 0U) - (me == n - 1 ? 1U : 0U));
  const BoxHaloOptions options{.ghosts = 2};
  std::vector<std::vector<double>> values(4, std::vector<double>(64, 1.0));
  std::vector<std::vector<float>> more(2, std::vector<float>(3 * 64, 2.0F));
  std::vector<BoxField> fields;
  for (std::size_t f = 0; f < 2; ++f)
    fields.push_back(
        BoxField::by_place<double>(Centering::cell, std::vector<std::span<double>>{values[2 * f], values[2 * f + 1]}));
  fields.push_back(BoxField::by_component<float>(Centering::cell, std::vector<std::span<float>>{more[0], more[1]}, 3));
  BoxHalo<2> halo(layout, fields, options);
  const std::size_t n_peers = n == 1 ? 0 : n == 2 ? 1 : 2;
  EXPECT_EQ(halo.n_messages(), n_peers);
  halo.exchange();  // the first one also tells each peer what is exchanged
  const std::uint64_t before = world().counters().messages_sent;
  halo.exchange();
  halo.exchange();
  EXPECT_EQ(world().counters().messages_sent - before, 2 * n_peers);
}

/// Return the message of a failure, on all ranks or on this one.
template <class Work>
std::string refusal_of_boxes(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.subject() + " " + error.cause();
  }
  return "nothing";
}

TEST(BoxLayout, BoxesThatCannotBeAreRefusedOnAllRanks) {
  using Box = geometry::IndexBox<2>;
  const Box domain{{0, 0}, {4, 4LL * world().size()}};
  const Box mine{{0, 4LL * world().rank()}, {4, 4LL * world().rank() + 4}};
  const bool is_last = world().rank() == world().size() - 1;
  const auto with = [&](const Box& box) {
    return refusal_of_boxes([&] {
      std::vector<Box> own{mine};
      if (is_last) own.push_back(box);
      const BoxLayout<2> layout(world(), domain, own);
    });
  };
  EXPECT_EQ(with({{1, 1}, {1, 2}}), "box from 1, 1 to 1, 2 must have at least one cell");
  EXPECT_NE(with({{3, 1}, {5, 2}}).find("extends beyond the domain, a box from 0, 0 to 4, "), std::string::npos);
  EXPECT_NE(with({{3, 0}, {4, 1}}).find("has cells in common with the box"), std::string::npos);
  EXPECT_EQ(refusal_of_boxes([&] { const BoxLayout<2> layout(world(), domain, {mine}, {.reach = -1}); }),
            "a reach of -1 cells must be at least 0");
  EXPECT_EQ(refusal_of_boxes([&] {
              const BoxLayout<2> layout(world(), domain, {mine}, {.is_periodic = {true, false}, .reach = 5});
            }),
            "a reach of 5 cells exceeds the 4 cells of periodic axis 0");
  EXPECT_EQ(refusal_of_boxes([&] { const BoxLayout<2> layout(world(), {{0, 0}, {0, 4}}, {}); }),
            "box from 0, 0 to 0, 4 is the domain and must have at least one cell");
}

TEST(BoxHalo, ArraysThatDoNotFitAreRefused) {
  const geometry::IndexBox<2> domain{{0, 0}, {4, 4LL * world().size()}};
  const geometry::IndexBox<2> mine{{0, 4LL * world().rank()}, {4, 4LL * world().rank() + 4}};
  const auto layout = std::make_shared<const BoxLayout<2>>(world(), domain, std::vector{mine});
  std::vector<double> values(36);
  const auto with = [&](Centering centering, std::size_t n_boxes, int ghosts) {
    return refusal_of_boxes([&] {
      const std::vector<std::span<double>> spans(n_boxes, values);
      const BoxHalo<2> halo(layout, {BoxField::by_place<double>(centering, spans)}, {.ghosts = ghosts});
    });
  };
  EXPECT_EQ(with(Centering::cell, 1, 1), "nothing");
  EXPECT_EQ(with(Centering::cell, 2, 1), "field 0 of a halo of boxes has arrays for 2 boxes, but this rank has 1");
  EXPECT_EQ(with(Centering::cell, 1, 2),
            "field 0 of a halo of boxes has 288 bytes for box 0, but its places with ghosts take 512");
  EXPECT_EQ(with(Centering::vertex, 1, 1),
            "field 0 of a halo of boxes has 288 bytes for box 0, but its places with ghosts take 392");
  EXPECT_EQ(with(Centering::cell, 1, 3),
            "field 0 of a halo of boxes has 3 layers of ghosts, but neighbours are known only within 2 cells");
  EXPECT_EQ(with(Centering::face_j, 1, 2),
            "field 0 of a halo of boxes has 2 layers of ghosts, but neighbours are known only within 2 cells");
  EXPECT_EQ(with(Centering::face_k, 1, 1),
            "field 0 of a halo of boxes lies on faces across an axis beyond the 2 of the layout");
  EXPECT_EQ(with(Centering::cell, 1, -1), "-1 layers of ghosts must be at least 0");
}

}  // namespace
}  // namespace barrio::mesh
