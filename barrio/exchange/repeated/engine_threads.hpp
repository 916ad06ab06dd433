#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "barrio/exchange/engine.hpp"
#include "barrio/exchange/repeated/engine_job.hpp"

namespace barrio::exchange::detail {

class EngineThreads;

/// Communication thread behind one queue of work.
class EngineThread {
 public:
  /// Piece of work: begun once, then polled until it is done.
  struct Work {
    std::function<void()> begin;
    std::function<bool()> is_done;
    const EngineJob* job = nullptr;  ///< the job it belongs to, or null
  };

  /// Start the thread. @param owner  for `EngineThreads::is_own_thread()`
  /// @param cores  cores that it runs on
  EngineThread(const EngineThreads& owner, std::vector<int> cores)
      : owner_(owner), cores_(std::move(cores)), thread_([this] { run(); }) {}
  EngineThread(const EngineThread&) = delete;
  EngineThread& operator=(const EngineThread&) = delete;
  ~EngineThread();

  void put(Work work);

 private:
  void run();
  /// Begin new work; wait for some if none is under way. @return false at the end
  bool take(std::vector<Work>& under_way);
  /// Poll for new work for a while: to wake a sleeping thread costs the caller as much as many exchanges.
  void linger() const;

  const EngineThreads& owner_;
  std::vector<int> cores_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::vector<Work> queue_;
  std::atomic<bool> has_news_ = false;
  bool is_ending_ = false;
  std::thread thread_;  // last: it uses the others
};

class EngineThreads {
 public:
  EngineThreads(Queues queues, std::size_t n_threads, const std::vector<int>& cores);
  EngineThreads(const EngineThreads&) = delete;
  EngineThreads& operator=(const EngineThreads&) = delete;
  ~EngineThreads();
  void start(EngineJob& job);
  void call(const std::function<void()>& function);
  /// Tell whether the caller is one of these threads.
  [[nodiscard]] bool is_own_thread() const noexcept;

 private:
  using Threads = std::vector<std::unique_ptr<EngineThread>>;
  Threads receivers_;  ///< with one queue for everything
  Threads senders_;    ///< with two queues
};

}  // namespace barrio::exchange::detail
