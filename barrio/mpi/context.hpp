#pragma once

/// @file Communicator, log, trace, profile and tags that all distributed objects of a job share.

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <typeindex>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/base/log.hpp"
#include "barrio/base/profile.hpp"
#include "barrio/base/trace.hpp"
#include "barrio/mpi/comm.hpp"
#include "barrio/mpi/wait.hpp"

namespace barrio::mpi {

/// Messages and bytes that this rank sent and received, and its reads of files that all ranks have open, through
/// barrio's own calls.
struct Counters {
  std::uint64_t messages_sent = 0;           ///< point-to-point
  std::uint64_t bytes_sent = 0;              ///< in these messages, with the headers of packets
  std::uint64_t messages_received = 0;       ///< point-to-point
  std::uint64_t bytes_received = 0;          ///< in these messages, with the headers of packets
  std::uint64_t collectives = 0;             ///< collective calls, `agree` included; their bytes are not counted
  std::uint64_t collective_reads = 0;        ///< reads of a dataset by all ranks in one collective call
  std::uint64_t collective_bytes_read = 0;   ///< that this rank got by collective_reads
  std::uint64_t independent_reads = 0;       ///< reads that HDF5 did independently, wholly or in part
  std::uint64_t independent_bytes_read = 0;  ///< that this rank got by independent_reads
};

/// Range of message tags reserved for one distributed object.
struct TagBlock {
  int first = 0;  ///< lowest tag of the block
  int count = 1;  ///< number of consecutive tags
  std::shared_ptr<std::atomic<unsigned>> n_taken =
      nullptr;  ///< shared by all copies of the block; null: take() gives the first tag
  /// Return the tag of an epoch; successive epochs use successive tags, modulo the block.
  [[nodiscard]] int of_epoch(std::uint64_t epoch) const noexcept {
    return first + static_cast<int>(epoch % static_cast<std::uint64_t>(count));
  }
  /// Take the next tag of the block, after the last one the first again. All ranks take them in the same order.
  [[nodiscard]] int take() const noexcept {
    return n_taken ? first + static_cast<int>(n_taken->fetch_add(1) % static_cast<unsigned>(count)) : first;
  }
};

/// Options of a Context; `profile` must be the same on all ranks.
struct ContextOptions {
  Profile profile = {};                              ///< of the job's transport; its defaults are safe
  WaitPolicy wait = wait_policy_from_environment();  ///< for all waits of objects of the context
  Trace::Mode trace = Trace::Mode::totals;           ///< kept data: none, totals by region, or also each event
  double agree_limit_seconds = 600.0;                ///< time that `agree` waits for a missing rank
};

/// Communicator, log, trace, profile and tags that distributed objects share.
/// Not a singleton: several may exist at once. Objects made from a Context keep a reference; it must outlive them.
class Context {
 public:
  /// Make a context from a duplicate of `comm`, which stays the caller's. Collective over `comm`.
  /// @throws AgreedError{usage} if the launcher of another MPI has started the job; see `find_launcher_fault`
  explicit Context(MPI_Comm comm, ContextOptions options = {});
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Return the context's own duplicate of the communicator, valid as long as the context.
  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_.get(); }
  /// Return the number of this rank, from 0. Local, without a call of MPI.
  [[nodiscard]] Rank rank() const noexcept { return rank_; }
  /// Return the number of ranks. Local, without a call of MPI.
  [[nodiscard]] int size() const noexcept { return size_; }
  /// Tell whether this is rank 0.
  [[nodiscard]] bool is_root() const noexcept { return rank_ == 0; }

  /// Return the log of this rank. Local.
  [[nodiscard]] Log& log() noexcept { return log_; }
  /// Return the trace of this rank, which times regions. Local.
  [[nodiscard]] Trace& trace() noexcept { return trace_; }
  /// Return the profile of the job's transport, the same on all ranks. Local.
  [[nodiscard]] const Profile& profile() const noexcept { return options_.profile; }
  /// Set the profile, the same on all ranks. Objects made before keep the values that they have read. Local.
  void set_profile(const Profile& profile) noexcept { options_.profile = profile; }
  /// Return the way in which this rank waits for messages. Local.
  [[nodiscard]] const WaitPolicy& wait_policy() const noexcept { return options_.wait; }
  /// Return the seconds after which `agree` ends the job if a rank is missing. Local.
  [[nodiscard]] double agree_limit_seconds() const noexcept { return options_.agree_limit_seconds; }
  /// Return the counters of this rank, since the context was made. Local; not reset by barrio.
  [[nodiscard]] Counters& counters() noexcept { return counters_; }

  /// Return the thread that owns this context: by default the one that made it. Counters, tags and rounds have no
  /// locks, so no other thread calls anything collective or any function of a round; rounds check it. Give other
  /// threads Contexts of their own (with MPI_THREAD_MULTIPLE), or use `exchange::Engine::call`.
  [[nodiscard]] std::thread::id thread() const noexcept { return thread_; }
  /// Move the context to another thread, by default the calling one. Local; the previous owner makes no more calls.
  void move_to_thread(std::thread::id thread = std::this_thread::get_id()) noexcept { thread_ = thread; }
  /// Check that the owning thread calls. @throws Error{usage} on any other thread. @param act  "begins a round"
  void check_thread(const char* act) const {
    if (std::this_thread::get_id() != thread_) [[unlikely]]
      refuse_thread(act);
  }

  /// Reserve tags. Local, but every rank must ask in the same order, as it does when objects are made collectively.
  /// After MPI_TAG_UB the numbers start again from the first tag. An object's tags are therefore unique until about
  /// MPI_TAG_UB / count later objects have been made.
  TagBlock take_tags(int count);

  /// Set the work that `agree` does while it waits, unless there is some: other ranks may need it to arrive there.
  /// Exchange takes in the packets of open rounds. Local.
  void set_idle_work(std::function<void()> work) {
    if (!idle_work_) idle_work_ = std::move(work);
  }
  /// Return the work that `agree` does while it waits; empty if none was set. Local.
  [[nodiscard]] const std::function<void()>& idle_work() const noexcept { return idle_work_; }

  /// Return the T that a room above keeps for all objects it makes of this context. It is made at the first call and
  /// destroyed with the context. Local; any thread.
  template <class T>
  [[nodiscard]] T& kept() {
    const std::lock_guard lock(kept_lock_);
    std::shared_ptr<void>& place = kept_of(typeid(T));
    if (!place) place = std::make_shared<T>();
    return *static_cast<T*>(place.get());
  }

 private:
  [[noreturn]] static void refuse_thread(const char* act);
  std::shared_ptr<void>& kept_of(std::type_index type);
  Comm comm_;
  Rank rank_;
  int size_;
  std::thread::id thread_ = std::this_thread::get_id();
  ContextOptions options_;
  Log log_;
  Trace trace_;
  Counters counters_;
  std::function<void()> idle_work_;
  std::mutex kept_lock_;
  std::vector<std::pair<std::type_index, std::shared_ptr<void>>> kept_;
  int tag_limit_ = 32767;
  int next_tag_ = 0;
};

}  // namespace barrio::mpi

namespace barrio {
using mpi::Context;
}
