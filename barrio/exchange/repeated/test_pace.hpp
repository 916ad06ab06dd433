#pragma once

#include <algorithm>
#include <cstdint>

namespace barrio::exchange::detail {

/// Pace of tests: which of a caller's many calls of `progress()` test messages. Often enough that messages progress,
/// rarely enough to cost little of the computation. Local, without MPI.
class TestPace {
 public:
  /// Make a pace. @param n_tests  wanted in a round
  /// @param test_seconds  time of a test that finds nothing
  /// @param is_fixed  make n_tests whatever they cost
  TestPace(std::uint32_t n_tests, double test_seconds, bool is_fixed) noexcept
      : n_tests_(std::clamp<std::uint32_t>(n_tests, 1, 1U << 20U)), test_seconds_(test_seconds), is_fixed_(is_fixed) {}

  void begin_round() noexcept {
    n_calls_ = 0;
    n_until_test_ = stride_;
  }
  /// Tell whether this call of progress() must test.
  [[nodiscard]] bool is_due() noexcept {
    n_calls_ += 1;
    return --n_until_test_ == 0;
  }
  /// Record a test. @param moved_data  it took longer than one that finds nothing: test again at the next call
  void tested(bool moved_data) noexcept { n_until_test_ = moved_data ? 1 : stride_; }
  /// End the round. @param seconds  from the end of begin() to the start of end()
  void end_round(double seconds) noexcept {
    constexpr double max_of_computing = 0.01;
    std::uint32_t n = n_tests_;
    if (!is_fixed_ && test_seconds_ > 0.0) {
      const double affordable = max_of_computing * seconds / test_seconds_;
      n = std::clamp<std::uint32_t>(affordable < 1e6 ? static_cast<std::uint32_t>(affordable) : n, 1, n);
    }
    stride_ = std::max<std::uint32_t>(n_calls_ / (n + 1), 1);
  }

 private:
  std::uint32_t n_tests_;
  double test_seconds_;
  bool is_fixed_;
  std::uint32_t stride_ = 1;  ///< calls of progress() per test
  std::uint32_t n_calls_ = 0;
  std::uint32_t n_until_test_ = 1;
};

}  // namespace barrio::exchange::detail
