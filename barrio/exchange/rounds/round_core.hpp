#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "barrio/exchange/detail/rank_table.hpp"
#include "barrio/exchange/options.hpp"
#include "barrio/exchange/packet_round.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::exchange::detail {

/// Properties that all ranks of a neighbourhood must share.
struct Likeness {
  std::uint64_t epoch;
  std::uint64_t packet_bytes;      // of a full packet
  std::uint64_t first_packet_min;  // bytes
  std::uint64_t first_packet_max;  // bytes
  std::int32_t first_tag;
  Termination termination;
};

/// First difference of two ranks of a neighbourhood; `what` is empty if there is none.
struct Difference {
  std::string what = {};
  std::string theirs = {};
  std::string ours = {};
};
[[nodiscard]] Difference first_difference(const Likeness& theirs, const Likeness& ours);

/// Engine of a Neighborhood's rounds: `PacketCore`, or `NodeCore` where messages go by nodes.
class RoundCore {
 public:
  RoundCore() = default;
  RoundCore(const RoundCore&) = delete;
  RoundCore& operator=(const RoundCore&) = delete;
  virtual ~RoundCore() = default;

  /// Begin a round. Local, but see `RoundOptions`. @param kind  of the messages; it goes with each packet
  /// @return the kind, with the round's termination in it. @throws Error{usage} if a round is open
  virtual MessageKind begin(const MessageKind& kind, const RoundOptions& options) = 0;
  /// Reserve room for `PacketRound::allocate` when the buffer has none left. @return the place of the message
  virtual std::byte* make_room(std::size_t channel, std::size_t n_bytes) = 0;
  /// Reserve room for a message to this rank itself or to a rank that is not a neighbour.
  virtual std::byte* allocate_elsewhere(Rank to, std::size_t n_bytes) = 0;
  /// Send the rest. May wait for room, and by node for all ranks. @throws Error{usage} before anything is sent if a
  /// message was written past its end
  virtual void close() = 0;
  /// Wait for the next packet. @return empty at the end of the round. @throws Error{usage} then, if a parcel was lost
  virtual std::optional<PacketRound::Packet> next_packet() = 0;
  /// Return the next packet if one has arrived.
  virtual std::optional<PacketRound::Packet> poll() = 0;
  /// Cancel the open round, if any: send nothing more of it, and ignore all incoming messages, to its end.
  virtual void cancel() = 0;
  /// Drop neighbours with whom nothing was exchanged in the last `n_rounds` rounds. Between rounds.
  /// @return the dropped ones
  virtual std::vector<Rank> drop_idle(std::uint64_t n_rounds) = 0;
  /// Set the neighbours. Between rounds. @param neighbours  ascending, checked
  virtual void set_neighbours(std::vector<Rank> neighbours) = 0;

  /// Return one cursor for each neighbour.
  [[nodiscard]] virtual SendCursor* cursors() noexcept = 0;
  [[nodiscard]] virtual bool is_over() const noexcept = 0;
  [[nodiscard]] virtual std::span<const Rank> neighbours() const noexcept = 0;
  [[nodiscard]] virtual mpi::Context& context() const noexcept = 0;
  [[nodiscard]] virtual Termination termination() const noexcept = 0;
  [[nodiscard]] virtual Routing routing() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t epoch() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t memory_bytes() const noexcept = 0;
  [[nodiscard]] virtual const RoundStatistics& statistics() const noexcept = 0;
  /// Return the properties that all ranks of a neighbourhood must share, for `Neighborhood::validate`.
  [[nodiscard]] virtual Likeness likeness() const noexcept = 0;

  /// Return the table of the neighbours' places.
  [[nodiscard]] const RankTable& channels() const noexcept { return channels_; }
  [[nodiscard]] std::optional<std::size_t> find_channel(Rank neighbour) const noexcept {
    const std::uint32_t place = channels_.find(neighbour);
    if (place == RankTable::none) return {};
    return place;
  }

 protected:
  /// Rebuild the table when neighbours have changed.
  void index_channels() { channels_.assign(neighbours()); }

 private:
  RankTable channels_;
};

}  // namespace barrio::exchange::detail
