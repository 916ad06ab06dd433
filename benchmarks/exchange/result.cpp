#include "benchmarks/exchange/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/report.hpp"
#include "benchmarks/exchange/contenders.hpp"

namespace barrio::bench {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();  // null in JSON

double seconds_of(const Case& one, const std::string& name) {
  const auto found = std::ranges::find(one.rows, name, &Row::name);
  return found == one.rows.end() ? nothing : found->seconds;
}

/// Return the min seconds over the fixed packet sizes of a sweep.
double best_fixed(const Case& one) {
  double best = nothing;
  for (const Row& row : one.rows)
    if (row.name.starts_with("barrio@")) best = std::fmin(best, row.seconds);
  return best;
}

/// The reference for rounds, and the name of its seconds.
struct Reference {
  std::string name;
  std::string short_name;
};
Reference reference_of(const Options& options) {
  if (options.is_sweep) return {"the best of the fixed packet sizes", "best"};
  if (options.pattern == "meet") return {"meet-fixed: neighbours only", "fixed"};
  return {"the faster of packed and persistent, which know all sizes", "floor"};
}
double reference_seconds(const Options& options, const Case& one) {
  if (options.is_sweep) return best_fixed(one);
  if (options.pattern == "meet") return seconds_of(one, "meet-fixed");
  return std::fmin(seconds_of(one, "packed"), seconds_of(one, "persistent"));
}

class Goals {
 public:
  /// Add a goal, unless one of its times is missing.
  void add(const std::string& id, double value, double goal) {
    if (!std::isfinite(value)) return;
    list_.push_back(
        {{"id", id}, {"value", value}, {"unit", "x"}, {"goal", goal}, {"better", "lower"}, {"met", value <= goal}});
  }
  void add(const Options& options, const Case& one) {
    const double ours = seconds_of(one, "barrio");
    const double reference = reference_seconds(options, one);
    const double per_message = ours / static_cast<double>(one.n);
    if (!(first_per_message_ > 0.0)) first_per_message_ = per_message;
    if (options.is_sweep) {
      add(fmt::format("{}.{}.automatic_of_best_fixed", options.pattern, one.n), ours / reference, 1.1);
      return;
    }
    if (options.pattern == "ring" && one.n >= 61'440) {
      add("ring.persistent_ratio", ours / seconds_of(one, "persistent"), 1.4);
      if (one.n > options.iterations.front()) add("ring.normalised_time", per_message / first_per_message_, 1.2);
    }
    if (options.pattern == "ring") {
      const double floor = seconds_of(one, "persistent");
      if (one.n == 61'440) {
        add("ring.by_rank_of_persistent", seconds_of(one, "barrio-by-rank") / floor, 1.4);
        add("ring.bytes_of_persistent", seconds_of(one, "barrio-bytes") / floor, 2.5);
      }
      if (one.n == 8 * 61'440) add("ring.bytes64_of_persistent", seconds_of(one, "barrio-bytes64") / floor, 1.5);
    }
    if (options.pattern == "tile" && one.n <= 64) add("tile.short_round_of_floor", ours / reference, 1.2);
    if (options.pattern == "tile" && one.n >= 2048)
      add("tile.long_round_of_neighbor", ours / seconds_of(one, "neighbor"), 1.0);
    add(fmt::format("{}.{}.introductions_of_fixed", options.pattern, one.n),
        seconds_of(one, "barrio-intro") / (options.pattern == "meet" ? reference : ours), 1.5);
  }
  void add(const WorkTraits& work, const Case& one) {
    const std::string stem = fmt::format("{}.{}", work.name, one.n);
    const double ours = seconds_of(one, "barrio");
    const double by_hand = seconds_of(one, work.reference);
    const double gslib = seconds_of(one, "gslib");
    if (work.name == "gather") {
      add(stem + ".of_gslib", ours / gslib, 1.0);
      add(stem + ".of_by_hand", ours / by_hand, 1.2);
    } else {
      add(stem + ".of_the_better", ours / std::fmin(gslib, by_hand), 1.0);
    }
  }
  [[nodiscard]] const Json& list() const { return list_; }

 private:
  Json list_ = Json::array();
  double first_per_message_ = nothing;  ///< seconds, in the first case
};

Json to_json(const Case& one, double reference) {
  Json contenders = Json::array();
  for (const Row& row : one.rows) {
    Json entry{{"name", row.name},
               {"seconds", row.seconds},
               {"ns_per_message", row.numbers > 0.0 ? row.seconds * 1e9 / row.numbers : nothing},
               {"of_reference", row.seconds / reference},
               {"messages", row.numbers}};
    entry["mpi_messages"] = counts_mpi_calls() ? row.messages : nothing;
    entry["collectives"] = counts_mpi_calls() ? row.collectives : nothing;
    contenders.push_back(std::move(entry));
  }
  return {{"iterations", one.n}, {"contenders", std::move(contenders)}, {"left_out", one.left_out}};
}

/// Format a number of a document; null is missing.
std::string cell(const Json& number, double factor, int decimals) {
  return number.is_number() && std::isfinite(number.get<double>())
             ? fmt::format("{:.{}f}", number.get<double>() * factor, decimals)
             : "-";
}

}  // namespace

Json make_document(mpi::Context& context, const Options& options, const Pattern& pattern,
                   const std::vector<Case>& cases) {
  Json document = mpi::document(context, "barrio.bench.exchange", 2, options.seed);
  document["pattern"] = pattern.name();
  document["max_degree"] = mpi::max(context, static_cast<std::int64_t>(pattern.neighbours().size()));
  document["packet_bytes"] = options.packet_bytes;  // 0: automatic
  document["repeats"] = options.n_back_to_back > 0 ? options.n_back_to_back : options.n_repeats;
  document["between_barriers"] = options.n_back_to_back == 0;
  if (options.pattern == "ring" && context.size() == 2)
    document["note"] = "on 2 ranks each rank of the ring has one neighbour; the paper has two, as with 3 or more ranks";
  const Reference reference = reference_of(options);
  document["reference"] = {{"name", reference.name}, {"short_name", reference.short_name}};
  document["cases"] = Json::array();
  Goals goals;
  for (const Case& one : cases) {
    document["cases"].push_back(to_json(one, reference_seconds(options, one)));
    goals.add(options, one);
  }
  document["not_built"] = Json::array();
  for (const Kind& kind : all_kinds())
    if (!kind.make) document["not_built"].push_back({{"name", kind.name}, {"reason", kind.lacking}});
  document["goals"] = goals.list();
  return document;
}

Json make_document(mpi::Context& context, const Options& options, const WorkTraits& work,
                   const std::vector<Case>& cases) {
  Json document = mpi::document(context, "barrio.bench.exchange", 2, options.seed);
  document["pattern"] = work.name;
  document["about"] = work.about;
  document["unit"] = work.unit;
  document["repeats"] = options.n_repeats;
  document["between_barriers"] = true;
  document["reference"] = {{"name", work.reference}, {"short_name", work.reference}};
  document["cases"] = Json::array();
  Goals goals;
  for (const Case& one : cases) {
    document["cases"].push_back(to_json(one, seconds_of(one, work.reference)));
    goals.add(work, one);
  }
  document["not_built"] = Json::array();
  for (const WorkerKind& kind : work.workers)
    if (!kind.make) document["not_built"].push_back({{"name", kind.name}, {"reason", kind.lacking}});
  document["goals"] = goals.list();
  return document;
}

std::string to_text(const Json& document) {
  std::string text;
  if (document.contains("note")) text += fmt::format("note: {}\n", document["note"].get<std::string>());
  for (const Json& one : document["cases"]) {
    text += fmt::format("{}, {} ranks, {} {}\n", document["pattern"].get<std::string>(), document["ranks"].get<int>(),
                        one["iterations"].get<std::uint64_t>(),
                        document.value("unit", "messages of 8 bytes to each neighbour"));
    const auto line = [&text](auto&&... cells) {
      text += fmt::format("  {:<16} {:>12} {:>11} {:>9} {:>12} {:>12}\n", cells...);
    };
    line("", "us a round", "ns/message", "x " + document["reference"]["short_name"].get<std::string>(), "collectives",
         "MPI messages");
    for (const Json& row : one["contenders"])
      line(row["name"].get<std::string>(), cell(row["seconds"], 1e6, 1), cell(row["ns_per_message"], 1.0, 2),
           cell(row["of_reference"], 1.0, 2), cell(row["collectives"], 1.0, 1), cell(row["mpi_messages"], 1.0, 1));
    for (const Json& name : one["left_out"])
      text += fmt::format("  {:<16} left out: too many messages in a round (--raw-limit)\n", name.get<std::string>());
  }
  for (const Json& one : document["not_built"])
    text += fmt::format("not built: {:<17} {}\n", one["name"].get<std::string>(), one["reason"].get<std::string>());
  for (const Json& goal : document["goals"])
    text += fmt::format("goal {:<40} {:>8.2f}{} (<= {})  {}\n", goal["id"].get<std::string>(),
                        goal["value"].get<double>(), goal["unit"].get<std::string>(), goal["goal"].get<double>(),
                        goal["met"].get<bool>() ? "met" : "NOT MET");
  return text;
}

}  // namespace barrio::bench
