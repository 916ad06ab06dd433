#include "barrio/probe/experiments/overlap.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "barrio/probe/experiments/script.hpp"

namespace barrio::probe {
namespace {

constexpr std::array tests_tried{0, 1, 8, 32};
constexpr double shortest_compute_seconds = 0.5e-3;

/// Make a two-way exchange: computing that calls MPI n times, then the waits.
Script exchange(std::uint64_t n_bytes, double seconds, int n_calls, Call call) {
  Script script;
  const int there = script.add({.from = 0, .n_bytes = n_bytes});
  const int back = script.add({.from = 1, .n_bytes = n_bytes});
  script.then(0, {Call::irecv, back}).then(1, {Call::irecv, there});
  script.then(0, {Call::isend, there}).then(1, {Call::isend, back});
  for (int i = 0; i < n_calls; ++i)
    script.both({.call = Call::compute, .seconds = seconds / (n_calls + 1)}).both({.call = call});
  if (seconds > 0.0) script.both({.call = Call::compute, .seconds = seconds / (n_calls + 1)});
  return script.then(0, {Call::wait, back}).then(1, {Call::wait, there}).both({Call::wait_all});
}

double wait_of(const Timeline& timeline) {
  double longest = 0.0;
  for (int side = 0; side < 2; ++side)
    longest = std::max(longest, timeline.total(side, Call::wait) + timeline.total(side, Call::wait_all));
  return longest;
}

/// Measure bytes per second from side 0 to side 1, with at most `depth` messages in flight.
double stream_rate(Pair& pair, std::size_t n_bytes, std::size_t depth) {
  constexpr std::size_t max_bytes = std::size_t{2} << 20U;
  constexpr int n_trials = 3;
  constexpr int tag = 5;
  const std::size_t n_messages = std::clamp<std::size_t>(max_bytes / n_bytes, 8, 256);
  std::vector<std::byte> bytes(n_bytes * depth);
  std::vector<MPI_Request> requests(depth, MPI_REQUEST_NULL);
  double best = 1e30;
  for (int trial = 0; trial < n_trials; ++trial) {
    pair.meet();
    const double start = pair.now();
    for (std::size_t i = 0; i < n_messages; ++i) {
      const std::size_t place = i % depth;
      mpi::wait(requests[place], pair.wait_policy());
      std::byte* const buffer = &bytes[place * n_bytes];
      const auto n = static_cast<int>(n_bytes);
      mpi::check(pair.side() == 0 ? MPI_Isend(buffer, n, MPI_BYTE, 1, tag, pair.comm(), &requests[place])
                                  : MPI_Irecv(buffer, n, MPI_BYTE, 0, tag, pair.comm(), &requests[place]),
                 "MPI_Isend or MPI_Irecv");
    }
    mpi::wait_all(requests, pair.wait_policy());
    best = std::min(best, pair.max(pair.now() - start));
  }
  return static_cast<double>(n_messages * n_bytes) / best;
}

/// Seconds by size and number of tests, as in `tests_tried`.
using Waits = std::array<std::array<double, tests_tried.size()>, Profile::n_sizes>;

/// Return the first index in `tests_tried` with which every size has at most a twentieth left to wait for, or a short
/// wait. One test alone does not count: a message that arrives late would be missed by it.
std::size_t fewest_tests(const Profile& profile, const Waits& waits) {
  constexpr double gone = 0.05;
  constexpr double short_wait_seconds = 2e-6;
  constexpr std::size_t fewest = 2;
  for (std::size_t which = fewest; which < tests_tried.size(); ++which) {
    bool is_enough = true;
    for (std::size_t i = 0; i < Profile::n_sizes; ++i)
      is_enough = is_enough && waits[i][which] <= std::max(short_wait_seconds, gone * profile.times[i].untested);
    if (is_enough) return which;
  }
  return tests_tried.size() - 1;
}

}  // namespace

IdleCalls time_idle_calls(Pair& pair) {
  constexpr int n_calls = 200;
  constexpr int n_trials = 5;
  constexpr int tag = 6;
  IdleCalls calls{1.0, 1.0};
  std::array<std::byte, 8> bytes{};
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(MPI_Irecv(bytes.data(), 8, MPI_BYTE, pair.other(), tag, pair.comm(), &request), "MPI_Irecv");
  int done = 0;
  for (int trial = 0; trial < n_trials; ++trial) {
    pair.meet();
    const double start = pair.now();
    for (int i = 0; i < n_calls; ++i) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    const double middle = pair.now();
    for (int i = 0; i < n_calls; ++i) MPI_Iprobe(pair.other(), tag + 1, pair.comm(), &done, MPI_STATUS_IGNORE);
    calls.test_seconds = std::min(calls.test_seconds, (middle - start) / n_calls);
    calls.iprobe_seconds = std::min(calls.iprobe_seconds, (pair.now() - middle) / n_calls);
  }
  pair.swap(0.0);
  mpi::check(MPI_Send(bytes.data(), 8, MPI_BYTE, pair.other(), tag, pair.comm()), "MPI_Send");
  mpi::wait(request, pair.wait_policy());
  return {pair.max(calls.test_seconds), pair.max(calls.iprobe_seconds)};
}

double find_lost_time(Pair& pair) {
  constexpr double watched_seconds = 20e-3;
  constexpr double longest_normal_gap = 50e-6;  // between two looks at the clock
  pair.meet();
  const double start = pair.now();
  double last = start;
  double lost = 0.0;
  while (last < start + watched_seconds) {
    const double now = pair.now();
    if (now - last > longest_normal_gap) lost += now - last;
    last = now;
  }
  return pair.max(lost / (last - start));
}

Json to_json(const IdleCalls& calls) {
  return {{"test_seconds", calls.test_seconds}, {"iprobe_seconds", calls.iprobe_seconds}};
}

Json find_overlap(Pair& pair, Profile& profile) {
  Json sizes = Json::array();
  Waits waits{};
  for (std::size_t i = 0; i < Profile::n_sizes; ++i) {
    const std::uint64_t n = Profile::size_bytes(i);
    const Timeline alone_run = run(pair, exchange(n, 0.0, 0, Call::test_all), {.n_trials = 5});
    const double alone = alone_run.end();
    const double compute = std::max(shortest_compute_seconds, 3 * alone);
    MessageTimes& times = profile.times[i];
    times.alone = alone;
    Json row{{"bytes", n}, {"alone_seconds", alone}, {"compute_seconds", compute}};
    bool is_damaged = alone_run.is_damaged;
    const auto add = [&](const char* key, int n_calls, Call call) {
      const Timeline timeline = run(pair, exchange(n, compute, n_calls, call));
      is_damaged = is_damaged || timeline.is_damaged;
      const double left = timeline.end() - compute;
      row[key].push_back({{"calls", n_calls},
                          {"wait_seconds", wait_of(timeline)},
                          {"total_seconds", timeline.end()},
                          {"saved", std::clamp(1.0 - left / alone, 0.0, 1.0)}});
      return wait_of(timeline);
    };
    times.untested = add("tests", 0, Call::test_all);
    times.one_test = add("tests", 1, Call::test_all);
    for (std::size_t which = 2; which < tests_tried.size(); ++which)
      waits[i][which] = add("tests", tests_tried[which], Call::test_all);
    waits[i][1] = times.one_test;
    add("iprobes", tests_tried[2], Call::iprobe);
    row["is_damaged"] = is_damaged;
    sizes.push_back(std::move(row));
  }
  const std::size_t enough = fewest_tests(profile, waits);
  profile.n_tests = tests_tried[enough];
  for (std::size_t i = 0; i < Profile::n_sizes; ++i) profile.times[i].few_tests = waits[i][enough];
  return sizes;
}

Json check_profile(Pair& pair, const Profile& profile) {
  constexpr double most = 3.0;
  Json rows = Json::array();
  bool holds = true;
  for (const std::size_t i : {std::size_t{0}, std::size_t{3}, std::size_t{5}}) {
    const double now = run(pair, exchange(Profile::size_bytes(i), 0.0, 0, Call::test_all), {.n_trials = 7}).end();
    Json row{{"bytes", Profile::size_bytes(i)}, {"seconds", now}};
    if (profile.is_measured) {
      const double ratio = now / profile.times[i].alone;
      row["stored_seconds"] = profile.times[i].alone;
      row["ratio"] = ratio;
      holds = holds && ratio < most && ratio > 1.0 / most;
    }
    rows.push_back(std::move(row));
  }
  return {{"has_profile", profile.is_measured}, {"holds", profile.is_measured && holds}, {"rows", std::move(rows)}};
}

Json find_streams(Pair& pair, Profile& profile) {
  constexpr std::size_t depth_of_sizes = 4;
  constexpr double good_part = 0.9;
  Json sizes = Json::array();
  std::vector<std::pair<std::size_t, double>> rates;
  for (std::size_t n = 1024; n <= (std::size_t{256} << 10U); n *= 2) {
    rates.emplace_back(n, stream_rate(pair, n, depth_of_sizes));
    sizes.push_back({{"bytes", n}, {"bytes_per_second", rates.back().second}});
  }
  const double best = std::ranges::max_element(rates, {}, [](const auto& rate) { return rate.second; })->second;
  for (const auto& [n, rate] : rates) {
    if (n < 8192 || rate < good_part * best) continue;
    profile.packet_bytes = static_cast<std::uint32_t>(n);
    break;
  }
  Json depths = Json::array();
  std::vector<std::pair<std::size_t, double>> of_depth;
  for (const std::size_t depth : {1U, 2U, 4U, 8U}) {
    of_depth.emplace_back(depth, stream_rate(pair, profile.packet_bytes, depth));
    depths.push_back({{"depth", depth}, {"bytes_per_second", of_depth.back().second}});
  }
  const double best_depth =
      std::ranges::max_element(of_depth, {}, [](const auto& rate) { return rate.second; })->second;
  for (const auto& [depth, rate] : of_depth) {
    if (depth < 2 || rate < good_part * best_depth) continue;
    profile.ring_depth = static_cast<std::uint32_t>(depth);
    break;
  }
  return {{"depth_of_sizes", depth_of_sizes},
          {"sizes", sizes},
          {"depths", depths},
          {"packet_bytes", profile.packet_bytes},
          {"ring_depth", profile.ring_depth}};
}

}  // namespace barrio::probe
