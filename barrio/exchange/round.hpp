#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "barrio/exchange/packet_round.hpp"

namespace barrio::exchange {

class Neighborhood;

/// A message and the neighbour it came from.
template <class T>
struct Received {
  Rank from;
  T message;
};

/// Messages of one neighbour that came together, where they lie in the receive buffer.
template <class T>
struct ReceivedRun {
  Rank from;
  std::span<const T> messages;
};

namespace detail {

struct CallRounds;

/// Say that the length of a message of any length was overwritten. Reads the round to its end first, so that the next
/// one can begin. @throws Error{usage}
[[noreturn]] void refuse_length(PacketRound& packets, Rank from, std::size_t rest_bytes, std::size_t message_bytes);

/// Walk through the messages of a round in order of arrival: an input range for `for (auto [from, m] : ...)`.
/// `Reader` reads one message from the front of a packet's payload.
template <class Reader>
class ReceivedRange {
 public:
  explicit ReceivedRange(PacketRound& packets) : packets_(&packets) {}

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Received<typename Reader::Message>;
    using difference_type = std::ptrdiff_t;
    explicit Iterator(PacketRound* packets) : packets_(packets) { advance(); }
    value_type operator*() const { return {from_, Reader::read(rest_)}; }
    Iterator& operator++() {
      rest_ = rest_.subspan(Reader::size(rest_));
      if (rest_.empty()) {
        advance();
      } else {
        check();
      }
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const noexcept { return packets_ == nullptr; }

   private:
    void advance() {
      do {
        const auto packet = packets_->next_packet();
        if (!packet) {
          packets_ = nullptr;
          return;
        }
        from_ = packet->from;
        rest_ = packet->payload;
      } while (rest_.empty());
      check();
    }
    void check() const {
      if constexpr (Reader::has_lengths) {
        if (const std::size_t n = Reader::size(rest_); n > rest_.size()) [[unlikely]]
          refuse_length(*packets_, from_, rest_.size(), n);
      }
    }
    PacketRound* packets_;
    Rank from_ = -1;
    std::span<const std::byte> rest_;
  };

  Iterator begin() { return Iterator(packets_); }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  PacketRound* packets_;
};

/// Walk through the packets of a round in order of arrival, each as a span of its messages; empty ones are left out.
template <class T>
class ReceivedRuns {
 public:
  explicit ReceivedRuns(PacketRound& packets) : packets_(&packets) {}

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = ReceivedRun<T>;
    using difference_type = std::ptrdiff_t;
    explicit Iterator(PacketRound* packets) : packets_(packets) { ++*this; }
    const value_type& operator*() const noexcept { return run_; }
    Iterator& operator++() {
      do {
        const auto packet = packets_->next_packet();
        if (!packet) {
          packets_ = nullptr;
          break;
        }
        run_ = {packet->from, {reinterpret_cast<const T*>(packet->payload.data()), packet->payload.size() / sizeof(T)}};
      } while (run_.messages.empty());
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const noexcept { return packets_ == nullptr; }

   private:
    PacketRound* packets_;
    value_type run_{-1, {}};
  };

  Iterator begin() { return Iterator(packets_); }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  PacketRound* packets_;
};

template <class T>
struct FixedReader {
  using Message = T;
  static constexpr bool has_lengths = false;
  static T read(std::span<const std::byte> bytes) {
    T message;
    std::memcpy(&message, bytes.data(), sizeof(T));
    return message;
  }
  static std::size_t size(std::span<const std::byte>) noexcept { return sizeof(T); }
};

struct ByteReader {
  using Message = std::span<const std::byte>;
  static constexpr bool has_lengths = true;
  static constexpr std::size_t header_bytes = 8;
  static std::size_t padded(std::size_t n) noexcept { return (n + 7U) & ~std::size_t{7}; }
  static std::size_t length(std::span<const std::byte> bytes) {
    std::uint64_t n = 0;
    std::memcpy(&n, bytes.data(), sizeof n);
    return n;
  }
  static Message read(std::span<const std::byte> bytes) { return bytes.subspan(header_bytes, length(bytes)); }
  static std::size_t size(std::span<const std::byte> bytes) {
    if (bytes.size() < header_bytes) return header_bytes;
    const std::size_t n = length(bytes);
    return n > bytes.size() ? n : header_bytes + padded(n);
  }
};

}  // namespace detail

/// One round of messages of type T. Its verbs are local.
/// Begin it with `Neighborhood::begin_round<T>()`, allocate messages, `close()`, read `received()` to its end.
template <class T>
class Round {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 8);

