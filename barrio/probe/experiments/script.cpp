#include "barrio/probe/experiments/script.hpp"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/mpi/check.hpp"

namespace barrio::probe {
namespace {

constexpr int first_message_tag = 16;
constexpr int tag_of_nobody = 8;
constexpr std::size_t sample_stride = 509;  // distance between compared bytes

std::byte pattern(std::size_t place, int message, int trial) noexcept {
  return static_cast<std::byte>(mix64(place + 1'000'003U * static_cast<std::size_t>(message * 64 + trial)) & 0xffU);
}

/// Visit the sampled bytes of a message, which are written before and compared after: some on each page, and the last
/// one.
template <class Visit>
void for_samples(std::size_t n_bytes, const Visit& visit) {
  for (std::size_t i = 0; i < n_bytes; i += sample_stride) visit(i);
  if (n_bytes > 0) visit(n_bytes - 1);
}

/// Return the time for which this thread has had a core.
double core_seconds() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Memory of MPI's buffered sends, attached while the object lives.
class SendBuffer {
 public:
  explicit SendBuffer(const std::vector<Message>& messages) {
    int n_bytes = 0;
    for (const Message& message : messages)
      if (message.mode == SendMode::buffered) n_bytes += static_cast<int>(message.n_bytes) + MPI_BSEND_OVERHEAD;
    if (n_bytes == 0) return;
    bytes_.resize(n_bytes);
    mpi::check(MPI_Buffer_attach(bytes_.data(), n_bytes), "MPI_Buffer_attach");
  }
  SendBuffer(const SendBuffer&) = delete;
  SendBuffer& operator=(const SendBuffer&) = delete;
  ~SendBuffer() {
    void* address = nullptr;
    int size = 0;
    if (!bytes_.empty()) MPI_Buffer_detach(static_cast<void*>(&address), &size);
  }

 private:
  std::vector<std::byte> bytes_;
};

/// One side's part of a script.
class Player {
 public:
  Player(Pair& pair, const Script& script, const RunLimits& limits)
      : pair_(pair), script_(script), limits_(limits), buffers_(script.messages.size()) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) buffers_[i].resize(script.messages[i].n_bytes);
  }

  /// Run one trial and return both sides' calls.
  Timeline play(int trial) {
    requests_.assign(script_.messages.size(), MPI_REQUEST_NULL);
    prepare(trial);
    is_stalled_ = false;
    std::vector<TimedCall> calls;
    const std::vector<Step>& steps = script_.steps[pair_.side()];
    calls.reserve(steps.size());
    const double start = pair_.meet();
    begin_watch(start);
    for (const Step& step : steps) {
      const double begin = pair_.now();
      if (calls.empty()) look(begin);
      const double core_begin = is_watched() ? core_seconds() : 0.0;
      perform(step, begin);
      const double end = pair_.now();
      // A call itself may take long; only the time without a core counts.
      if (is_watched()) skip(end, end - begin - (core_seconds() - core_begin));
      calls.push_back({step.call, step.message, begin - start, end - start});
    }
    complete();
    Timeline timeline;
    share(calls, {.longest_gap = longest_gap_, .is_stalled = is_stalled_, .is_damaged = is_damaged(trial)}, timeline);
    return timeline;
  }

