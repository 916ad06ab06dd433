// Messages of 8 bytes to neighbours, by barrio and by what one would write instead: all in one program, one after the
// other in every repetition, contents checked, the shortest time of all repetitions kept. Figures 7, 8 and 10 of
// Ovcharenko et al. 2012 are this with other options.
//
//   barrio --ranks 2 bench exchange --pattern ring --iterations 1024 61440
//   barrio --ranks 64 bench exchange --pattern tile --iterations 64 2048
#ifdef BARRIO_MPI_SMPI
#undef exit  // the simulator's compiler defines it, and CLI11 has a member of that name
#endif
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>

#include "barrio/base/json.hpp"
#include "barrio/exchange/tile_graph.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/report.hpp"
#include "barrio/mpi/run.hpp"
#include "benchmarks/exchange/contenders.hpp"

namespace {

using namespace barrio;
using bench::Contender;

struct Options {
  std::string pattern = "ring";
  std::vector<std::uint64_t> iterations{1024};
  std::vector<std::string> contenders = bench::contender_names();
  std::uint32_t packet_bytes = 0;
  int n_repeats = 7;
  double max_seconds = 5.0;
  bool is_json = false;
};

std::optional<Options> parse(Context& context, int argc, char** argv) {
  Options options;
  CLI::App app{"Messages of 8 bytes to neighbours: barrio beside what one would write instead"};
  app.add_option("--pattern", options.pattern, "ring, or tile (Ovcharenko et al. 2012, figure 9)")
      ->check(CLI::IsMember({"ring", "tile"}))
      ->capture_default_str();
  app.add_option("--iterations", options.iterations, "Messages to each neighbour in one round")->capture_default_str();
  app.add_option("--contenders", options.contenders, "Whom to run; all by default");
  app.add_option("--packet-bytes", options.packet_bytes, "Buffer size of barrio; 0: as the profile says")
      ->capture_default_str();
  app.add_option("--repeats", options.n_repeats, "Repetitions, interleaved")->capture_default_str();
  app.add_option("--max-seconds", options.max_seconds, "Leave out a contender whose round took longer")
      ->capture_default_str();
  app.add_flag("--json", options.is_json, "Print one JSON document");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {
    if (context.is_root()) app.exit(wanted);
    return {};
  } catch (const CLI::ParseError& error) {
    throw AgreedError(ErrorCode::usage, {.subject = "bench exchange", .cause = error.what(), .remedy = "see --help"});
  }
  return options;
}

std::vector<Rank> neighbours_of(const std::string& pattern, Context& context) {
  if (pattern == "tile") return exchange::TileGraph::semi_regular().neighbours(context.rank(), context.size());
  std::vector<Rank> ring{(context.rank() + 1) % context.size(), (context.rank() + context.size() - 1) % context.size()};
  std::ranges::sort(ring);
  ring.erase(std::ranges::unique(ring).begin(), ring.end());
  std::erase(ring, context.rank());
  return ring;
}

/// Seconds of one round, as the slowest rank sees it. @throws AgreedError{differs} if it brought something else
double time_round(Context& context, Contender& contender, const bench::Tally& expected, std::uint64_t n) {
  mpi::barrier(context);
  const double begin = MPI_Wtime();
  const bench::Tally tally = contender.round(n);
  mpi::barrier(context);
  const double seconds = MPI_Wtime() - begin;
  agree_after(context, [&] {
    if (!(tally == expected))
      throw Error(ErrorCode::differs,
                  {.subject = contender.name(),
                   .cause = fmt::format("brought {} messages of {}, or wrong ones", tally.n, expected.n)});
  });
  return mpi::max(context, seconds);
}

struct Row {
  std::string name;
  double seconds = std::numeric_limits<double>::infinity();
};

std::vector<Row> compare(Context& context, const Options& options, const std::vector<Rank>& neighbours,
                         std::uint64_t n) {
  const bench::Tally wanted = bench::expected(neighbours, context.rank(), n);
  const auto most = mpi::max(context, static_cast<std::uint64_t>(neighbours.size()) * n);
  std::vector<Row> rows;
  std::vector<std::unique_ptr<Contender>> all;
  for (const std::string& name : options.contenders) {
    auto contender = bench::make_contender(name, context, neighbours, options.packet_bytes);
    if (most > contender->max_messages()) continue;
    contender->prepare(n);
    rows.push_back({.name = name});
    all.push_back(std::move(contender));
  }
  std::vector<char> is_out(all.size(), 0);
  for (int repeat = 0; repeat <= options.n_repeats; ++repeat) {  // the first one warms up
    for (std::size_t c = 0; c < all.size(); ++c) {
      if (is_out[c] != 0) continue;
      const double seconds = time_round(context, *all[c], wanted, n);
      if (repeat > 0 || seconds > options.max_seconds) rows[c].seconds = std::min(rows[c].seconds, seconds);
      is_out[c] = seconds > options.max_seconds ? 1 : 0;
    }
  }
  return rows;
}

double seconds_of(const std::vector<Row>& rows, const std::string& name) {
  for (const Row& row : rows)
    if (row.name == name) return row.seconds;
  return std::numeric_limits<double>::quiet_NaN();
}

void add_goal(Json& goals, const std::string& id, double value, const std::string& unit, double goal) {
  if (!(value == value)) return;
  goals.push_back(
      {{"id", id}, {"value", value}, {"unit", unit}, {"goal", goal}, {"better", "lower"}, {"met", value <= goal}});
}

void run(Context& context, const Options& options) {
  const std::vector<Rank> neighbours = neighbours_of(options.pattern, context);
  const auto n_edges = mpi::sum(context, static_cast<std::int64_t>(neighbours.size()));
  const auto max_degree = mpi::max(context, static_cast<std::int64_t>(neighbours.size()));
  Json result = mpi::document(context, "barrio.bench.exchange", 1);
  result["pattern"] = options.pattern;
  result["max_degree"] = max_degree;
  result["packet_bytes"] = options.packet_bytes != 0 ? options.packet_bytes : context.profile().packet_bytes;
  result["cases"] = Json::array();
  result["goals"] = Json::array();
  std::optional<double> first_per_message;
  std::string text;
  for (const std::uint64_t n : options.iterations) {
    const std::vector<Row> rows = compare(context, options, neighbours, n);
    const double floor = std::min(seconds_of(rows, "packed"), seconds_of(rows, "persistent"));
    const double messages_per_rank = static_cast<double>(n) *
                                     static_cast<double>(options.pattern == "ring" ? max_degree : n_edges) /
                                     (options.pattern == "ring" ? 1.0 : context.size());
    text += fmt::format("{}, {} ranks, {} messages of 8 bytes to each neighbour\n  {:<14} {:>12} {:>12} {:>12}\n",
                        options.pattern, context.size(), n, "", "us a round", "ns/message", "x floor");
    Json one{{"iterations", n}, {"contenders", Json::array()}};
    for (const Row& row : rows) {
      const double per_message = messages_per_rank > 0.0 ? row.seconds * 1e9 / messages_per_rank : 0.0;
      text += fmt::format("  {:<14} {:>12.1f} {:>12.2f} {:>12.2f}\n", row.name, row.seconds * 1e6, per_message,
                          row.seconds / floor);
      one["contenders"].push_back({{"name", row.name},
                                   {"seconds", row.seconds},
                                   {"ns_per_message", per_message},
                                   {"of_floor", row.seconds / floor}});
    }
    result["cases"].push_back(one);
    const double ours = seconds_of(rows, "barrio");
    const double per_message = ours / static_cast<double>(n);
    Json& goals = result["goals"];
    if (options.pattern == "ring" && n >= 61440)
      add_goal(goals, "ring.persistent_ratio", ours / seconds_of(rows, "persistent"), "x", 1.4);
    if (options.pattern == "ring" && n >= 61440 && first_per_message)
      add_goal(goals, "ring.normalised_time", per_message / *first_per_message, "x", 1.2);
    if (options.pattern == "tile" && n <= 64) add_goal(goals, "tile.short_round_of_floor", ours / floor, "x", 1.2);
    if (options.pattern == "tile" && n >= 2048)
      add_goal(goals, "tile.long_round_of_neighbor", ours / seconds_of(rows, "neighbor"), "x", 1.0);
    add_goal(goals, fmt::format("{}.{}.introductions_of_fixed", options.pattern, n),
             seconds_of(rows, "barrio-intro") / ours, "x", 1.8);
    if (!first_per_message) first_per_message = per_message;
  }
  for (const Json& goal : result["goals"])
    text += fmt::format("goal {:<40} {:>8.2f}{} (<= {})  {}\n", goal["id"].get<std::string>(),
                        goal["value"].get<double>(), goal["unit"].get<std::string>(), goal["goal"].get<double>(),
                        goal["met"].get<bool>() ? "met" : "NOT MET");
  if (context.is_root()) std::fputs((options.is_json ? result.dump(2) + "\n" : text).c_str(), stdout);
}

}  // namespace

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](Context& context) {
    if (const auto options = parse(context, argc, argv)) run(context, *options);
  });
}
