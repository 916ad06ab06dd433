#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <string>
#include <utility>

#include "barrio/base/abort.hpp"
#include "barrio/base/assert.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/engine.hpp"
#include "barrio/exchange/repeated/repeated_core.hpp"
#include "barrio/mpi/check.hpp"
#include "barrio/mpi/point_to_point.hpp"

namespace barrio::exchange::detail {
namespace {

#ifdef BARRIO_MPI_SMPI
constexpr bool has_persistent_requests = false;  // the simulator never ends a ring of them
#else
constexpr bool has_persistent_requests = true;
#endif

/// Exchanges of this thread that were begun, and whose contents are being checked.
thread_local std::vector<RepeatedCore*> in_check;

/// Stopwatch that adds the time it lives to a sum.
class Stopwatch {
 public:
  Stopwatch(bool is_on, double& sum) noexcept
      : sum_(is_on ? &sum : nullptr), begin_(is_on ? mpi::seconds_now() : 0.0) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    if (sum_ != nullptr) *sum_ += mpi::seconds_now() - begin_;
  }

 private:
  double* sum_;
  double begin_;
};

bool has_thread(const RepeatedExchangeOptions& options) {
  return options.engine != nullptr && options.engine->is_on() &&
         (options.strategy == Strategy::thread || options.strategy == Strategy::automatic);
}

std::vector<Strategy> candidates_of(const RepeatedExchangeOptions& options) {
  if (has_thread(options)) return {Strategy::thread};
  // If its engine is off, `thread` falls back to the best strategy without it.
  if (options.strategy != Strategy::automatic && options.strategy != Strategy::thread) {
    if (options.strategy == Strategy::persistent && !has_persistent_requests) return {Strategy::staggered_tests};
    return {options.strategy};
  }
  std::vector<Strategy> candidates{Strategy::staggered_tests, Strategy::delayed_waits};
  if (has_persistent_requests) candidates.push_back(Strategy::persistent);
  return candidates;
}

Coalescing coalescing_of(const mpi::Context& context, const RepeatedExchangeOptions& options) {
  if (options.strategy == Strategy::coalesced) return {.is_on = true, .is_always = true};
  return {.is_on = options.strategy == Strategy::automatic,
          .eager_bytes = context.profile().eager_bytes,
          .handshake_seconds = context.profile().handshake_seconds()};
}

void check_messages(const mpi::Context& context, std::span<const Outgoing> outgoing, std::span<const Incoming> incoming,
                    int tag) {
  const auto refuse = [](std::string cause, const char* remedy) {
    throw Error(ErrorCode::usage, {.subject = "exchange", .cause = std::move(cause), .remedy = remedy});
  };
  const auto check = [&](Rank rank, std::size_t n_bytes) {
    if (rank < 0 || rank >= context.size())
      refuse("rank " + std::to_string(rank) + " must be 0 to " + std::to_string(context.size() - 1),
             "name a rank of the context");
    if (n_bytes > INT_MAX) refuse(std::to_string(n_bytes) + " bytes are more than one message can hold", "split it");
  };
  for (const Outgoing& one : outgoing) check(one.to, one.n_bytes);
  for (const Incoming& one : incoming) check(one.from, one.bytes.size());
  if (tag < 0) refuse("tag " + std::to_string(tag) + " must be at least 0", "take one by Context::take_tags()");
}

}  // namespace

