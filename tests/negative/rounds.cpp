// A round of messages that fails in the way the first argument names. expect.py launches it and checks how the job
// ends.
#include <functional>
#include <optional>
#include <vector>

#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mpi/agree.hpp"
#include "tests/negative/scenarios.hpp"

namespace {

using namespace barrio;
using exchange::Neighborhood;
using Round = exchange::Round<int>;

Error torn_file() {
  return {ErrorCode::bad_input, {.subject = "wing.h5m", .cause = "is truncated", .remedy = "copy it again"}};
}

std::vector<Rank> all_others(const Context& context) {
  std::vector<Rank> others;
  for (Rank rank = 0; rank < context.size(); ++rank)
    if (rank != context.rank()) others.push_back(rank);
  return others;
}

/// Make a Neighborhood in which all ranks are neighbours.
Neighborhood make_hood(Context& context) { return {context, all_others(context)}; }

/// Hooks of the last rank in a round in which each rank writes to all ranks and to itself. The others wait for it in
/// the round.
struct Interrupted {
  std::function<void(Round&)> before_write = {};
  std::function<void(Round&)> before_close = {};
  std::function<void(Round&)> before_read = {};
  std::function<void(Round&)> at_message = {};
};
void do_round(Context& context, const Interrupted& interrupted) {
  Neighborhood hood = make_hood(context);
  const auto call = [&](const std::function<void(Round&)>& act, Round& round) {
    if (context.rank() == context.size() - 1 && act) act(round);
  };
  auto round = hood.begin_round<int>();
  call(interrupted.before_write, round);
  for (Rank to = 0; to < context.size(); ++to) round.allocate(to) = to;
  call(interrupted.before_close, round);
  round.close();
  call(interrupted.before_read, round);
  for ([[maybe_unused]] const auto& [from, message] : round.received()) call(interrupted.at_message, round);
  agree(context, {});
}

void throw_and_agree(Context& context) {
  Status status;
  do_round(context, {.at_message = [&](Round&) { status = capture([] { throw torn_file(); }); }});
  agree(context, status);
}

void begin_twice(Context& context) {
  Neighborhood hood = make_hood(context);
  const auto first = hood.begin_round<int>();
  const auto second = hood.begin_round<int>();
}

void drop(Context& context) {
  Neighborhood hood = make_hood(context);
  auto round = hood.begin_round<int>();
  round.close();
}

/// Make a Neighborhood in which rank 0 lists the last rank, but not vice versa.
Neighborhood make_one_sided(Context& context) {
  std::vector<Rank> others;
  if (context.rank() == 0) others.push_back(context.size() - 1);
  return {context, others, {.stall_warning_seconds = 0.1}};
}
void wait_for_a_rank_that_does_not_know(Context& context) {
  Neighborhood hood = make_one_sided(context);
  auto round = hood.begin_round<int>();
  round.close();
  (void)round.collect();
  agree(context, {});
}

void read_another_type(Context& context) {
  Neighborhood hood = make_hood(context);
  const auto speak = [&](auto value) {
    auto round = hood.begin_round<decltype(value)>();
    for (const Rank to : hood.neighbours()) round.allocate(to) = value;
    round.close();
    for ([[maybe_unused]] const auto& [from, message] : round.received()) continue;
  };
  if (context.rank() == context.size() - 1) {
    speak(4711);
  } else {
    speak(47.11);
  }
  agree(context, {});
}

/// Mix terminations: the first ranks wait for a second wave, which the last rank does not send.
void end_in_another_way(Context& context) {
  Neighborhood hood = make_hood(context);
  const bool is_last = context.rank() == context.size() - 1;
  auto round = hood.begin_round<int>(
      {.termination = is_last ? exchange::Termination::neighbourhood : exchange::Termination::introductions});
  round.close();
  (void)round.collect();
  agree(context, {});
}

/// Make an additional Neighborhood on rank 0 first, so its tags differ from those of its neighbours.
void make_in_another_order(Context& context) {
  std::optional<Neighborhood> other;
  if (context.rank() == 0) other.emplace(context, std::vector<Rank>{});
  Neighborhood hood(context, all_others(context), {.stall_warning_seconds = 0.1, .stall_limit_seconds = 0.5});
  auto round = hood.begin_round<int>();
  round.close();
  (void)round.collect();
}

/// Let rank 0 wait in a round of one Context while a round of another is open.
void wait_in_another_context(Context& context) {
  mpi::Context other(context.comm());
  const std::vector<Rank> others = all_others(context);
  Neighborhood first(context, others,
                     {.packet_bytes = 64, .ring_depth = 1, .stall_warning_seconds = 0.1, .stall_limit_seconds = 0.5});
  Neighborhood second(other, others, {.stall_warning_seconds = 0.1, .stall_limit_seconds = 0.5});
  auto open = first.begin_round<int>();
  if (context.rank() == 0) {
    auto round = second.begin_round<int>();
    round.close();
    (void)round.collect();
  }
  open.close();
  (void)open.collect();
}

void break_out(Context& context) {
  Neighborhood hood = make_hood(context);
  auto round = hood.begin_round<int>();
  for (Rank to = 0; to < context.size(); ++to) round.allocate(to) = to;
  round.close();
  for ([[maybe_unused]] const auto& [from, message] : round.received()) break;
}

/// Agree on an error in the middle of a round, cancel the round, and continue.
void cancel(Context& context) {
  Neighborhood hood = make_hood(context);
  try {
    auto round = hood.begin_round<int>();
    for (Rank to = 0; to < context.size(); ++to) round.allocate(to) = to;
    agree(context, context.rank() == context.size() - 1 ? Status(torn_file()) : Status());
    round.close();
  } catch (const AgreedError& error) {
    if (context.is_root()) context.log().warning(error.what());
    hood.cancel_round();
  }
  auto round = hood.begin_round<int>();
  round.close();
  (void)round.collect();
}

/// Write one byte more than requested, to the first rank.
void write_past(Round& round) {
  auto* const bytes = reinterpret_cast<char*>(&round.allocate(0));
  for (std::size_t i = 0; i <= sizeof(int); ++i) bytes[i] = 'x';
}

/// Drop a round by node, in which all messages are sorted first: the round is over only after they are read.
void drop_by_node(Context& context) {
  Neighborhood hood(context, std::vector<Rank>{},
                    {.delivery = exchange::Delivery::by_rank, .routing = exchange::Routing::by_node});
  auto round = hood.begin_round<int>();
  round.close();
}

const test::Scenarios scenarios{
    {"success", [](Context& context) { do_round(context, {}); }},
    {"throws_before_writing",
     [](Context& context) { do_round(context, {.before_write = [](Round&) { throw torn_file(); }}); }},
    {"throws_after_writing",
     [](Context& context) { do_round(context, {.before_close = [](Round&) { throw torn_file(); }}); }},
    {"throws_in_reading",
     [](Context& context) { do_round(context, {.at_message = [](Round&) { throw torn_file(); }}); }},
    {"throws_and_agrees", throw_and_agree},
    {"closes_twice", [](Context& context) { do_round(context, {.before_close = [](Round& r) { r.close(); }}); }},
    {"reads_before_close",
     [](Context& context) { do_round(context, {.before_close = [](Round& r) { (void)r.collect(); }}); }},
    {"writes_after_close",
     [](Context& context) { do_round(context, {.before_read = [](Round& r) { r.allocate(0) = 1; }}); }},
    {"begins_twice", begin_twice},
    {"drops", drop},
    {"drops_by_node", drop_by_node},
    {"other_type", read_another_type},
    {"written_past", [](Context& context) { do_round(context, {.before_write = write_past}); }},
    {"written_past_before_close", [](Context& context) { do_round(context, {.before_close = write_past}); }},
    {"written_past_to_itself",
     [](Context& context) {
       const auto to_itself = [&](Round& round) {
         auto* const bytes = reinterpret_cast<char*>(&round.allocate(context.rank()));
         bytes[sizeof(int)] = 'x';
       };
       do_round(context, {.before_close = to_itself});
     }},
    {"other_termination", end_in_another_way},
    {"other_order", make_in_another_order},
    {"other_context", wait_in_another_context},
    {"breaks_out", break_out},
    {"cancels", cancel},
    {"one_sided", wait_for_a_rank_that_does_not_know},
    {"one_sided_validated", [](Context& context) { make_one_sided(context).validate(); }},
};

}  // namespace

int main(int argc, char** argv) { return test::run_scenario(argc, argv, scenarios); }
