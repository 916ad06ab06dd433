#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace barrio {

/// What a neighbour exchange of messages of one size costs between two ranks, each of which sends one and receives one.
/// Seconds.
struct MessageTimes {
  double alone = 0.0;      ///< both do nothing else
  double untested = 0.0;   ///< left to wait for after computing, when MPI was not called meanwhile
  double one_test = 0.0;   ///< the same, after one test half way
  double few_tests = 0.0;  ///< the same, after `Profile::n_tests` tests
};

/// What is known of the MPI and the machine a job runs on: plain data that tunes the rooms above.
/// The defaults are safe for shared memory and for networks with an eager limit of 4 KiB or more; `barrio probe`
/// measures them.
struct Profile {
  std::uint32_t packet_bytes = 64U * 1024U;  ///< size of a packed message buffer
  std::uint32_t ring_depth = 4;              ///< send buffers per neighbour before a sender waits
  std::uint32_t spin_polls = 200;            ///< polls of a wait loop before it yields the core
  std::uint32_t n_tests = 8;                 ///< tests, spread over computing, that bring messages in
  std::uint64_t eager_bytes = 4096;          ///< messages up to this size are kept at the receiver until it asks
  std::uint64_t detached_bytes = 0;          ///< sends up to this size complete without help of their receiver
  double test_seconds = 0.3e-6;              ///< of a test that finds nothing
  double near_cost = 1.0;                    ///< small message within a node, in times of one between nodes
  bool is_measured = false;

  /// Sizes of `times`: 1 KiB, 4 KiB, 16 KiB ... 4 MiB.
  static constexpr std::size_t n_sizes = 7;
  static constexpr std::uint64_t size_bytes(std::size_t i) noexcept { return std::uint64_t{1024} << (2 * i); }
  std::array<MessageTimes, n_sizes> times = {};  ///< all 0 where nothing was measured

  /// What a message above the eager limit takes beside its copy, where it was measured.
  [[nodiscard]] constexpr double handshake_seconds() const noexcept {
    constexpr double of_shared_memory = 3e-6;
    std::size_t first = 0;
    while (first < n_sizes && size_bytes(first) <= eager_bytes) ++first;
    if (!is_measured || first + 2 >= n_sizes) return of_shared_memory;
    // What two larger ones differ by is the copy.
    const auto bytes = static_cast<double>(size_bytes(first + 2) - size_bytes(first + 1));
    const double per_byte = (times[first + 2].alone - times[first + 1].alone) / bytes;
    const double rest = times[first].alone - per_byte * static_cast<double>(size_bytes(first));
    return rest > 0.0 ? rest : 0.0;
  }

  /// The measured size nearest to this one, by ratio.
  [[nodiscard]] static constexpr std::size_t nearest_size(std::uint64_t n_bytes) noexcept {
    std::size_t i = 0;
    while (i + 1 < n_sizes && n_bytes > 2 * size_bytes(i)) ++i;
    return i;
  }
};

}  // namespace barrio
