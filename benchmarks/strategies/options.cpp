#include "benchmarks/strategies/options.hpp"
#include <string_view>

#include "barrio/base/profile.hpp"

namespace barrio::bench {

bool wants_engine(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]).find("engine") != std::string_view::npos) return true;
  return false;
}

std::optional<StrategyOptions> parse_strategy_options(mpi::Context& context, int argc, char** argv) {
  StrategyOptions options;
  for (std::size_t i = 0; i < Profile::n_sizes; ++i) options.sizes.push_back(Profile::size_bytes(i));
  CLI::App app{"Strategies of a repeated exchange: the wait after computing, and the fastest strategy"};
  app.add_option("--parts", options.parts, "Parts to measure: overlap, cells, anew, engine (alone), rounds")
      ->check(CLI::IsMember({"overlap", "cells", "anew", "engine", "rounds"}));
  app.add_option("--sizes", options.sizes, "Bytes of a message")->check(CLI::Range(8, 1 << 28));
  app.add_option("--imbalance", options.imbalances, "Extra computing of odd ranks, as a fraction")
      ->check(CLI::Range(0.0, 100.0));
  app.add_option("--messages", options.messages, "Messages to each peer in a round")->check(CLI::Range(1, 1000));
  app.add_option("--repeats", options.n_repeats, "Repetitions, interleaved")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--batch-seconds", options.batch_seconds, "Approximate time of consecutive rounds of a strategy")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_output_options(app, options.output);
  if (!parse(app, "bench strategies", context, argc, argv)) return {};
  if (context.size() < 2)
    throw AgreedError(ErrorCode::usage, {.subject = "bench strategies",
                                         .cause = "needs at least 2 ranks",
                                         .remedy = "barrio --ranks 2 bench strategies"});
  return options;
}

}  // namespace barrio::bench
