#pragma once

/// @file One round of messages to neighbours: typed, of any length, or of a run-time size.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "barrio/exchange/packet_round.hpp"

namespace barrio::exchange {

class Neighborhood;

/// Message and the rank that sent it.
template <class T>
struct Received {
  Rank from;  ///< sender; this rank too, if it writes to itself
  T message;  ///< a copy; in rounds of bytes a span that lives until the next step
};

/// Consecutive messages of one neighbour, in place in the receive buffer.
template <class T>
struct ReceivedRun {
  Rank from;                    ///< sender of all of them
  std::span<const T> messages;  ///< in the order of sending; at least one
};

namespace detail {

struct CallRounds;

/// Report that the length of a variable-length message was overwritten. First reads the round to its end, so that the
/// next one can begin. @throws Error{usage}
[[noreturn]] void refuse_length(PacketRound& packets, Rank from, std::size_t rest_bytes, std::size_t message_bytes);

/// Unread messages of one packet. At the end of a round `at` is null.
struct Unread {
  Rank from = -1;
  const std::byte* at = nullptr;
  const std::byte* end = nullptr;
};
/// Wait for the next packet that has messages and return them.
[[nodiscard]] Unread next_unread(PacketRound& packets);

/// Messages of one type, back to back.
template <class T>
struct FixedReader {
  using Message = T;
  static constexpr bool has_lengths = false;
  static T read(const std::byte* at) noexcept {
    T message;
    std::memcpy(&message, at, sizeof(T));
    return message;
  }
  static std::size_t size(const std::byte* /*at*/) noexcept { return sizeof(T); }
};

/// Messages of a size that is known at run time, back to back.
struct SizedReader {
  using Message = std::span<const std::byte>;
  static constexpr bool has_lengths = false;
  std::size_t message_bytes;
  [[nodiscard]] Message read(const std::byte* at) const noexcept { return {at, message_bytes}; }
  [[nodiscard]] std::size_t size(const std::byte* /*at*/) const noexcept { return padded(message_bytes); }
};

/// Messages of any length, in runs: see RunHead.
struct ByteReader {
  using Message = std::span<const std::byte>;
  static constexpr bool has_lengths = true;
  std::size_t message_bytes = 0;  // of the run that is being read
  std::uint64_t n_left = 0;       // of its messages, including the current one
  [[nodiscard]] Message read(const std::byte* at) const noexcept { return {at, message_bytes}; }
  [[nodiscard]] std::size_t size(const std::byte* /*at*/) const noexcept { return padded(message_bytes); }
  /// Begin to read a run after its head. @return whether the head is plausible
  bool open(std::uint64_t head, std::size_t rest_bytes) noexcept {
    message_bytes = RunHead::length(head);
    n_left = RunHead::n_messages(head);
    const std::uint64_t place_bytes = padded(message_bytes);
    return n_left > 0 && place_bytes <= rest_bytes && n_left * place_bytes <= rest_bytes;
  }
};

/// Range of the messages of a round in order of arrival, or of those of one packet: an input range for `for (auto
/// [from, m] : ...)`. `Reader` reads one message.
template <class Reader>
class ReceivedRange {
 public:
  /// Make a range. @param goes_on  continue with the packets that follow, until the round is over
  ReceivedRange(PacketRound& packets, Reader reader, bool goes_on = true, Unread first = {})
      : packets_(&packets), reader_(reader), goes_on_(goes_on), first_(first) {}

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Received<typename Reader::Message>;
    using difference_type = std::ptrdiff_t;
    Iterator(PacketRound* packets, Reader reader, bool goes_on, Unread unread)
        : packets_(packets), reader_(reader), goes_on_(goes_on), unread_(unread) {
      open();
    }
    value_type operator*() const { return {unread_.from, reader_.read(unread_.at)}; }
    Iterator& operator++() {
      unread_.at += reader_.size(unread_.at);
      if constexpr (Reader::has_lengths)
        if (--reader_.n_left > 0) return *this;
      if (unread_.at == unread_.end) [[unlikely]]
        unread_ = goes_on_ ? next_unread(*packets_) : Unread{};
      open();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const noexcept { return unread_.at == nullptr; }

   private:
    /// Read the head of a run, if there is one here.
    void open() {
      if constexpr (Reader::has_lengths) {
        if (unread_.at == nullptr) return;
        const std::size_t rest = unread_.end - unread_.at;
        const bool has_head = rest >= RunHead::n_bytes;
        const std::uint64_t head = has_head ? RunHead::get(unread_.at) : 0;
        if (!has_head || !reader_.open(head, rest - RunHead::n_bytes)) [[unlikely]]
          refuse_length(*packets_, unread_.from, rest, RunHead::length(head));
        unread_.at += RunHead::n_bytes;
      }
    }
    PacketRound* packets_;
    Reader reader_;
    bool goes_on_;
    Unread unread_;
  };

