#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace barrio::exchange::detail {

/// State of the packets between this rank and one other, in both directions: which may leave, in which order those that
/// arrive are read, and when the other rank is told. Pure: it sends and receives nothing, so a scheduler in one process
/// can run it under any order of arrival.
///
/// At most `window` packets to a rank are without acknowledgement; further ones wait at the sender. A packet is
/// acknowledged once it was read: by the next packet the other way or, when half of a window waits for one, by a header
/// of its own, which needs no room in the window. A message longer than a packet is announced by a packet and follows
/// on its own; packets that arrive behind the announcement wait until it is here.
class PairState {
 public:
  /// Handle of a packet that has arrived; its meaning is the caller's.
  using Ticket = std::uint32_t;

  /// @param window  at least 1, the same on all ranks
  explicit PairState(std::uint32_t window) : window_(window) {}

  [[nodiscard]] bool may_send() const noexcept { return n_sent_ - n_acknowledged_ < window_; }
  /// Record that a packet leaves. @pre may_send()
  void send() noexcept { ++n_sent_; }
  /// Take the number of packets that the other rank has read so far. A packet tells no less than those before it.
  void take_acknowledged(std::uint64_t n_read) noexcept { n_acknowledged_ = n_read; }

  /// Return the number of packets read so far, to be told in a packet that leaves now.
  [[nodiscard]] std::uint64_t acknowledge() noexcept { return n_told_ = n_read_; }
  /// Tell whether a header must leave that acknowledges packets.
  [[nodiscard]] bool must_acknowledge() const noexcept { return 2 * (n_read_ - n_told_) >= window_; }

  /// Take a packet. @param is_here  false: it announces a message that is still to come
  void arrive(Ticket ticket, bool is_here) { arrived_.push_back({ticket, is_here}); }
  /// Record that an announced message is here. @pre it was announced by this ticket
  void arrive_late(Ticket ticket);
  /// Return the next packet to read, if it is here.
  [[nodiscard]] std::optional<Ticket> next();
  /// Record that a packet was read. @pre `next()` has returned it
  void finish() noexcept { ++n_read_; }

  [[nodiscard]] std::uint64_t n_sent() const noexcept { return n_sent_; }
  [[nodiscard]] std::uint64_t n_acknowledged() const noexcept { return n_acknowledged_; }
  [[nodiscard]] bool has_arrived() const noexcept { return !arrived_.empty(); }

  /// Encode all state that decides what happens next, for searches through all states.
  void encode(std::vector<std::uint64_t>& words) const;

 private:
  struct Arrived {
    Ticket ticket;
    bool is_here;
  };
  std::uint32_t window_;
  std::uint64_t n_sent_ = 0;
  std::uint64_t n_acknowledged_ = 0;
  std::uint64_t n_read_ = 0;
  std::uint64_t n_told_ = 0;     // of n_read_
  std::deque<Arrived> arrived_;  // unread, in order
};

}  // namespace barrio::exchange::detail
