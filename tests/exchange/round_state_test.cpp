// The protocol of a round as pure state machines in one process: a scheduler delivers messages in any order that MPI
// allows, and compares what each rank believes with what was really written.
#include "barrio/exchange/detail/round_state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <set>

#include "tests/exchange/speech.hpp"

namespace barrio::exchange::detail {
namespace {

using namespace test;
using Lists = std::vector<std::set<Rank>>;

/// What happens: who borders on whom in each epoch, and who writes to which strangers.
struct Script {
  std::vector<Lists> neighbours;  // [epoch][rank]; one more than there are epochs
  std::vector<Lists> strangers;   // [epoch][rank]

  [[nodiscard]] int n_epochs() const { return static_cast<int>(strangers.size()); }
};

std::vector<Rank> two_hops_from(const Lists& neighbours, Rank rank) {
  std::set<Rank> found;
  for (const Rank middle : neighbours[static_cast<std::size_t>(rank)])
    for (const Rank far : neighbours[static_cast<std::size_t>(middle)])
      if (far != rank && neighbours[static_cast<std::size_t>(rank)].count(far) == 0) found.insert(far);
  return {found.begin(), found.end()};
}

void add_epoch(Script& script, Lists strangers) {
  Lists next = script.neighbours.back();
  for (std::size_t from = 0; from < strangers.size(); ++from) {
    for (const Rank to : strangers[from]) {
      next[from].insert(to);
      next[static_cast<std::size_t>(to)].insert(static_cast<Rank>(from));
    }
  }
  script.strangers.push_back(std::move(strangers));
  script.neighbours.push_back(std::move(next));
}

Script random_script(std::mt19937_64& random, int n_ranks, int n_epochs) {
  const auto below = [&](std::uint64_t n) { return random() % n; };
  Script script{.neighbours = {Lists(static_cast<std::size_t>(n_ranks))}, .strangers = {}};
  Lists& first = script.neighbours.front();
  for (Rank a = 0; a < n_ranks; ++a) {  // a sparse graph, not always connected
    const auto b = static_cast<Rank>(below(static_cast<std::uint64_t>(n_ranks)));
    if (a == b || below(8) == 0) continue;
    first[static_cast<std::size_t>(a)].insert(b);
    first[static_cast<std::size_t>(b)].insert(a);
  }
  for (int epoch = 0; epoch < n_epochs; ++epoch) {
    Lists strangers(static_cast<std::size_t>(n_ranks));
    for (Rank rank = 0; rank < n_ranks; ++rank)
      for (const Rank far : two_hops_from(script.neighbours.back(), rank))
        if (below(3) == 0) strangers[static_cast<std::size_t>(rank)].insert(far);
    add_epoch(script, std::move(strangers));
  }
  return script;
}

struct Message {
  int epoch;
  enum class Kind { last, pass, parcel } kind;
  std::vector<Introduction> lines;
};

/// All ranks of a script, and the messages under way. Copyable, so that a search can try each next step.
class Job {
 public:
  explicit Job(const Script& script) : script_(&script), queues_(size() * size()), ranks_(size()) {
    for (std::size_t r = 0; r < size(); ++r) begin(r);
  }
  Job(const Job& other) : script_(other.script_), queues_(other.queues_), ranks_(other.ranks_) { rebind(); }
  Job& operator=(const Job&) = delete;

