#pragma once

#include <chrono>

namespace barrio::amr::detail {

/// Adds the time from here to the end of its scope. 25 ns each.
class Clock {
 public:
  explicit Clock(double& seconds) : seconds_(seconds) {}
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  ~Clock() { seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace barrio::amr::detail
