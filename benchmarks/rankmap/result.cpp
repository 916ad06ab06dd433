#include "benchmarks/rankmap/result.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <limits>
#include <sstream>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mpi/check.hpp"
#include "barrio/mpi/report.hpp"
#include "barrio/rankmap/qaplib.hpp"
#include "barrio/rankmap/search/construct.hpp"
#include "barrio/rankmap/search/exchange.hpp"
#include "barrio/rankmap/solve.hpp"
#include "benchmarks/goals.hpp"
#include "benchmarks/rankmap/cases.hpp"

namespace barrio::bench {
namespace {

using namespace rankmap;

constexpr double sharedmap_max_ranks = 1024;  // beyond, it takes minutes

/// Resident memory of this process: current, and peak since the last reset.
struct Resident {
  std::uint64_t now_bytes = 0, max_bytes = 0;
  static void reset() { std::ofstream("/proc/self/clear_refs") << "5"; }
  static Resident read() {
    Resident found;
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
      std::istringstream words(line);
      std::string name;
      std::uint64_t kilobytes = 0;
      words >> name >> kilobytes;
      if (name == "VmRSS:") found.now_bytes = kilobytes << 10U;
      if (name == "VmHWM:") found.max_bytes = kilobytes << 10U;
    }
    return found;
  }
};

/// One case: traffic, machine, and a row for each method.
class Run {
 public:
  Run(TrafficMatrix traffic, const Case& one, const RankmapOptions& options)
      : case_(one),
        options_(options),
        traffic_(std::move(traffic)),
        machine_(Machine::parse(one.machine)),
        graph_(traffic_.compute_graph(Weight::points)),
        given_(cost(graph_, machine_, Placement::in_order(traffic_.n_ranks(), machine_.n_cores()))) {}

  Json run(bool has_python) {
    if (case_.part != "large" && case_.part != "huge") {
      add_papers("paper: construction", false, false);
      add_papers("paper: construction + improvement", false, true);
      add_papers("paper: improvement of the given order", true, true);
    }
    // Scotch takes minutes for 131 072 ranks.
    if (case_.tree && case_.part != "huge") add_peers(has_python);
    for (const double seconds : case_.seconds)
      add_barrio(fmt::format("barrio {:g} s", seconds), {.seed = options_.seed, .seconds = seconds});
    if (options_.best_seconds > 0.0 && case_.part == "goals") {
      // Several seeds, since one long search may end in a local minimum.
      for (std::uint64_t seed = 1; seed <= 3; ++seed)
        add_barrio(fmt::format("barrio {:g} s, seed {}", options_.best_seconds / 3, seed + 100),
                   {.seed = seed + 100, .seconds = options_.best_seconds / 3});
    }
    return {{"name", case_.name()},
            {"part", case_.part},
            {"ranks", case_.n_parts},
            {"machine", case_.machine},
            {"partners", static_cast<double>(graph_.partners.size()) / graph_.n_ranks()},
            {"halo_points", graph_.compute_total_weight()},
            {"cost_given", given_},
            {"methods", rows_}};
  }

 private:
  /// Add a row. @throws Error{differs} if it is not a valid placement, or has another cost than reported
  void add(const std::string& name, const Placement& placement, double seconds, std::uint64_t memory_bytes) {
    placement.validate();
    const double found = cost(graph_, machine_, placement);
    rows_.push_back(
        {{"name", name},
         {"cost", found},
         {"of_given", found / given_},
         {"seconds", seconds},
         {"memory_bytes", memory_bytes},
         {"inter_node_share", compute_figures(traffic_, machine_, placement, Weight::points).inter_node_share()}});
  }

  // Unchanged results: `map` would keep the given order if they are worse.
  void add_papers(const std::string& name, bool from_given, bool improves) {
    const double start = processor_seconds();
    Placement placement =
        from_given ? Placement::in_order(traffic_.n_ranks(), machine_.n_cores()) : construct(graph_, machine_);
    if (improves) exchange_in_blocks(graph_, machine_, placement, MapOptions().block);
    add(name, placement, processor_seconds() - start, 0);
  }

  void add_barrio(const std::string& name, MapOptions options) {
    options.weight = Weight::points;
    Resident::reset();
    const Resident before = Resident::read();
    const double start = processor_seconds();
    const MapResult result = map(traffic_, machine_, options);
    const double seconds = processor_seconds() - start;
    const Resident after = Resident::read();
    if (std::abs(result.cost_after - cost(graph_, machine_, result.placement)) > 1e-9 * given_)
      throw Error(ErrorCode::differs,
                  {.subject = name, .cause = "has a placement whose cost differs from the reported one"});
    add(name, result.placement, seconds, after.max_bytes - std::min(after.max_bytes, before.now_bytes));
    rows_.back()["found_by"] = result.method;
    rows_.back()["is_complete"] = result.is_complete;
  }

