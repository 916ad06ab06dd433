#include "barrio/probe/experiments/blocking.hpp"

#include <algorithm>
#include <string>

#include "barrio/base/profile.hpp"
#include "barrio/probe/experiments/script.hpp"

namespace barrio::probe {
namespace {

constexpr Step compute{.call = Call::compute, .seconds = step_seconds};

/// A wait blocks if it lasts at least this part of the other side's step.
constexpr double blocking_part = 0.5;

Script basic(std::uint64_t n_bytes, bool is_two_way) {
  Script script;
  const int there = script.add({.from = 0, .n_bytes = n_bytes});
  const int back = is_two_way ? script.add({.from = 1, .n_bytes = n_bytes}) : -1;
  if (is_two_way) script.then(0, {Call::irecv, back});
  script.then(1, {Call::irecv, there}).then(0, {Call::isend, there});
  if (is_two_way) script.then(1, {Call::isend, back});
  script.both(compute);
  // Receives first: the sends that they match are then in flight.
  if (is_two_way) script.then(0, {Call::wait, back});
  script.then(1, {Call::wait, there}).then(0, {Call::wait, there});
  if (is_two_way) script.then(1, {Call::wait, back});
  return script;
}

Json times_of(const Timeline& timeline, bool is_two_way) {
  const TimedCall receive = timeline.find(1, Call::wait);
  return {{"isend_seconds", timeline.find(0, Call::isend).seconds()},
          {"irecv_seconds", timeline.find(1, Call::irecv).seconds()},
          {"wait_send_seconds", timeline.find(0, Call::wait, is_two_way ? 1 : 0).seconds()},
          {"wait_receive_seconds", receive.seconds()},
          {"is_stalled", timeline.is_stalled},
          {"is_damaged", timeline.is_damaged}};
}

/// Action of the receiver half way through, while side 0 waits for its send of message 1. Message 0 is small and has
/// arrived; message 2 goes the other way.
struct Release {
  const char* name;
  std::vector<Step> steps;
};

/// @param step  computing time of the receiver before the action, and after it
std::vector<Release> all_releases(double step) {
  std::vector<Step> tests;
  for (int i = 0; i < 8; ++i) {
    tests.push_back({Call::test, 1});
    tests.push_back({.call = Call::compute, .seconds = step / 32});
  }
  return {{"nothing", {}},
          {"Wait (matching)", {{Call::wait, 1}}},
          {"Wait (another)", {{Call::wait, 0}}},
          {"Test", {{Call::test, 1}}},
          {"8 Tests", tests},
          {"Iprobe", {{.call = Call::iprobe}}},
          {"Isend", {{Call::isend, 2}}}};
}

Script stalled_sender(std::uint64_t n_bytes, const Release& release, double step) {
  const Step part{.call = Call::compute, .seconds = step};
  Script script;
  const int small = script.add({.from = 0, .n_bytes = 8});
  const int large = script.add({.from = 0, .n_bytes = n_bytes});
  const int back = script.add({.from = 1, .n_bytes = 8});
  script.then(0, {Call::irecv, back}).then(0, {Call::isend, small}).then(0, {Call::isend, large});
  script.then(0, {Call::wait, large});
  script.then(1, {Call::irecv, small}).then(1, {Call::irecv, large}).then(1, part);
  for (const Step& call : release.steps) script.then(1, call);
  return script.then(1, part).then(1, {Call::wait_all});
}

}  // namespace

Json find_blocking_calls(Pair& pair) {
  Json sizes = Json::array();
  for (std::size_t i = 0; i < Profile::n_sizes; ++i) {
    const std::uint64_t n = Profile::size_bytes(i);
    sizes.push_back({{"bytes", n},
                     {"one_way", times_of(run(pair, basic(n, false)), false)},
                     {"two_way", times_of(run(pair, basic(n, true)), true)}});
  }
  return sizes;
}

Json find_early_waits(Pair& pair) {
  Json all = Json::array();
  for (const SendMode mode : all_send_modes) {
    Json sizes = Json::array();
    for (std::size_t i = 0; i < Profile::n_sizes; ++i) {
      Script script;
      const int message = script.add({.from = 0, .n_bytes = Profile::size_bytes(i), .mode = mode});
      // The receive is posted before a ready send.
      script.then(1, {Call::irecv, message}).then(1, compute).then(1, {Call::wait, message});
      script.then(0, {.call = Call::compute, .seconds = step_seconds / 20}).then(0, {Call::isend, message});
      script.then(0, {Call::wait, message}).then(0, compute);
      const Timeline timeline = run(pair, script);
      const double wait = timeline.find(0, Call::wait).seconds();
      const double isend = timeline.find(0, Call::isend).seconds();
      sizes.push_back({{"bytes", Profile::size_bytes(i)},
                       {"isend_seconds", isend},
                       {"wait_send_seconds", wait},
                       {"isend_blocks", isend > blocking_part * step_seconds},
                       {"wait_blocks", wait > blocking_part * step_seconds},
                       {"is_damaged", timeline.is_damaged}});
    }
    all.push_back({{"mode", name_of(mode)}, {"sizes", std::move(sizes)}});
  }
  return all;
}

Json find_releases(Pair& pair, const MessageLimits& limits) {
  Json all = Json::array();
  const std::uint64_t leaves = std::max(limits.detached_bytes.value_or(0), limits.eager_bytes.value_or(0));
  const std::uint64_t stalls = std::max<std::uint64_t>(2 * leaves, 4096);
  for (const std::uint64_t n : {std::min<std::uint64_t>(stalls, std::uint64_t{1} << 20U), std::uint64_t{4} << 20U}) {
    // The transfer itself is short compared with the step.
    const double step = std::max(step_seconds, 4 * ping_pong_seconds(pair, n));
    for (const Release& release : all_releases(step)) {
      const Timeline timeline = run(pair, stalled_sender(n, release, step));
      const double call = timeline.calls[1][2].end;  // end of the first part of the receiver's work
      const double free = timeline.find(0, Call::wait).end;
      // Without the call the sender would be released only at the end of the second part.
      const bool is_matching =
          !release.steps.empty() && release.steps.front().call == Call::wait && release.steps.front().message == 1;
      all.push_back({{"call", release.name},
                     {"bytes", n},
                     {"stalls", free > call},
                     {"releases", free > call && free < (is_matching ? timeline.calls[1][3].end : call) + 0.8 * step},
                     {"free_after_seconds", free - call},
                     {"is_damaged", timeline.is_damaged}});
    }
  }
  return all;
}

Json find_deadlocks(Pair& pair) {
  Json sizes = Json::array();
  for (std::size_t i = 0; i < Profile::n_sizes; ++i) {
    Script script;
    const int there = script.add({.from = 0, .n_bytes = Profile::size_bytes(i)});
    const int back = script.add({.from = 1, .n_bytes = Profile::size_bytes(i)});
    // Both wait for their send before they have posted a receive.
    script.then(0, {Call::isend, there}).then(0, {Call::wait, there}).then(0, {Call::irecv, back});
    script.then(1, {Call::isend, back}).then(1, {Call::wait, back}).then(1, {Call::irecv, there});
    script.both({Call::wait_all});
    // A pair that completes once does not stall: a late one may only have lost a core for as long.
    constexpr int n_trials = 3;
    Timeline timeline = run(pair, script, {.n_trials = 1, .stall_seconds = 0.02});
    for (int trial = 1; trial < n_trials && timeline.is_stalled; ++trial)
      timeline = run(pair, script, {.n_trials = 1, .stall_seconds = 0.02});
    sizes.push_back({{"bytes", Profile::size_bytes(i)},
                     {"would_deadlock", timeline.is_stalled},
                     {"wait_send_seconds", timeline.find(0, Call::wait).seconds()},
                     {"is_damaged", timeline.is_damaged}});
  }
  return sizes;
}

}  // namespace barrio::probe
