#pragma once

#include <ctime>
#include <limits>

namespace barrio::rankmap {

/// The time at which a search must stop, in processor time of this thread. Time of other programs does not count, so a
/// busy machine finds the same result as an idle one. Copyable; the clock is read at most once in 256 questions.
class Deadline {
 public:
  /// Make a deadline that never passes.
  Deadline() = default;
  /// Make a deadline after this many seconds; infinity means never.
  explicit Deadline(double seconds) noexcept
      : is_set_(seconds < std::numeric_limits<double>::infinity()), end_(now() + seconds) {}

  [[nodiscard]] bool has_passed() noexcept {
    if (!is_set_ || passed_) return passed_;
    if ((n_asked_++ & 255U) == 0) passed_ = now() >= end_;
    return passed_;
  }

  /// Tell the same with a read of the clock: for callers that ask seldom.
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
