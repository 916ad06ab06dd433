#include "barrio/exchange/halo.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "barrio/mpi/collectives.hpp"
#include "tests/exchange/mpi_calls.hpp"
#include "tests/exchange/speech.hpp"

namespace barrio::exchange {
namespace {

using namespace test;

/// Values 0..n_values with random owners. Each rank holds random copies. Every rank knows all owners and copies.
class Numbering {
 public:
  /// Make a numbering. @param n_owners  only ranks below it own values
  Numbering(std::uint64_t which, std::int64_t n_values, int n_owners)
      : which_(which), n_values_(n_values), n_owners_(n_owners) {
    for (std::int64_t id = 0; id < n_values_; ++id)
      if (owner(id) == world().rank()) ids.push_back(id);
    n_owned = ids.size();
    for (Rank from = 0; from < world().size(); ++from) {
      for (const std::int64_t id : copies_of(world().rank(), from)) {
        ids.push_back(id);
        copies.push_back(global(id));
        owners.push_back(from);
      }
    }
  }
  [[nodiscard]] Rank owner(std::int64_t id) const {
    return static_cast<Rank>(number({60, which_, static_cast<std::uint64_t>(id)}) % word(n_owners_));
  }
  /// Return the values of one owner that a rank has copies of, in the order of the copies.
  [[nodiscard]] std::vector<std::int64_t> copies_of(Rank holder, Rank from) const {
    std::vector<std::int64_t> found;
    if (holder == from) return found;
    for (std::int64_t id = n_values_ - 1; id >= 0; --id)
      if (owner(id) == from && number({61, which_, word(holder), static_cast<std::uint64_t>(id)}) % 4 == 0)
        found.push_back(id);
    return found;
  }
  /// Return an id beyond 32 bits, as in large meshes.
  [[nodiscard]] static GlobalId global(std::int64_t id) { return GlobalId{3 * id + (std::int64_t{1} << 40)}; }
  [[nodiscard]] HaloPlan plan() const {
    std::map<GlobalId, LocalId> local;
    for (std::size_t i = 0; i < n_owned; ++i) local[global(ids[i])] = local_id(i);
    return plan_halo(world(), copies, owners, local_id(n_owned), [&](GlobalId id) {
      const auto found = local.find(id);
      return found == local.end() ? no_local_id : found->second;
    });
  }

  std::vector<std::int64_t> ids;  // owned, then copies
  std::size_t n_owned = 0;
  std::vector<GlobalId> copies;
  std::vector<Rank> owners;

 private:
  std::uint64_t which_;
  std::int64_t n_values_;
  int n_owners_;
};

/// A field of known right values, with its exchange.
template <class T>
class Field {
 public:
  Field(const Numbering& numbering, std::shared_ptr<const HaloPlan> plan, int n_components)
      : numbering_(&numbering),
        n_components_(n_components),
        values_(numbering.ids.size() * n_components_),
        halo_(world(), std::move(plan), std::span<T>(values_), n_components) {}
  void set(int step) {
    for (std::size_t i = 0; i < values_.size(); ++i)
      values_[i] = i < numbering_->n_owned * n_components_ ? right(i, step) : T(-1);
  }
  void expect_right(int step) const {
    for (std::size_t i = 0; i < values_.size(); ++i) ASSERT_EQ(values_[i], right(i, step)) << "at " << i;
  }
  HaloExchange<T>& halo() { return halo_; }

