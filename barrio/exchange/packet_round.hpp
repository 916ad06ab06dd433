#pragma once

/// @file Packets of one round, without types: the layer below `Round` and `ByteRound`.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "barrio/base/ids.hpp"
#include "barrio/exchange/detail/message_kind.hpp"
#include "barrio/exchange/detail/rank_table.hpp"
#include "barrio/exchange/options.hpp"

namespace barrio::exchange {

namespace detail {
class RoundCore;

/// Round up to whole words.
constexpr std::size_t padded(std::size_t n_bytes) noexcept { return (n_bytes + 7U) & ~std::size_t{7}; }
}  // namespace detail

/// Header of a message buffer of a round; messages follow it back to back.
struct PacketHeader {
  std::uint64_t payload_bytes : 40;  ///< of messages, without this header and introductions
  /// In the last packet of a round to this neighbour 1 + the number of introductions after the payload; else 0. In a
  /// stream: what it announces.
  std::uint64_t last : 24;
  /// In a last packet the number of packets of the round; in a parcel the number of the round; in a stream the number
  /// of packets that its sender has read; else the size of the next packet if that is large, or 0.
  std::uint64_t count_or_next_bytes;
  detail::MessageKind kind;  ///< the same for all packets that a rank sends in a round
};

/// Options of one round that override those of its Neighborhood; the same on all ranks.
struct RoundOptions {
  /// Termination of the round. If it is `allreduce`, `consensus` or `automatic` where the Neighborhood's own rounds are
  /// not, beginning the first such round is collective: it duplicates the communicator.
  std::optional<Termination> termination = {};
  std::uint32_t packet_bytes = 0;  ///< size of its packets with their headers; 0: that of the Neighborhood
};

/// Messages and bytes that a rank sent and received in the rounds of one neighbourhood.
struct RoundStatistics {
  std::uint64_t rounds = 0;            ///< that have ended, cancelled ones too
  std::uint64_t packets_sent = 0;      ///< MPI messages, second waves and parcels included
  std::uint64_t packets_received = 0;  ///< MPI messages, second waves and parcels included
  std::uint64_t bytes_sent = 0;        ///< with headers
  std::uint64_t bytes_received = 0;    ///< with headers
  std::uint64_t parcels_sent = 0;      ///< to ranks that were not neighbours
  std::uint64_t parcels_received = 0;  ///< from ranks that were not neighbours
  std::uint64_t waits_for_room = 0;    ///< times a full send ring stopped the writer
  std::uint64_t collectives = 0;       ///< calls, with a termination that needs them
};

/// Place of the next message to a neighbour. Without a buffer both `at` and `end` are null.
struct SendCursor {
  std::byte* at = nullptr;   ///< place of the next message
  std::byte* end = nullptr;  ///< end of the room for messages
  std::byte* run = nullptr;  ///< head of the run of messages that continues at `at`, in the same buffer
};

namespace detail {

/// Head of a run: messages of any length are sent in runs of consecutive ones of equal length. A run has one word of
/// head, then the messages, each padded to whole words.
struct RunHead {
  static constexpr std::size_t n_bytes = 8;
  static constexpr unsigned n_length_bits = 40;
  static constexpr std::uint64_t one = std::uint64_t{1} << n_length_bits;
  static constexpr std::uint64_t most = ~std::uint64_t{0} - one;  // largest head with room for one more message

  static std::uint64_t get(const std::byte* at) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
  }
  static void put(std::byte* at, std::uint64_t word) noexcept { std::memcpy(at, &word, sizeof word); }
  static constexpr std::uint64_t length(std::uint64_t word) noexcept { return word & (one - 1); }
  static constexpr std::uint64_t n_messages(std::uint64_t word) noexcept { return word >> n_length_bits; }
};

/// Append a message to the run of a channel. @return null if this message must begin another run
[[nodiscard]] inline std::byte* allocate_in_run(SendCursor& cursor, std::size_t n_bytes) noexcept {
  if (cursor.run == nullptr) return nullptr;
  const std::size_t place_bytes = padded(n_bytes);
  const std::uint64_t head = RunHead::get(cursor.run);
  // An empty message takes no place (0 - 1 wraps round), so it gets a head of its own.
  if (RunHead::length(head) != n_bytes || place_bytes - 1 >= static_cast<std::size_t>(cursor.end - cursor.at) ||
      head > RunHead::most)
    return nullptr;
  RunHead::put(cursor.run, head + RunHead::one);
  return std::exchange(cursor.at, cursor.at + place_bytes);
}

/// Begin a run. @param place  of its head, with room for the message. @return the place of the message
inline std::byte* begin_run(SendCursor& cursor, std::byte* place, std::size_t n_bytes) noexcept {
  RunHead::put(place, RunHead::one | n_bytes);
  cursor.run = place;
  return place + RunHead::n_bytes;
}

/// Return the bytes of a run of one message; too many for any packet where the sum would wrap round.
constexpr std::size_t run_bytes(std::size_t n_bytes, std::size_t most) noexcept {
  return n_bytes <= most ? RunHead::n_bytes + padded(n_bytes) : n_bytes;
}

}  // namespace detail

/// Packets of one round, without types. `Round` and `ByteRound` are thin wrappers of it.
class PacketRound {
 public:
  /// Begin the round. The core belongs to the neighbourhood and outlives the round.
  PacketRound(detail::RoundCore& core, const detail::MessageKind& kind, const RoundOptions& options);
  PacketRound(PacketRound&& other) noexcept;
  PacketRound& operator=(PacketRound&&) = delete;
  /// End the job with exit code 2 if the round was neither read to its end nor cancelled, unless an exception is in
  /// flight.
  ~PacketRound();