  /// Call it once.
  Iterator begin() { return {packets_, reader_, goes_on_, goes_on_ ? next_unread(*packets_) : first_}; }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  PacketRound* packets_;
  Reader reader_;
  bool goes_on_;
  Unread first_;
};

/// Range of the packets of a round in order of arrival, each as a span of its messages; empty ones are skipped.
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
      run_ = run_of(next_unread(*packets_));
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const noexcept { return run_.messages.empty(); }

   private:
    PacketRound* packets_;
    value_type run_{-1, {}};
  };

  static ReceivedRun<T> run_of(const Unread& unread) noexcept {
    const std::size_t n_bytes = unread.end - unread.at;
    return {unread.from, {reinterpret_cast<const T*>(unread.at), n_bytes / sizeof(T)}};
  }
  Iterator begin() { return Iterator(packets_); }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  PacketRound* packets_;
};

/// Return the messages of a packet that has arrived and has any, without waiting.
[[nodiscard]] Unread poll_unread(PacketRound& packets);

}  // namespace detail

/// Round of messages of type T. Its functions are local.
/// Begin it with `Neighborhood::begin_round<T>()`, allocate messages, `close()`, read `received()` to its end. Any
/// other order throws Error{usage}: closing twice, writing after `close()`, reading before it, use after a move. A
/// round that is abandoned before its end must be cancelled: `Neighborhood::cancel_round()`.
template <class T>
class Round {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 8);

 public:
  /// Allocate a message to one rank in its send buffer: write it before the next call on the round. To a neighbour, to
  /// this rank itself, or where the round's `Termination` allows it to others. A rank beyond its reach is reported when
  /// the round ends. @throws Error{usage} with `Termination::neighbourhood` for any other rank. Cost: a look-up in a
  /// table; `channel(i)` avoids it
  T& allocate(Rank to) { return *new (packets_.allocate_for(to, sizeof(T))) T; }

  /// Allocate `n` contiguous messages; the receiver gets n messages. More than fit into a packet get a packet of their
  /// own. Cost: one look-up and two comparisons for all. @throws Error{usage} also for 16 GiB or more
  std::span<T> allocate(Rank to, std::size_t n) {
    return n == 0 ? std::span<T>() : make_messages(packets_.allocate_for(to, bytes_of(n)), n);
  }

  /// Send a copy of a message. As allocate().
  void send(Rank to, const T& message) { allocate(to) = message; }
  /// Send a copy of each of these.
  void send(Rank to, std::span<const T> messages) {
    const std::span<T> place = allocate(to, messages.size());
    std::ranges::copy(messages, place.begin());
  }

  /// Channel to one neighbour, without look-up, until the round is closed. The round may be moved meanwhile.
  class Channel {
   public:
    /// Allocate a message: write it before the next call on the round. As `Round::allocate`.
    T& allocate() { return *new (way_.allocate(sizeof(T))) T; }
    /// Allocate `n` contiguous messages. As `Round::allocate`.
    std::span<T> allocate(std::size_t n) {
      return n == 0 ? std::span<T>() : make_messages(way_.allocate(bytes_of(n)), n);
    }

   private:
    friend class Round;
    explicit Channel(PacketRound::Way way) : way_(way) {}
    PacketRound::Way way_;
  };
  /// Return the channel to a neighbour. @param i  its place in `Neighborhood::neighbours()`; see
  /// `Neighborhood::channel_of`
  /// @throws Error{usage} if there is no such neighbour
  Channel channel(std::size_t i) { return Channel(packets_.way(i)); }

  /// Close the round: send the rest of this rank's messages and tell that there are no more.
  void close() { packets_.close(); }

  /// Read messages in order of arrival; waits for more until the round is over. @pre `close()` was called
  /// @throws Error{usage}, once the round is over, if a rank began another kind of round, or one of another type, or if
  /// a parcel was lost
  detail::ReceivedRange<detail::FixedReader<T>> received() { return {packets_, {}}; }

  /// Read messages without a copy, faster for short ones: the messages of one packet at a time, as a span that lives
  /// until the next step. @pre `close()` was called
  detail::ReceivedRuns<T> received_runs() { return detail::ReceivedRuns<T>(packets_); }

  /// Read the messages of one packet that has arrived, without waiting; empty if none has. This lets the caller read
  /// between `allocate()`s, so messages need not be kept until `close()`. The rest comes in `received()`, which must
  /// always be read to its end. With `Delivery::by_rank` and by node nothing is returned before all has arrived.
  /// @return a span that lives until the next call. @throws Error{usage} if its sender began another kind of round
  std::optional<ReceivedRun<T>> poll() {
    const detail::Unread unread = detail::poll_unread(packets_);
    if (unread.at == nullptr) return {};
    return detail::ReceivedRuns<T>::run_of(unread);
  }

  /// Collect all messages, by ascending sender and for each in the order of sending: the same on every run.
  std::vector<Received<T>> collect() {
    std::vector<Received<T>> all;
    for (const Received<T>& one : received()) all.push_back(one);
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.from < b.from; });
    return all;
  }

 private:
  friend class Neighborhood;
  friend struct detail::CallRounds;
  Round(detail::RoundCore& core, detail::RoundCall call, const RoundOptions& options = {})
      : packets_(core, detail::kind_of<T>(call), options) {}
  /// Count the bytes of n messages; the largest number if the product overflows.
  static constexpr std::size_t bytes_of(std::size_t n) noexcept {
    return n <= PacketRound::max_message_bytes / sizeof(T) ? n * sizeof(T) : SIZE_MAX;
  }
  static std::span<T> make_messages(std::byte* place, std::size_t n) {
    T* const first = reinterpret_cast<T*>(place);
    std::uninitialized_default_construct_n(first, n);
    return {first, n};
  }
  PacketRound packets_;
};

