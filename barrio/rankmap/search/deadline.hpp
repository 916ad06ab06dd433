#pragma once

#include <ctime>
#include <limits>

namespace barrio::rankmap {

/// Say when a search has to stop, by the processor time of this thread: what other programs take does not count, so
/// that a busy machine finds what an idle one does. Copyable; the clock is read at most once in 256 questions.
class Deadline {
 public:
  /// Never.
  Deadline() = default;
  /// So many seconds from now; infinity is never.
  explicit Deadline(double seconds) noexcept
      : is_set_(seconds < std::numeric_limits<double>::infinity()), end_(now() + seconds) {}

  [[nodiscard]] bool has_passed() noexcept {
    if (!is_set_ || passed_) return passed_;
    if ((n_asked_++ & 255U) == 0) passed_ = now() >= end_;
    return passed_;
  }

  /// The same, and the clock is read: for callers who ask seldom.
  [[nodiscard]] bool has_passed_now() noexcept {
    if (is_set_ && !passed_) passed_ = now() >= end_;
    return passed_;
  }

 private:
  static double now() noexcept {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  bool is_set_ = false;
  bool passed_ = false;
  unsigned n_asked_ = 0;
  double end_ = 0.0;
};

}  // namespace barrio::rankmap
