// Messages of a Neighborhood about bad input, and its rounds afterwards. Ends of jobs: tests/negative/rounds.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mpi/agree.hpp"
#include "tests/exchange/sound.hpp"
#include "tests/exchange/speech.hpp"

namespace barrio::exchange {
namespace {

using namespace test;

TEST(BadInput, OtherNeighboursAreRefusedByNameAndTheOldOnesStay) {
  const int size = world().size();
  const Rank me = world().rank();
  const Rank next = (me + 1) % size;
  Neighborhood hood(world(), neighbours_of(Graph::ring, me, size));
  const std::string itself = "neighbour " + std::to_string(me) + ": is this rank itself";
  const std::string outside = "neighbour " + std::to_string(size) + ": is not a rank of this job";
  for (int repeat = 0; repeat < 3; ++repeat) {
    EXPECT_EQ(error_of([&] { hood.set_neighbours(std::vector<Rank>{me}); }), itself);
    EXPECT_EQ(error_of([&] { hood.add_neighbours(std::vector<Rank>{me}); }), itself);
    EXPECT_EQ(error_of([&] { hood.set_neighbours(std::vector<Rank>{size}); }), outside);
    EXPECT_EQ(error_of([&] { hood.add_neighbours(std::vector<Rank>{size}); }), outside);
    EXPECT_EQ(error_of([&] { hood.add_neighbours(std::vector<Rank>{-1}); }), "neighbour -1: is not a rank of this job");
    if (size > 1) {
      const std::string twice = "neighbour " + std::to_string(next) + ": is listed twice";
      EXPECT_EQ(error_of([&] { hood.set_neighbours(std::vector<Rank>{next, next}); }).substr(0, twice.size()), twice);
      EXPECT_EQ(error_of([&] { hood.add_neighbours(std::vector<Rank>{next, next}); }).substr(0, twice.size()), twice);
    }
    expect_sound(hood);
  }
}

// In a ring of two, left and right are the same rank.
TEST(BadInput, ListedTwiceSaysWhatToDo) {
  if (world().size() == 1) GTEST_SKIP() << "one rank has no others";
  const Rank next = (world().rank() + 1) % world().size();
  const std::string text = error_of([&] { const Neighborhood hood(world(), std::vector<Rank>{next, next}); });
  EXPECT_NE(text.find("is listed twice ("), std::string::npos) << text;
  EXPECT_NE(text.find("once"), std::string::npos) << text;
}

class AnyTermination : public testing::TestWithParam<Termination> {};

TEST_P(AnyTermination, MessagesToNobodyAreRefusedByNameAndTheRoundGoesOn) {
  const int size = world().size();
  Neighborhood hood(world(), neighbours_of(Graph::ring, world().rank(), size), {.termination = GetParam()});
  auto round = hood.begin_round<int>();
  for (const Rank nobody : {size, -1, 1'000'000'000}) {
    const std::string name = "rank " + std::to_string(nobody) + ": ";
    EXPECT_EQ(error_of([&] { round.allocate(nobody) = 1; }).substr(0, name.size()), name);
  }
  for (const Rank to : hood.neighbours()) round.allocate(to) = to;
  round.close();
  EXPECT_EQ(round.collect().size(), hood.neighbours().size());
  EXPECT_EQ(hood.neighbours().size(), size > 2 ? 2U : word(size - 1));
}

TEST_P(AnyTermination, AFailureOnOneRankIsAgreedAfterTheRound) {
  // The third rule of errors: close the round and read it to its end in spite of the failure, then let all ranks agree.
  const int size = world().size();
  const Rank me = world().rank();
  const Rank fails = size - 1;
  Neighborhood hood(world(), neighbours_of(Graph::ring, me, size), {.termination = GetParam()});
  for (const bool in_writing : {true, false}) {
    auto round = hood.begin_round<int>();
    const auto fail = [&] {
      if (me == fails) throw Error(ErrorCode::bad_input, {.subject = "wing.h5m", .cause = "is truncated"});
    };
    Status status = capture([&] {
      for (const Rank to : hood.neighbours()) {
        round.allocate(to) = to;
        if (in_writing) fail();
      }
      if (hood.neighbours().empty()) fail();
    });
    round.close();
    for (const auto& [from, message] : round.received()) {
      EXPECT_EQ(message, me) << from;
      if (!in_writing && !status) status = capture(fail);
    }
    try {
      agree(world(), status);
      ADD_FAILURE() << "rank " << fails << " has failed";
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.first_rank(), fails);
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      EXPECT_EQ(std::string(error.what()), "wing.h5m: is truncated");
    }
    expect_sound(hood);
  }
}

INSTANTIATE_TEST_SUITE_P(BadInput, AnyTermination,
                         testing::Values(Termination::neighbourhood, Termination::introductions, Termination::allreduce,
                                         Termination::consensus));

/// Make a line of ranks: 0 - 1 - 2 - 3.
Neighborhood make_line(bool keeps_discovered) {
  std::vector<Rank> line;
  if (world().rank() > 0) line.push_back(world().rank() - 1);
  if (world().rank() < world().size() - 1) line.push_back(world().rank() + 1);
  return {world(), line, {.termination = Termination::introductions, .keeps_discovered = keeps_discovered}};
}

/// Let rank 0 write to a rank at three hops, and to one at two hops that writes back.
void lose_a_parcel(Neighborhood& hood) {
  const Rank me = world().rank();
  auto round = hood.begin_round<int>();
  if (me == 0) round.allocate(3) = 4711;
  if (me == 0) round.allocate(2) = 12;
  if (me == 2) round.allocate(0) = 13;
  round.close();
  std::size_t n_received = 0;
  const std::string text = error_of([&] {
    for (const auto& [from, message] : round.received()) {
      EXPECT_EQ(message, me == 0 ? 13 : 12) << from;
      n_received += 1;
    }
  });
  EXPECT_EQ(n_received, me == 0 || me == 2 ? 1U : 0U);
  EXPECT_EQ(text, me == 0 ? "rank 3: is not a neighbour of a neighbour of rank 0 (introductions reach two hops; name "
                            "farther ranks as neighbours, or let the round end by automatic, consensus or allreduce)"
                          : "no error");
}

TEST(BadInput, AParcelThatWasLostDoesNotComeInALaterRound) {
  const Rank me = world().rank();
  if (world().size() < 4) GTEST_SKIP() << "a line of fewer than four ranks has no rank at three hops";
  Neighborhood hood = make_line(true);
  lose_a_parcel(hood);
  EXPECT_EQ(std::ranges::count(hood.neighbours(), me == 0 ? 2 : 0), me == 0 || me == 1 || me == 2 ? 1 : 0);
  // The remedy in the message.
  if (me == 0) hood.add_neighbours(std::vector<Rank>{3});
  if (me == 3) hood.add_neighbours(std::vector<Rank>{0});
  for (int repeat = 0; repeat < 40; ++repeat) expect_sound(hood);
}

TEST(BadInput, ParcelsThatWereLostDoNotComeInsteadOfALaterOne) {
  const Rank me = world().rank();
  if (world().size() < 4) GTEST_SKIP() << "a line of fewer than four ranks has no rank at three hops";
  Neighborhood hood = make_line(false);
  constexpr int n_rounds = 70;
  int n_lost = 0;
  for (int i = 0; i < n_rounds; ++i) {
    // Sometimes the two ranks are at two hops, so that each tag carries the lost parcels.
    const bool is_reached = i % 21 == 20;
    if (is_reached && me == 1) hood.add_neighbours(std::vector<Rank>{3});
    if (is_reached && me == 3) hood.add_neighbours(std::vector<Rank>{1});
    auto round = hood.begin_round<int>();
    const int n_messages = 1 + (i * 7) % 50;  // sizes go up and down
    for (int k = 0; me == 0 && k < n_messages; ++k) round.allocate(3) = 100 * i + k;
    round.close();
    std::vector<int> heard;
    const std::string text = error_of([&] {
      for (const auto& [from, message] : round.received()) {
        EXPECT_EQ(from, 0);
        heard.push_back(message);
      }
    });
    n_lost += text == "no error" ? 0 : 1;
    std::vector<int> wanted;
    for (int k = 0; me == 3 && is_reached && k < n_messages; ++k) wanted.push_back(100 * i + k);
    EXPECT_EQ(heard, wanted) << "round " << i;
    if (is_reached && (me == 1 || me == 3)) {
      std::vector<Rank> line(hood.neighbours().begin(), hood.neighbours().end());
      std::erase(line, me == 1 ? 3 : 1);
      hood.set_neighbours(line);
    }
  }
  EXPECT_EQ(n_lost, me == 0 ? n_rounds - 3 : 0);
}

}  // namespace
}  // namespace barrio::exchange
