#include "benchmarks/exchange/measure.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/hash.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "benchmarks/exchange/contenders.hpp"

namespace barrio::bench {
namespace {

constexpr int n_warm_up = 2;  // rounds

/// A contender and its repetitions.
struct Runner {
  Row row;
  bool takes_strangers = false;
  std::unique_ptr<Contender> contender;
  bool is_out = false;
  std::uint64_t n_rounds = 0;  ///< without warm-up
  std::uint64_t numbers = 0;   ///< received by this rank in them
  MpiCalls calls = {};

  void add(const Timed& timed, const Tally& tally) {
    row.seconds = std::min(row.seconds, timed.seconds);
    n_rounds += 1;
    numbers += tally.n;
    calls += timed.calls;
  }
};

/// Summarise the repetitions. Collective.
Row summarise(mpi::Context& context, Runner& runner) {
  const auto n_rounds = static_cast<double>(std::max<std::uint64_t>(runner.n_rounds, 1));
  const double n_of_all = n_rounds * context.size();
  runner.row.numbers = static_cast<double>(mpi::sum(context, runner.numbers)) / n_of_all;
  runner.row.messages = static_cast<double>(mpi::sum(context, runner.calls.messages)) / n_of_all;
  runner.row.collectives = static_cast<double>(mpi::max(context, runner.calls.collectives)) / n_rounds;
  return runner.row;
}

void check(const std::string& name, const Tally& tally, const Tally& wanted) {
  if (!(tally == wanted))
    throw Error(
        ErrorCode::differs,
        {.subject = name, .cause = fmt::format("delivered {} of {} numbers, or wrong ones", tally.n, wanted.n)});
}

std::optional<int> node_of(const Options& options, Rank rank) {
  if (options.ranks_per_node == 0) return {};
  return rank / options.ranks_per_node;
}

/// Make the contenders that the options choose. Collective.
std::vector<Runner> make_runners(mpi::Context& context, const Options& options, const Pattern& pattern, Case& result) {
  std::vector<Runner> runners;
  const auto most = mpi::max(context, static_cast<std::uint64_t>(pattern.neighbours().size()) * result.n);
  for (const std::string& name : options.contenders) {
    if (name == "raw" && most > options.raw_limit) {
      result.left_out.push_back(name);
      continue;
    }
    const Kind kind = find_kind(name);
    Runner& runner = runners.emplace_back();
    runner.row.name = name;
    runner.takes_strangers = kind.takes_strangers;
    runner.contender = kind.make({.context = context,
                                  .neighbours = pattern.neighbours(),
                                  .packet_bytes = options.packet_bytes,
                                  .node = node_of(options, context.rank()),
                                  .keeps_discovered = !pattern.has_strangers()});
    runner.contender->prepare(result.n);
  }
  return runners;
}

/// The messages of one round, and the expected tally of this rank.
struct Script {
  Script(const Pattern& pattern, std::uint64_t n, std::uint64_t round, Rank me)
      : strangers(pattern.strangers_to(round)),
        known{.n = n, .salt = mix64(round)},
        all{.n = n, .salt = known.salt, .strangers = strangers},
        from_neighbours(expected(known, pattern.neighbours(), me)),
        from_all(from_neighbours) {
    from_all += expected(known, pattern.strangers_from(round), me);
  }
  std::vector<Rank> strangers;
  Work known;
  Work all;
  Tally from_neighbours;
  Tally from_all;
};

}  // namespace

Timed time_round(mpi::Context& context, Contender& contender, const std::string& name, const Work& work,
                 const Tally& wanted) {
  mpi::barrier(context);
  const double begin = MPI_Wtime();
  const MpiCalls before = mpi_calls();
  const Tally tally = contender.round(work);
  const MpiCalls calls = mpi_calls() - before;
  mpi::barrier(context);
  const double seconds = MPI_Wtime() - begin;
  agree_after(context, [&] { check(name, tally, wanted); });
  return {mpi::max(context, seconds), calls};
}

Case compare(mpi::Context& context, const Options& options, const Pattern& pattern, std::uint64_t n) {
  Case result{.n = n};
  std::vector<Runner> runners = make_runners(context, options, pattern, result);
  for (int repeat = 0; repeat <= options.n_repeats; ++repeat) {  // the first one is a warm-up
    const Script script(pattern, n, repeat, context.rank());
    for (Runner& runner : runners) {
      if (runner.is_out) continue;
      const Tally& wanted = runner.takes_strangers ? script.from_all : script.from_neighbours;
      const Timed timed = time_round(context, *runner.contender, runner.row.name,
                                     runner.takes_strangers ? script.all : script.known, wanted);
      runner.is_out = timed.seconds > options.max_seconds;
      if (repeat > 0 || runner.is_out) runner.add(timed, wanted);
    }
  }
  for (Runner& runner : runners) result.rows.push_back(summarise(context, runner));
  return result;
}

Case compare_back_to_back(mpi::Context& context, const Options& options, const Pattern& pattern, std::uint64_t n) {
  Case result{.n = n};
  std::vector<Runner> runners = make_runners(context, options, pattern, result);
  std::vector<Script> scripts;
  for (int round = 0; round < n_warm_up + options.n_back_to_back; ++round)
    scripts.emplace_back(pattern, n, static_cast<std::uint64_t>(round), context.rank());
  Status status;
  for (Runner& runner : runners) {
    const auto run = [&](const Script& script) {
      const Tally tally = runner.contender->round(runner.takes_strangers ? script.all : script.known);
      const Tally& wanted = runner.takes_strangers ? script.from_all : script.from_neighbours;
      if (!status) status = capture([&] { check(runner.row.name, tally, wanted); });
      return tally;
    };
    const std::span<const Script> all(scripts);
    for (const Script& script : all.first(n_warm_up)) run(script);
    mpi::barrier(context);
    const double begin = MPI_Wtime();
    const MpiCalls before = mpi_calls();
    for (const Script& script : all.subspan(n_warm_up)) runner.numbers += run(script).n;
    runner.calls = mpi_calls() - before;
    const double end = MPI_Wtime();
    const auto n_rounds = static_cast<std::uint64_t>(options.n_back_to_back);
    runner.n_rounds = n_rounds;
    runner.row.seconds = (mpi::max(context, end) - mpi::min(context, begin)) / static_cast<double>(n_rounds);
  }
  agree(context, status);
  for (Runner& runner : runners) result.rows.push_back(summarise(context, runner));
  return result;
}

}  // namespace barrio::bench
