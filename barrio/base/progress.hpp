#pragma once

#include <cstdint>
#include <string>

namespace barrio {

/// Show how far long work has come, on stderr. Local. It draws only if told to speak (rank 0), stderr is a
/// terminal and the work has taken longer than half a second; otherwise a step costs a comparison.
class Progress {
 public:
  Progress(std::string title, std::int64_t n_steps, bool speaks);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Erases the bar.
  ~Progress();
  /// Say that `done` of the steps are done.
  void update(std::int64_t done);

  /// Write the bar as text of a fixed width: "title [====    ] 50 %  3.0 s left".
  static std::string render(const std::string& title, std::int64_t done, std::int64_t n_steps, double elapsed_seconds);

 private:
  std::string title_;
  std::int64_t n_steps_;
  bool draws_;
  bool drawn_ = false;
  double start_seconds_;
  double next_draw_seconds_;
};

}  // namespace barrio
