#pragma once

/// @file Progress bar on stderr for long work.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include "barrio/base/trace.hpp"

namespace barrio {

/// Part of long work: its region in the trace, and its usual share of the whole.
struct WorkStep {
  const char* region;  ///< text of its `RegionName`
  double share;        ///< > 0, in any unit: only ratios count
};

/// Progress bar on stderr, shown while this object lives. Local. It draws only if `speaks` is true (rank 0), if stderr
/// is a terminal or BARRIO_PROGRESS is 1, and once the work has taken longer than half a second. A thread of its own
/// draws ten times a second. Without drawing there is no thread and no cost. One at a time.
class Progress {
 public:
  /// Begin to show progress. @param title  text before the bar @param speaks  whether this rank draws
  Progress(std::string title, bool speaks);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Erase the bar.
  ~Progress();

  /// Begin the next piece of work, of `n_units` units. 0: unknown.
  void begin(const std::string& title, std::int64_t n_units);
  /// Record that `done` units are complete. Any number of threads may call it.
  void update(std::int64_t done) noexcept { n_done_.store(done, std::memory_order_relaxed); }
  /// Record the part of a step that is complete, 0 to 1. Any number of threads may call it.
  /// @param region  of the step: a string literal
  void update(const char* region, double part) noexcept {
    part_of_step_.store(part, std::memory_order_relaxed);
    step_.store(region, std::memory_order_release);
  }
  /// Expect the work to take this long.
  void expect(double seconds);
  /// Follow the regions of a trace: they give the current step and its name. `steps` are in their order. Both outlive
  /// this.
  void follow(const Trace& trace, std::span<const WorkStep> steps);

  /// Write the bar as text: "title [====    ] 50 %  3.0 s left".
  /// @param width  columns of the terminal, of which the last stays empty. The bar takes what the text leaves, 10 to
  /// 60; where that is too little there is no bar, and then the end of the text is cut off
  static std::string render(const std::string& title, std::int64_t done, std::int64_t n_units, double elapsed_seconds,
                            int width = default_width);
  /// Write a bar of steps: "load [====    ] 50 %  mesh.ghosts, 3.0 s". @param width  as above
  static std::string render_step(const std::string& title, double part, const char* region, double elapsed_seconds,
                                 int width = default_width);
  static constexpr int default_width = 80;  ///< columns where neither terminal nor COLUMNS tells
  /// Return the columns of the terminal on stderr: of the terminal itself, else COLUMNS, else the default.
  static int columns();

  /// Tell whether stderr may show a bar: BARRIO_PROGRESS decides (1 or 0), else whether stderr is a terminal.
  static bool is_shown();
  /// Erase the bar to make way for a line of text; it is drawn again later. Any thread.
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
  std::atomic<const char*> step_{nullptr};
  std::atomic<double> part_of_step_{0.0};
  double part_ = 0.0;  // completed share of the steps, from the regions seen so far
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_ended_ = false;
  std::thread thread_;
};

}  // namespace barrio
