#pragma once

/// @file Communication thread that makes MPI calls while the caller computes.

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

/// Number of queues that feed a communication engine, and so of threads that call MPI.
enum class Queues {
  one,  ///< one thread for all; MPI_THREAD_SERIALIZED is enough
  two,  ///< one for sends and one for receives; needs MPI_THREAD_MULTIPLE
};

/// Switch for an engine's threads.
enum class EngineMode {
  automatic,  ///< only where the node has a core for them besides the computing ones
  on,         ///< even if they take time from computing threads
  off,        ///< no threads: exchanges choose another strategy
};

/// Options of the Engine of this rank.
struct EngineOptions {
  Queues queues = Queues::one;              ///< two need MPI_THREAD_MULTIPLE
  EngineMode mode = EngineMode::automatic;  ///< by default off where no core is spare
  /// Threads per queue; more than one needs MPI_THREAD_MULTIPLE. Exchanges are distributed over them by tag, so those
  /// with the same tag keep their order.
  int n_threads = 1;
  /// Computing threads of this rank. 0 for a rank that only waits for others: it needs no engine.
  int n_computing_threads = 1;
  /// While the engine lives, keep the thread that made it, and the threads that it starts from then on, off the cores
  /// left for communication. Threads started before stay where they are. A rank that does not compute is placed on
  /// those cores. Otherwise the system may put two threads on one core and none on another.
  bool places_threads = true;
};

/// Communication thread: it makes the MPI calls for the exchanges in its queue while the caller computes.
/// Source: Saif 2004, chapter 5.
///
/// RepeatedExchange and HaloExchange take it as an option. Any number of threads may begin exchanges; each exchange
/// belongs to one thread. With MPI_THREAD_SERIALIZED, other threads may call MPI only through `call()` while exchanges
/// are under way. The engine's threads sleep after 20 ms without work. Where no core is spare the engine is off: the
/// program still runs, exchanges choose another strategy, and `why_off()` gives the reason.
class Engine {
 public:
  /// Make the engine and start its threads. Collective, since the ranks of a node share its cores. @throws Error{usage}
  /// if MPI was initialised for fewer threads than its queues need (see `mpi::RunOptions::thread_level`), unless the
  /// engine is off
  explicit Engine(mpi::Context& context, const EngineOptions& options = {});
  /// Wait for its threads and end them; all exchanges must have ended.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Tell whether it has threads.
  [[nodiscard]] bool is_on() const noexcept { return threads_ != nullptr; }
  /// Return the reason why it has no threads; empty if it has.
  [[nodiscard]] const std::string& why_off() const& noexcept { return why_off_; }

  /// Run a function on the communication thread and wait for it. If the engine is off, or on that thread, run it at
  /// once. An exception that leaves it is thrown here. The function must not begin an exchange of this engine. It may
  /// use rounds and collectives of the engine's Context, which belongs to that thread meanwhile.
  void call(const std::function<void()>& function);

  /// Start an exchange and test it until it is done. Only exchanges call this.
  void start(detail::EngineJob& job);

 private:
  mpi::Context& context_;
  std::unique_ptr<mpi::CoresScope> cores_;
  std::unique_ptr<detail::EngineThreads> threads_;
  std::string why_off_;
};

}  // namespace barrio::exchange
