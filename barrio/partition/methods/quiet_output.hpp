#pragma once

#include <unistd.h>

#include <cstdio>

namespace barrio::partition::detail {

/// Sends what a library prints to standard output to standard error, while it lives: a program's output may be read by
/// another one. Nothing else may print meanwhile.
class QuietOutput {
 public:
  QuietOutput() : kept_(::dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    if (kept_ >= 0) ::dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  QuietOutput(const QuietOutput&) = delete;
  QuietOutput& operator=(const QuietOutput&) = delete;
  ~QuietOutput() {
    std::fflush(stdout);
    if (kept_ < 0) return;
    ::dup2(kept_, STDOUT_FILENO);
    ::close(kept_);
  }

 private:
  int kept_;
};

}  // namespace barrio::partition::detail
