#include "barrio/probe/experiments/figures.hpp"

#include <algorithm>

#include "barrio/probe/experiments/script.hpp"

namespace barrio::probe {
namespace {

constexpr Step one_step{.call = Call::compute, .seconds = step_seconds};
constexpr Step two_steps{.call = Call::compute, .seconds = 2 * step_seconds};
constexpr Step three_steps{.call = Call::compute, .seconds = 3 * step_seconds};

Json calls_of(const std::vector<TimedCall>& calls) {
  Json all = Json::array();
  for (const TimedCall& call : calls)
    all.push_back({{"call", name_of(call.call)}, {"message", call.message}, {"begin", call.begin}, {"end", call.end}});
  return all;
}

Json to_json(const Timeline& timeline) {
  return {{"ranks", Json::array({calls_of(timeline.calls[0]), calls_of(timeline.calls[1])})},
          {"is_stalled", timeline.is_stalled},
          {"is_damaged", timeline.is_damaged}};
}

class Figures {
 public:
  explicit Figures(Pair& pair) : pair_(pair) {}
  void add(const char* figure, const char* title, std::uint64_t n_bytes, const Script& script) {
    Json entry{{"figure", figure}, {"title", title}, {"bytes", n_bytes}, {"step_seconds", step_seconds}};
    entry.update(to_json(run(pair_, script)));
    all_.push_back(std::move(entry));
  }
  Json take() { return std::move(all_); }