  void add_peers(bool has_python) {
    for (const auto& [name, strategy] :
         {std::pair{"Scotch", ScotchStrategy::standard}, {"Scotch quality", ScotchStrategy::quality}}) {
      if (const auto found = map_by_scotch(graph_, *case_.tree, strategy))
        add(name, found->placement, found->seconds, 0);
    }
    if (!has_python || graph_.n_ranks() > sharedmap_max_ranks) return;
    for (const auto& [name, found] : map_by_sharedmap(graph_, *case_.tree, options_.python, {"fast", "eco", "strong"}))
      add("SharedMap " + name, found.placement, found.seconds, 0);
  }

  const Case& case_;
  const RankmapOptions& options_;
  TrafficMatrix traffic_;
  Machine machine_;
  CommunicationGraph graph_;
  double given_;
  Json rows_ = Json::array();
};

/// Return the result of a method in a case, or nothing.
std::optional<double> ratio(const Json& one, std::string_view method) {
  for (const Json& row : one["methods"])
    if (row["name"] == method) return row["of_given"].get<double>();
  return {};
}

double best_ratio(const Json& one) {
  double best = std::numeric_limits<double>::infinity();
  for (const Json& row : one["methods"]) best = std::min(best, row["of_given"].get<double>());
  return best;
}

void add_goals(Goals& goals, const Json& one) {
  const auto name = one["name"].get<std::string>();
  const auto strong = ratio(one, "SharedMap strong");
  const auto scotch = ratio(one, "Scotch quality");
  const auto soon = ratio(one, "barrio 0.05 s"), in_a_second = ratio(one, "barrio 1 s");
  const auto against = [&](const char* what, std::optional<double> mine, std::optional<double> other, double factor) {
    if (mine && other && *other > 0.0) goals.add(name + ": " + what, *mine / *other, "x", factor);
  };
  if (name == "wing scattered 256 on 32x8" || name == "wing metis 256 on 32x8") {
    if (strong) against("0.05 s of SharedMap strong", soon, strong, 1.0);
    if (!strong) against("0.05 s of Scotch quality", soon, scotch, 0.98);
  }
  if (name == "wing metis 256 on 32x8") against("0.05 s of the given order", soon, 1.0, 1.0);
  if (name == "wing metis 360 on 30x12") against("1 s of SharedMap strong", in_a_second, strong, 0.98);
  if (name.starts_with("wing scattered 256 on 8:2:4:4")) against("1 s of SharedMap strong", in_a_second, strong, 0.97);
  if (name.starts_with("wing scattered 256 on torus"))
    against("1 s of the paper's", in_a_second, ratio(one, "paper: construction + improvement"), 0.75);
  if (one["part"] == "large") against("5 s of Scotch", ratio(one, "barrio 5 s"), ratio(one, "Scotch"), 0.96);
  if (one["part"] == "huge") {
    for (const Json& row : one["methods"]) {
      if (row["name"] != "barrio 20 s") continue;
      goals.add(name + ": seconds", row["seconds"].get<double>(), "s", 40);
      goals.add(name + ": memory", row["memory_bytes"].get<double>() / (1U << 30U), "GiB", 2);
    }
  }
}

void add_best_goal(Goals& goals, const Json& one) {
  const auto in_a_second = ratio(one, "barrio 1 s");
  if (one["name"] == "wing scattered 256 on 32x8" && in_a_second)
    goals.add("wing scattered 256 on 32x8: 1 s of the best of all", *in_a_second / best_ratio(one), "x", 1.005);
}

struct Published {
  const char* name;
  double value;
  double max_gap;
};

// Values from QAPLIB; kra32's is that of its published permutation.
constexpr Published published[] = {{"nug30", 6124, 0},          {"tai64c", 1855928, 0},       {"esc64a", 116, 0},
                                   {"kra32", 88700, 0},         {"sko100a", 152002, 1e-3},    {"wil50", 48816, 1e-3},
                                   {"tai256c", 44759294, 3e-3}, {"tai100b", 1185996137, 8e-3}};

Json run_qaplib(const RankmapOptions& options, Goals& goals) {
  Json rows = Json::array();
  for (const Published& one : published) {
    const std::string path = options.qaplib_folder + "/" + one.name + ".dat";
    const QaplibInstance instance = read_qaplib(path);
    const double start = processor_seconds();
    const MapResult found =
        map(instance.traffic, instance.machine, {.seed = options.seed, .seconds = options.qaplib_seconds});
    const double gap = found.cost_after / one.value - 1;
    rows.push_back({{"name", one.name},
                    {"value", found.cost_after},
                    {"best_known", one.value},
                    {"gap", gap},
                    {"seconds", processor_seconds() - start},
                    {"found_by", found.method}});
    goals.add(fmt::format("qaplib.{}.gap", one.name), gap, "", one.max_gap);
  }
  return rows;
}

// Results of the paper, tables 4 and 5, relative to its initial cost.
struct PapersRow {
  int n;
  double construction, improvement;
};
constexpr PapersRow papers_rows[] = {
    {32, 849077.0 / 2275577, 734309.0 / 2275577},    {64, 1352493.0 / 3720654, 1351899.0 / 3720654},
    {128, 2599455.0 / 5526111, 2159661.0 / 5526111}, {48, 969132.0 / 2603424, 826842.0 / 2603424},
    {96, 1784859.0 / 4832475, 1624974.0 / 4832475},  {240, 3118930.0 / 7495225, 2793904.0 / 7495225}};

}  // namespace

