#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <future>
#include <utility>

#include "barrio/base/assert.hpp"
#include "barrio/exchange/repeated/engine_threads.hpp"
#include "barrio/mpi/cores.hpp"

namespace barrio::exchange::detail {
namespace {

/// Tell yield_shim.c, where it is preloaded, that threads of this rank share MPI's lock, or no longer do.
void hold_yield(int change) {
  using Hold = void (*)(int);
  if (const auto hold = reinterpret_cast<Hold>(::dlsym(RTLD_DEFAULT, "barrio_hold_yield"))) hold(change);
}

/// Engine whose thread this is; null for all others.
thread_local const EngineThreads* engine_of_this_thread = nullptr;

bool is_abandoned(const EngineThread::Work& work) { return work.job != nullptr && work.job->is_abandoned(); }

}  // namespace

EngineThread::~EngineThread() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    has_news_ = true;
  }
  news_.notify_one();
  thread_.join();
}

void EngineThread::put(Work work) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
    has_news_ = true;
  }
  news_.notify_one();
}

void EngineThread::linger() const {
  constexpr auto most = std::chrono::milliseconds(20);
  const auto end = std::chrono::steady_clock::now() + most;
  while (!has_news_.load(std::memory_order_relaxed) && std::chrono::steady_clock::now() < end) ::sched_yield();
}

bool EngineThread::take(std::vector<Work>& under_way) {
  if (under_way.empty()) linger();
  if (!under_way.empty() && !has_news_.load(std::memory_order_relaxed)) return true;
  std::vector<Work> news;
  {
    std::unique_lock lock(mutex_);
    if (under_way.empty()) news_.wait(lock, [this] { return is_ending_ || !queue_.empty(); });
    news.swap(queue_);
    has_news_ = is_ending_;
    if (news.empty() && is_ending_ && std::ranges::all_of(under_way, is_abandoned)) return false;
  }
  // Outside the lock: a send may take long, and callers must not wait for it.
  for (Work& work : news) {
    if (is_abandoned(work)) continue;
    work.begin();
    under_way.push_back(std::move(work));
  }
  return true;
}

void EngineThread::run() {
  // A thread that yields looks busy, so the system may put it where its rank computes. A refusal is ignored.
  mpi::run_on_cores(cores_);
  engine_of_this_thread = &owner_;
  std::vector<Work> under_way;
  while (take(under_way)) {
    // Yield even a spare core: a computing thread or a waiting rank may want it for a moment. Yield the whole slice: if
    // a thread computes on this core, messages then cost it little.
    if (std::erase_if(under_way, [](const Work& work) { return work.is_done(); }) == 0) ::sched_yield();
  }
}

EngineThreads::EngineThreads(Queues queues, std::size_t n_threads, const std::vector<int>& cores) {
  hold_yield(1);
  for (std::size_t i = 0; i < n_threads; ++i) {
    receivers_.push_back(std::make_unique<EngineThread>(*this, cores));
    if (queues == Queues::two) senders_.push_back(std::make_unique<EngineThread>(*this, cores));
  }
}

EngineThreads::~EngineThreads() {
  receivers_.clear();  // joins the threads first
  senders_.clear();
  hold_yield(-1);
}

void EngineThreads::start(EngineJob& job) {
  BARRIO_ASSERT(cheap, !is_own_thread() && "an exchange begun in Engine::call() would wait for its own thread");
  const std::size_t which = job.tag() % receivers_.size();
  const auto receive = [&job] {
    if (!job.test_receives()) return false;
    job.close_half();
    return true;
  };
  const auto send = [&job] {
    if (!job.test_sends()) return false;
    job.close_half();
    return true;
  };
  job.open(2);
  if (!senders_.empty()) {
    receivers_[which]->put({[&job] { job.start_receives(); }, receive, &job});
    senders_[which]->put({[&job] { job.start_sends(); }, send, &job});
    return;
  }
  // Receives first: sends on the other side may wait for them.
  receivers_[which]->put({[&job] {
                            job.start_receives();
                            job.start_sends();
                          },
                          [&job, has_received = false, has_sent = false]() mutable {
                            has_received = has_received || job.test_receives();
                            has_sent = has_sent || job.test_sends();
                            if (!has_received || !has_sent) return false;
                            job.close_half();
                            job.close_half();
                            return true;
                          },
                          &job});
}

bool EngineThreads::is_own_thread() const noexcept { return engine_of_this_thread == this; }

void EngineThreads::call(const std::function<void()>& function) {
  if (is_own_thread()) return function();
  std::promise<void> promise;
  receivers_.front()->put({[&] {
                             try {
                               function();
                               promise.set_value();
                             } catch (...) {
                               promise.set_exception(std::current_exception());
                             }
                           },
                           [] { return true; }, nullptr});
  promise.get_future().get();
}

}  // namespace barrio::exchange::detail
