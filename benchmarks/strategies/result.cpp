#include "benchmarks/strategies/result.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/text.hpp"
#include "barrio/mpi/platform.hpp"
#include "barrio/mpi/report.hpp"
#include "benchmarks/goals.hpp"

namespace barrio::bench {
namespace {

constexpr std::uint64_t rounds_of_life = 8;  // of the part "anew": Saif's regridding interval

double of_strategy(const Json& row, const char* name, const char* what) {
  for (const Json& strategy : row["strategies"])
    if (strategy["name"] == name) return strategy[what].get<double>();
  return 0.0;
}

void add_overlap_goals(Goals& goals, const Json& rows) {
  constexpr double max_wait = 0.05;
  constexpr double max_overhead = 0.01;
  for (const Json& row : rows) {
    const double untouched = of_strategy(row, "delayed-waits", "wait_seconds");
    const auto n = row["bytes"].get<std::uint64_t>();
    // By the strategy for overlap: automatic compares whole rounds, and may choose plain waits.
    goals.add(fmt::format("overlap.{}.wait_of_untouched", n),
              of_strategy(row, "staggered-tests", "wait_seconds") / untouched, "", max_wait);
    goals.add(fmt::format("overlap.{}.total_of_computing_and_copy", n),
              of_strategy(row, "staggered-tests", "total_of_computing_and_copy"), "x", 1.0 + max_overhead);
  }
}

/// Add the goals of cells. @param part  "cells" or "anew"
void add_cell_goals(Goals& goals, const char* part, const Json& cells) {
  constexpr double most = 1.10;
  int n_good = 0;
  double worst_of_delayed = 0.0;
  for (const Json& cell : cells) {
    if (cell["automatic_of_best"].get<double>() <= most) ++n_good;
    worst_of_delayed = std::max(worst_of_delayed, cell["automatic_of_delayed"].get<double>());
  }
  if (cells.empty()) return;
  goals.add(fmt::format("{}.within_10_percent_of_best", part),
            static_cast<double>(n_good) / static_cast<double>(cells.size()), "", 0.95, true);
  goals.add(fmt::format("{}.worst_of_delayed_waits", part), worst_of_delayed, "x", most);
}

void add_engine_goals(Goals& goals, const Json& engine) {
  goals.add("engine.is_off_without_spare_core", engine["with_all_computing"]["is_on"].get<bool>() ? 0.0 : 1.0, "", 1.0,
            true);
  for (const Json& row : engine["cases"])
    goals.add(fmt::format("engine.{}.hidden.{}", row["bytes"].get<std::uint64_t>(), row["engine"].get<std::string>()),
              row["hidden"].get<double>(), "", 0.8, true);
}

std::string seconds(const Json& value) { return format_seconds(value.get<double>()); }

std::string overlap_text(const Json& rows) {
  std::string text = "wait after computing, and computing with the exchange\n";
  for (const Json& row : rows) {
    text += fmt::format("  {:>9}: copy {}, computing {};", format_bytes(row["bytes"].get<std::uint64_t>()),
                        seconds(row["copy_seconds"]), seconds(row["compute_seconds"]));
    for (const Json& strategy : row["strategies"])
      text += fmt::format(" {} {} in {};", strategy["name"].get<std::string>(), seconds(strategy["wait_seconds"]),
                          seconds(strategy["total_seconds"]));
    text += "\n";
  }
  return text;
}

std::string cells_text(const Json& cells, const std::string& which) {
  std::string text = "a round of each strategy, relative to the best fixed one" + which + "\n";
  for (const Json& cell : cells) {
    double best = 1e30;
    for (const Json& strategy : cell["strategies"])
      if (strategy["name"] == cell["best_fixed"]) best = strategy["seconds"].get<double>();
    text += fmt::format("  {:>9} x {}, imbalance {:g}, best {}:", format_bytes(cell["bytes"].get<std::uint64_t>()),
                        cell["messages"].get<int>(), cell["imbalance"].get<double>(), format_seconds(best));
    for (const Json& strategy : cell["strategies"])
      text += fmt::format(" {} {:.2f}", strategy["name"].get<std::string>(), strategy["seconds"].get<double>() / best);
    text += fmt::format(" (chose {})\n", cell["automatic_chose"].get<std::string>());
  }
  return text;
}

std::string engine_text(const Json& engine) {
  std::string text = fmt::format("engine with all ranks computing: {}\n",
                                 engine["with_all_computing"]["is_on"].get<bool>()
                                     ? "on"
                                     : "off, " + engine["with_all_computing"]["why_off"].get<std::string>());
  for (const Json& row : engine["cases"])
    text += fmt::format(
        "  {:>9}, {}: alone {}, computing {}, with the engine {} ({:.0f} % hidden), without {} ({:.0f} %)\n",
        format_bytes(row["bytes"].get<std::uint64_t>()), row["engine"].get<std::string>(),
        seconds(row["alone_seconds"]), seconds(row["compute_seconds"]), seconds(row["with_seconds"]),
        100 * row["hidden"].get<double>(), seconds(row["best_without_seconds"]),
        100 * row["best_without_hidden"].get<double>());
  return text;
}

bool has_part(const StrategyOptions& options, const char* part) {
  return std::ranges::find(options.parts, part) != options.parts.end();
}

}  // namespace

void check_contents(bool is_right, const std::string& what) {
  if (is_right) return;
  throw AgreedError(ErrorCode::differs, {.subject = "bench strategies, " + what,
                                         .cause = "received wrong contents in an exchange",
                                         .remedy = "this is a bug in barrio or in the MPI"});
}

Json make_document(mpi::Context& context, const StrategyOptions& options) {
  Json document = mpi::document(context, "barrio.bench.strategies", 1);
  document["platform"] = mpi::to_json(mpi::find_platform(context));
  document["has_profile"] = context.profile().is_measured;
  document["repeats"] = options.n_repeats;
  Goals goals;
  if (has_part(options, "overlap")) {
    document["overlap"] = measure_overlap(context, options);
    add_overlap_goals(goals, document["overlap"]);
  }
  if (has_part(options, "cells")) {
    document["cells"] = measure_cells(context, options);
    add_cell_goals(goals, "cells", document["cells"]);
  }
  if (has_part(options, "anew")) {
    document["anew"] = measure_cells(context, options, rounds_of_life);
    add_cell_goals(goals, "anew", document["anew"]);
  }
  if (has_part(options, "engine")) {
    document["engine"] = measure_engine(context, options);
    add_engine_goals(goals, document["engine"]);
  }
  if (has_part(options, "rounds")) document["rounds"] = measure_rounds(context, options);
  document["goals"] = goals.list();
  return document;
}

std::string to_text(const Json& document) {
  std::string text;
  if (document.contains("overlap")) text += overlap_text(document["overlap"]);
  if (document.contains("cells")) text += cells_text(document["cells"], "");
  if (document.contains("anew"))
    text += cells_text(document["anew"], fmt::format("; every exchange is remade after {} rounds", rounds_of_life));
  if (document.contains("engine")) text += engine_text(document["engine"]);
  for (const Json& row : document.value("rounds", Json::array()))
    text +=
        fmt::format("  round of {} by {}: {}, {} messages of a rank\n", format_bytes(row["bytes"].get<std::uint64_t>()),
                    row["name"].get<std::string>(), seconds(row["seconds"]), row["messages_of_a_rank"].get<double>());
  for (const Json& goal : document["goals"])
    text += fmt::format("goal {:<52} {:>8.3f}{} ({} {})  {}\n", goal["id"].get<std::string>(),
                        goal["value"].get<double>(), goal["unit"].get<std::string>(),
                        goal["better"] == "lower" ? "<=" : ">=", goal["goal"].get<double>(),
                        goal["met"].get<bool>() ? "met" : "NOT MET");
  return text;
}

}  // namespace barrio::bench