namespace detail {

/// Common part of rounds of bytes. `Reader` knows the layout of messages in a packet.
template <class Reader>
class RoundOfBytes {
 public:
  using Messages = ReceivedRange<Reader>;
  /// Close the round: send the rest of this rank's messages and tell that there are no more.
  void close() { packets_.close(); }
  /// Read messages in order of arrival; a span lives until the next step. As `Round::received`.
  Messages received() { return {packets_, reader_}; }
  /// Read the messages of one packet that has arrived, as `Round::poll`.
  std::optional<Messages> poll() {
    const Unread unread = poll_unread(packets_);
    if (unread.at == nullptr) return {};
    return Messages(packets_, reader_, false, unread);
  }

 protected:
  RoundOfBytes(RoundCore& core, const MessageKind& kind, const RoundOptions& options, Reader reader)
      : packets_(core, kind, options), reader_(reader) {}
  PacketRound packets_;
  [[no_unique_address]] Reader reader_;
};

inline void copy_bytes(std::span<const std::byte> from, std::byte* to) noexcept {
  if (from.size() == 8) {
    std::memcpy(to, from.data(), 8);  // in a register
  } else if (!from.empty()) {
    std::memcpy(to, from.data(), from.size());
  }
}

}  // namespace detail

/// Round of messages of any length. Consecutive ones of one length to a rank share 8 bytes of header; each is padded to
/// a multiple of 8 bytes. Its functions are local; their order is as in `Round`.
class ByteRound : public detail::RoundOfBytes<detail::ByteReader> {
 public:
  /// Allocate a message of `n_bytes` to one rank, 8-byte aligned: write it before the next call on the round. As
  /// `Round::allocate`. @throws Error{usage} also for 16 GiB or more
  std::span<std::byte> allocate(Rank to, std::size_t n_bytes) {
    return {packets_.allocate_bytes_for(to, n_bytes), n_bytes};
  }
  /// Send a copy of a message. As allocate().
  void send(Rank to, std::span<const std::byte> bytes) { detail::copy_bytes(bytes, allocate(to, bytes.size()).data()); }

