#include "barrio/probe/limits.hpp"

#include <algorithm>
#include <vector>

#include "barrio/probe/script.hpp"

namespace barrio::probe {
namespace {

/// A copy of the message takes much less.
double compute_seconds(std::uint64_t n_bytes) { return 0.8e-3 + 1e-9 * static_cast<double>(n_bytes); }

constexpr std::uint64_t smallest_message = 64;
constexpr std::uint64_t resolution = 64;

/// Whether `n` messages arrive at side 1 while side 0 computes.
Script arrival(std::uint64_t n_bytes, int n) {
  Script script;
  for (int i = 0; i < n; ++i) {
    const int message = script.add({.from = 0, .n_bytes = n_bytes});
    script.then(0, {Call::isend, message}).then(1, {Call::irecv, message});
  }
  script.then(0, {.call = Call::compute, .seconds = compute_seconds(n_bytes)}).then(0, {Call::wait_all});
  return script.then(1, {Call::wait_all});
}

/// Whether the sends of `n` messages complete at side 0 while side 1 computes.
Script detachment(std::uint64_t n_bytes, int n) {
  Script script;
  for (int i = 0; i < n; ++i) {
    const int message = script.add({.from = 0, .n_bytes = n_bytes});
    script.then(0, {Call::isend, message}).then(1, {Call::irecv, message});
  }
  script.then(0, {Call::wait_all});
  return script.then(1, {.call = Call::compute, .seconds = compute_seconds(n_bytes)}).then(1, {Call::wait_all});
}

/// Whether a send completes at side 0 while side 1 calls MPI but has posted no receive: MPI has a place for it then.
Script buffering(std::uint64_t n_bytes) {
  constexpr int n_calls = 40;
  Script script;
  const int message = script.add({.from = 0, .n_bytes = n_bytes});
  script.then(0, {Call::isend, message}).then(0, {Call::wait, message});
  for (int i = 0; i < n_calls; ++i)
    script.then(1, {.call = Call::iprobe})
        .then(1, {.call = Call::compute, .seconds = compute_seconds(n_bytes) / n_calls});
  return script.then(1, {Call::irecv, message}).then(1, {Call::wait, message});
}

/// Who waits is done well before the other has computed. Noise makes it late, never early.
bool is_done_early(Pair& pair, const Script& script, int waiting_side) {
  constexpr int n_trials = 3;
  const double early = compute_seconds(script.messages.front().n_bytes) / 2;
  for (int trial = 0; trial < n_trials; ++trial)
    if (run(pair, script, {.n_trials = 1}).end_of(waiting_side) < early) return true;
  return false;
}

/// The largest size of which something holds, if it holds of all smaller ones; 0 if it holds of none.
template <class Holds>
std::uint64_t largest_size(const Holds& holds) {
  std::uint64_t good = 0;
  std::uint64_t bad = smallest_message;
  while (bad <= largest_message && holds(bad)) {
    good = bad;
    bad *= 2;
  }
  if (good == 0 || bad > largest_message) return good;
  while (bad - good > resolution) {
    const std::uint64_t middle = (good + bad) / 2 / resolution * resolution;
    (holds(middle) ? good : bad) = middle;
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

MessageLimits find_limits(Pair& pair) {
  MessageLimits limits;
  limits.arriving_bytes = largest_size([&](std::uint64_t n) { return is_done_early(pair, arrival(n, 1), 1); });
  limits.detached_bytes = largest_size([&](std::uint64_t n) { return is_done_early(pair, detachment(n, 1), 0); });
  limits.eager_bytes = largest_size([&](std::uint64_t n) { return is_done_early(pair, buffering(n), 0); });
  // Half the limit: three of them are more than one may be.
  const std::uint64_t n_bytes = std::clamp<std::uint64_t>(limits.eager_bytes / 2, smallest_message, 32'768);
  for (int n = 1; n <= most_at_once && is_done_early(pair, arrival(n_bytes, n), 1); n *= 2)
    limits.at_once = static_cast<std::uint64_t>(n);
  limits.is_cumulative = limits.at_once < 4;
  return limits;
}

Json to_json(const MessageLimits& limits) {
  return {{"eager_bytes", limits.eager_bytes},
          {"arriving_bytes", limits.arriving_bytes},
          {"detached_bytes", limits.detached_bytes},
          {"largest_tried_bytes", largest_message},
          {"at_once", limits.at_once},
          {"is_cumulative", limits.is_cumulative}};
}

}  // namespace barrio::probe
