#include "barrio/exchange/ask.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "barrio/exchange/message.hpp"
#include "barrio/exchange/neighbor_collectives.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/exchange/speech.hpp"

namespace barrio::exchange {
namespace {

using namespace test;

struct Question {
  Rank asker;
  std::uint32_t number;
};

/// Return the targets of a rank's questions; some ranks have no questions.
std::vector<Rank> asked_by(Rank rank, std::uint64_t which) {
  const std::uint64_t n = number({90, which, word(rank)}) % 3 == 0 ? 0 : number({91, which, word(rank)}) % 300;
  std::vector<Rank> to;
  for (std::uint64_t i = 0; i < n; ++i)
    to.push_back(static_cast<Rank>(number({92, which, word(rank), i}) % word(world().size())));
  if (which % 2 == 1) std::ranges::sort(to);
  return to;
}

std::uint64_t answer_of(Rank answers, const Question& question) {
  return number({93, word(answers), word(question.asker), question.number});
}

TEST(Ask, AnswersComeInTheOrderOfTheQuestions) {
  const Rank me = world().rank();
  for (const Route by : {Route::crystal, Route::direct, Route::automatic}) {
    for (std::uint64_t which = 0; which < 4; ++which) {
      const std::vector<Rank> to = asked_by(me, which);
      std::vector<Question> questions;
      for (std::uint32_t i = 0; i < to.size(); ++i) questions.push_back({me, i});
      const auto answers = ask(world(), to, questions, [&](const Question& q) { return answer_of(me, q); }, by);
      ASSERT_EQ(answers.size(), to.size());
      for (std::size_t i = 0; i < to.size(); ++i) EXPECT_EQ(answers[i], answer_of(to[i], questions[i]));
    }
  }
}

TEST(Ask, AllThatCameMayBeAnsweredTogether) {
  const Rank me = world().rank();
  const std::vector<Rank> to = asked_by(me, 7);
  std::vector<Question> questions;
  for (std::uint32_t i = 0; i < to.size(); ++i) questions.push_back({me, i});
  // Numbers without gaps over all ranks, ordered by the asked rank, the asking rank and its questions.
  std::int64_t n_before_mine = 0;
  const auto numbers = ask_together(world(), to, questions, [&](const Parcels<Question>& asked) {
    EXPECT_TRUE(std::ranges::is_sorted(asked.peers));
    n_before_mine = mpi::exclusive_sum(world(), static_cast<std::int64_t>(asked.items.size()));
    std::vector<std::int64_t> given;
    for (std::size_t p = 0; p < asked.n_peers(); ++p)
      for (const Question& question : asked.of(p)) {
        EXPECT_EQ(question.asker, asked.peers[p]);
        given.push_back(n_before_mine + static_cast<std::int64_t>(given.size()));
      }
    return given;
  });
  std::int64_t next = 0;
  std::vector<std::int64_t> wanted(to.size());
  for (Rank answers = 0; answers < world().size(); ++answers) {
    for (Rank asks = 0; asks < world().size(); ++asks) {
      const std::vector<Rank> theirs = asked_by(asks, 7);
      for (std::size_t i = 0; i < theirs.size(); ++i) {
        if (theirs[i] != answers) continue;
        if (asks == me) wanted[i] = next;
        next += 1;
      }
    }
  }
  EXPECT_EQ(numbers, wanted);
}

TEST(Message, ArraysComeBackInOrderAndAligned) {
  MessageWriter out;
  out.put(std::vector<std::uint8_t>{1, 2, 3});
  out.put(std::vector<double>{});
  const auto room = out.put_room<std::int32_t>(5);
  for (std::size_t i = 0; i < 5; ++i) room[i] = static_cast<std::int32_t>(10 * i);
  out.put(std::vector<double>{1.5, 2.5});
  Neighborhood hood(world(), neighbours_of(Graph::ring, world().rank(), world().size()));
  auto round = hood.begin_byte_round();
  for (const Rank to : hood.neighbours()) round.send(to, out.bytes());
  round.close();
  for (const auto& [from, bytes] : round.received()) {
    MessageReader in(bytes);
    EXPECT_TRUE(std::ranges::equal(in.get<std::uint8_t>(), std::vector<std::uint8_t>{1, 2, 3})) << from;
    EXPECT_TRUE(in.get<double>().empty());
    EXPECT_TRUE(std::ranges::equal(in.get<std::int32_t>(), std::vector<std::int32_t>{0, 10, 20, 30, 40}));
    EXPECT_FALSE(in.done());
    EXPECT_TRUE(std::ranges::equal(in.get<double>(), std::vector<double>{1.5, 2.5}));
    EXPECT_TRUE(in.done());
  }
}

TEST(Vectors, AreTakenWithoutACast) {
  Neighborhood hood(world(), neighbours_of(Graph::all, world().rank(), world().size()));
  std::vector<int> values{world().rank(), 1};
  neighbor_allreduce(hood, values, std::plus<>());
  const int size = world().size();
  EXPECT_EQ(values, (std::vector<int>{size * (size - 1) / 2, size}));
  const std::vector<Rank> to{0, 0};
  const std::vector<std::int64_t> items{3, 4};
  const Parcels<std::int64_t> heard = route(world(), pack_by_rank(to, items));
  EXPECT_EQ(heard.items.size(), world().rank() == 0 ? 2 * word(size) : 0U);
}

}  // namespace
}  // namespace barrio::exchange