 public:
  /// A message to one rank, in its send buffer: write it before the next call on the round. To a neighbour, to this
  /// rank itself, or with `Termination::introductions` to a neighbour of a neighbour.
  /// @throws Error{usage} for any other rank. Cost: O(log degree); `channel(i)` avoids the look-up
  T& allocate(Rank to) { return *new (packets_.allocate_for(to, sizeof(T))) T; }

  /// The same for `n` messages side by side; the receiver gets n messages. More than fit into a packet travel in one of
  /// their own. Cost: one look-up and two compares for all. @throws Error{usage} also for 16 GiB or more
  std::span<T> allocate(Rank to, std::size_t n) {
    return n == 0 ? std::span<T>() : make_messages(packets_.allocate_for(to, bytes_of(n)), n);
  }

  /// A way to one neighbour without look-up.
  class Channel {
   public:
    T& allocate() { return *new (round_->packets_.allocate(index_, sizeof(T))) T; }
    std::span<T> allocate(std::size_t n) {
      return n == 0 ? std::span<T>() : make_messages(round_->packets_.allocate(index_, bytes_of(n)), n);
    }

   private:
    friend class Round;
    Channel(Round* round, std::size_t index) : round_(round), index_(index) {}
    Round* round_;
    std::size_t index_;
  };
  /// @param i  place of the neighbour in `Neighborhood::neighbours()`
  Channel channel(std::size_t i) { return {this, i}; }

  /// Say that this rank has no more messages in this round; sends what is left.
  void close() { packets_.close(); }

  /// Messages in order of arrival; waits for more until the round is over. @pre `close()` was called
  /// @throws Error{usage}, once the round is over, if a rank began another kind of round, or one of another type, or if
  /// a parcel was lost
  detail::ReceivedRange<detail::FixedReader<T>> received() {
    return detail::ReceivedRange<detail::FixedReader<T>>(packets_);
  }

  /// The same without a copy and faster, for short messages: the messages of one packet at a time, as a span that lives
  /// until the next step. @pre `close()` was called
  detail::ReceivedRuns<T> received_runs() { return detail::ReceivedRuns<T>(packets_); }

  /// All messages, by ascending sender and for each in the order of sending: the same on every run.
  std::vector<Received<T>> collect() {
    std::vector<Received<T>> all;
    for (const Received<T>& one : received()) all.push_back(one);
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.from < b.from; });
    return all;
  }

 private:
  friend class Neighborhood;
  friend struct detail::CallRounds;
  friend class Channel;
  Round(detail::RoundCore& core, detail::RoundCall call) : packets_(core, detail::kind_of<T>(call)) {}
  /// Of n messages; the largest number where the product has no place.
  static constexpr std::size_t bytes_of(std::size_t n) noexcept {
    return n <= PacketRound::most_message_bytes / sizeof(T) ? n * sizeof(T) : SIZE_MAX;
  }
  static std::span<T> make_messages(std::byte* place, std::size_t n) {
    T* const first = reinterpret_cast<T*>(place);
    std::uninitialized_default_construct_n(first, n);
    return {first, n};
  }
  PacketRound packets_;
};

/// One round of messages of any length. Its verbs are local.
class ByteRound {
 public:
  /// Room for a message of `n_bytes` to one rank, 8-byte aligned: write it before the next call on the round. As
  /// `Round::allocate`. @throws Error{usage} also for 16 GiB or more
  std::span<std::byte> allocate(Rank to, std::size_t n_bytes);
  void close() { packets_.close(); }
  /// Messages in order of arrival; a span lives until the next step.
  detail::ReceivedRange<detail::ByteReader> received() { return detail::ReceivedRange<detail::ByteReader>(packets_); }

 private:
  friend class Neighborhood;
  friend struct detail::CallRounds;
  ByteRound(detail::RoundCore& core, const detail::MessageKind& kind) : packets_(core, kind) {}
  PacketRound packets_;
};

}  // namespace barrio::exchange
