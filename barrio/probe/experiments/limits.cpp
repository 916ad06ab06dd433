#include "barrio/probe/experiments/limits.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "barrio/probe/experiments/script.hpp"

namespace barrio::probe {
namespace {

constexpr std::uint64_t smallest_message = 64;
constexpr std::uint64_t resolution = 64;

/// Computing time of one side: the other is early if it is done in half of that. Several times the transfer time of
/// messages of this size.
struct Window {
  double seconds_per_byte;
  [[nodiscard]] double seconds(std::uint64_t n_bytes) const {
    return 0.8e-3 + 4 * seconds_per_byte * static_cast<double>(n_bytes);
  }
};

Window find_window(Pair& pair) {
  constexpr std::uint64_t large = std::uint64_t{1} << 20U;
  constexpr double fast = 0.25e-9;  // copy between processes
  return {std::max(fast, ping_pong_seconds(pair, large) / static_cast<double>(large))};
}

/// Make a script that shows whether `n` messages arrive at side 1 while side 0 computes.
Script arrival(std::uint64_t n_bytes, int n, double seconds) {
  Script script;
  for (int i = 0; i < n; ++i) {
    const int message = script.add({.from = 0, .n_bytes = n_bytes});
    script.then(0, {Call::isend, message}).then(1, {Call::irecv, message});
  }
  script.then(0, {.call = Call::compute, .seconds = seconds}).then(0, {Call::wait_all});
  return script.then(1, {Call::wait_all});
}

/// Make a script that shows whether the sends of `n` messages complete at side 0 while side 1 computes. The receives
/// are posted first.
Script detachment(std::uint64_t n_bytes, int n, double seconds) {
  const double posting_seconds = 50e-6 + 2e-6 * n;
  Script script;
  script.then(0, {.call = Call::compute, .seconds = posting_seconds});
  for (int i = 0; i < n; ++i) {
    const int message = script.add({.from = 0, .n_bytes = n_bytes});
    script.then(0, {Call::isend, message}).then(1, {Call::irecv, message});
  }
  script.then(0, {Call::wait_all});
  return script.then(1, {.call = Call::compute, .seconds = seconds}).then(1, {Call::wait_all});
}

/// Make a script that shows whether `n` sends complete at side 0 while side 1 calls MPI but has posted no receive: MPI
/// then buffers them.
Script buffering(std::uint64_t n_bytes, int n, double seconds) {
  constexpr int n_calls = 40;
  Script script;
  for (int i = 0; i < n; ++i) script.then(0, {Call::isend, script.add({.from = 0, .n_bytes = n_bytes})});
  script.then(0, {Call::wait_all});
  for (int i = 0; i < n_calls; ++i)
    script.then(1, {.call = Call::iprobe}).then(1, {.call = Call::compute, .seconds = seconds / n_calls});
  for (int i = 0; i < n; ++i) script.then(1, {Call::irecv, i});
  return script.then(1, {Call::wait_all});
}

enum class Answer { no, yes, unknown };

/// Asks whether the waiting side of a script is done well before the other side has computed.
class Questions {
 public:
  Questions(Pair& pair, double longest_seconds) : pair_(pair), end_(pair.now() + longest_seconds) {}

  /// Early once is enough for a yes: other work makes a wait late, never early. A no takes several trials in which both
  /// sides kept their cores long enough.
  Answer ask(const Script& script, int waiting_side, double seconds) {
    constexpr int n_trials = 3;
    for (int n_late = 0; n_late < n_trials;) {
      const Timeline timeline = run(pair_, script, {.n_trials = 1, .watched_seconds = seconds / 2});
      // A receive that is posted late finds its message waiting, and advances it.
      const bool is_in_order = waiting_side == 1 || posts_first(timeline);
      if (is_in_order && timeline.end_of(waiting_side) < seconds / 2) return Answer::yes;
      if (is_in_order && timeline.longest_gap_seconds < seconds / 4) {
        ++n_late;
      } else if (pair_.max(pair_.now() - end_) > 0.0) {
        return Answer::unknown;
      }
    }
    return Answer::no;
  }

 private:
  /// Tell whether side 1 has posted all its receives when side 0 begins to send.
  static bool posts_first(const Timeline& timeline) {
    const double send = timeline.find(0, Call::isend).begin;
    for (const TimedCall& call : timeline.calls[1]) {
      if (call.call != Call::irecv) return true;
      if (call.end > send) return false;
    }
    return true;
  }

