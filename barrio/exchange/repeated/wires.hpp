#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/exchange/repeated_exchange.hpp"

namespace barrio::exchange::detail {

/// Message as MPI sees it: one of the caller's, or several to or from one peer, back to back.
struct Wire {
  Rank peer = 0;
  std::byte* data = nullptr;
  int n_bytes = 0;
  std::vector<std::size_t> messages;  ///< places in the caller's list, in its order
};

/// Rule that joins messages of one peer. Both sides see the same sizes, so they decide alike.
struct Coalescing {
  bool is_on = false;
  bool is_always = false;         ///< whatever it costs
  std::uint64_t eager_bytes = 0;  ///< see `Profile`; the same on all ranks
  double handshake_seconds = 0.0;

  /// Tell whether joining pays. @param smallest  size of the smallest of `n` messages of `total` bytes
  [[nodiscard]] bool pays(std::uint64_t n, std::uint64_t total, std::uint64_t smallest) const noexcept;
};

/// Wires of both directions, and the memory behind them. Both sides of a pair get the same wires, since they see the
/// same sizes in the same order. Local, without MPI.
class Wires {
 public:
  Wires(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming, const Coalescing& coalescing);

  std::vector<Wire> out;
  std::vector<Wire> in;

  [[nodiscard]] std::span<std::byte> outgoing(std::size_t i) const noexcept { return outgoing_[i]; }
  [[nodiscard]] std::span<std::byte> incoming(std::size_t i) const noexcept { return incoming_[i]; }
  [[nodiscard]] std::size_t n_outgoing() const noexcept { return outgoing_.size(); }
  [[nodiscard]] std::size_t n_incoming() const noexcept { return incoming_.size(); }
  [[nodiscard]] std::uint64_t n_bytes_out() const noexcept { return n_bytes_out_; }
  [[nodiscard]] std::uint64_t n_bytes_in() const noexcept { return n_bytes_in_; }
  /// Tell whether some messages arrive joined.
  [[nodiscard]] bool has_joined() const noexcept { return !arriving_.empty(); }
  /// Copy messages that arrived joined to their destinations.
  void hand_out(const Wire& wire) const;
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  std::vector<std::max_align_t> memory_;    ///< of outgoing messages
  std::vector<std::max_align_t> arriving_;  ///< of messages that arrive joined
  std::vector<std::span<std::byte>> outgoing_;
  std::vector<std::span<std::byte>> incoming_;
  std::uint64_t n_bytes_out_ = 0;
  std::uint64_t n_bytes_in_ = 0;
};

}  // namespace barrio::exchange::detail
