#pragma once

/// @file Measured properties of the MPI and the machine, which tune message sizes and strategies.

#include <array>
#include <cstddef>
#include <cstdint>

namespace barrio {

/// Seconds of a neighbour exchange of messages of one size between two ranks, each of which sends one and receives one.
struct MessageTimes {
  double alone = 0.0;      ///< neither rank does anything else
  double untested = 0.0;   ///< remaining wait after a computation without MPI calls
  double one_test = 0.0;   ///< remaining wait after a computation with one test half way
  double few_tests = 0.0;  ///< remaining wait after a computation with `Profile::n_tests` tests
};

/// Properties of the MPI and the machine that a job runs on: plain data that tunes the rooms above.
/// The defaults are safe for shared memory and for networks with an eager limit of 4 KiB or more. `barrio probe`
/// measures them.
struct Profile {
  std::uint32_t packet_bytes = 64U * 1024U;  ///< size of a packed message buffer
  std::uint32_t ring_depth = 4;              ///< send buffers per neighbour before a sender waits
  std::uint32_t spin_polls = 200;            ///< polls of a wait loop before it yields the core
  std::uint32_t n_tests = 8;                 ///< tests, spread over a computation, that make messages progress
  std::uint64_t eager_bytes = 4096;          ///< messages up to this size wait at the receiver until it asks for them
  std::uint64_t detached_bytes = 0;          ///< sends up to this size complete before their receiver calls MPI
  double test_seconds = 0.3e-6;              ///< duration of a test that finds no message
  double near_cost = 1.0;                    ///< cost of a small message within a node over that of one between nodes
  bool is_measured = false;                  ///< false: these are the defaults

  /// Number of `times`. Their sizes are 1 KiB, 4 KiB, 16 KiB ... 4 MiB.
  static constexpr std::size_t n_sizes = 7;
  /// Return the message size of `times[i]`, in bytes.
  static constexpr std::uint64_t size_bytes(std::size_t i) noexcept { return std::uint64_t{1024} << (2 * i); }
  std::array<MessageTimes, n_sizes> times = {};  ///< all 0 where not measured

  /// Estimate the handshake of a message above the eager limit, in seconds: its time without the copy. A constant where
  /// it was not measured.
  [[nodiscard]] constexpr double handshake_seconds() const noexcept {
    constexpr double of_shared_memory = 3e-6;
    std::size_t first = 0;
    while (first < n_sizes && size_bytes(first) <= eager_bytes) ++first;
    if (!is_measured || first + 2 >= n_sizes) return of_shared_memory;
    // The difference of two larger sizes is the copy.
    const auto bytes = static_cast<double>(size_bytes(first + 2) - size_bytes(first + 1));
    const double per_byte = (times[first + 2].alone - times[first + 1].alone) / bytes;
    const double rest = times[first].alone - per_byte * static_cast<double>(size_bytes(first));
    return rest > 0.0 ? rest : 0.0;
  }

  /// Find the measured size nearest to this one, by ratio. @return its index in `times`
  [[nodiscard]] static constexpr std::size_t nearest_size(std::uint64_t n_bytes) noexcept {
    std::size_t i = 0;
    while (i + 1 < n_sizes && n_bytes > 2 * size_bytes(i)) ++i;
    return i;
  }
};

}  // namespace barrio
