#include "tests/exchange/rounds/property.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/exchange/speech.hpp"

namespace barrio::test {
namespace {

using exchange::ByteRound;
using exchange::Neighborhood;
using exchange::NeighborhoodOptions;
using exchange::Termination;

constexpr std::array terminations{Termination::neighbourhood, Termination::introductions, Termination::allreduce,
                                  Termination::consensus};

#ifdef BARRIO_MPI_SMPI  // here the many polls of agreements take minutes
constexpr std::uint64_t n_terminations = 2;
#else
constexpr std::uint64_t n_terminations = terminations.size();
#endif

class Draw {
 public:
  explicit Draw(std::uint64_t from) : random_(from) {}
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool once_in(std::uint64_t n) { return below(n) == 0; }
  /// Draw from low > 0 to high, with equal weight on each order of magnitude.
  std::uint64_t log_uniform(double low, double high) {
    return static_cast<std::uint64_t>(low * std::exp2(std::log2(high / low) * static_cast<double>(below(4096)) / 4096));
  }
  std::mt19937_64& engine() { return random_; }

 private:
  std::mt19937_64 random_;
};

/// Neighbours of all ranks, known to every rank.
class Border {
 public:
  explicit Border(int n) : lists_(n) {}
  static Border random(Draw& draw, int n) {
    Border border(n);
    const std::uint64_t density = draw.below(5);  // of 4
    for (Rank a = 0; a < n; ++a)
      for (Rank b = a + 1; b < n; ++b)
        if (draw.below(4) < density) border.connect(a, b);
    return border;
  }
  void connect(Rank a, Rank b) {
    lists_[a].insert(b);
    lists_[b].insert(a);
  }
  void join(const Border& other) {
    for (std::size_t i = 0; i < lists_.size(); ++i) lists_[i].insert(other.lists_[i].begin(), other.lists_[i].end());
  }
  [[nodiscard]] bool has(Rank a, Rank b) const { return lists_[a].count(b) != 0; }
  [[nodiscard]] bool has_common(Rank a, Rank b) const {
    return std::ranges::any_of(lists_[a], [&](Rank middle) { return has(middle, b); });
  }
  [[nodiscard]] std::vector<Rank> list(Rank rank) const {
    const auto& all = lists_[static_cast<std::size_t>(rank)];
    return {all.begin(), all.end()};
  }

 private:
  std::vector<std::set<Rank>> lists_;
};

struct Letter {
  Rank from;
  Rank to;
  std::uint64_t n_bytes;
  std::uint64_t content;
};

/// Checksum of a rank's messages and bytes, independent of the order of messages.
struct Sum {
  std::uint64_t n_messages = 0;
  std::uint64_t n_bytes = 0;
  std::uint64_t hash = 0;
  void add(std::uint64_t which, Rank from, Rank to, std::span<const std::byte> bytes) {
    Hash64 hash_of_this;
    hash_of_this.add(which).add(word(from)).add(word(to)).add(bytes.size());
    std::uint64_t last = 0;
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      std::memcpy(&last, bytes.data() + i, 8);
      hash_of_this.add(last);
    }
    last = 0;
    if (bytes.size() % 8 != 0) std::memcpy(&last, bytes.data() + bytes.size() / 8 * 8, bytes.size() % 8);
    hash_of_this.add(last);
    n_messages += 1;
    n_bytes += bytes.size();
    hash += hash_of_this.value();
  }
};
static_assert(sizeof(Sum) == 3 * sizeof(std::uint64_t));

void write(std::span<std::byte> bytes, std::uint64_t content) {
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    const std::uint64_t part = mix64(content + i);
    std::memcpy(bytes.data() + i, &part, std::min<std::size_t>(8, bytes.size() - i));
  }
}

/// One Neighborhood, its expected neighbours, and this rank's received and sent messages.
struct Talk {
  std::uint64_t number;  // 0 or 1
  NeighborhoodOptions options;
  Border border;
  Neighborhood hood;
  std::optional<ByteRound> round = {};
  std::vector<Letter> letters = {};  // of this round, of all ranks
  Sum heard = {};
  std::vector<Sum> said = {};  // to each rank
};

std::vector<Letter> draw_letters(Draw& draw, const Talk& talk, const Amount& amount) {
  const auto n_ranks = word(world().size());
  std::vector<Letter> letters;
  std::uint64_t n_left = amount.n_bytes;
  const std::uint64_t n = draw.log_uniform(1, amount.n_messages);
  for (std::uint64_t i = 0; i < n; ++i) {
    Letter letter{static_cast<Rank>(draw.below(n_ranks)), static_cast<Rank>(draw.below(n_ranks)),
                  draw.once_in(16) ? 0 : draw.log_uniform(1, static_cast<double>(amount.largest)), draw.below(~0ULL)};
    letter.n_bytes = std::min(letter.n_bytes, n_left);
    const bool is_known = letter.from == letter.to || talk.border.has(letter.from, letter.to);
    const bool is_reached =
        is_known || talk.options.termination == Termination::allreduce ||
        talk.options.termination == Termination::consensus ||
        (talk.options.termination == Termination::introductions && talk.border.has_common(letter.from, letter.to));
    if (!is_reached) continue;
    n_left -= letter.n_bytes;
    letters.push_back(letter);
  }
  return letters;
}