RepeatedCore::RepeatedCore(mpi::Context& context, std::span<const Outgoing> outgoing,
                           std::span<const Incoming> incoming, mpi::TagBlock tags,
                           const RepeatedExchangeOptions& options)
    : context_(context),
      engine_(options.engine),
      tags_(std::move(tags)),
      contents_(options.contents.empty() ? "bytes" : options.contents),
      is_checked_(options.is_checked),
      stall_warning_seconds_(options.stall_warning_seconds),
      stall_limit_seconds_(options.stall_limit_seconds),
      learnt_(context.kept<StrategyMemory>().of(options.message_class, candidates_of(options))),
      pace_(options.n_tests > 0 ? options.n_tests : context.profile().n_tests, context.profile().test_seconds,
            options.n_tests > 0),
      is_timed_(options.is_timed) {
  check_messages(context, outgoing, incoming, tags_.first);
  if (options.strategy == Strategy::thread && options.engine == nullptr)
    throw Error(ErrorCode::usage, {.subject = "Strategy::thread",
                                   .cause = "needs an engine, whose thread does the exchange",
                                   .remedy = "make a barrio::exchange::Engine and name it in the options"});
  wires_ = std::make_unique<Wires>(outgoing, incoming, coalescing_of(context, options));
  requests_.assign(wires_->in.size() + wires_->out.size(), MPI_REQUEST_NULL);
}