  /// Channel to one neighbour, without look-up. As `Round::Channel`.
  class Channel {
   public:
    /// Allocate a message of `n_bytes`. As `ByteRound::allocate`.
    std::span<std::byte> allocate(std::size_t n_bytes) { return {way_.allocate_bytes(n_bytes), n_bytes}; }
    /// Send a copy of a message. As allocate().
    void send(std::span<const std::byte> bytes) { detail::copy_bytes(bytes, allocate(bytes.size()).data()); }

   private:
    friend class ByteRound;
    explicit Channel(PacketRound::Way way) : way_(way) {}
    PacketRound::Way way_;
  };
  /// Return the channel to a neighbour, as `Round::channel`.
  Channel channel(std::size_t i) { return Channel(packets_.way(i)); }

 private:
  friend class Neighborhood;
  friend struct detail::CallRounds;
  ByteRound(detail::RoundCore& core, const detail::MessageKind& kind, const RoundOptions& options = {})
      : RoundOfBytes(core, kind, options, {}) {}
};

/// Round of messages of one size, given when it begins: no header per message. Messages lie at multiples of 8 bytes.
/// Its functions are local; their order is as in `Round`.
class SizedRound : public detail::RoundOfBytes<detail::SizedReader> {
 public:
  /// Return the size of each message, as given when the round began.
  [[nodiscard]] std::size_t message_bytes() const noexcept { return reader_.message_bytes; }
  /// Allocate one message to one rank, `message_bytes()` long, 8-byte aligned. As `Round::allocate`.
  std::span<std::byte> allocate(Rank to) {
    return {packets_.allocate_for(to, detail::padded(message_bytes())), message_bytes()};
  }
  /// Send a copy of a message. @throws Error{usage} if its size is not `message_bytes()`
  void send(Rank to, std::span<const std::byte> bytes) {
    check_size(bytes.size());
    detail::copy_bytes(bytes, allocate(to).data());
  }

  /// Channel to one neighbour, without look-up. As `Round::Channel`.
  class Channel {
   public:
    /// Allocate one message. As `SizedRound::allocate`.
    std::span<std::byte> allocate() { return {way_.allocate(detail::padded(message_bytes_)), message_bytes_}; }

   private:
    friend class SizedRound;
    Channel(PacketRound::Way way, std::size_t message_bytes) : way_(way), message_bytes_(message_bytes) {}
    PacketRound::Way way_;
    std::size_t message_bytes_;
  };
  /// Return the channel to a neighbour, as `Round::channel`.
  Channel channel(std::size_t i) { return {packets_.way(i), message_bytes()}; }

 private:
  friend class Neighborhood;
  SizedRound(detail::RoundCore& core, std::size_t message_bytes, const RoundOptions& options);
  void check_size(std::size_t n_bytes) const;
};

}  // namespace barrio::exchange
