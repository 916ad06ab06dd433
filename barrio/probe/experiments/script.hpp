#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "barrio/probe/experiments/pair.hpp"

namespace barrio::probe {

/// Computing time of an experiment's step, T0 to T1, T1 to T2, T2 to T3 in the figures.
inline constexpr double step_seconds = 1e-3;

/// Action of a rank in one step of an experiment.
enum class Call : std::int32_t {
  compute,
  isend,
  irecv,
  test,      ///< of one message
  test_all,  ///< of all messages of this side
  iprobe,    ///< for a message that never comes
  wait,
  wait_all,
};
std::string_view name_of(Call call) noexcept;

enum class SendMode { standard, buffered, synchronous, ready };
inline constexpr std::array all_send_modes{SendMode::standard, SendMode::buffered, SendMode::synchronous,
                                           SendMode::ready};
std::string_view name_of(SendMode mode) noexcept;

struct Message {
  int from = 0;  ///< side that sends it
  std::size_t n_bytes = 0;
  SendMode mode = SendMode::standard;
};

struct Step {
  Call call = Call::compute;
  int message = -1;      ///< of isend, irecv, test, wait
  double seconds = 0.0;  ///< of compute
};

/// A small program for two ranks: the test kernel of Saif 2004, section 3.1, with any calls at any offsets.
struct Script {
  std::vector<Message> messages;
  std::array<std::vector<Step>, 2> steps;  ///< by side

  int add(Message message) {
    messages.push_back(message);
    return static_cast<int>(messages.size()) - 1;
  }
  Script& then(int side, Step step) {
    steps[side].push_back(step);
    return *this;
  }
  Script& both(Step step) { return then(0, step).then(1, step); }
};

/// Begin and end of a call, in seconds since the common start.
struct TimedCall {
  Call call = Call::compute;
  std::int32_t message = -1;
  double begin = 0.0;
  double end = 0.0;
  [[nodiscard]] double seconds() const noexcept { return end - begin; }
};

/// The calls of both sides, the same on both.
struct Timeline {
  std::array<std::vector<TimedCall>, 2> calls;
  bool is_stalled = false;  ///< a wait was abandoned: with these calls the pair would wait for ever
  bool is_damaged = false;  ///< a message did not bring the bytes that were sent
  /// If `RunLimits::watched_seconds` is given: the longest interruption by other work on either side, among those that
  /// began within that time. An interruption shows between two looks at the clock, or in a call of MPI.
  double longest_gap_seconds = 0.0;

  /// Return the time from the common start to the end of a side's last step.
  [[nodiscard]] double end_of(int side) const;
  /// Return the end of the later side.
  [[nodiscard]] double end() const;
  /// Find the nth call of a kind on one side; a call of zero length if there is none.
  [[nodiscard]] TimedCall find(int side, Call call, int nth = 0) const;
  /// Sum the seconds in calls of a kind on one side.
  [[nodiscard]] double total(int side, Call call) const;
};

struct RunLimits {
  int n_trials = 3;  ///< the shortest counts
  double stall_seconds = 0.25;
  double watched_seconds = 1e30;
};

/// Run a script on both sides of a pair, several times, and keep the shortest run. Both sides call it with one script.
/// Waits are loops of tests under the pair's wait policy, abandoned after `stall_seconds`. Messages still in flight are
/// completed afterwards; if even that does not end, the job does. Contents are compared.
Timeline run(Pair& pair, const Script& script, const RunLimits& limits = {});

}  // namespace barrio::probe