RepeatedCore::~RepeatedCore() {
  BARRIO_ASSERT(cheap, (!is_travelling_ || requests_.empty()) && "an exchange was dropped between begin() and end()");
  learnt_->leave(this);
  std::erase(in_check, this);
  int is_over = 0;
  MPI_Finalized(&is_over);
  for (MPI_Request& request : persistent_)
    if (is_over == 0 && request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

std::span<MPI_Request> RepeatedCore::receives() noexcept {
  return std::span(strategy_ == Strategy::persistent ? persistent_ : requests_).first(wires_->in.size());
}
std::span<MPI_Request> RepeatedCore::sends() noexcept {
  return std::span(strategy_ == Strategy::persistent ? persistent_ : requests_).subspan(wires_->in.size());
}

void RepeatedCore::make_persistent() {
  if (!persistent_.empty() || requests_.empty()) return;
  persistent_.assign(requests_.size(), MPI_REQUEST_NULL);
  std::size_t at = 0;
  for (const Wire& wire : wires_->in)
    mpi::check(MPI_Recv_init(wire.data, wire.n_bytes, MPI_BYTE, wire.peer, tag_, context_.comm(), &persistent_[at++]),
               "MPI_Recv_init");
  for (const Wire& wire : wires_->out)
    mpi::check(MPI_Send_init(wire.data, wire.n_bytes, MPI_BYTE, wire.peer, tag_, context_.comm(), &persistent_[at++]),
               "MPI_Send_init");
}

RepeatedCore::IdleWait::IdleWait(RepeatedCore& core)
    : core_(core), pause_(core.context_.wait_policy()), next_warning_(core.stall_warning_seconds_) {}

void RepeatedCore::IdleWait::operator()() {
  constexpr std::uint64_t polls_per_look_at_the_clock = 1024;
  core_.pass_other_checks();
  pause_();
  if (++n_polls_ % polls_per_look_at_the_clock != 0) return;
  const double now = mpi::seconds_now();
  if (since_ == 0.0) since_ = now;
  const double seconds = now - since_;
  if (seconds > next_warning_) {
    next_warning_ *= 2;
    core_.context_.log().warning(core_.describe_stall(seconds));
  }
  if (core_.stall_limit_seconds_ > 0 && seconds > core_.stall_limit_seconds_)
    abort_job(ErrorCode::failed,
              core_.describe_stall(seconds) +
                  "; the limit of this exchange ends the job (RepeatedExchangeOptions::stall_limit_seconds)");
}

std::string RepeatedCore::describe_stall(double seconds) {
  constexpr std::size_t max_named = 4;
  std::vector<Rank> missing;
  if (!is_threaded() && !is_checking_) {
    for (std::size_t i = 0; i < wires_->in.size(); ++i) {
      int done = 0;
      if (receives()[i] != MPI_REQUEST_NULL)
        mpi::check(MPI_Request_get_status(receives()[i], &done, MPI_STATUS_IGNORE), "MPI_Request_get_status");
      if (done == 0 && receives()[i] != MPI_REQUEST_NULL) missing.push_back(wires_->in[i].peer);
    }
  } else {
    for (const Wire& wire : wires_->in) missing.push_back(wire.peer);
  }
  sort_unique(missing);
  const std::size_t n_named = std::min(missing.size(), max_named);
  std::string ranks = missing.empty() ? "its messages to be received"
                                      : fmt::format("rank{} {}", missing.size() > 1 ? "s" : "",
                                                    fmt::join(missing.begin(), missing.begin() + n_named, ", "));
  if (missing.size() > n_named) ranks += fmt::format(" and {} more", missing.size() - n_named);
  return fmt::format("rank {} waits for {}{}: exchange {} of {}, for {:.1f} s{}", context_.rank(),
                     is_threaded() && missing.size() > 1 ? "some of " : "", ranks, statistics_.n_rounds + 1, contents_,
                     seconds, likely_cause());
}

std::string RepeatedCore::likely_cause() {
  if (is_threaded()) return "";  // MPI may belong to the thread
  for (const Wire& wire : wires_->in) {
    int found = 0;
    MPI_Status status;
    mpi::check(MPI_Iprobe(wire.peer, MPI_ANY_TAG, context_.comm(), &found, &status), "MPI_Iprobe");
    if (found == 0 || status.MPI_TAG == tag_) continue;
    const bool is_of_block = status.MPI_TAG >= tags_.first && status.MPI_TAG < tags_.first + tags_.count;
    return fmt::format("; rank {} has sent a message of {}: {}", wire.peer,
                       is_of_block ? "another exchange of this plan" : "another plan or round",
                       is_of_block ? "perhaps ranks begin exchanges in different orders and wait for each"
                                   : "perhaps it exchanges something else");
  }
  return "";
}

void RepeatedCore::wait_all(std::span<MPI_Request> requests) {
  if (may_block()) {
    mpi::wait_all(requests, context_.wait_policy());
    return;
  }
  IdleWait wait(*this);
  for (int done = 0;; wait()) {
    mpi::check(MPI_Testall(mpi::as_count(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    if (done != 0) return;
  }
}

void RepeatedCore::begin_check() {
  tag_ = tags_.take();
  if (!is_checked_ || requests_.empty()) return;
  check_ = std::make_unique<ContentsCheck>(context_, *wires_, tag_, contents_);
  is_checking_ = true;
  if (!is_threaded()) in_check.push_back(this);
}

bool RepeatedCore::pass_check() {
  if (!is_checking_) return true;
  if (!check_->test()) return false;
  is_refused_.store(check_->has_misfit(), std::memory_order_release);
  throw_if_refused();
  is_checking_ = false;
  std::erase(in_check, this);
  receive_checked();
  return true;
}

bool RepeatedCore::has_other_checks() const noexcept {
  return std::ranges::any_of(in_check, [this](const RepeatedCore* one) { return one != this; });
}

bool RepeatedCore::may_block() const noexcept {
  return context_.wait_policy().kind == mpi::WaitPolicy::Kind::block && !has_other_checks();
}

void RepeatedCore::pass_other_checks() {
  if (!has_other_checks() || is_threaded()) return;
  for (RepeatedCore* const one : std::vector(in_check)) {
    // where contents do not fit, its own end() says so
    if (one == this || !one->check_->test() || one->check_->has_misfit()) continue;
    one->pass_check();
  }
}

void RepeatedCore::wait_for_check() {
  if (is_checking_ && may_block()) mpi::wait_all(check_->receives(), context_.wait_policy());
  IdleWait wait(*this);
  while (!pass_check()) wait();
}

void RepeatedCore::throw_if_refused() const {
  if (is_refused()) check_->throw_misfit();
}

void RepeatedCore::start_receives() {
  if (is_checking_) check_->post_receives();
  for (std::size_t i = 0; i < wires_->in.size(); ++i)
    if (!is_deferred(i)) start_receive(i);
}

bool RepeatedCore::is_deferred(std::size_t i) const noexcept {
  // Exchanges that share a tag must post their receives in the order of their begin(). A message of this rank to itself
  // needs no check, and Open MPI 4.1 crashes if it is received late.
  return check_ && tags_.count > 1 && wires_->in[i].peer != context_.rank();
}

void RepeatedCore::receive_checked() {
  for (std::size_t i = 0; i < wires_->in.size(); ++i)
    if (is_deferred(i)) start_receive(i);
}

void RepeatedCore::start_receive(std::size_t i) {
  const Wire& wire = wires_->in[i];
  MPI_Request& request = receives()[i];
  // Persistent ones one by one: MPI_Startall may start them in any order, and only their order tells messages from one
  // peer apart.
  if (strategy_ == Strategy::persistent) {
    mpi::check(MPI_Start(&request), "MPI_Start");
    return;
  }
  mpi::check(MPI_Irecv(wire.data, wire.n_bytes, MPI_BYTE, wire.peer, tag_, context_.comm(), &request), "MPI_Irecv");
}

void RepeatedCore::start_send(std::size_t i) {
  const Wire& wire = wires_->out[i];
  MPI_Request& request = sends()[i];
  if (strategy_ == Strategy::persistent) {
    mpi::check(MPI_Start(&request), "MPI_Start");
    return;
  }
  mpi::check(MPI_Isend(wire.data, wire.n_bytes, MPI_BYTE, wire.peer, tag_, context_.comm(), &request), "MPI_Isend");
}

void RepeatedCore::start_sends() {
  if (check_) check_->send();
  for (std::size_t i = 0; i < wires_->out.size(); ++i) start_send(i);
}

void RepeatedCore::pack_wire(const Wire& wire, const Pack& pack) {
  if (!pack) return;
  const Stopwatch timing(is_timed_, statistics_.seconds.pack);
  for (const std::size_t i : wire.messages) pack(i);
}

void RepeatedCore::start_all(const Pack& pack) {
  const bool has_tests =
      strategy_ == Strategy::staggered_tests || strategy_ == Strategy::coalesced || strategy_ == Strategy::persistent;
  start_receives();
  if (check_) check_->send();
  const std::span<MPI_Request> incoming = receives();
  for (std::size_t i = 0; i < wires_->out.size(); ++i) {
    pack_wire(wires_->out[i], pack);
    start_send(i);
    // In the first round it would wait for a receive that its peer posts only after the check.
    if (strategy_ == Strategy::wait_each && !is_checking_) wait_all(sends().subspan(i, 1));
    // Packing counts as computing: take in messages meanwhile (Saif 2004, figure 4.3).
    if (has_tests && !is_checking_ && i + 1 < wires_->out.size() && !incoming.empty()) {
      int done = 0;
      mpi::check(MPI_Test(&incoming[i % incoming.size()], &done, MPI_STATUS_IGNORE), "MPI_Test");
    }
  }
}

void RepeatedCore::count_round() {
  // Atomic: several threads may begin exchanges of their own.
  const auto add = [](std::uint64_t& counter, std::uint64_t n) {
    std::atomic_ref(counter).fetch_add(n, std::memory_order_relaxed);
  };
  mpi::Counters& counters = context_.counters();
  const std::size_t n_words_in = check_ ? check_->n_received() : 0;
  const std::size_t n_words_out = check_ ? check_->n_sent() : 0;
  add(counters.messages_received, wires_->in.size() + n_words_in);
  add(counters.messages_sent, wires_->out.size() + n_words_out);
  add(counters.bytes_received, wires_->n_bytes_in() + n_words_in * ContentsCheck::word_bytes);
  add(counters.bytes_sent, wires_->n_bytes_out() + n_words_out * ContentsCheck::word_bytes);
}

bool RepeatedCore::is_paced() const noexcept {
  constexpr std::uint64_t n_first = 4;
  constexpr std::uint64_t stride = 16;
  return statistics_.n_rounds < n_first || statistics_.n_rounds % stride == 0;
}

void RepeatedCore::begin(const Pack& pack) {
  BARRIO_ASSERT(cheap, !is_travelling_ && "begin() again before end()");
  strategy_ = learnt_->begin_round(this, &mpi::seconds_now);
  if (tag_ < 0) begin_check();
  is_travelling_ = true;
  is_done_ = requests_.empty();
  takes_arrivals_ = false;
  pace_.begin_round();
  const double packed = statistics_.seconds.pack;
  {
    const Stopwatch timing(is_timed_, statistics_.seconds.start);
    if (is_threaded()) {
      arrivals_.begin_round(wires_->in.size());
      for (const Wire& wire : wires_->out) pack_wire(wire, pack);
      if (!is_done_) engine_->start(*this);
    } else {
      if (strategy_ == Strategy::persistent) make_persistent();
      start_all(pack);
    }
  }
  statistics_.seconds.start -= statistics_.seconds.pack - packed;
  count_round();
  if (is_paced()) computing_since_ = mpi::seconds_now();
}

bool RepeatedCore::test() {
  if (!is_travelling_) return true;
  const Stopwatch timing(is_timed_, statistics_.seconds.test);
  if (is_threaded()) {
    throw_if_refused();
    pace_.tested(false);
    return is_done_ = is_done();
  }
  if (!pass_check()) return false;
  if (strategy_ == Strategy::delayed_waits || strategy_ == Strategy::wait_each || strategy_ == Strategy::wait_some) {
    pace_.tested(false);
    return false;
  }
  // A call that takes long has copied something. Usually there is more to copy, and now it costs less than later, when
  // caches hold other data. Limit the loop: a call that yields the core takes long too, and moves nothing.
  constexpr double longest = 2e-3;
  constexpr double min_copy_seconds = 2e-6;
  const double longest_idle = std::max(4 * context_.profile().test_seconds, min_copy_seconds);
  const bool yields =
      context_.wait_policy().spin_polls == 0 || context_.wait_policy().kind == mpi::WaitPolicy::Kind::block;
  bool has_moved = true;
  double now = mpi::seconds_now();
  for (const double begin = now; has_moved && !is_done_ && now - begin < longest;) {
    statistics_.n_tests += 1;
    is_done_ = call_mpi();
    const double end = mpi::seconds_now();
    has_moved = !yields && end - now > longest_idle;
    now = end;
  }
  pace_.tested(has_moved);
  return is_done_;
}

bool RepeatedCore::call_mpi() {
  int done = 0;
  std::vector<MPI_Request>& all = strategy_ == Strategy::persistent ? persistent_ : requests_;
  mpi::check(MPI_Testall(mpi::as_count(all.size()), all.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
  return done != 0;
}

bool RepeatedCore::test_receives() {
  if (is_checking_) {
    if (is_refused() || !check_->test()) return false;
    is_refused_.store(check_->has_misfit(), std::memory_order_release);  // the caller throws it
    if (is_refused()) return false;
    is_checking_ = false;
    receive_checked();
  }
  record_arrived(false);
  return arrivals_.all_arrived();
}

bool RepeatedCore::test_sends() {
  int done = 0;
  if (check_) {
    mpi::check(MPI_Testall(mpi::as_count(check_->sends().size()), check_->sends().data(), &done, MPI_STATUSES_IGNORE),
               "MPI_Testall");
    if (done == 0) return false;
  }
  mpi::check(MPI_Testall(static_cast<int>(wires_->out.size()), sends().data(), &done, MPI_STATUSES_IGNORE),
             "MPI_Testall");
  return done != 0;
}

bool RepeatedCore::record_arrived(bool blocks) {
  const std::span<MPI_Request> requests = receives();
  completed_.resize(std::max<std::size_t>(requests.size(), 1));
  int n = 0;
  mpi::check((blocks ? MPI_Waitsome : MPI_Testsome)(mpi::as_count(requests.size()), requests.data(), &n,
                                                    completed_.data(), MPI_STATUSES_IGNORE),
             "MPI_Testsome");
  if (n == MPI_UNDEFINED) {
    arrivals_.record_all();
    return true;
  }
  for (int k = 0; k < n; ++k) arrivals_.record(completed_[k]);
  return n > 0;
}

void RepeatedCore::find_arrived(bool waits) {
  const bool blocks = waits && may_block();
  IdleWait wait(*this);
  if (is_threaded()) {
    for (; waits && !arrivals_.next_wire(); wait()) throw_if_refused();
  } else if (is_done_) {
    arrivals_.record_all();
  } else {
    if (waits) wait_for_check();
    if (!pass_check()) return;
    while (!record_arrived(blocks) && waits) wait();
  }
}

std::optional<std::size_t> RepeatedCore::take_arrived(bool waits) {
  BARRIO_ASSERT(cheap, is_travelling_ && "a message is asked for outside of begin() and end()");
  if (!takes_arrivals_ && !is_threaded()) arrivals_.begin_round(wires_->in.size());
  takes_arrivals_ = true;
  if (arrivals_.all_taken()) return std::nullopt;
  std::optional<std::size_t> at = arrivals_.next_wire();
  if (!at) {
    const Stopwatch timing(is_timed_, waits ? statistics_.seconds.wait : statistics_.seconds.test);
    find_arrived(waits);
    at = arrivals_.next_wire();
    if (!at) return std::nullopt;
  }
  const Wire& wire = wires_->in[*at];
  const std::size_t n = arrivals_.take(wire.messages.size());
  if (n == 0) {
    const Stopwatch timing(is_timed_, statistics_.seconds.hand_out);
    wires_->hand_out(wire);
  }
  return wire.messages[n];
}

void RepeatedCore::wait_for_receives(const Arrived& arrived) {
  if (strategy_ == Strategy::wait_some || takes_arrivals_) {
    while (const std::optional<std::size_t> i = take_arrived(true)) {
      const Stopwatch timing(is_timed_, statistics_.seconds.hand_out);
      if (arrived) arrived(*i);
    }
  }
  {
    const Stopwatch timing(is_timed_, statistics_.seconds.wait);
    IdleWait wait(*this);
    if (is_threaded()) {
      for (; !is_done(); wait()) throw_if_refused();
    } else if (!is_done_) {
      wait_for_check();
      wait_all(receives());
    }
  }
  if (takes_arrivals_) return;
  const Stopwatch timing(is_timed_, statistics_.seconds.hand_out);
  for (const Wire& wire : wires_->in) wires_->hand_out(wire);
  for (std::size_t i = 0; arrived && i < wires_->n_incoming(); ++i) arrived(i);
}

void RepeatedCore::end(const Arrived& arrived) {
  BARRIO_ASSERT(cheap, is_travelling_ && "end() without begin()");
  if (is_paced()) pace_.end_round(mpi::seconds_now() - computing_since_);
  if (is_threaded() && is_done()) is_done_ = true;
  if (is_done_ && !requests_.empty()) statistics_.n_done_before_end += 1;
  // Usually nothing is left to do if the caller computed and called progress().
  if (!is_done_ || arrived || wires_->has_joined()) {
    wait_for_receives(arrived);
    const Stopwatch timing(is_timed_, statistics_.seconds.wait);
    if (!is_done_ && !is_threaded()) wait_all(sends());
  }
  if (check_) {
    if (!is_threaded()) wait_all(check_->sends());
    check_.reset();
    std::erase(in_check, this);
  }
  is_travelling_ = false;
  is_done_ = true;
  statistics_.n_rounds += 1;
  statistics_.strategy = strategy_;
}

std::uint64_t RepeatedCore::memory_bytes() const noexcept {
  return wires_->memory_bytes() + barrio::memory_bytes(requests_) + barrio::memory_bytes(persistent_) +
         barrio::memory_bytes(completed_) + arrivals_.memory_bytes();
}

}  // namespace barrio::exchange::detail
