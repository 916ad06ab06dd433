// A round of messages that goes wrong in the way the first argument names. expect.py launches it and checks how the
// job ends.
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/run.hpp"

namespace {

using namespace barrio;
using exchange::Neighborhood;
using Round = exchange::Round<int>;

Error torn_file() {
  return {ErrorCode::bad_input, {.subject = "wing.h5m", .cause = "is truncated", .remedy = "copy it again"}};
}

void say(const char* text) {
  std::fputs((std::string(text) + "\n").c_str(), stdout);
  std::fflush(stdout);
}

std::vector<Rank> all_others(const Context& context) {
  std::vector<Rank> others;
  for (Rank rank = 0; rank < context.size(); ++rank)
    if (rank != context.rank()) others.push_back(rank);
  return others;
}

/// All border on all.
Neighborhood make_hood(Context& context) { return {context, all_others(context)}; }

/// One round in which each rank writes to all and to itself. The last rank calls what is given, and the others wait
/// for it in the round.
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

/// Rank 0 counts on the last rank, which knows nothing of it.
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

/// Rounds that wait for other messages of each other: the first ranks for a second wave, the last one for none.
void end_in_another_way(Context& context) {
  Neighborhood hood = make_hood(context);
  const bool is_last = context.rank() == context.size() - 1;
  auto round = hood.begin_round<int>(
      {.termination = is_last ? exchange::Termination::neighbourhood : exchange::Termination::introductions});
  round.close();
  (void)round.collect();
  agree(context, {});
}

/// Rank 0 makes another Neighborhood before, so its tags are others than those of its neighbours.
void make_in_another_order(Context& context) {
  std::optional<Neighborhood> other;
  if (context.rank() == 0) other.emplace(context, std::vector<Rank>{});
  Neighborhood hood(context, all_others(context), {.stall_warning_seconds = 0.1, .stall_limit_seconds = 0.5});
  auto round = hood.begin_round<int>();
  round.close();
  (void)round.collect();
}

/// A round of one Context is open on rank 0, which waits in a round of another one.
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

/// All agree on an error in the middle of a round, give it up, and go on.
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

/// One byte more than was asked for, to the first rank.
void write_past(Round& round) {
  auto* const bytes = reinterpret_cast<char*>(&round.allocate(0));
  for (std::size_t i = 0; i <= sizeof(int); ++i) bytes[i] = 'x';
}

/// By node, where all messages are sorted before they are read: the round is over when they are read.
void drop_by_node(Context& context) {
  Neighborhood hood(context, std::vector<Rank>{},
                    {.delivery = exchange::Delivery::by_rank, .routing = exchange::Routing::by_node});
  auto round = hood.begin_round<int>();
  round.close();
}

const std::map<std::string, std::function<void(Context&)>> scenarios{
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

int main(int argc, char** argv) {
  const auto scenario = scenarios.find(argc > 1 ? argv[1] : "");
  if (scenario == scenarios.end()) {
    say("no such scenario");
    return 99;
  }
  mpi::RunOptions options;
  options.context.agree_limit_seconds = 4.0;
  const int code = barrio::run(argc, argv, scenario->second, options);
  say("run() returned");
  return code;
}
