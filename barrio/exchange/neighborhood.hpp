#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::exchange {

template <class T>
class Round;
class ByteRound;

struct NeighborhoodOptions {
  std::uint32_t packet_bytes = 0;  ///< size of a packet with its header; 0 takes the context's profile
  std::uint32_t ring_depth = 0;    ///< send buffers per neighbour; 0 takes the context's profile
};

/// What one message buffer of a round looks like on the wire: this header, then messages back to back.
struct PacketHeader {
  std::uint32_t payload_bytes;
  std::uint32_t is_last;  ///< 1 in the last packet of the round to this neighbour
  /// In a last packet the number of packets of the round; else the size of the next packet if it is a large one, or 0.
  std::uint64_t count_or_next_bytes;
};

/// Exchange messages with a fixed set of neighbours in rounds, without any collective call.
///
/// In a round each rank writes any number of messages to any neighbour, straight into send buffers, and reads what
/// the neighbours sent. Packets leave when they are full. The last one to a neighbour carries the number of packets,
/// so a receiver knows when it has everything: a round costs at least one message per neighbour and direction and
/// no more than the data needs. A rank may run one round ahead of a neighbour; the tag of the epoch keeps them apart.
///
/// Rounds of several Neighborhoods of one Context may be open at once. While one is open, neighbours may wait for this
/// rank to take packets in; so from `begin` to the end of `received()` wait for others in such rounds only, and in no
/// collective call. Packet size and ring depth are the same on all ranks.
///
/// Memory: (ring_depth + 1) packets per neighbour, plus what was received and not yet read.
/// Source: Ovcharenko et al. 2012, sections 3 and 4.
class Neighborhood {
 public:
  /// Local, but all ranks of the context make it in the same order. Neighbours must be mutual; `validate()` checks it.
  /// @param neighbours  ranks, in any order, without this rank and without repetition
  /// @throws Error{usage} for a rank out of range, a repetition or this rank itself
  Neighborhood(mpi::Context& context, std::span<const Rank> neighbours, NeighborhoodOptions options = {});
  ~Neighborhood();
  Neighborhood(Neighborhood&&) noexcept;
  Neighborhood& operator=(Neighborhood&&) noexcept;

  /// Ascending.
  [[nodiscard]] std::span<const Rank> neighbours() const& noexcept;
  std::span<const Rank> neighbours() && = delete;
  [[nodiscard]] mpi::Context& context() const noexcept;

  /// Begin a round of messages of one fixed type; no header per message. Local. One round at a time.
  template <class T>
  [[nodiscard]] Round<T> begin_round();
  /// Begin a round of messages of any length; 8 bytes of header each. Local. One round at a time.
  [[nodiscard]] ByteRound begin_byte_round();

  /// Check that neighbours are mutual. Collective.
  /// @throws AgreedError{internal} naming a pair of which only one lists the other
  void validate() const;

  /// Rounds done so far.
  [[nodiscard]] std::uint64_t epoch() const noexcept;
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  template <class T>
  friend class Round;
  friend class ByteRound;
  class Core;
  std::unique_ptr<Core> core_;
};

/// The packets of one round, without types. `Round` and `ByteRound` are thin faces of it.
class PacketRound {
 public:
  explicit PacketRound(Neighborhood& hood, void* core);
  PacketRound(PacketRound&& other) noexcept;
  PacketRound& operator=(PacketRound&&) = delete;
  /// A round that was begun must be closed and read to its end, unless an exception is on its way.
  ~PacketRound();

  /// Reserve room for a message in the send buffer of a neighbour; 8-byte aligned, valid until the next call.
  std::byte* allocate(std::size_t channel, std::size_t n_bytes);
  void close();
  [[nodiscard]] std::size_t channel_of(Rank neighbour) const;
  [[nodiscard]] std::size_t n_channels() const noexcept;

  struct Packet {
    Rank from = -1;
    std::span<const std::byte> payload;
  };
  /// The next packet in order of arrival; empty at the end of the round. Its bytes live until the next call.
  std::optional<Packet> next_packet();

 private:
  void* core_;
};

}  // namespace barrio::exchange

#include "barrio/exchange/round.hpp"
