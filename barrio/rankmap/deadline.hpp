#pragma once

#include <chrono>
#include <limits>

namespace barrio::rankmap {

/// Say when a search has to stop. Copyable; the clock is read at most once in 256 questions.
class Deadline {
 public:
  /// Never.
  Deadline() = default;
  /// So many seconds from now; infinity is never.
  explicit Deadline(double seconds) noexcept
      : is_set_(seconds < std::numeric_limits<double>::infinity()),
        end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(is_set_ ? (seconds < 1e8 ? seconds : 1e8) : 0.0))) {}

  [[nodiscard]] bool has_passed() noexcept {
    if (!is_set_ || passed_) return passed_;
    if ((n_asked_++ & 255U) == 0) passed_ = Clock::now() >= end_;
    return passed_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool is_set_ = false;
  bool passed_ = false;
  unsigned n_asked_ = 0;
  Clock::time_point end_{};
};

}  // namespace barrio::rankmap
