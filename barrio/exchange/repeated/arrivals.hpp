#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <vector>

namespace barrio::exchange::detail {

/// Incoming wires of a round in the order in which they were found to have arrived, and the number of their messages
/// that were handed out. Local, without MPI. One thread records wires, one hands messages out.
class Arrivals {
 public:
  /// Begin a round. @pre no other thread uses this
  void begin_round(std::size_t n_wires) {
    order_.resize(n_wires);
    has_arrived_.assign(n_wires, 0);
    n_arrived_.store(0, std::memory_order_relaxed);
    n_taken_ = 0;
    n_of_wire_ = 0;
  }
  /// Record that a wire has arrived. Its data is visible to the thread that takes it.
  void record(std::size_t wire) noexcept {
    if (has_arrived_[wire] != 0) return;
    has_arrived_[wire] = 1;
    const std::size_t n = n_arrived_.load(std::memory_order_relaxed);
    order_[n] = wire;
    n_arrived_.store(n + 1, std::memory_order_release);
  }
  void record_all() noexcept {
    for (std::size_t wire = 0; wire < order_.size(); ++wire) record(wire);
  }
  [[nodiscard]] bool all_arrived() const noexcept {
    return n_arrived_.load(std::memory_order_acquire) == order_.size();
  }

  /// Return the wire whose next message is to be handed out; empty if none is left that has arrived.
  [[nodiscard]] std::optional<std::size_t> next_wire() const noexcept {
    if (n_taken_ == n_arrived_.load(std::memory_order_acquire)) return std::nullopt;
    return order_[n_taken_];
  }
  /// Tell whether all messages of all wires were handed out.
  [[nodiscard]] bool all_taken() const noexcept { return n_taken_ == order_.size(); }
  /// Take a message of next_wire(). @return its place among the wire's messages
  std::size_t take(std::size_t n_of_wire) noexcept {
    const std::size_t message = n_of_wire_++;
    if (n_of_wire_ == n_of_wire) {
      n_of_wire_ = 0;
      n_taken_ += 1;
    }
    return message;
  }
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return order_.capacity() * sizeof(std::size_t) + has_arrived_.capacity();
  }

 private:
  std::vector<std::size_t> order_;
  std::vector<char> has_arrived_;  ///< by wire
  std::atomic<std::size_t> n_arrived_ = 0;
  std::size_t n_taken_ = 0;    ///< wires handed out completely
  std::size_t n_of_wire_ = 0;  ///< messages handed out of the next one
};

}  // namespace barrio::exchange::detail