  /// Maximum size of a message: MPI counts its words in an int.
  static constexpr std::size_t max_message_bytes = std::size_t{8} * ((std::size_t{1} << 31U) - 16);

  /// Reserve room for a message in the send buffer of a neighbour, after the previous one; valid until the next call.
  /// @throws Error{usage} for more than `max_message_bytes`
  std::byte* allocate(std::size_t channel, std::size_t n_bytes) {
    SendCursor& cursor = cursors_[channel];
    if (static_cast<std::size_t>(cursor.end - cursor.at) < n_bytes) [[unlikely]]
      return make_room(*core_, channel, n_bytes);
    return std::exchange(cursor.at, cursor.at + n_bytes);
  }
  /// Reserve room for a message to a rank: a neighbour, this rank itself, or any rank where the round may meet
  /// strangers.
  std::byte* allocate_for(Rank to, std::size_t n_bytes) {
    if (to != last_rank_) {
      const std::uint32_t channel = table_->find(to);
      if (channel == detail::RankTable::none) [[unlikely]]
        return allocate_elsewhere(to, n_bytes);
      last_rank_ = to;
      last_channel_ = channel;
    }
    return allocate(last_channel_, n_bytes);
  }
  /// Reserve room for a message of any length to a rank, in a run.
  std::byte* allocate_bytes_for(Rank to, std::size_t n_bytes) {
    if (to == last_rank_) return way(last_channel_, unchecked).allocate_bytes(n_bytes);
    std::byte* const place = allocate_for(to, detail::run_bytes(n_bytes, max_message_bytes));
    if (to == last_rank_) return detail::begin_run(cursors_[last_channel_], place, n_bytes);
    SendCursor elsewhere;
    return detail::begin_run(elsewhere, place, n_bytes);
  }
  /// Close the round. As `Round::close`.
  void close();
  /// Return the number of neighbours that can be written to; the end of a round may add some.
  [[nodiscard]] std::size_t n_channels() const noexcept { return n_channels_; }
  /// Way to a neighbour, which outlives a move of the round. @throws Error{usage} unless channel < n_channels()
  struct Way {
    detail::RoundCore* core;  ///< of the neighbourhood; borrowed
    SendCursor* cursor;       ///< of this neighbour; borrowed
    std::size_t channel;      ///< place of the neighbour in `Neighborhood::neighbours()`
    /// Reserve room for a message. As `PacketRound::allocate`.
    std::byte* allocate(std::size_t n_bytes) {
      if (static_cast<std::size_t>(cursor->end - cursor->at) < n_bytes) [[unlikely]]
        return make_room(*core, channel, n_bytes);
      return std::exchange(cursor->at, cursor->at + n_bytes);
    }
    /// Reserve room for a message of any length, in a run.
    std::byte* allocate_bytes(std::size_t n_bytes) {
      if (std::byte* const place = detail::allocate_in_run(*cursor, n_bytes); place != nullptr) [[likely]]
        return place;
      std::byte* const place = allocate(detail::run_bytes(n_bytes, max_message_bytes));
      return detail::begin_run(*cursor, place, n_bytes);
    }
  };
  /// Tag of a channel that is known to be less than `n_channels()`.
  struct Unchecked {};
  static constexpr Unchecked unchecked{};  ///< for `way()`
  /// Return the way to a neighbour, without a check. @pre channel < n_channels()
  [[nodiscard]] Way way(std::size_t channel, Unchecked /*known*/) noexcept {
    return {core_, cursors_ + channel, channel};
  }
  /// Return the way to a neighbour. @throws Error{usage} unless channel < n_channels()
  [[nodiscard]] Way way(std::size_t channel) {
    if (channel >= n_channels_) [[unlikely]]
      refuse_channel(channel);
    return {core_, cursors_ + channel, channel};
  }

  /// Packet that has arrived, in place.
  struct Packet {
    Rank from = -1;                      ///< sender; -1 if there is no packet
    std::span<const std::byte> payload;  ///< messages back to back, without the header; may be empty
    detail::MessageKind kind;            ///< as its sender began the round
  };
  /// Wait for the next packet in order of arrival; empty at the end of the round. Its bytes live until the next call.
  /// @throws Error{usage}, once the round is over, if a rank began a round of another kind, naming the lowest such rank
  std::optional<Packet> next_packet();
  /// Return the next packet if one has arrived, without waiting, before `close()` and after it. With
  /// `Delivery::by_rank` and by node nothing is returned before all has arrived. Never tells the end of the round. Its
  /// bytes live until the next call.
  /// @throws Error{usage} at once if a rank began a round of another kind
  std::optional<Packet> poll();

 private:
  static constexpr std::int64_t none = INT64_MIN;  // not a rank
  std::byte* allocate_elsewhere(Rank to, std::size_t n_bytes);
  static std::byte* make_room(detail::RoundCore& core, std::size_t channel, std::size_t n_bytes);
  [[nodiscard]] detail::RoundCore& core() const;
  /// Read the core again: the end of a round may have added neighbours.
  void refresh();
  [[noreturn]] void refuse(const Packet& packet);
  [[noreturn]] void refuse_channel(std::size_t channel) const;
  detail::RoundCore* core_;
  detail::MessageKind kind_;
  SendCursor* cursors_;
  const detail::RankTable* table_;
  std::size_t n_channels_;
  std::int64_t last_rank_ = none;  // rank of the last message written by rank; then its channel
  std::uint32_t last_channel_ = 0;
};

}  // namespace barrio::exchange