/// The random choices of a round, common to all ranks, and the sleeps of each rank.
class Play {
 public:
  Play(std::uint64_t purpose, const Amount& amount)
      : amount_(amount), common_(number({80, purpose})), own_(number({81, purpose, word(me_)})) {
    for (std::uint64_t k = 0; k < 2; ++k) {
      NeighborhoodOptions options{.packet_bytes = static_cast<std::uint32_t>(common_.log_uniform(24, 65537)),
                                  .ring_depth = 1 + static_cast<std::uint32_t>(common_.below(4)),
                                  .termination = terminations.at((purpose + k * common_.below(4)) % n_terminations),
                                  .keeps_discovered = !common_.once_in(3)};
      Border border = Border::random(common_, world().size());
      const std::vector<Rank> neighbours = border.list(me_);
      talks_.push_back({k, options, std::move(border), Neighborhood(world(), neighbours, options)});
      talks_.back().said.resize(word(world().size()));
    }
  }

  void next_round() {
    for (Talk& talk : talks_) {
      change_neighbours(talk);
      talk.letters = draw_letters(common_, talk, amount_);
    }
    Talk& a = talks_[0];
    Talk& b = talks_[1];
    switch (common_.below(3)) {
      case 0:  // one round after the other
        for (Talk* talk : {&a, &b}) {
          begin(*talk);
          speak(*talk, talk->letters);
          close(*talk);
          hear(*talk);
        }
        break;
      case 1: {  // one round inside the other
        begin(a);
        const std::span<const Letter> all = a.letters;
        speak(a, all.first(all.size() / 2));
        begin(b);
        speak(b, b.letters);
        close(b);
        hear(b);
        speak(a, all.subspan(all.size() / 2));
        close(a);
        hear(a);
        break;
      }
      default: {  // both at once, in an order that differs between ranks
        std::array<Talk*, 2> order{&a, &b};
        for (const auto what : {&Play::begin, &Play::speak_all, &Play::close, &Play::hear}) {
          if (own_.once_in(2)) std::swap(order[0], order[1]);
          for (Talk* talk : order) (this->*what)(*talk);
        }
      }
    }
    for (Talk& talk : talks_) end(talk);
    n_rounds_ += 1;
  }

  /// Compare this rank's received messages with those that the others sent it.
  void compare() const {
    for (const Talk& talk : talks_) {
      std::vector<Sum> all = talk.said;
      MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(3 * all.size()), MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
      const Sum& told = all[word(me_)];
      EXPECT_EQ(talk.heard.n_messages, told.n_messages);
      EXPECT_EQ(talk.heard.n_bytes, told.n_bytes);
      EXPECT_EQ(talk.heard.hash, told.hash) << "messages were changed, or came to another rank or in another round";
      talk.hood.validate();
    }
  }

 private:
  void maybe_sleep(std::uint64_t rarity) {
    if (own_.once_in(rarity)) std::this_thread::sleep_for(std::chrono::microseconds(own_.below(2001)));
  }
  void change_neighbours(Talk& talk) {
    if (!common_.once_in(2)) return;
    Border other = Border::random(common_, world().size());
    if (common_.once_in(2)) {
      talk.hood.set_neighbours(other.list(me_));
      talk.border = std::move(other);
    } else {
      talk.hood.add_neighbours(other.list(me_));
      talk.border.join(other);
    }
  }
  void begin(Talk& talk) {
    maybe_sleep(4);
    talk.round.emplace(talk.hood.begin_byte_round());
  }
  void speak(Talk& talk, std::span<const Letter> letters) {
    for (const Letter& letter : letters) {
      if (letter.from != me_) continue;
      maybe_sleep(32);
      const std::span<std::byte> room = talk.round->allocate(letter.to, letter.n_bytes);
      write(room, letter.content);
      talk.said[word(letter.to)].add(2 * n_rounds_ + talk.number, me_, letter.to, room);
    }
  }
  void speak_all(Talk& talk) { speak(talk, talk.letters); }
  void close(Talk& talk) {
    maybe_sleep(4);
    talk.round->close();
  }
  void hear(Talk& talk) {
    for (const auto& [from, bytes] : talk.round->received()) {
      maybe_sleep(32);
      talk.heard.add(2 * n_rounds_ + talk.number, from, me_, bytes);
    }
    talk.round.reset();
  }
  void end(Talk& talk) {
    if (talk.options.keeps_discovered)
      for (const Letter& letter : talk.letters)
        if (letter.from != letter.to) talk.border.connect(letter.from, letter.to);
    const auto now = talk.hood.neighbours();
    EXPECT_EQ(std::vector<Rank>(now.begin(), now.end()), talk.border.list(me_));
  }

  Rank me_ = world().rank();
  Amount amount_;
  Draw common_;  // the same on all ranks
  Draw own_;
  std::vector<Talk> talks_;
  std::uint64_t n_rounds_ = 0;
};

}  // namespace

bool expect_rounds_right(int which, const Amount& amount) {
  SCOPED_TRACE(fmt::format("case {}", which));
  Play play(word(which), amount);
  for (int round = 0; round < amount.n_rounds; ++round) play.next_round();
  play.compare();
  return mpi::sum(world(), testing::Test::HasFailure() ? 1 : 0) == 0;
}

}  // namespace barrio::test
