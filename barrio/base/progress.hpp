#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include "barrio/base/trace.hpp"

namespace barrio {

/// A part of long work: its region in the trace, and how much of the whole it takes as a rule.
struct WorkStep {
  const char* region;
  double share;
};

/// Show on stderr how far long work has come, while it lives. Local. It draws only if told to speak (rank 0), if stderr
/// is a terminal or BARRIO_PROGRESS is 1, and once the work has taken longer than half a second; a thread of its own
/// draws ten times a second. Where it does not draw it has no thread and costs nothing. One at a time.
class Progress {
 public:
  Progress(std::string title, bool speaks);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Erases the bar.
  ~Progress();

  /// Count: so many units of the next piece of work. 0: how many is not known.
  void begin(const std::string& title, std::int64_t n_units);
  /// Say that `done` of the units are done. Any thread, of any number of them.
  void update(std::int64_t done) noexcept { n_done_.store(done, std::memory_order_relaxed); }
  /// Expect the work to take so long.
  void expect(double seconds);
  /// Take the steps from the regions that a trace is in, in their order, and name the region. Both outlive this.
  void follow(const Trace& trace, std::span<const WorkStep> steps);

  /// Write the bar as text of a fixed width: "title [====    ] 50 %  3.0 s left".
  static std::string render(const std::string& title, std::int64_t done, std::int64_t n_units, double elapsed_seconds);
  /// Write a bar of steps: "load [====    ] 50 %  mesh.ghosts, 3.0 s".
  static std::string render_step(const std::string& title, double part, const char* region, double elapsed_seconds);

  /// Whether stderr may show a bar: a terminal, or what BARRIO_PROGRESS says of it (1 or 0).
  static bool is_shown();
  /// Take away what is drawn, for a line of text that follows; the bar comes again. Any thread.
  static void make_way();

 private:
  void draw();
  [[nodiscard]] std::string text();

  std::string title_;
  double start_seconds_;
  std::atomic<std::int64_t> n_done_{0};
  std::int64_t n_units_ = 0;
  double begin_seconds_;
  double expected_seconds_ = 0.0;
  const Trace* trace_ = nullptr;
  std::span<const WorkStep> steps_;
  double part_ = 0.0;  // of the steps, in the regions seen so far
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_ended_ = false;
  std::thread thread_;
};

}  // namespace barrio
