#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "barrio/base/ids.hpp"
#include "barrio/exchange/detail/buffer.hpp"
#include "barrio/exchange/detail/message_kind.hpp"
#include "barrio/exchange/rounds/round_state.hpp"

namespace barrio::exchange::detail {

/// Messages of this rank to itself and to ranks that are not neighbours: one parcel to each, which leaves when the
/// round is closed. A parcel that nobody could announce is lost: the receiver's MPI keeps it. Later parcels of the same
/// tag tell how many lost ones precede them.
class OutgoingParcels {
 public:
  struct Parcel {
    Rank to;
    Buffer buffer;
    std::size_t used_bytes;
  };

  /// Reserve room for one more message. Valid until the next call.
  std::byte* allocate(Rank to, std::size_t n_bytes);
  /// Write headers, with the number of the round, and take out the parcel to this rank itself.
  std::optional<Buffer> seal(const MessageKind& kind, std::uint64_t epoch, Rank self);
  /// Discard all parcels. @pre not sealed
  void discard() noexcept { parcels_.clear(); }
  /// List the parcels for the neighbours. @pre sealed
  [[nodiscard]] std::vector<Introduction> introductions(int tag) const;
  /// End the round of a tag. @param lost  ranks that were not told, ascending; buffers of parcels to them are left to
  /// MPI
  void end_round(int tag, std::span<const Rank> lost);

  /// Return the parcels, ascending by receiver.
  [[nodiscard]] std::span<const Parcel> all() const noexcept { return parcels_; }
  [[nodiscard]] std::size_t size() const noexcept { return parcels_.size(); }
  [[nodiscard]] bool empty() const noexcept { return parcels_.empty(); }
  /// Leak all buffers: MPI may still read them.
  void leak();
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  struct Lost {
    Rank to;
    int tag;
  };
  [[nodiscard]] Buffer take_spare();
  std::vector<Parcel> parcels_;
  std::vector<Lost> lost_;
  std::vector<Buffer> spares_;
};

}  // namespace barrio::exchange::detail
