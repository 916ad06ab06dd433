#include "benchmarks/exchange/options.hpp"
#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"
#include "benchmarks/exchange/contenders.hpp"
#include "benchmarks/exchange/pattern.hpp"
#include "benchmarks/exchange/work.hpp"

namespace barrio::bench {
namespace {

/// Contenders of a sweep: 8 bytes of data after the header, then powers of four, and the automatic size.
const std::vector<std::string> sweep{"barrio@32",   "barrio@64",    "barrio@256",   "barrio@1024",
                                     "barrio@4096", "barrio@16384", "barrio@65536", "barrio"};

void choose_contenders(Options& options) {
  if (options.is_sweep) options.contenders = sweep;
  const bool has_strangers = options.pattern == "meet";
  if (options.contenders.empty()) {
    if (has_strangers) options.contenders.emplace_back("meet-fixed");
    for (const Kind& kind : all_kinds())
      if (kind.make && kind.name != "meet-fixed" && (kind.takes_strangers || !has_strangers))
        options.contenders.push_back(kind.name);
  }
  for (const std::string& name : options.contenders) {
    const Kind kind = find_kind(name);
    if (has_strangers && !kind.takes_strangers && name != "meet-fixed")
      throw AgreedError(ErrorCode::usage,
                        {.subject = fmt::format("contender '{}'", name),
                         .cause = "writes to neighbours only, and in the pattern meet all ranks write "
                                  "to others too"});
  }
}

void choose_workers(Options& options, const WorkTraits& work, bool has_numbers) {
  if (!has_numbers) options.iterations = work.numbers;
  if (options.contenders.empty())
    for (const WorkerKind& kind : work.workers)
      if (kind.make) options.contenders.push_back(kind.name);
  for (const std::string& name : options.contenders) {
    const auto found = std::ranges::find(work.workers, name, &WorkerKind::name);
    std::vector<std::string> known;
    for (const WorkerKind& kind : work.workers) known.push_back(kind.name);
    if (found != work.workers.end() && found->make) continue;
    throw AgreedError(ErrorCode::usage,
                      {.subject = fmt::format("contender '{}'", name),
                       .cause = found != work.workers.end() ? "is not in this build: " + found->lacking
                                                            : "does not do this work." + did_you_mean(name, known)});
  }
}

}  // namespace

std::optional<Options> parse_options(mpi::Context& context, int argc, char** argv) {
  Options options;
  CLI::App app{"Messages of 8 bytes to neighbours: barrio compared with alternatives"};
  std::string names;
  for (const Kind& kind : all_kinds())
    names += fmt::format("\n  {:<17}{}", kind.name, kind.make ? kind.about : "not built: " + kind.lacking);
  names += "\nbarrio@1024 has packets of 1024 bytes; barrio's other modes accept @ too.";
  std::vector<std::string> work_names{"rounds"};
  for (const WorkTraits& work : all_works()) {
    work_names.push_back(work.name);
    names += fmt::format("\nOf --work {}, {}:", work.name, work.about);
    for (const WorkerKind& kind : work.workers)
      names += fmt::format("\n  {:<17}{}", kind.name, kind.make ? kind.about : "not built: " + kind.lacking);
  }
  app.footer("Contenders:" + names);
  app.add_option("--work", options.work,
                 "rounds of messages; gather: sums over the sharers of vertices; transfer: rows to random ranks")
      ->check(CLI::IsMember(work_names))
      ->capture_default_str();
  app.add_option("--pattern", options.pattern,
                 "ring; tile (Ovcharenko et al. 2012, figure 9); meet (tile, and new ranks at distance two in each "
                 "round); cube "
                 "(the 26 around a rank in a grid); all")
      ->check(CLI::IsMember(Pattern::names()))
      ->capture_default_str();
  const CLI::Option* iterations =
      app.add_option(
             "--iterations", options.iterations,
             "Messages to each neighbour in one round; for gather: values per vertex; for transfer: rows per rank")
          ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 30U))
          ->capture_default_str();
  CLI::Option* contenders = app.add_option("--contenders", options.contenders, "Contenders to run; all by default");
  CLI::Option* packet_bytes =
      app.add_option("--packet-bytes", options.packet_bytes, "Packet size of barrio; 0: automatic")
          ->capture_default_str();
  app.add_flag("--sweep", options.is_sweep,
               "Run barrio with packets of 32 bytes to 64 KiB; 15360 iterations by default")
      ->excludes(contenders)
      ->excludes(packet_bytes);
  app.add_option("--repeats", options.n_repeats, "Repetitions, interleaved")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--back-to-back", options.n_back_to_back,
                 "Mean time of this many consecutive rounds, instead of repetitions between barriers; for "
                 "ranks that share a clock (simulated clusters)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--ranks-per-node", options.ranks_per_node,
                 "Ranks per node for barrio-node; by default ranks that share memory form a node")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--max-seconds", options.max_seconds, "Skip a contender whose round took longer")
      ->capture_default_str();
  app.add_option("--raw-limit", options.raw_limit, "Skip raw if a rank has more messages in a round")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Seed for the choice of ranks in the pattern meet")->capture_default_str();
  add_output_options(app, options.output);
  if (!parse(app, "bench exchange", context, argc, argv)) return {};
  if (options.is_sweep && options.pattern == "meet")
    throw AgreedError(ErrorCode::usage,
                      {.subject = "--sweep", .cause = "compares packets on ring or tile, not on meet"});
  if (options.is_sweep && iterations->count() == 0) options.iterations = {15'360};
  if (options.work == "rounds") {
    choose_contenders(options);
  } else {
    const std::vector<WorkTraits> works = all_works();
    choose_workers(options, *std::ranges::find(works, options.work, &WorkTraits::name), iterations->count() > 0);
  }
  return options;
}

}  // namespace barrio::bench
