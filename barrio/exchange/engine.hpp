#pragma once

#include <functional>
#include <memory>
#include <string>

#include "barrio/mpi/context.hpp"

namespace barrio::exchange {

namespace detail {
class EngineJob;
class EngineThreads;
}  // namespace detail
}  // namespace barrio::exchange

namespace barrio::mpi {
class CoresScope;
}

namespace barrio::exchange {

/// How many queues feed a communication engine, and so how many threads call MPI.
enum class Queues {
  one,  ///< one thread for all; MPI_THREAD_SERIALIZED is enough
  two,  ///< one for sends and one for receives; needs MPI_THREAD_MULTIPLE
};

/// Whether an engine has threads.
enum class EngineMode {
  automatic,  ///< where the node has a core for them beside those that compute
  on,         ///< even if they take time from those that compute
  off,
};

struct EngineOptions {
  Queues queues = Queues::one;
  EngineMode mode = EngineMode::automatic;
  /// Threads behind each queue. Exchanges are dealt to them by their tag, so those of one tag keep their order. More
  /// than one need MPI_THREAD_MULTIPLE.
  int n_threads = 1;
  /// Threads of this rank that compute. 0 for a rank that only waits for others: it needs no engine.
  int n_computing_threads = 1;
  /// Keep the thread that makes the engine, and those that it starts from then on, off the cores that are left for
  /// communication, as long as the engine lives (what has been started stays there); and a rank that does not compute
  /// on them. Else the system may put two threads on one core and none on another.
  bool places_threads = true;
};

/// A thread that owns MPI and exchanges what it finds in its queue, so that who has asked for it computes on.
/// Source: Saif 2004, chapter 5.
///
/// RepeatedExchange and HaloExchange take it as an option. Any number of threads may begin exchanges of their own; each
/// exchange belongs to one thread. As long as exchanges are under way, with MPI_THREAD_SERIALIZED no other thread may
/// call MPI but through `call()`. Its threads sleep when nothing has been under way for 20 ms. Where no core is spare
/// the engine is switched off: the same program runs, exchanges choose another strategy, and `why_off()` says why.
class Engine {
 public:
  /// Collective: ranks of a node share its cores. @throws Error{usage} if MPI was initialised for fewer threads than
  /// its queues need (see `mpi::RunOptions::thread_level`), unless the engine is off
  explicit Engine(mpi::Context& context, const EngineOptions& options = {});
  /// Waits for its threads; all exchanges must have ended.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  [[nodiscard]] bool is_on() const noexcept { return threads_ != nullptr; }
  /// Why it has no threads; empty if it has.
  [[nodiscard]] const std::string& why_off() const& noexcept { return why_off_; }

  /// Run a function on the thread that owns MPI and wait for it; at once if the engine is off, or if this is that
  /// thread. An exception that leaves it is thrown here. The function begins no exchange of this engine; it may do
  /// rounds and collectives of the engine's Context, whose thread it runs on meanwhile.
  void call(const std::function<void()>& function);

  /// For exchanges: start this one, and test it until it is done.
  void start(detail::EngineJob& job);

 private:
  mpi::Context& context_;
  std::unique_ptr<mpi::CoresScope> cores_;
  std::unique_ptr<detail::EngineThreads> threads_;
  std::string why_off_;
};

}  // namespace barrio::exchange
