// Tests of minutes or gigabytes: more of the checks of round_state_test and property_test, and a long run.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/exchange/rounds/property.hpp"
#include "tests/exchange/rounds/round_checks.hpp"

namespace barrio::exchange {
namespace {

using namespace test;

TEST(RoundProtocol, EveryStateOfEverySystemOfFourRanks) {
  if (world().size() > 1) GTEST_SKIP() << "alike on any number of ranks";
  expect_every_state_right(all_scripts(4, 2, Next::grown), "4 ranks, 2 rounds, who meets stays together");
  expect_every_state_right(all_scripts(4, 2, Next::kept), "4 ranks, 2 rounds, the same neighbours");
}

TEST(LongRoundProtocol, EveryStateOfThreeRoundsOfFourRanks) {
  if (world().size() > 1) GTEST_SKIP() << "alike on any number of ranks";
  expect_every_state_right(all_scripts(4, 3, Next::grown), "4 ranks, 3 rounds, who meets stays together");
}

TEST(LongRoundProtocol, EveryStateOfOneRoundOfFiveRanks) {
  if (world().size() > 1) GTEST_SKIP() << "alike on any number of ranks";
  std::vector<Script> scripts = all_scripts(5, 1, Next::grown);
  std::erase_if(scripts, [](const Script& script) { return script.n_edges() > 5; });
  expect_every_state_right(scripts, "5 ranks, up to 5 edges, 1 round");
}

TEST(LongRoundProtocol, EveryStateOfTwoPacketsPerEdge) {
  if (world().size() > 1) GTEST_SKIP() << "alike on any number of ranks";
  std::vector<Script> scripts = all_scripts(4, 2, Next::grown);
  std::erase_if(scripts, [](const Script& script) { return script.n_edges() > 3; });
  for (Script& script : scripts) script.n_packets = 2;
  expect_every_state_right(scripts, "4 ranks, up to 3 edges, 2 rounds of two packets, who meets stays together");
  std::erase_if(scripts, [](const Script& script) { return script.has_strangers(); });
  for (Script& script : scripts) script.introduces = false;
  expect_every_state_right(scripts, "4 ranks, up to 3 edges, 2 rounds of two packets, neighbours only");
}

TEST(LongRoundProtocol, MillionsOfRandomOrders) { expect_random_orders_right(1000, 500); }

TEST(LongRandomRounds, SmallMessages) {
  for (int which = 100; which < 300; ++which)
    if (!expect_rounds_right(which, {.n_rounds = 8, .n_messages = 1000, .n_bytes = 1'000'000, .largest = 20'000}))
      break;
}

TEST(LongRandomRounds, MessagesOfUpTo16Megabytes) {
  for (int which = 300; which < 332; ++which)
    if (!expect_rounds_right(which, {.n_rounds = 6, .n_messages = 200, .n_bytes = 60'000'000, .largest = 1U << 24U}))
      break;
}

/// Return this process's memory in use, in bytes.
std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t n_all = 0;
  std::uint64_t n_resident = 0;
  statm >> n_all >> n_resident;
  return n_resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// Rounds of four Neighborhoods, one for each termination. The neighbours change every few rounds.
class LongRun {
 public:
  void do_round(std::uint64_t repeat) {
    const std::size_t which = number({90, repeat}) % hoods_.size();
    Hood& one = hoods_[which];
    if (repeat % 7 == 0) change(one, repeat);
    std::uint64_t n_wanted = 0;
    const std::vector<char> old_borders = one.borders;
    auto round = one.hood.begin_round<std::uint64_t>();
    for (Rank a = 0; a < n_; ++a) {
      for (Rank b = 0; b < n_; ++b) {
        const std::uint64_t n = n_numbers(one, old_borders, repeat, a, b);
        if (n > 0 && a != b) connect(one, a, b);
        if (b == me_) n_wanted += n;
        for (std::uint64_t k = 0; a == me_ && k < n; ++k) round.allocate(b) = number({91, repeat, word(a), word(b), k});
      }
    }
    round.close();
    std::vector<std::uint64_t> n_heard(word(n_));
    for (const auto& [from, message] : round.received()) {
      std::uint64_t& k = n_heard[word(from)];
      ASSERT_LT(k, n_numbers(one, old_borders, repeat, from, me_));
      ASSERT_EQ(message, number({91, repeat, word(from), word(me_), k}));
      k += 1;
      n_wanted -= 1;
    }
    EXPECT_EQ(n_wanted, 0U);
    const auto now = one.hood.neighbours();
    EXPECT_EQ(std::vector<Rank>(now.begin(), now.end()), list(one));
  }
  [[nodiscard]] std::uint64_t memory_bytes() const {
    std::uint64_t n = 0;
    for (const Hood& one : hoods_) n += one.hood.memory_bytes();
    return n;
  }

 private:
  struct Hood {
    Termination termination;
    Neighborhood hood;
    std::vector<char> borders;  // n x n
  };
  Hood make(Termination termination) {
    return {termination, Neighborhood(world(), {}, {.packet_bytes = 256, .ring_depth = 2, .termination = termination}),
            std::vector<char>(word(n_ * n_))};
  }
  [[nodiscard]] std::size_t place(Rank a, Rank b) const { return word(a * n_ + b); }
  void connect(Hood& one, Rank a, Rank b) const { one.borders[place(a, b)] = one.borders[place(b, a)] = 1; }
  [[nodiscard]] std::vector<Rank> list(const Hood& one) const {
    std::vector<Rank> all;
    for (Rank b = 0; b < n_; ++b)
      if (one.borders[place(me_, b)] != 0) all.push_back(b);
    return all;
  }
  void change(Hood& one, std::uint64_t repeat) {
    std::ranges::fill(one.borders, 0);
    for (Rank a = 0; a < n_; ++a)
      for (Rank b = a + 1; b < n_; ++b)
        if (number({92, repeat, word(a), word(b)}) % 3 == 0) connect(one, a, b);
    one.hood.set_neighbours(list(one));
  }
  /// Return how many numbers `a` sends to `b`: usually few, sometimes more than a packet holds.
  [[nodiscard]] std::uint64_t n_numbers(const Hood& one, const std::vector<char>& borders, std::uint64_t repeat, Rank a,
                                        Rank b) const {
    const std::uint64_t n = number({93, repeat, word(a), word(b)});
    const std::uint64_t wanted = n % 64 == 0 ? 100 : n % 3;
    if (a == b || borders[place(a, b)] != 0) return wanted;
    if (one.termination == Termination::neighbourhood || n % 5 != 0) return 0;
    if (one.termination != Termination::introductions) return wanted;
    for (Rank middle = 0; middle < n_; ++middle)
      if (borders[place(a, middle)] != 0 && borders[place(middle, b)] != 0) return wanted;
    return 0;
  }

  Rank me_ = world().rank();
  int n_ = world().size();
  std::array<Hood, 4> hoods_{make(Termination::neighbourhood), make(Termination::introductions),
                             make(Termination::allreduce), make(Termination::consensus)};
};

TEST(LongRun, TenThousandRoundsInTheSameMemory) {
  LongRun run;
  std::uint64_t resident = 0;
  std::uint64_t held = 0;
  const double begin = MPI_Wtime();
  // The first half fills the pools of MPI: MPICH's grow by 5 % on 8 ranks, and then by 1 % in 90 000 rounds.
  constexpr std::uint64_t n_rounds = 20'000;
  for (std::uint64_t repeat = 1; repeat <= n_rounds; ++repeat) {
    run.do_round(repeat);
    if (repeat % 100 == 0 && mpi::sum(world(), HasFailure() ? 1 : 0) > 0) break;
    if (repeat != n_rounds / 2) continue;
    resident = resident_bytes();
    held = run.memory_bytes();
  }
  const std::uint64_t resident_now = resident_bytes();
  fmt::print(
      "rank {}: 20 000 rounds in {:.1f} s; resident after 10 000 {} KiB, after 20 000 {} KiB; held {} and {} B\n",
      world().rank(), MPI_Wtime() - begin, resident / 1024, resident_now / 1024, held, run.memory_bytes());
  EXPECT_LE(static_cast<double>(resident_now), 1.03 * static_cast<double>(resident));
}

std::uint64_t available_bytes() {
  std::ifstream meminfo("/proc/meminfo");
  for (std::string line; std::getline(meminfo, line);)
    if (line.starts_with("MemAvailable:")) return 1024 * std::stoull(line.substr(13));
  return 0;
}

TEST(LongMessages, MoreThanTwoGigabytes) {
  if (world().size() > 2) GTEST_SKIP() << "a matter of two ranks";
  constexpr std::uint64_t n_bytes = 2'362'232'013;  // 2.2 GiB, not a multiple of 8
  const std::uint64_t available = available_bytes();
  if (mpi::min(world(), available) < 4 * n_bytes)
    GTEST_SKIP() << "wants " << 4 * n_bytes << " bytes of memory; there are " << available;
  const Rank me = world().rank();
  const auto write = [](std::span<std::byte> bytes, std::uint64_t from) {
    for (std::size_t i = 0; i < bytes.size(); i += 8) {
      const std::uint64_t part = mix64(from + i);
      std::memcpy(bytes.data() + i, &part, std::min<std::size_t>(8, bytes.size() - i));
    }
  };
  const auto is_right = [](std::span<const std::byte> bytes, std::uint64_t from) {
    for (std::size_t i = 0; i < bytes.size(); i += 8) {
      const std::uint64_t part = mix64(from + i);
      if (std::memcmp(bytes.data() + i, &part, std::min<std::size_t>(8, bytes.size() - i)) != 0) return false;
    }
    return true;
  };
  // From rank 0 to the last rank, as a neighbour or as itself; then as a parcel.
  const Rank to = world().size() - 1;
  for (const bool are_neighbours : {true, false}) {
    const auto neighbours = neighbours_of(are_neighbours ? Graph::all : Graph::none, me, world().size());
    Neighborhood hood(world(), neighbours,
                      {.termination = are_neighbours ? Termination::neighbourhood : Termination::consensus});
    auto round = hood.begin_byte_round();
    if (me == 0) write(round.allocate(to, n_bytes), 17);
    if (me == 0) write(round.allocate(to, 5), 18);
    round.close();
    std::vector<std::uint64_t> sizes;
    for (const auto& [from, message] : round.received()) {
      EXPECT_EQ(from, 0);
      EXPECT_TRUE(is_right(message, 17 + sizes.size()));
      sizes.push_back(message.size());
    }
    EXPECT_EQ(sizes, me == to ? std::vector<std::uint64_t>({n_bytes, 5}) : std::vector<std::uint64_t>());
  }
}

}  // namespace
}  // namespace barrio::exchange
