#pragma once

/// @file Messages to any rank at any time, without rounds; handlers may send more.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/ids.hpp"
#include "barrio/exchange/packet_round.hpp"
#include "barrio/mpi/context.hpp"
#include "barrio/mpi/datatype.hpp"

namespace barrio::exchange {

namespace detail {
class StreamCore;
}  // namespace detail

/// Options of a stream, the same on all ranks.
struct StreamOptions {
  std::uint32_t packet_bytes = 0;  ///< of a full packet with its header; 0: half of the profile's packet size
  /// Packets that may arrive while a rank computes, before MPI has to keep them; half of them until a `flush` follows
  /// the reading of others.
  std::uint32_t n_receives = 8;
  std::uint32_t window = 4;             ///< packets to a rank that it has not read; further ones wait at the sender
  double stall_warning_seconds = 60.0;  ///< idle time in `drain` after which a rank warns
};

/// Traffic of this rank in a stream so far.
struct StreamStatistics {
  std::uint64_t packets_sent = 0;           ///< MPI messages with content; to this rank itself none
  std::uint64_t packets_received = 0;       ///< MPI messages with content; from this rank itself none
  std::uint64_t acknowledgements_sent = 0;  ///< MPI messages that carry nothing else
  std::uint64_t bytes_sent = 0;             ///< with headers
  std::uint64_t bytes_received = 0;         ///< with headers
  std::uint64_t waits_for_room = 0;         ///< packets that could not leave at once
  std::uint64_t max_waiting_bytes = 0;      ///< of packets that could not leave
};

/// Packets between any ranks, without types; `Stream` is a thin wrapper.
///
/// A packet leaves when it is full, or with `flush`. Packets of one rank arrive in the order of sending. A rank that
/// does not read holds up nobody else: `window` packets are on their way to it at most, further ones wait in memory of
/// the sender (`waiting_bytes`), so writing never waits. A message longer than a packet travels on its own, in order.
///
/// While a stream exists, rounds that wait take its packets in, and `drain` takes in those of open rounds.
/// Memory: `n_receives` packets; for each rank that this one has messages with at most `window` packets each way, and
/// what waits. Source of the pattern: Active messages, von Eicken et al. 1992.
class PacketStream {
 public:
  /// Make a stream. Collective: duplicates the communicator. All ranks of the context make it in the same order.
  /// @throws AgreedError{usage} if packet sizes differ between ranks
  PacketStream(mpi::Context& context, const detail::MessageKind& kind, const StreamOptions& options);
  /// Make a stream of bytes that the caller packs. Collective, as above.
  explicit PacketStream(mpi::Context& context, const StreamOptions& options = {})
      : PacketStream(context, detail::kind_of_bytes(detail::RoundCall::stream), options) {}
  /// Drop messages that are left, and wait for the other ranks. Collective, unless an exception is in flight.
  ~PacketStream();
  PacketStream(PacketStream&& other) noexcept;
  PacketStream& operator=(PacketStream&&) = delete;

  /// Packet that has arrived, in place.
  struct Packet {
    Rank from = -1;                      ///< sender; -1 if there is no packet
    std::span<const std::byte> payload;  ///< messages back to back, without the header
    detail::MessageKind kind;            ///< that of the stream; others are refused
  };

  /// Reserve room for a message to any rank, this one too; valid until the next call. Never waits.
  /// @throws Error{usage} for a rank out of range or more than PacketRound::max_message_bytes
  std::byte* allocate(Rank to, std::size_t n_bytes) {
    if (to != last_rank_) [[unlikely]]
      select(to);
    if (static_cast<std::size_t>(cursor_->end - cursor_->at) < n_bytes) [[unlikely]]
      return make_room(n_bytes);
    return std::exchange(cursor_->at, cursor_->at + n_bytes);
  }
  /// Reserve room as `allocate`, if the packet that was written last goes to this rank and has it. @return null if not
  std::byte* allocate_at_once(Rank to, std::size_t n_bytes) noexcept {
    if (to != last_rank_ || static_cast<std::size_t>(cursor_->end - cursor_->at) < n_bytes) return nullptr;
    return std::exchange(cursor_->at, cursor_->at + n_bytes);
  }
  /// Let packets leave that are not full. Never waits. Cost: O(such packets)
  void flush();
  /// Return the next packet that has arrived, without waiting; its bytes live until the next call.
  /// @throws Error{usage} for messages of another type
  std::optional<Packet> poll() {
    Packet packet;
    return poll(packet) ? std::optional(packet) : std::nullopt;
  }
  /// Read packets until all ranks have read everything and none will send more. Collective. Where a handler throws, all
  /// ranks drop what is left and throw.
  /// @param read  called with each packet; it may send
  /// @throws AgreedError on all ranks with the error of the lowest rank that failed
  template <class Read>
  void drain(Read&& read) {
    drain(std::forward<Read>(read), [] { return false; });
  }
  /// Read as `drain(read)`, while ranks have other work. @param work  called where no packet has arrived: does some,
  /// which may send, and returns whether there was any. It is not called after a failure
  template <class Read, class Work>
  void drain(Read&& read, Work&& work) {
    drain(std::forward<Read>(read), std::forward<Work>(work), [](const Packet&) {});
  }
  /// Read as `drain(read, work)`. @param rescue  called with each packet after a failure, of what must not be lost;
  /// must not throw, and sends nothing
  template <class Read, class Work, class Rescue>
  void drain(Read&& read, Work&& work, Rescue&& rescue) {
    begin_drain();
    Status status;
    for (;;) {
      Packet packet;
      bool is_there = false;
      bool is_busy = false;
      const auto take = [&] { is_there = poll(packet); };
      const auto act = [&] {
        if (is_there) {
          read(std::as_const(packet));
        } else {
          is_busy = work();
        }
      };
      if (Status fault = capture(take); fault && !status) status = std::move(fault);
      if (!status && !has_failed()) {
        status = capture(act);
      } else if (is_there) {
        rescue(std::as_const(packet));
      }
      if (!is_there && !is_busy && is_quiet(status.has_value())) break;
    }
    end_drain(status);
  }