 private:
  void prepare(int trial) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      const bool is_sent = script_.messages[i].from == pair_.side();
      for_samples(buffers_[i].size(), [&](std::size_t at) {
        buffers_[i][at] = is_sent ? pattern(at, static_cast<int>(i), trial) : std::byte{0};
      });
    }
  }

  bool is_damaged(int trial) const {
    bool is_damaged = false;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (script_.messages[i].from == pair_.side()) continue;
      for_samples(buffers_[i].size(), [&](std::size_t at) {
        if (buffers_[i][at] != pattern(at, static_cast<int>(i), trial)) is_damaged = true;
      });
    }
    return is_damaged;
  }

  void perform(const Step& step, double begin) {
    int done = 0;
    switch (step.call) {
      case Call::compute:
        for (look(begin); last_look_ < begin + step.seconds;) look(pair_.now());
        return;
      case Call::isend: return start_send(step.message);
      case Call::irecv: return start_receive(step.message);
      case Call::test: {
        mpi::check(MPI_Test(&request(step.message), &done, MPI_STATUS_IGNORE), "MPI_Test");
        return;
      }
      case Call::test_all: {
        mpi::check(MPI_Testall(mpi::as_count(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE),
                   "MPI_Testall");
        return;
      }
      case Call::iprobe: {
        mpi::check(MPI_Iprobe(pair_.other(), tag_of_nobody, pair_.comm(), &done, MPI_STATUS_IGNORE), "MPI_Iprobe");
        return;
      }
      case Call::wait: return wait(request(step.message));
      case Call::wait_all:
        for (MPI_Request& each : requests_) wait(each);
        return;
    }
  }

  MPI_Request& request(int message) { return requests_[message]; }

  void start_send(int i) {
    const Message& message = script_.messages[i];
    const auto start = [&](auto* function, const char* name) {
      mpi::check(function(buffers_[i].data(), static_cast<int>(message.n_bytes), MPI_BYTE, pair_.other(),
                          first_message_tag + i, pair_.comm(), &request(i)),
                 name);
    };
    switch (message.mode) {
      case SendMode::standard: return start(&MPI_Isend, "MPI_Isend");
      case SendMode::buffered: return start(&MPI_Ibsend, "MPI_Ibsend");
      case SendMode::synchronous: return start(&MPI_Issend, "MPI_Issend");
      case SendMode::ready: return start(&MPI_Irsend, "MPI_Irsend");
    }
  }

  void start_receive(int i) {
    std::vector<std::byte>& buffer = buffers_[i];
    mpi::check(MPI_Irecv(buffer.data(), mpi::as_count(buffer.size()), MPI_BYTE, pair_.other(), first_message_tag + i,
                         pair_.comm(), &request(i)),
               "MPI_Irecv");
  }

  void wait(MPI_Request& request) {
    const double give_up = pair_.now() + limits_.stall_seconds;
    mpi::Pause pause(pair_.wait_policy());
    for (int done = 0;; pause()) {
      mpi::check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      look(pair_.now());
      if (done != 0) return;
      if (last_look_ > give_up) {
        is_stalled_ = true;
        return;
      }
    }
  }

  [[nodiscard]] bool is_watched() const noexcept { return limits_.watched_seconds < RunLimits{}.watched_seconds; }

  void begin_watch(double start) {
    watch_end_ = start + limits_.watched_seconds;
    last_look_ = start;
    longest_gap_ = 0.0;
  }

  void look(double now) {
    if (last_look_ < watch_end_) longest_gap_ = std::max(longest_gap_, now - last_look_);
    last_look_ = now;
  }

  /// Continue the watch from here, after the core was lost for `lost_seconds`.
  void skip(double now, double lost_seconds) {
    if (last_look_ < watch_end_) longest_gap_ = std::max(longest_gap_, lost_seconds);
    last_look_ = now;
  }

  /// Complete the messages that a script leaves open or abandoned; sends without a receive are matched here.
  void complete() {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const bool is_sent = script_.messages[i].from == pair_.side();
      const bool is_started = has_step(is_sent ? Call::isend : Call::irecv, static_cast<int>(i));
      if (!is_started && is_sent) start_send(static_cast<int>(i));
      if (!is_started && !is_sent) start_receive(static_cast<int>(i));
    }
    const double give_up = pair_.now() + Pair::limit_seconds;
    mpi::Pause pause(pair_.wait_policy());
    for (int done = 0;; pause()) {
      mpi::check(MPI_Testall(mpi::as_count(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE),
                 "MPI_Testall");
      if (done != 0) return;
      if (pair_.now() > give_up)
        Pair::give_up("messages of an experiment never arrived, though both ranks wait: does this transport work?");
    }
  }

  [[nodiscard]] bool has_step(Call call, int message) const {
    return std::ranges::any_of(script_.steps[pair_.side()],
                               [&](const Step& step) { return step.call == call && step.message == message; });
  }

  struct Outcome {
    double longest_gap = 0.0;
    bool is_stalled = false;
    bool is_damaged = false;
  };

  /// Exchange the calls and outcomes of both sides.
  void share(const std::vector<TimedCall>& mine, const Outcome& outcome, Timeline& timeline) {
    const std::size_t me = pair_.side();
    std::vector<TimedCall> others(script_.steps[1 - me].size());
    Outcome met;
    std::vector<std::byte> sent(mine.size() * sizeof(TimedCall) + sizeof(Outcome));
    std::vector<std::byte> received(others.size() * sizeof(TimedCall) + sizeof(Outcome));
    std::memcpy(sent.data(), &outcome, sizeof(Outcome));
    std::ranges::copy(std::as_bytes(std::span(mine)), sent.begin() + sizeof(Outcome));
    pair_.swap(sent, received);
    std::memcpy(&met, received.data(), sizeof(Outcome));
    std::ranges::copy(std::span(received).subspan(sizeof(Outcome)), std::as_writable_bytes(std::span(others)).begin());
    timeline.calls[me] = mine;
    timeline.calls[1 - me] = std::move(others);
    timeline.longest_gap_seconds = std::max(outcome.longest_gap, met.longest_gap);
    timeline.is_stalled = outcome.is_stalled || met.is_stalled;
    timeline.is_damaged = outcome.is_damaged || met.is_damaged;
  }

  Pair& pair_;
  const Script& script_;
  const RunLimits& limits_;
  std::vector<std::vector<std::byte>> buffers_;
  std::vector<MPI_Request> requests_;
  bool is_stalled_ = false;
  double watch_end_ = 0.0;
  double last_look_ = 0.0;
  double longest_gap_ = 0.0;
};

}  // namespace

