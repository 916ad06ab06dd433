#include "benchmarks/exchange/measure.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/hash.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "benchmarks/exchange/contenders.hpp"

namespace barrio::bench {
namespace {

/// A contender in the course of its repetitions.
struct Runner {
  Row row;
  bool takes_strangers = false;
  std::unique_ptr<Contender> contender;
  bool is_out = false;
  std::uint64_t n_rounds = 0;  ///< those that count
  std::uint64_t numbers = 0;   ///< of this rank in them
  MpiCalls calls = {};

  void add(const Timed& timed, const Tally& tally) {
    row.seconds = std::min(row.seconds, timed.seconds);
    n_rounds += 1;
    numbers += tally.n;
    calls += timed.calls;
  }
};

/// Collective.
Row summarise(mpi::Context& context, Runner& runner) {
  const auto n_rounds = static_cast<double>(std::max<std::uint64_t>(runner.n_rounds, 1));
  const double n_of_all = n_rounds * context.size();
  runner.row.numbers = static_cast<double>(mpi::sum(context, runner.numbers)) / n_of_all;
  runner.row.messages = static_cast<double>(mpi::sum(context, runner.calls.messages)) / n_of_all;
  runner.row.collectives = static_cast<double>(mpi::max(context, runner.calls.collectives)) / n_rounds;
  return runner.row;
}

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
  agree_after(context, [&] {
    if (!(tally == wanted))
      throw Error(
          ErrorCode::differs,
          {.subject = name, .cause = fmt::format("brought {} numbers of {}, or wrong ones", tally.n, wanted.n)});
  });
  return {mpi::max(context, seconds), calls};
}

Case compare(mpi::Context& context, const Options& options, const Pattern& pattern, std::uint64_t n) {
  Case result{.n = n};
  std::vector<Runner> runners;
  const auto most = mpi::max(context, static_cast<std::uint64_t>(pattern.neighbours().size()) * n);
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
                                  .keeps_discovered = !pattern.has_strangers()});
    runner.contender->prepare(n);
  }
  for (int repeat = 0; repeat <= options.n_repeats; ++repeat) {  // the first one warms up
    const auto round = static_cast<std::uint64_t>(repeat);
    const std::vector<Rank> strangers = pattern.strangers_to(round);
    const Work known{.n = n, .salt = mix64(round)};
    const Work all{.n = n, .salt = known.salt, .strangers = strangers};
    const Tally from_neighbours = expected(known, pattern.neighbours(), context.rank());
    Tally from_all = from_neighbours;
    from_all += expected(known, pattern.strangers_from(round), context.rank());
    for (Runner& runner : runners) {
      if (runner.is_out) continue;
      const Tally& wanted = runner.takes_strangers ? from_all : from_neighbours;
      const Timed timed =
          time_round(context, *runner.contender, runner.row.name, runner.takes_strangers ? all : known, wanted);
      runner.is_out = timed.seconds > options.max_seconds;
      if (repeat > 0 || runner.is_out) runner.add(timed, wanted);
    }
  }
  for (Runner& runner : runners) result.rows.push_back(summarise(context, runner));
  return result;
}

}  // namespace barrio::bench