  Pair& pair_;
  double end_;
};

/// Find how many messages, of half a limit, pass together: 1, 2, 4 ... `max_at_once`.
template <class Make>
std::optional<std::uint64_t> find_at_once(Questions& questions, const Window& window, std::uint64_t n_bytes,
                                          const Make& make) {
  std::uint64_t found = 0;
  for (int n = 1; n <= max_at_once; n *= 2) {
    const double seconds = window.seconds(n_bytes * static_cast<std::uint64_t>(n));
    const Answer answer = questions.ask(make(n_bytes, n, seconds), 0, seconds);
    if (answer == Answer::unknown) return std::nullopt;
    if (answer == Answer::no) break;
    found = n;
  }
  return found;
}

std::uint64_t half_of(std::uint64_t limit) {
  return std::clamp<std::uint64_t>(limit / 2, smallest_message, std::uint64_t{32} << 10U);
}

/// Tell whether a limit is on the total in flight: together they have no more bytes than one message of that size.
bool is_on_all(std::uint64_t limit, std::uint64_t at_once) {
  return limit >= 2 * smallest_message && at_once < max_at_once && 2 * at_once * half_of(limit) <= 3 * limit;
}

/// Find the largest size for which a property holds, given that it holds for all smaller ones; 0 if it holds for none;
/// nothing if it cannot be decided.
template <class Holds>
std::optional<std::uint64_t> largest_size(const Holds& holds) {
  std::uint64_t good = 0;
  std::uint64_t bad = smallest_message;
  while (bad <= largest_message) {
    const Answer answer = holds(bad);
    if (answer == Answer::unknown) return std::nullopt;
    if (answer == Answer::no) break;
    good = bad;
    bad *= 2;
  }
  if (good == 0 || bad > largest_message) return good;
  while (bad - good > resolution) {
    const std::uint64_t middle = (good + bad) / 2 / resolution * resolution;
    const Answer answer = holds(middle);
    if (answer == Answer::unknown) return std::nullopt;
    (answer == Answer::yes ? good : bad) = middle;
  }
  return good;
}

}  // namespace

double ping_pong_seconds(Pair& pair, std::size_t n_bytes) {
  constexpr int n_trials = 5;
  const int n_rounds = n_bytes <= 65'536 ? 20 : 2;
  constexpr int tag = 4;
  std::vector<std::byte> bytes(n_bytes);
  double best = 1e30;
  for (int trial = 0; trial < n_trials; ++trial) {
    pair.meet();
    const double start = pair.now();
    for (int i = 0; i < 2 * n_rounds; ++i) {
      MPI_Request request = MPI_REQUEST_NULL;
      const bool sends = i % 2 == pair.side();
      mpi::check(
          sends
              ? MPI_Isend(bytes.data(), static_cast<int>(n_bytes), MPI_BYTE, pair.other(), tag, pair.comm(), &request)
              : MPI_Irecv(bytes.data(), static_cast<int>(n_bytes), MPI_BYTE, pair.other(), tag, pair.comm(), &request),
          "MPI_Isend or MPI_Irecv");
      mpi::wait(request, pair.wait_policy());
    }
    best = std::min(best, (pair.now() - start) / (2 * n_rounds));
  }
  return pair.max(best);
}

MessageLimits find_limits(Pair& pair, double longest_seconds) {
  const Window window = find_window(pair);
  Questions questions(pair, longest_seconds);
  const auto largest = [&](const auto& make, int waiting_side) {
    return largest_size([&](std::uint64_t n) {
      const double seconds = window.seconds(n);
      return questions.ask(make(n, 1, seconds), waiting_side, seconds);
    });
  };
  MessageLimits limits;
  limits.arriving_bytes = largest(&arrival, 1);
  limits.detached_bytes = largest(&detachment, 0);
  limits.eager_bytes = largest(&buffering, 0);
  if (limits.eager_bytes) limits.at_once = find_at_once(questions, window, half_of(*limits.eager_bytes), &buffering);
  if (limits.at_once) limits.is_cumulative = is_on_all(*limits.eager_bytes, *limits.at_once);
  if (limits.detached_bytes)
    limits.detached_at_once = find_at_once(questions, window, half_of(*limits.detached_bytes), &detachment);
  if (limits.detached_at_once)
    limits.is_detached_cumulative = is_on_all(*limits.detached_bytes, *limits.detached_at_once);
  return limits;
}

Json to_json(const MessageLimits& limits) {
  const auto number = [](const std::optional<std::uint64_t>& found) { return found ? Json(*found) : Json(nullptr); };
  return {{"eager_bytes", number(limits.eager_bytes)},
          {"arriving_bytes", number(limits.arriving_bytes)},
          {"detached_bytes", number(limits.detached_bytes)},
          {"largest_tried_bytes", largest_message},
          {"at_once", number(limits.at_once)},
          {"is_cumulative", limits.is_cumulative},
          {"detached_at_once", number(limits.detached_at_once)},
          {"is_detached_cumulative", limits.is_detached_cumulative}};
}

}  // namespace barrio::probe