double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Let all other ranks sleep, to leave the cores to rank 0, which computes.
void sleep_until_root_is_here(mpi::Context& context) {
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(MPI_Ibarrier(context.comm(), &request), "MPI_Ibarrier");
  for (int is_done = 0; is_done == 0; ::usleep(2000))
    mpi::check(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
}

Json make_rankmap_document(mpi::Context& context, const RankmapOptions& options) {
  Json document = mpi::document(context, "barrio.bench.rankmap", 1);
  const bool has_python = context.is_root() && has_sharedmap(options.python);
  document["seed"] = options.seed;
  document["has_sharedmap"] = has_python;
  Goals goals;
  Json cases = Json::array();
  Workshop workshop;
  for (const Case& one : cases_of(options.parts)) {
#ifdef BARRIO_BENCH_NO_METIS
    if (one.cut == Cut::metis) continue;
#endif
#ifdef BARRIO_BENCH_NO_ZOLTAN
    if (one.part == "zoltan") continue;
#endif
    TrafficMatrix traffic = workshop.make(context, one);
    if (!context.is_root()) {
      sleep_until_root_is_here(context);
      continue;
    }
    cases.push_back(Run(std::move(traffic), one, options).run(has_python));
    for (const PapersRow& row : papers_rows)
      if (one.part == "paper" && row.n == one.n_parts)
        cases.back()["in_the_paper"] = {{"construction", row.construction}, {"improvement", row.improvement}};
    add_goals(goals, cases.back());
    if (options.best_seconds > 0.0) add_best_goal(goals, cases.back());
    sleep_until_root_is_here(context);
  }
  document["cases"] = cases;
  const bool wants_qaplib = std::ranges::find(options.parts, "qaplib") != options.parts.end();
  if (wants_qaplib && !options.qaplib_folder.empty()) document["qaplib"] = run_qaplib(options, goals);
  document["goals"] = goals.list();
  return document;
}

std::string rankmap_text(const Json& document) {
  std::string text;
  for (const Json& one : document["cases"]) {
    text += fmt::format("{}: {:.1f} partners, {:.0f} halo points\n", one["name"].get<std::string>(),
                        one["partners"].get<double>(), one["halo_points"].get<double>());
    if (one.contains("in_the_paper"))
      text += fmt::format("  {:<40}{:.3f}, then {:.3f}\n", "in the paper, for its own mesh",
                          one["in_the_paper"]["construction"].get<double>(),
                          one["in_the_paper"]["improvement"].get<double>());
    for (const Json& row : one["methods"])
      text += fmt::format("  {:<40}{:.4f} of the given order, {:>5.1f} % between nodes, {}{}\n",
                          row["name"].get<std::string>(), row["of_given"].get<double>(),
                          100 * row["inter_node_share"].get<double>(), format_seconds(row["seconds"].get<double>()),
                          row["memory_bytes"].get<std::uint64_t>() > 0
                              ? ", " + format_bytes(row["memory_bytes"].get<std::uint64_t>())
                              : "");
  }
  if (document.contains("qaplib"))
    for (const Json& row : document["qaplib"])
      text += fmt::format("{:<10}{:>14.0f}, best known {:>14.0f}, {:.3f} % above it, {}\n",
                          row["name"].get<std::string>(), row["value"].get<double>(), row["best_known"].get<double>(),
                          100 * row["gap"].get<double>(), format_seconds(row["seconds"].get<double>()));
  if (!document["has_sharedmap"].get<bool>()) text += "SharedMap is missing: --python gives a Python with chszlablib\n";
  for (const Json& goal : document["goals"])
    text += fmt::format("{:<9}{:<60}{:>9.4g} {} (goal <= {:g})\n", goal["met"].get<bool>() ? "met" : "NOT MET",
                        goal["id"].get<std::string>(), goal["value"].get<double>(), goal["unit"].get<std::string>(),
                        goal["goal"].get<double>());
  return text;
}

}  // namespace barrio::bench