std::string_view name_of(Call call) noexcept {
  switch (call) {
    case Call::compute: return "compute";
    case Call::isend: return "Isend";
    case Call::irecv: return "Irecv";
    case Call::test: return "Test";
    case Call::test_all: return "Testall";
    case Call::iprobe: return "Iprobe";
    case Call::wait: return "Wait";
    case Call::wait_all: return "Waitall";
  }
  return "";
}

std::string_view name_of(SendMode mode) noexcept {
  switch (mode) {
    case SendMode::standard: return "standard";
    case SendMode::buffered: return "buffered";
    case SendMode::synchronous: return "synchronous";
    case SendMode::ready: return "ready";
  }
  return "";
}

double Timeline::end_of(int side) const {
  const std::vector<TimedCall>& all = calls[side];
  return all.empty() ? 0.0 : all.back().end;
}

double Timeline::end() const { return std::max(end_of(0), end_of(1)); }

TimedCall Timeline::find(int side, Call call, int nth) const {
  for (const TimedCall& one : calls[side])
    if (one.call == call && nth-- == 0) return one;
  return {};
}

double Timeline::total(int side, Call call) const {
  const std::vector<TimedCall>& all = calls[side];
  return std::accumulate(all.begin(), all.end(), 0.0, [&](double sum, const TimedCall& one) {
    return one.call == call ? sum + one.seconds() : sum;
  });
}

Timeline run(Pair& pair, const Script& script, const RunLimits& limits) {
  const SendBuffer buffer(script.messages);
  Player player(pair, script, limits);
  Timeline best = player.play(0);
  for (int trial = 1; trial < limits.n_trials && !best.is_stalled; ++trial) {
    Timeline next = player.play(trial);
    const bool is_damaged = best.is_damaged || next.is_damaged;
    if (next.end() < best.end() && !next.is_stalled) best = std::move(next);
    best.is_damaged = is_damaged;
  }
  return best;
}

}  // namespace barrio::probe
