#include "barrio/exchange/engine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/error.hpp"
#include "barrio/exchange/repeated/engine_threads.hpp"
#include "barrio/mpi/cores.hpp"

namespace barrio::exchange {
namespace {

void check_thread_level(bool needs_multiple) {
  int level = MPI_THREAD_SINGLE;
  mpi::check(MPI_Query_thread(&level), "MPI_Query_thread");
  const int needed = needs_multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED;
  if (level >= needed) return;
  throw Error(ErrorCode::usage,
              {.subject = "Engine",
               .cause = fmt::format("calls MPI from its threads, but MPI was initialised for {}",
                                    level == MPI_THREAD_SINGLE     ? "one thread only"
                                    : level == MPI_THREAD_FUNNELED ? "the main thread only (MPI_THREAD_FUNNELED)"
                                                                   : "one thread at a time (MPI_THREAD_SERIALIZED)"),
               .remedy = fmt::format("barrio::run(..., {{.thread_level = {}}})",
                                     needs_multiple ? "MPI_THREAD_MULTIPLE" : "MPI_THREAD_SERIALIZED")});
}

/// Count the cores that the node's ranks want. The threads of all queues of a rank share one core: they yield it.
int n_wanted(const mpi::NodeCores& node) { return node.n_computing + node.n_ranks_compute; }

/// Explain why a node has no core for the threads of this rank; empty if it has one.
std::string why_no_core(const mpi::NodeCores& node, int n_computing) {
  if (n_computing == 0) return "this rank does not compute, so it can wait itself";
  if (node.mine <= n_computing)
    return fmt::format("this rank may use {} core{}, and {} thread{} compute", node.mine, node.mine == 1 ? "" : "s",
                       n_computing, n_computing == 1 ? "" : "s");
  if (node.all < n_wanted(node))
    return fmt::format("the ranks of this node may use {} cores, but need {} with a core each for communication",
                       node.all, n_wanted(node));
  return "";
}

/// Scope in which its thread has the Context of another thread, which waits.
class StandsIn {
 public:
  explicit StandsIn(mpi::Context& context) : context_(context), waiting_(context.thread()) { context.move_to_thread(); }
  ~StandsIn() { context_.move_to_thread(waiting_); }
  StandsIn(const StandsIn&) = delete;
  StandsIn& operator=(const StandsIn&) = delete;

 private:
  mpi::Context& context_;
  std::thread::id waiting_;
};

}  // namespace

Engine::Engine(mpi::Context& context, const EngineOptions& options) : context_(context) {
  if (options.n_computing_threads < 0 || options.n_threads < 1)
    throw Error(ErrorCode::usage, {.subject = "EngineOptions",
                                   .cause = fmt::format("n_computing_threads is {}, and n_threads is {}",
                                                        options.n_computing_threads, options.n_threads),
                                   .remedy = "n_computing_threads must be at least 0, n_threads at least 1"});
  const mpi::NodeCores node = mpi::find_node_cores(context, options.n_computing_threads);
  if (options.mode == EngineMode::automatic) why_off_ = why_no_core(node, options.n_computing_threads);
  if (options.mode == EngineMode::off) why_off_ = "it was switched off by its options";
#ifdef BARRIO_MPI_SMPI
  why_off_ = "the simulator has no threads within a rank";
#endif
  const bool is_passive = options.n_computing_threads == 0 && options.mode != EngineMode::off;
  const bool has_core = is_passive || node.mine > options.n_computing_threads;
  if (options.places_threads && has_core && node.n_ranks_compute > 0 && node.all >= n_wanted(node) &&
      (why_off_.empty() || is_passive))
    cores_ = std::make_unique<mpi::CoresScope>(is_passive ? node.spare : node.busy);
  if (!why_off_.empty()) return;
  check_thread_level(options.queues == Queues::two || options.n_threads > 1);
  threads_ = std::make_unique<detail::EngineThreads>(options.queues, options.n_threads, node.spare);
}

Engine::~Engine() = default;

void Engine::call(const std::function<void()>& function) {
  if (!is_on()) return function();
  threads_->call([&] {
    const StandsIn stands_in(context_);
    function();
  });
}

void Engine::start(detail::EngineJob& job) { threads_->start(job); }

}  // namespace barrio::exchange
