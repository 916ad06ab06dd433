#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "barrio/base/ids.hpp"
#include "barrio/exchange/detail/message_kind.hpp"

namespace barrio::exchange {

namespace detail {
class RoundCore;
}

/// What one message buffer of a round looks like on the wire: this header, then messages back to back.
struct PacketHeader {
  std::uint64_t payload_bytes : 40;
  /// In the last packet of the round to this neighbour 1 + the number of introductions behind the payload; else 0.
  std::uint64_t last : 24;
  /// In a last packet the number of packets of the round; else the size of the next packet if it is a large one, or 0.
  std::uint64_t count_or_next_bytes;
  detail::MessageKind kind;  ///< the same for all packets that a rank sends in a round
};

/// What a rank has sent and received in the rounds of one neighbourhood.
struct RoundStatistics {
  std::uint64_t rounds = 0;
  std::uint64_t packets_sent = 0;  ///< MPI messages, second waves and parcels included
  std::uint64_t packets_received = 0;
  std::uint64_t bytes_sent = 0;  ///< with headers
  std::uint64_t bytes_received = 0;
  std::uint64_t parcels_sent = 0;  ///< to ranks that were no neighbours
  std::uint64_t parcels_received = 0;
  std::uint64_t waits_for_room = 0;  ///< times a full send ring stopped the writer
  std::uint64_t collectives = 0;     ///< calls, in the modes that need them
};

/// Where the next message to a neighbour goes. Without a buffer both are null.
struct SendCursor {
  std::byte* at = nullptr;
  std::byte* end = nullptr;
};

/// The packets of one round, without types. `Round` and `ByteRound` are thin faces of it.
class PacketRound {
 public:
  /// Begins the round. The core is the neighbourhood's and outlives the round.
  PacketRound(detail::RoundCore& core, const detail::MessageKind& kind);
  PacketRound(PacketRound&& other) noexcept;
  PacketRound& operator=(PacketRound&&) = delete;
  /// A round that was begun must be closed and read to its end, unless an exception is on its way.
  ~PacketRound();

  /// Bytes that one message may have: MPI counts its words in an int.
  static constexpr std::size_t most_message_bytes = std::size_t{8} * ((std::size_t{1} << 31U) - 16);

  /// Reserve room for a message in the send buffer of a neighbour, behind the one before; valid until the next call.
  /// @throws Error{usage} for more than `most_message_bytes`
  std::byte* allocate(std::size_t channel, std::size_t n_bytes) {
    SendCursor& cursor = cursors_[channel];
    if (static_cast<std::size_t>(cursor.end - cursor.at) < n_bytes) [[unlikely]]
      return make_room(channel, n_bytes);
    return std::exchange(cursor.at, cursor.at + n_bytes);
  }
  /// The same by rank: a neighbour, this rank itself, or with introductions any rank.
  std::byte* allocate_for(Rank to, std::size_t n_bytes);
  void close();
  [[nodiscard]] std::size_t n_channels() const noexcept;

  struct Packet {
    Rank from = -1;
    std::span<const std::byte> payload;
    detail::MessageKind kind;
  };
  /// The next packet in order of arrival; empty at the end of the round. Its bytes live until the next call.
  /// @throws Error{usage}, once the round is over, if a rank began a round of another kind, naming the lowest such rank
  std::optional<Packet> next_packet();

 private:
  std::byte* make_room(std::size_t channel, std::size_t n_bytes);
  [[noreturn]] void refuse(const Packet& packet);
  detail::RoundCore* core_;
  detail::MessageKind kind_;
  SendCursor* cursors_;
};

}  // namespace barrio::exchange