  /// Count the bytes of packets that wait until they may leave.
  [[nodiscard]] std::uint64_t waiting_bytes() const noexcept;
  /// Count the bytes of its buffers and tables on this rank.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
  /// Return the traffic of this rank so far. Local.
  [[nodiscard]] const StreamStatistics& statistics() const noexcept;
  /// Count the reductions of all calls of `drain`.
  [[nodiscard]] std::uint64_t n_waves() const noexcept;
  /// Return the context that it was made with.
  [[nodiscard]] mpi::Context& context() const noexcept;

 private:
  /// Find the next packet. @return false if none has arrived
  bool poll(Packet& packet);
  void select(Rank to);
  std::byte* make_room(std::size_t n_bytes);
  void begin_drain();
  [[nodiscard]] bool is_quiet(bool has_failed);
  [[nodiscard]] bool has_failed() const noexcept;
  void end_drain(const Status& status);

  static constexpr std::int64_t none = INT64_MIN;  // not a rank
  std::unique_ptr<detail::StreamCore> core_;
  std::int64_t last_rank_ = none;
  SendCursor* cursor_ = nullptr;
};

/// Messages of one fixed type between any ranks, at any time. See PacketStream.
/// @tparam T  trivially copyable, the same on all ranks
template <mpi::Trivial T>
class Stream {
 public:
  /// Make a stream. Collective: duplicates the communicator. All ranks of the context make it in the same order.
  explicit Stream(mpi::Context& context, const StreamOptions& options = {})
      : packets_(context, detail::kind_of<T>(detail::RoundCall::stream), options) {}

  /// Send a message to any rank, this one too. Never waits. @throws Error{usage} for a rank out of range
  void send(Rank to, const T& message) { std::memcpy(packets_.allocate(to, sizeof(T)), &message, sizeof(T)); }
  /// Let packets leave that are not full. Never waits.
  void flush() { packets_.flush(); }
  /// Give all messages that have arrived to a handler, which may send. Packets that are not full leave, before and
  /// after. Never waits.
  /// @param handler  called with (Rank from, const T& message)
  /// @return whether there were any @throws Error{usage} if a rank sends another type
  template <class Handler>
  bool poll(Handler&& handler) {
    packets_.flush();
    bool is_some = false;
    while (const std::optional<PacketStream::Packet> packet = packets_.poll()) {
      is_some = true;
      hand_out(*packet, handler);
    }
    packets_.flush();
    return is_some;
  }
  /// Read messages until all ranks have read everything and none will send more. Collective. Where a handler
  /// throws, all ranks drop what is left and throw.
  /// @param handler  called with (Rank from, const T& message); it may send
  /// @throws AgreedError on all ranks with the error of the lowest rank that failed
  template <class Handler>
  void drain(Handler&& handler) {
    packets_.drain([&](const PacketStream::Packet& packet) { hand_out(packet, handler); });
  }

  /// Return the stream of packets beneath, as for `waiting_bytes()`.
  [[nodiscard]] PacketStream& packets() noexcept { return packets_; }
  /// Return the traffic of this rank so far. Local.
  [[nodiscard]] const StreamStatistics& statistics() const noexcept { return packets_.statistics(); }

 private:
  template <class Handler>
  static void hand_out(const PacketStream::Packet& packet, Handler& handler) {
    T message;
    for (std::size_t at = 0; at + sizeof(T) <= packet.payload.size(); at += sizeof(T)) {
      std::memcpy(&message, &packet.payload[at], sizeof(T));
      handler(packet.from, std::as_const(message));
    }
  }
  PacketStream packets_;
};

}  // namespace barrio::exchange