 private:
  Pair& pair_;
  Json all_ = Json::array();
};

Script one_way(std::uint64_t n_bytes, SendMode mode, bool has_test) {
  Script script;
  const int there = script.add({.from = 0, .n_bytes = n_bytes, .mode = mode});
  script.then(1, {Call::irecv, there}).then(0, {Call::isend, there}).then(0, three_steps);
  if (has_test) {
    constexpr Step half{.call = Call::compute, .seconds = 1.5 * step_seconds};
    script.then(1, half).then(1, {Call::test, there}).then(1, half);
  } else {
    script.then(1, three_steps);
  }
  return script.both({Call::wait, there});
}

Script two_way(std::uint64_t n_bytes) {
  Script script;
  const int there = script.add({.from = 0, .n_bytes = n_bytes});
  const int back = script.add({.from = 1, .n_bytes = n_bytes});
  script.then(0, {Call::irecv, back}).then(1, {Call::irecv, there});
  script.then(0, {Call::isend, there}).then(1, {Call::isend, back}).both(three_steps);
  script.then(0, {Call::wait, back}).then(1, {Call::wait, there});
  return script.then(0, {Call::wait, there}).then(1, {Call::wait, back});
}

Script early_wait(std::uint64_t n_bytes) {
  Script script;
  const int there = script.add({.from = 0, .n_bytes = n_bytes});
  script.then(0, {Call::isend, there}).then(0, one_step).then(0, {Call::wait, there}).then(0, two_steps);
  return script.then(1, {Call::irecv, there}).then(1, three_steps).then(1, {Call::wait, there});
}

/// Side 0 waits for its send at T1, side 1 at T2, both for their receives at T3.
Script released_by_a_wait(std::uint64_t n_bytes) {
  Script script;
  const int there = script.add({.from = 0, .n_bytes = n_bytes});
  const int back = script.add({.from = 1, .n_bytes = n_bytes});
  script.then(0, {Call::irecv, back}).then(0, {Call::isend, there}).then(0, one_step);
  script.then(0, {Call::wait, there}).then(0, two_steps).then(0, {Call::wait, back});
  script.then(1, {Call::irecv, there}).then(1, {Call::isend, back}).then(1, two_steps);
  return script.then(1, {Call::wait, back}).then(1, one_step).then(1, {Call::wait, there});
}

/// Make a script in which one side arrives two steps later than the other.
Script late(std::uint64_t n_bytes, int late_side) {
  Script script;
  script.then(late_side, two_steps);
  const int there = script.add({.from = 0, .n_bytes = n_bytes});
  script.then(0, {Call::isend, there}).then(1, {Call::irecv, there});
  return script.both(one_step).both({Call::wait, there});
}

/// Receive early, compute, send and wait for that, compute again, wait for the received message. Side 1 computes
/// longer.
Script ghost_program(std::uint64_t n_bytes, bool has_test) {
  Script script;
  const int there = script.add({.from = 0, .n_bytes = n_bytes});
  const int back = script.add({.from = 1, .n_bytes = n_bytes});
  script.then(0, {Call::irecv, back}).then(1, {Call::irecv, there}).then(0, one_step).then(1, two_steps);
  script.then(0, {Call::isend, there}).then(1, {Call::isend, back});
  script.then(0, {Call::wait, there}).then(1, {Call::wait, back});
  for (int i = 0; i < 2; ++i) {
    script.both(one_step);
    if (has_test && i == 0) script.both({Call::test_all});
  }
  return script.both({Call::wait_all});
}

constexpr int n_exchanged = 3;

/// Three messages each way; side 0 computes until T2, side 1 until T1.
Script loop_program(std::uint64_t n_bytes, bool waits_in_loop) {
  Script script;
  std::array<std::array<int, n_exchanged>, 2> sent{};
  for (int side = 0; side < 2; ++side) {
    for (int& message : sent[side]) message = script.add({.from = side, .n_bytes = n_bytes});
    for (const int message : sent[side]) script.then(1 - side, {Call::irecv, message});
  }
  script.then(0, two_steps).then(1, one_step);
  for (int side = 0; side < 2; ++side) {
    for (const int message : sent[side]) {
      script.then(side, {Call::isend, message});
      if (waits_in_loop) script.then(side, {Call::wait, message});
    }
  }
  return script.both({Call::wait_all});
}

}  // namespace

Json draw_figures(Pair& pair, const MessageLimits& limits) {
  const std::uint64_t large = std::max<std::uint64_t>(60U << 10U, 2 * limits.eager_bytes.value_or(0));
  const std::uint64_t larger = std::max<std::uint64_t>(100U << 10U, 2 * limits.eager_bytes.value_or(0));
  Figures figures(pair);
  figures.add("3.2", "a small message", 1024, one_way(1024, SendMode::standard, false));
  figures.add("3.3", "a message above the eager limit", large, one_way(large, SendMode::standard, false));
  figures.add("3.4", "the same in buffered mode", large, one_way(large, SendMode::buffered, false));
  figures.add("3.5", "the receiver tests half way", large, one_way(large, SendMode::standard, true));
  figures.add("3.6", "both send", large, two_way(large));
  figures.add("3.11", "waits at the same time", larger, one_way(larger, SendMode::standard, false));
  figures.add("3.12", "the sender waits at T1", larger, early_wait(larger));
  figures.add("3.13", "rank 0 waits for its send at T1, rank 1 at T2", larger, released_by_a_wait(larger));
  figures.add("late receiver", "the receiver comes at T2", larger, late(larger, 1));
  figures.add("late sender", "the sender comes at T2", larger, late(larger, 0));
  return figures.take();
}

Json run_programs(Pair& pair, const MessageLimits& limits) {
  const std::uint64_t large = std::max<std::uint64_t>(100U << 10U, 2 * limits.eager_bytes.value_or(0));
  Json all = Json::object();
  const Timeline untested = run(pair, ghost_program(large, false));
  const Timeline tested = run(pair, ghost_program(large, true));
  all["tests"] = {{"figures", "3.9 and 3.10"},        {"bytes", large},
                  {"before_seconds", untested.end()}, {"after_seconds", tested.end()},
                  {"before", to_json(untested)},      {"after", to_json(tested)}};

  const Timeline in_loop = run(pair, loop_program(large, true));
  const Timeline delayed = run(pair, loop_program(large, false));
  constexpr double t2 = 2 * step_seconds;
  // Of side 1, which is early: ts from its Isends, tw from the waits after the first one, mu from the last wait if all
  // sends were posted before side 0 arrived.
  const double ts = in_loop.total(1, Call::isend) / n_exchanged;
  const double tw = (in_loop.find(1, Call::wait, 1).seconds() + in_loop.find(1, Call::wait, 2).seconds()) / 2;
  const double mu = std::max(0.0, delayed.end_of(1) - t2);
  const double model_before = t2 + 2 * (ts + tw) + tw + mu;
  all["delayed_waits"] = {{"figures", "3.14 and 3.15"},
                          {"bytes", large},
                          {"messages", n_exchanged},
                          {"t2_seconds", t2},
                          {"ts_seconds", ts},
                          {"tw_seconds", tw},
                          {"mu_seconds", mu},
                          {"model_before_seconds", model_before},
                          {"before_seconds", in_loop.end_of(1)},
                          {"after_seconds", delayed.end_of(1)},
                          {"first_wait_ends_seconds", in_loop.find(1, Call::wait, 0).end},
                          {"before", to_json(in_loop)},
                          {"after", to_json(delayed)}};
  return all;
}

}  // namespace barrio::probe