  /// A step: rank `rank` closes its round (`from` is the rank itself) or takes in the next message of `from`.
  struct Step {
    std::size_t rank;
    std::size_t from;
  };
  [[nodiscard]] std::vector<Step> steps() const {
    std::vector<Step> all;
    for (std::size_t r = 0; r < size(); ++r) {
      const Player& player = ranks_[r];
      if (player.epoch == script_->n_epochs()) continue;
      if (!player.is_closed) all.push_back({r, r});
      for (std::size_t from = 0; from < size(); ++from)
        if (from != r && player.posted[from] && next_message(from, r)) all.push_back({r, from});
    }
    return all;
  }
  void take(Step step) {
    Player& player = ranks_[step.rank];
    if (step.from == step.rank) {
      close(step.rank);
    } else {
      const Message message = pop(step.from, step.rank);
      ASSERT_EQ(message.epoch, player.epoch) << "rounds mix";
      receive(step.rank, step.from, message);
    }
    if (player.state.wants_pass()) {
      for (std::size_t c = 0; c < player.neighbours.size(); ++c)
        push(step.rank, player.neighbours[c], {player.epoch, Message::Kind::pass, player.state.pass_to(c)});
    }
    if (player.state.is_over()) finish(step.rank);
  }
  [[nodiscard]] bool is_done() const {
    return std::ranges::all_of(ranks_, [&](const Player& p) { return p.epoch == script_->n_epochs(); }) &&
           std::ranges::all_of(queues_, [](const auto& queue) { return queue.empty(); });
  }

 private:
  struct Player {
    int epoch = 0;
    bool is_closed = false;
    RoundState state;
    std::vector<Rank> neighbours;
    std::vector<char> posted;  // by rank
    std::set<Rank> parcels;    // that came in this round
  };

  [[nodiscard]] std::size_t size() const { return script_->neighbours.front().size(); }
  void rebind() {  // the state looks at the neighbours of its player
    for (Player& player : ranks_) player.state.rebind(player.neighbours);
  }
  std::deque<Message>& queue(std::size_t from, std::size_t to) { return queues_[from * size() + to]; }
  void push(std::size_t from, Rank to, Message message) {
    queue(from, static_cast<std::size_t>(to)).push_back(std::move(message));
  }
  /// What MPI would match: the first message of that sender with the tag of the epoch, which is its parity.
  [[nodiscard]] std::optional<std::size_t> next_message(std::size_t from, std::size_t to) const {
    const auto& all = queues_[from * size() + to];
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].epoch % 2 == ranks_[to].epoch % 2) return i;
    return {};
  }
  Message pop(std::size_t from, std::size_t to) {
    const std::size_t at = *next_message(from, to);
    auto& all = queue(from, to);
    Message message = std::move(all[at]);
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
    return message;
  }
  void begin(std::size_t r) {
    Player& player = ranks_[r];
    player.is_closed = false;
    player.parcels.clear();
    player.posted.assign(size(), 0);
    if (player.epoch == script_->n_epochs()) return;
    const std::set<Rank>& list = script_->neighbours[static_cast<std::size_t>(player.epoch)][r];
    player.neighbours.assign(list.begin(), list.end());
    for (const Rank rank : list) player.posted[static_cast<std::size_t>(rank)] = 1;
    player.state.begin(player.neighbours, true);
  }
  void close(std::size_t r) {
    Player& player = ranks_[r];
    std::vector<Introduction> lines;
    for (const Rank to : script_->strangers[static_cast<std::size_t>(player.epoch)][r]) {
      lines.push_back({to, 0, 8 * static_cast<std::uint64_t>(to) + 8});
      push(r, to, {player.epoch, Message::Kind::parcel, {}});
    }
    for (const Rank to : player.neighbours) push(r, to, {player.epoch, Message::Kind::last, lines});
    player.is_closed = true;
    player.state.introduce(lines);
    player.state.close();
  }
  void receive(std::size_t r, std::size_t from, const Message& message) {
    Player& player = ranks_[r];
    player.posted[from] = 0;
    const auto rank = static_cast<Rank>(from);
    const auto at = std::ranges::find(player.neighbours, rank);
    const auto channel = static_cast<std::size_t>(at - player.neighbours.begin());
    if (at == player.neighbours.end()) {
      ASSERT_EQ(message.kind, Message::Kind::parcel);
      player.parcels.insert(rank);
      player.state.take_parcel();
    } else if (!player.state.has_last(channel)) {
      ASSERT_EQ(message.kind, Message::Kind::last);
      player.state.take_last(channel, message.lines);
      player.posted[from] = 1;  // for the second wave
    } else {
      ASSERT_EQ(message.kind, Message::Kind::pass);
      for (const Introduction& line : player.state.take_pass(channel, message.lines)) {
        EXPECT_EQ(line.n_bytes, 8 * r + 8);
        player.posted[static_cast<std::size_t>(line.rank)] = 1;
      }
    }
  }
  void finish(std::size_t r) {
    Player& player = ranks_[r];
    const auto epoch = static_cast<std::size_t>(player.epoch);
    std::set<Rank> writers;
    for (std::size_t from = 0; from < size(); ++from)
      if (script_->strangers[epoch][from].count(static_cast<Rank>(r)) != 0) writers.insert(static_cast<Rank>(from));
    EXPECT_EQ(player.parcels, writers) << "rank " << r << " ended round " << epoch << " too early";
    EXPECT_TRUE(player.state.unreachable().empty());
    std::set<Rank> now(player.neighbours.begin(), player.neighbours.end());
    for (const Rank rank : player.state.discovered()) now.insert(rank);
    EXPECT_EQ(now, script_->neighbours[epoch + 1][r]) << "no neighbour is missing, and none is redundant";
    player.epoch += 1;
    begin(r);
  }