 private:
  [[nodiscard]] T right(std::size_t i, int step) const {
    const auto id = static_cast<std::uint64_t>(numbering_->ids[i / n_components_]);
    return static_cast<T>(number({62, id, i % n_components_, word(step)}) >> 40U);
  }
  const Numbering* numbering_;
  std::size_t n_components_;
  std::vector<T> values_;
  HaloExchange<T> halo_;
};

std::vector<std::pair<std::int64_t, int>> shapes() {
  const int size = world().size();
  return {{0, size}, {1, size}, {50, size}, {1000, size}, {200, 1}, {300, std::max(1, size / 2)}};
}

TEST(HaloPlan, EqualsWhatAllRanksTogetherKnow) {
  for (const auto& [n_values, n_owners] : shapes()) {
    const Numbering numbering(number({63, word(n_owners)}), n_values, n_owners);
    const HaloPlan plan = numbering.plan();
    std::size_t at = 0;
    auto in = plan.incoming.begin();
    auto reader = std::size_t{0};
    for (Rank other = 0; other < world().size(); ++other) {
      const auto read = numbering.copies_of(world().rank(), other);
      if (!read.empty()) {
        ASSERT_NE(in, plan.incoming.end());
        EXPECT_EQ(in->owner, other);
        EXPECT_EQ(index(in->first), numbering.n_owned + at);
        EXPECT_EQ(static_cast<std::size_t>(in->count), read.size());
        at += read.size();
        ++in;
      }
      const auto given = numbering.copies_of(other, world().rank());
      if (!given.empty()) {
        ASSERT_LT(reader, plan.readers.size());
        EXPECT_EQ(plan.readers[reader], other);
        const auto sent = plan.sent_to(reader++);
        ASSERT_EQ(sent.size(), given.size());
        for (std::size_t i = 0; i < given.size(); ++i) EXPECT_EQ(numbering.ids[index(sent[i])], given[i]);
      }
    }
    EXPECT_EQ(in, plan.incoming.end());
    EXPECT_EQ(reader, plan.readers.size());
    EXPECT_GE(plan.memory_bytes(),
              plan.out.size() * sizeof(LocalId) + plan.incoming.size() * sizeof(HaloPlan::Incoming));
  }
}

TEST(HaloExchange, BringsEveryCopyUpToDate) {
  for (const auto& [n_values, n_owners] : shapes()) {
    const Numbering numbering(number({64, word(n_owners)}), n_values, n_owners);
    const auto plan = std::make_shared<const HaloPlan>(numbering.plan());
    for (const int n_components : {1, 3, 5}) {
      Field<double> doubles(numbering, plan, n_components);
      Field<std::int32_t> ints(numbering, plan, n_components);
      const CallsSince calls;
      for (int step = 0; step < 3; ++step) {
        doubles.set(step);
        ints.set(step);
        doubles.halo().exchange();
        ints.halo().exchange();
        doubles.expect_right(step);
        ints.expect_right(step);
      }
      EXPECT_EQ(doubles.halo().n_exchanges(), 3U);
      EXPECT_EQ(calls.collectives(), 0U) << "an exchange must talk to neighbours only";
    }
  }
}

/// End two exchanges in an order that differs between ranks.
template <class A, class B>
void end_both(A& a, B& b) {
  if (world().rank() % 2 == 0) a.halo().end();
  b.halo().end();
  if (world().rank() % 2 != 0) a.halo().end();
}

// A large message leaves only when its receive is there, and receives of a first exchange follow a check of contents.
TEST(HaloExchange, LargeOnesEndInAnyOrderTheFirstTime) {
  const Numbering one(number({68}), 60'000, world().size());
  const auto plan = std::make_shared<const HaloPlan>(one.plan());
  Field<double> a(one, plan, 8);
  Field<double> b(one, plan, 9);
  a.set(1);
  b.set(2);
  a.halo().begin();
  b.halo().begin();
  end_both(a, b);
  a.expect_right(1);
  b.expect_right(2);
}

TEST(HaloExchange, SeveralTravelAtOnce) {
  const Numbering one(number({65}), 500, world().size());
  const Numbering two(number({66}), 300, world().size());
  const auto plan_one = std::make_shared<const HaloPlan>(one.plan());
  const auto plan_two = std::make_shared<const HaloPlan>(two.plan());
  Field<double> a(one, plan_one, 1);
  Field<std::int64_t> b(one, plan_one, 3);
  Field<float> c(two, plan_two, 2);
  Field<double> d(two, plan_two, 4);
  for (int step = 0; step < 20; ++step) {
    a.set(step);
    b.set(step + 1);
    c.set(step + 2);
    d.set(step + 3);
    a.halo().begin();
    b.halo().begin();
    d.halo().begin();
    c.halo().begin();
    end_both(a, b);
    c.halo().end();
    d.halo().end();
    a.expect_right(step);
    b.expect_right(step + 1);
    c.expect_right(step + 2);
    d.expect_right(step + 3);
  }
  EXPECT_EQ(a.halo().n_exchanges(), 20U);
  EXPECT_EQ(c.halo().n_exchanges(), 20U);
}

TEST(HaloExchange, OneMessagePerNeighbourAndNoByteTooMany) {
  const Numbering numbering(number({67}), 400, world().size());
  const auto plan = std::make_shared<const HaloPlan>(numbering.plan());
  Field<double> field(numbering, plan, 3);
  EXPECT_EQ(field.halo().n_exchanges(), 0U);
  field.set(0);
  const mpi::Counters before = world().counters();
  const CallsSince calls;
  field.halo().exchange();
  field.halo().exchange();
  std::uint64_t n_readers = 0;
  std::uint64_t n_given = 0;
  std::uint64_t n_read_from = 0;
  for (Rank other = 0; other < world().size(); ++other) {
    const auto given = numbering.copies_of(other, world().rank());
    n_readers += given.empty() ? 0 : 1;
    n_given += given.size();
    n_read_from += numbering.copies_of(world().rank(), other).empty() ? 0 : 1;
  }
  const mpi::Counters& after = world().counters();
  constexpr std::uint64_t word_bytes = 128;  // that each tells its peers in the first round
  EXPECT_EQ(after.messages_sent - before.messages_sent, (2 + 1) * n_readers);
  EXPECT_EQ(after.messages_received - before.messages_received, (2 + 1) * n_read_from);
  EXPECT_EQ(after.bytes_sent - before.bytes_sent, 2 * n_given * 3 * sizeof(double) + n_readers * word_bytes);
  EXPECT_EQ(after.bytes_received - before.bytes_received,
            2 * numbering.copies.size() * 3 * sizeof(double) + n_read_from * word_bytes);
#ifndef BARRIO_MPI_SMPI
  EXPECT_EQ(calls.sends(), (2 + 1) * n_readers);
#endif
  EXPECT_EQ(field.halo().n_exchanges(), 2U);
}

TEST(HaloPlan, AWrongOwnerIsNamedOnAllRanks) {
  const int size = world().size();
  const auto asks = static_cast<Rank>(number({68}) % word(size));
  const auto asked = static_cast<Rank>(number({69}) % word(size));
  // Each rank owns one value, its own number; one rank requests a value that nobody has.
  std::vector<GlobalId> copies;
  std::vector<Rank> owners;
  if (world().rank() == asks) {
    copies.push_back(GlobalId{4711});
    owners.push_back(asked);
  }
  const auto local_of = [](GlobalId id) { return value(id) == world().rank() ? LocalId{0} : no_local_id; };
  for (int repeat = 0; repeat < 2; ++repeat) {
    try {
      plan_halo(world(), copies, owners, LocalId{1}, local_of);
      ADD_FAILURE() << "rank " << asks << " asks " << asked;
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.code(), ErrorCode::internal);
      EXPECT_EQ(std::string(error.what()),
                "halo plan: a rank was asked for the value with global id 4711, which it does not own");
      EXPECT_EQ(error.first_rank(), asked);
    }
  }
}

}  // namespace
}  // namespace barrio::exchange
