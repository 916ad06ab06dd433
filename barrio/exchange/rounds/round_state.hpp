#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/base/ids.hpp"

namespace barrio::exchange::detail {

/// Line that announces a parcel to a stranger; it is sent byte by byte.
/// In the last packet of a round: I have written `n_bytes` to `rank`, which is not my neighbour.
/// In the second wave: `rank` has written `n_bytes` to you, or (`is_receipt`) your parcel to `rank` was passed on.
struct Introduction {
  Rank rank;
  std::uint16_t is_receipt;
  std::uint16_t n_lost;  ///< parcels of earlier rounds that nobody has announced, and that precede this one
  std::uint64_t n_bytes;
};

/// Protocol that decides when a round is over. Pure: it sends and receives no message, so a scheduler in one process
/// can run it under any order of arrival. The caller reports received messages, and asks for messages to send.
///
/// First wave: each rank's last packet to each neighbour tells the number of its packets, so a round among neighbours
/// is over when all last packets have arrived. With introductions it also names the strangers this rank has written to.
/// Second wave: a rank that has all last packets tells each neighbour which ranks have written to it, and acknowledges
/// what it passed on. A rank that has the second wave of all neighbours knows every rank at two hops that has written
/// to it.
/// Proof: docs/decisions/0007-introductions.md. Source: Ovcharenko et al. 2012, section 4.2, and its section 8, which
/// leaves new neighbours without collectives to future work.
class RoundState {
 public:
  /// Begin a round. @param neighbours  ascending; outlives the round and its copies
  void begin(std::span<const Rank> neighbours, bool introduces);

  /// Record that this rank has sent its last packets. @param strangers  other ranks it has written to, without
  /// repetition
  void close(std::span<const Introduction> strangers);
  /// Take the last packet of a neighbour, with its introductions.
  void take_last(std::size_t channel, std::span<const Introduction> introductions);
  /// Take the second wave of a neighbour. @return the newly announced parcels for this rank
  std::vector<Introduction> take_pass(std::size_t channel, std::span<const Introduction> lines);
  void take_parcel();

  /// Tell whether the second wave must be sent; true once in a round.
  [[nodiscard]] bool wants_pass() noexcept;
  /// Return the second wave's lines for a neighbour. @pre `wants_pass()` was true
  [[nodiscard]] std::vector<Introduction> pass_to(std::size_t channel) const;

  [[nodiscard]] bool is_over() const noexcept;
  [[nodiscard]] bool introduces() const noexcept { return introduces_; }
  [[nodiscard]] bool has_last(std::size_t channel) const noexcept { return has_last_[channel] != 0; }
  /// Return the ranks that became known: written to and passed on, or heard of. Ascending. @pre `is_over()`
  [[nodiscard]] std::vector<Rank> discovered() const;
  /// Return the strangers that no neighbour knows: their parcels were lost. @pre `is_over()`
  [[nodiscard]] std::vector<Rank> unreachable() const;

  /// Encode all state, except for the neighbours, that decides how the round continues: two states of equal words
  /// behave alike from here on, whatever the order of arrival was. For searches through all states.
  [[nodiscard]] std::vector<std::uint64_t> encoded() const;

 private:
  struct Heard {
    std::size_t channel;  // the neighbour that has written
    Introduction line;
  };
  struct Stranger {
    Rank rank;
    bool is_passed_on;
  };
  std::span<const Rank> neighbours_;
  bool introduces_ = false;
  bool is_closed_ = false;
  bool has_passed_ = false;
  std::size_t n_last_ = 0;
  std::size_t n_passes_ = 0;
  std::size_t n_parcels_ = 0;
  std::vector<char> has_last_;
  std::vector<Heard> heard_;
  std::vector<Stranger> strangers_;  // ascending
  std::vector<Rank> writers_;        // strangers that have written to this rank, ascending
};

}  // namespace barrio::exchange::detail