  const Script* script_;
  std::vector<std::deque<Message>> queues_;
  std::vector<Player> ranks_;
};

/// Try every order. @return number of complete runs
std::uint64_t search(const Job& job, std::uint64_t limit) {
  const auto steps = job.steps();
  if (steps.empty()) {
    EXPECT_TRUE(job.is_done()) << "deadlock";
    return 1;
  }
  std::uint64_t n = 0;
  for (const Job::Step& step : steps) {
    Job next(job);
    next.take(step);
    n += search(next, limit - n);
    if (n >= limit || testing::Test::HasFailure()) break;
  }
  return n;
}

TEST(RoundState, EveryOrderOfThreeRanksInALine) {
  if (!world().is_root()) return;  // alike on all ranks
  Script script{.neighbours = {{{1}, {0, 2}, {1}}}, .strangers = {}};
  add_epoch(script, {{2}, {}, {}});
  constexpr std::uint64_t limit = 200'000;
  const std::uint64_t n = search(Job(script), limit);
  RecordProperty("orders", static_cast<int>(n));
  EXPECT_GT(n, 1000U);
}

TEST(RoundState, RandomOrdersOfRandomGraphs) {
  std::mt19937_64 random(number({40, word(world().rank())}));
  for (int repeat = 0; repeat < 300; ++repeat) {
    const int n_ranks = 2 + static_cast<int>(random() % 14);
    const Script script = random_script(random, n_ranks, 4);
    Job job(script);
    for (auto steps = job.steps(); !steps.empty(); steps = job.steps()) {
      // One rank is often let go far ahead of the others.
      std::size_t pick = random() % steps.size();
      if (repeat % 2 == 0)
        for (std::size_t i = 0; i < steps.size(); ++i)
          if (steps[i].rank == static_cast<std::size_t>(repeat % n_ranks)) pick = i;
      job.take(steps[pick]);
      if (HasFailure()) return;
    }
    ASSERT_TRUE(job.is_done()) << "deadlock with " << n_ranks << " ranks";
  }
}

TEST(RoundState, NamesStrangersThatNobodyKnows) {
  const std::vector<Rank> neighbours{1};
  RoundState state;
  state.begin(neighbours, true);
  state.introduce(std::vector<Introduction>{{2, 0, 8}, {5, 0, 8}});
  state.close();
  state.take_last(0, {});
  EXPECT_TRUE(state.wants_pass());
  EXPECT_FALSE(state.wants_pass());
  EXPECT_TRUE(state.pass_to(0).empty());
  EXPECT_FALSE(state.is_over());
  EXPECT_TRUE(state.take_pass(0, std::vector<Introduction>{{2, 1, 0}}).empty());
  EXPECT_TRUE(state.is_over());
  EXPECT_EQ(state.discovered(), std::vector<Rank>{2});
  EXPECT_EQ(state.unreachable(), std::vector<Rank>{5});
}

}  // namespace
}  // namespace barrio::exchange::detail
