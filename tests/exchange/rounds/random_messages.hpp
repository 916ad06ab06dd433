#pragma once

#include <unistd.h>

#include <memory>
#include <vector>

#include "barrio/exchange/repeated_exchange.hpp"
#include "tests/exchange/speech.hpp"

namespace barrio::exchange::test {

using namespace barrio::test;

/// Messages of random lengths between random ranks, several between some. Every rank knows all of them.
class RandomMessages {
 public:
  /// Make random messages. @param max_bytes  of one message
  RandomMessages(std::uint64_t which, std::uint64_t max_bytes) : which_(which), max_bytes_(max_bytes) {
    const Rank me = world().rank();
    for (Rank peer = 0; peer < world().size(); ++peer) {
      for (const std::size_t n_bytes : sizes(me, peer)) out.push_back({peer, n_bytes});
      for (const std::size_t n_bytes : sizes(peer, me)) arriving_.emplace_back(n_bytes), from_.push_back(peer);
    }
    for (std::size_t i = 0; i < arriving_.size(); ++i) in.push_back({from_[i], arriving_[i]});
  }
  void pack(RepeatedExchange& exchange, std::size_t i, std::uint64_t round) const {
    fill(exchange.outgoing(i), contents(world().rank(), out[i].to, nth(out, i, &Outgoing::to), round));
  }
  void clear() {
    for (auto& bytes : arriving_) std::ranges::fill(bytes, std::byte{0xee});
  }
  [[nodiscard]] bool is_right(std::size_t i, std::uint64_t round) const {
    std::vector<std::byte> wanted(arriving_[i].size());
    fill(wanted, contents(in[i].from, world().rank(), nth(in, i, &Incoming::from), round));
    return wanted == arriving_[i];
  }

  std::vector<Outgoing> out;
  std::vector<Incoming> in;

 private:
  [[nodiscard]] std::vector<std::size_t> sizes(Rank from, Rank to) const {
    const std::uint64_t n = number({70, which_, word(from), word(to)}) % 4;  // also zero, and also to itself
    std::vector<std::size_t> all;
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t scale = number({71, which_, word(from), word(to), i}) % 3;
      const std::uint64_t most = scale == 0 ? 16 : scale == 1 ? 3000 : max_bytes_;
      all.push_back(number({72, which_, word(from), word(to), i}) % (most + 1));
    }
    return all;
  }
  [[nodiscard]] std::uint64_t contents(Rank from, Rank to, std::size_t nth, std::uint64_t round) const {
    return number({73, which_, word(from), word(to), nth, round});
  }
  /// Count the earlier messages of the list with the same peer.
  template <class Message>
  static std::size_t nth(const std::vector<Message>& list, std::size_t i, Rank Message::* peer) {
    return static_cast<std::size_t>(std::count_if(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i),
                                                  [&](const Message& one) { return one.*peer == list[i].*peer; }));
  }

  std::uint64_t which_;
  std::uint64_t max_bytes_;
  std::vector<std::vector<std::byte>> arriving_;
  std::vector<Rank> from_;
};

/// Compute for a random time on each rank, and call progress() sometimes.
inline void compute_a_while(RepeatedExchange& exchange, std::uint64_t which, std::uint64_t round) {
  const std::uint64_t n = number({74, which, round, word(world().rank())}) % 6;
  for (std::uint64_t i = 0; i < n; ++i) {
    if (number({75, which, round, i, word(world().rank())}) % 3 == 0) ::usleep(100);
    exchange.progress();
  }
}

}  // namespace barrio::exchange::test
