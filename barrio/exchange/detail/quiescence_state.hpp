#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace barrio::exchange::detail {

/// Decision that no rank has a message and none is under way. Pure: it calls no MPI, so a scheduler in one process can
/// run it under any order of events.
///
/// Each rank counts the messages that it has created and those it has processed. In a wave all ranks add up their
/// counts, each once it is idle: it holds no message, and without one it will create none. It is over when the sums of
/// a wave are equal to each other and to those of the wave before. For counts only grow, so no rank has created or
/// processed a message between its contributions to the two waves. At any time between the end of the first and the
/// begin of the second all ranks were therefore idle, and as many messages processed as created.
/// That holds across calls too: the wave before may be the last one of an earlier search, since whatever a rank has
/// created on its own account in between is in its next contribution.
/// Source: Mattern 1987, "Algorithms for distributed termination detection", the four-counter method.
class QuiescenceState {
 public:
  /// Numbers of created and processed messages, and of ranks that failed.
  using Counts = std::array<std::uint64_t, 3>;

  /// Begin a search for the end. @pre the one before is over
  void begin() noexcept {
    is_over_ = false;
    n_failed_ = 0;
  }
  /// Return the contribution of this rank to the next wave. @pre it is idle, and no wave is under way
  [[nodiscard]] Counts contribute(std::uint64_t n_created, std::uint64_t n_processed, bool has_failed) noexcept {
    is_under_way_ = true;
    return {n_created, n_processed, has_failed ? 1U : 0U};
  }
  /// Take the sums of the wave that is under way.
  void take(const Counts& sums) noexcept {
    is_under_way_ = false;
    n_waves_ += 1;
    is_over_ = sums[0] == sums[1] && sums[0] == created_before_ && sums[1] == processed_before_;
    created_before_ = sums[0];
    processed_before_ = sums[1];
    n_failed_ = sums[2];
  }

  [[nodiscard]] bool is_over() const noexcept { return is_over_; }
  [[nodiscard]] bool is_under_way() const noexcept { return is_under_way_; }
  /// Return the number of ranks that had failed, by the last wave.
  [[nodiscard]] std::uint64_t n_failed() const noexcept { return n_failed_; }
  [[nodiscard]] std::uint64_t n_waves() const noexcept { return n_waves_; }

  /// Encode all state that decides what happens next, for searches through all states.
  void encode(std::vector<std::uint64_t>& words) const {
    words.insert(words.end(), {created_before_, processed_before_, (is_over_ ? 1U : 0U) + (is_under_way_ ? 2U : 0U)});
  }

 private:
  bool is_over_ = true;
  bool is_under_way_ = false;
  std::uint64_t created_before_ = 0;
  std::uint64_t processed_before_ = 0;
  std::uint64_t n_failed_ = 0;
  std::uint64_t n_waves_ = 0;
};

}  // namespace barrio::exchange::detail
