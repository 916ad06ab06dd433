#pragma once

#include <atomic>
#include <cstddef>

namespace barrio::exchange::detail {

/// Exchange as seen by the communication thread: two halves that it starts and then tests until they are done.
class EngineJob {
 public:
  virtual ~EngineJob() = default;
  virtual void start_receives() = 0;
  virtual void start_sends() = 0;
  /// Return the tag, which decides the thread that it goes to.
  [[nodiscard]] virtual std::size_t tag() const noexcept = 0;
  /// Test whether all receives, or all sends, are done.
  virtual bool test_receives() = 0;
  virtual bool test_sends() = 0;

  [[nodiscard]] bool is_done() const noexcept { return n_open_.load(std::memory_order_acquire) == 0; }
  /// Open the job, before it is handed over.
  void open(int n_halves) noexcept { n_open_.store(n_halves, std::memory_order_relaxed); }
  /// Mark a half as done; a thread that sees `is_done()` also sees its data.
  void close_half() noexcept { n_open_.fetch_sub(1, std::memory_order_acq_rel); }

  /// Abandon the job, whose owner an exception has ended: neither begin it nor wait for it at the end.
  void abandon() noexcept { is_abandoned_.store(true, std::memory_order_release); }
  [[nodiscard]] bool is_abandoned() const noexcept { return is_abandoned_.load(std::memory_order_acquire); }

 private:
  std::atomic<bool> is_abandoned_ = false;
  std::atomic<int> n_open_ = 0;
};

}  // namespace barrio::exchange::detail
