// barrio in each of its modes.
#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "barrio/exchange/neighborhood.hpp"
#include "barrio/exchange/stream.hpp"
#include "benchmarks/exchange/contenders.hpp"

namespace barrio::bench {
namespace {

using exchange::Routing;
using exchange::Termination;

template <Termination termination, Routing routing = Routing::direct>
class Barrio : public Contender {
 public:
  explicit Barrio(const Setup& setup)
      : context_(setup.context),
        neighbours_(setup.neighbours.begin(), setup.neighbours.end()),
        hood_(setup.context, setup.neighbours,
              {.packet_bytes = setup.packet_bytes,
               .termination = termination,
               .routing = routing,
               .node = setup.node,
               .keeps_discovered = setup.keeps_discovered}) {
    for (const Rank to : neighbours_) numbers_.push_back(number_of_pair(context_.rank(), to));
  }
  Tally round(const Work& work) override {
    auto round = hood_.template begin_round<std::uint64_t>();
    // A copy for the loop: the compiler must assume that writes may change the member.
    const std::uint64_t n = work.n;
    const std::uint64_t salt = work.salt;
    const std::span<const std::uint64_t> numbers(numbers_);
    for (std::uint64_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < numbers.size(); ++j) round.channel(j).allocate() = numbers[j] + salt + i;
    if constexpr (termination != Termination::neighbourhood) {
      for (const Rank to : work.strangers) {
        const std::uint64_t first = number_of_pair(context_.rank(), to) + work.salt;
        for (std::uint64_t i = 0; i < work.n; ++i) round.allocate(to) = first + i;
      }
    }
    round.close();
    Tally tally;
    for (const auto& [from, run] : round.received_runs()) {
      tally.n += run.size();
      tally.sum = std::accumulate(run.begin(), run.end(), tally.sum);
    }
    return tally;
  }

 private:
  mpi::Context& context_;
  std::vector<Rank> neighbours_;
  std::vector<std::uint64_t> numbers_;
  exchange::Neighborhood hood_;
};

/// Variants by other methods: to ranks instead of channels, read one by one, or in messages of bytes.
class ByVerb : public Contender {
 public:
  explicit ByVerb(const Setup& setup)
      : context_(setup.context), hood_(setup.context, setup.neighbours, {.packet_bytes = setup.packet_bytes}) {
    for (const Rank to : hood_.neighbours()) numbers_.push_back(number_of_pair(context_.rank(), to));
  }

 protected:
  mpi::Context& context_;
  exchange::Neighborhood hood_;
  std::vector<std::uint64_t> numbers_;
};

class ByRank : public ByVerb {
 public:
  using ByVerb::ByVerb;
  Tally round(const Work& work) override {
    auto round = hood_.begin_round<std::uint64_t>();
    const std::uint64_t n = work.n;
    const std::uint64_t salt = work.salt;
    const std::span<const std::uint64_t> numbers(numbers_);
    const std::span<const Rank> neighbours = hood_.neighbours();
    for (std::uint64_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < numbers.size(); ++j) round.allocate(neighbours[j]) = numbers[j] + salt + i;
    round.close();
    Tally tally;
    for (const auto& [from, number] : round.received()) tally += {1, number};
    return tally;
  }
};

/// Messages of `n_numbers` numbers; the last one of a round may have fewer.
template <std::size_t n_numbers>
class Bytes : public ByVerb {
 public:
  using ByVerb::ByVerb;
  Tally round(const Work& work) override {
    auto round = hood_.begin_byte_round();
    const std::uint64_t n = work.n;
    const std::uint64_t salt = work.salt;
    const std::span<const std::uint64_t> numbers(numbers_);
    const std::span<const Rank> neighbours = hood_.neighbours();
    for (std::uint64_t i = 0; i < n; i += n_numbers) {
      for (std::size_t j = 0; j < numbers.size(); ++j) {
        const std::size_t n_here = std::min<std::uint64_t>(n_numbers, n - i);
        std::byte* const place = round.allocate(neighbours[j], n_here * sizeof(std::uint64_t)).data();
        for (std::size_t k = 0; k < n_here; ++k) {
          const std::uint64_t number = numbers[j] + salt + i + k;
          std::memcpy(place + k * sizeof number, &number, sizeof number);
        }
      }
    }
    round.close();
    Tally tally;
    for (const auto& [from, bytes] : round.received()) {
      for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
        std::uint64_t number = 0;
        std::memcpy(&number, bytes.data() + at, sizeof number);
        tally += {1, number};
      }
    }
    return tally;
  }
};

/// Messages outside rounds. A rank that has left `drain` may send to one that is still there, so that each number tells
/// its round.
class ByStream : public Contender {
 public:
  explicit ByStream(const Setup& setup)
      : rank_(setup.context.rank()),
        neighbours_(setup.neighbours.begin(), setup.neighbours.end()),
        stream_(setup.context) {}
  Tally round(const Work& work) override {
    const std::uint64_t now = n_rounds_++ % tallies_.size();
    for (const Rank to : neighbours_) send(to, work, now);
    for (const Rank to : work.strangers) send(to, work, now);
    stream_.drain([&](Rank, const Number& one) { tallies_[one.round] += {1, one.number}; });
    return std::exchange(tallies_[now], {});
  }

 private:
  struct Number {
    std::uint64_t round;
    std::uint64_t number;
  };
  void send(Rank to, const Work& work, std::uint64_t round) {
    const std::uint64_t first = number_of_pair(rank_, to) + work.salt;
    for (std::uint64_t i = 0; i < work.n; ++i) stream_.send(to, {round, first + i});
  }

  Rank rank_;
  std::vector<Rank> neighbours_;
  exchange::Stream<Number> stream_;
  std::uint64_t n_rounds_ = 0;
  std::array<Tally, 2> tallies_;
};

}  // namespace

std::vector<Kind> barrio_kinds() {
  return {
      {.name = "barrio",
       .about = "Neighborhood, neighbours known",
       .make = make_contender<Barrio<Termination::neighbourhood>>},
      {.name = "barrio-by-rank",
       .about = "the same by allocate(rank) and received(): one look-up and one copy per number",
       .make = make_contender<ByRank>},
      {.name = "barrio-bytes",
       .about = "a ByteRound, one message of 8 bytes per number",
       .make = make_contender<Bytes<1>>},
      {.name = "barrio-bytes64",
       .about = "a ByteRound, one message of 64 bytes for 8 numbers",
       .make = make_contender<Bytes<8>>},
      {.name = "barrio-node",
       .about = "the same, by node: one message per pair of nodes",
       .make = make_contender<Barrio<Termination::neighbourhood, Routing::by_node>>},
      {.name = "barrio-intro",
       .about = "the same, also to neighbours of neighbours",
       .takes_strangers = true,
       .make = make_contender<Barrio<Termination::introductions>>},
      {.name = "barrio-allreduce",
       .about = "the same, also to any rank: by reductions",
       .takes_strangers = true,
       .make = make_contender<Barrio<Termination::allreduce>>},
      {.name = "barrio-consensus",
       .about = "the same, also to any rank: by a barrier",
       .takes_strangers = true,
       .make = make_contender<Barrio<Termination::consensus>>},
      {.name = "barrio-stream",
       .about = "a Stream, to any rank: messages of 16 bytes at any time, their end by reductions",
       .takes_strangers = true,
       .make = make_contender<ByStream>},
  };
}

}  // namespace barrio::bench
