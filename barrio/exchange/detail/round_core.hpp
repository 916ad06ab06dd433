#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "barrio/exchange/packet_round.hpp"
#include "barrio/exchange/routing.hpp"
#include "barrio/exchange/termination.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::exchange::detail {

/// What a Neighborhood does its rounds with: `PacketCore`, or `NodeCore` where messages go by nodes.
class RoundCore {
 public:
  RoundCore() = default;
  RoundCore(const RoundCore&) = delete;
  RoundCore& operator=(const RoundCore&) = delete;
  virtual ~RoundCore() = default;

  /// Local. @param kind  of the messages; it goes with each packet
  virtual void begin(const MessageKind& kind) = 0;
  /// What `PacketRound::allocate` does when there is no room left in the buffer. @return the place of the message
  virtual std::byte* make_room(std::size_t channel, std::size_t n_bytes) = 0;
  /// Room for a message to this rank itself or to a rank that is not a neighbour.
  virtual std::byte* allocate_elsewhere(Rank to, std::size_t n_bytes) = 0;
  /// Send what is left. May wait for room, and by node for all ranks. @throws Error{usage} before anything is sent if a
  /// message was written past its end
  virtual void close() = 0;
  /// Wait for the next packet. @return nothing at the end of the round. @throws Error{usage} then, if a parcel was lost
  virtual std::optional<PacketRound::Packet> next_packet() = 0;
  /// Between rounds. @param neighbours  ascending, checked
  virtual void set_neighbours(std::vector<Rank> neighbours) = 0;

  /// One for each neighbour.
  [[nodiscard]] virtual SendCursor* cursors() noexcept = 0;
  [[nodiscard]] virtual bool is_over() const noexcept = 0;
  [[nodiscard]] virtual std::span<const Rank> neighbours() const noexcept = 0;
  [[nodiscard]] virtual mpi::Context& context() const noexcept = 0;
  [[nodiscard]] virtual Termination termination() const noexcept = 0;
  [[nodiscard]] virtual Routing routing() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t epoch() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t memory_bytes() const noexcept = 0;
  [[nodiscard]] virtual const RoundStatistics& statistics() const noexcept = 0;

  /// The place of a rank among the neighbours.
  [[nodiscard]] std::optional<std::size_t> find_channel(Rank neighbour) const noexcept {
    const std::span<const Rank> all = neighbours();
    const auto at = std::ranges::lower_bound(all, neighbour);
    if (at == all.end() || *at != neighbour) return {};
    return static_cast<std::size_t>(at - all.begin());
  }
};

}  // namespace barrio::exchange::detail
