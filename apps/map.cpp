#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <filesystem>
#include <optional>

#include "apps/command.hpp"
#include "apps/launch/program.hpp"
#include "apps/text/map_text.hpp"
#include "apps/text/table.hpp"
#include "barrio/base/text.hpp"
#include "barrio/rankmap/launcher.hpp"
#include "barrio/rankmap/machine_sources.hpp"
#include "barrio/rankmap/map_document.hpp"
#include "barrio/rankmap/measured_machine.hpp"
#include "barrio/rankmap/qaplib.hpp"
#include "barrio/rankmap/recorded_run.hpp"
#include "barrio/rankmap/solve.hpp"
#include "barrio/rankmap/traffic_files.hpp"
#include "barrio/rankmap/verify.hpp"

namespace barrio::apps {
namespace {

/// Parse a whole text as one number.
template <class T>
std::optional<T> number_in(std::string_view text) {
  T value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

/// Split a text at its commas.
std::vector<std::string> items_of(std::string_view text) {
  std::vector<std::string> items;
  for (;;) {
    const std::size_t comma = text.find(',');
    items.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return items;
    text.remove_prefix(comma + 1);
  }
}

class Map : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "map"; }
  [[nodiscard]] std::string summary() const override {
    return "Place ranks on a machine so that those that exchange most are near each other";
  }
  [[nodiscard]] std::string example() const override {
    return "barrio map traffic.json --machine 2x4 --given cyclic -o rankfile";
  }
  [[nodiscard]] std::vector<Output> outputs() const override {
    return {{output_, WrittenAs::file_or_device}, {report_}};
  }
  void add_options(CLI::App& app) override {
    app.add_option(
        "TRAFFIC", traffic_,
        "Traffic: barrio.traffic JSON, METIS graph, Matrix Market or Open MPI monitoring files; several are added, "
        "each times the number after a '*', as in 'coarse.json*4'; or a QAPLIB file, which holds the machine too");
    app.add_option("--machine", sources_.machine,
                   "Machine: NODESxCORES ('2x4'), a tree ('8:16:4;1:10:20'), nodes of different sizes ('8,8,4;1:10'), "
                   "a torus ('torus:4x4x2;8;1:10'); or a file: hosts, Slurm's topology.conf, a matrix of distances "
                   "between cores, the result of --measure. Default: the hosts of the recorded run");
    app.add_option("--hosts", sources_.hosts,
                   "Nodes of the job in the order the launcher fills them: names separated by ',', as in "
                   "'n01:8,n[02-04]:16', or a host file");
    app.add_option("--node", sources_.node, "Structure of a node: hwloc's XML (lstopo node.xml)");
    app.add_option("--cores", sources_.cores_per_node, "Cores to use per node, where nothing else gives them")
        ->check(positive_integer());
    app.add_option("--distances", distances_,
                   "Distances from the inside out, as in '1:2:10:20', instead of 1, 2, ... in a node and 10, 20, ... "
                   "between nodes");
    app.add_option("--weight", weight_, "Weight of traffic: bytes, messages or points")->capture_default_str();
    app.add_option("--message-bytes", options_.message_bytes,
                   "Cost of a message besides its bytes, in bytes: latency times bandwidth")
        ->capture_default_str();
    collectives_option_ =
        app.add_option("--collectives", collectives_,
                       "Weight of the traffic of collectives in a recorded run, beside 1 for all other; 0: ignored. "
                       "Their pairs are guessed: without this option they alone do not justify a new order")
            ->check(number_from_0())
            ->capture_default_str();
    app.add_option("--min-gain", min_gain_percent_,
                   "Percent of the cost that a new order must save; with less the given order stays. At equal cost the "
                   "busiest node decides")
        ->capture_default_str();
    app.add_option("--bottleneck", options_.bottleneck,
                   "Share of the busiest node in the cost that is minimised, 0 to 1; 0: only the sum over all pairs")
        ->capture_default_str();
    app.add_option("--given", given_,
                   "The order to beat: 'block' (fill node after node), 'cyclic' (one rank per node in turn, as some "
                   "launchers do), 'recorded' (the places of ranks in the recorded run), or a file (permutation, "
                   "barrio.map); default: recorded if the machine is that of the run, else block");
    app.add_option(
        "--pin", pins_,
        "Ranks that may not move: RANK keeps its core of the given order, RANK=CORE gets that core; separated by ','");
    app.add_option("--method", method_,
                   "best, or a method of the paper: paper-construction, paper-improvement, paper-from-given")
        ->capture_default_str();
    app.add_option("--block", options_.block, "Cores per block of the paper's pair exchange")->capture_default_str();
    app.add_option("--time", seconds_,
                   "Approximate seconds to search; the result depends on this number, not on the machine; more is "
                   "never worse, and powers of two (0.5, 1, 2) are used in full");
    app.add_option("--seed", options_.seed, "Seed of the search; the same seed gives the same result")
        ->check(number_from_0())
        ->capture_default_str();
    format_option_ =
        app.add_option("-f,--format", format_,
                       "Launcher file: openmpi-rankfile, openmpi-seq, mpich, intel, cray, slurm, flux, permutation")
            ->capture_default_str();
    app.add_option("-o,--output", output_, "Launcher file to write");
    app.add_option("--report", report_, "HTML page to write: pictures of the traffic before and after");
    app.add_flag("--measure", measures_,
                 "Instead, under mpirun on the nodes of the job: measure latency and bandwidth between cores; "
                 "--result FILE stores them for --machine");
    app.add_option("--verify", plan_,
                   "Instead, under mpirun with the launcher file: check that each rank is where the result document "
                   "PLAN places it; exit code 4 if not");
  }
  [[nodiscard]] bool is_parallel() const override { return measures_ || !plan_.empty(); }
  Json run(mpi::Context* context) override {
    if (is_parallel() && !traffic_.empty())
      throw AgreedError(ErrorCode::usage, {.subject = fmt::format("'{}'", traffic_.front()),
                                           .cause = "is traffic, which --measure and --verify do not use",
                                           .remedy = "leave it out"});
    if (measures_ && !plan_.empty())
      throw AgreedError(
          ErrorCode::usage,
          {.subject = "--measure and --verify", .cause = "cannot be combined", .remedy = "run one after the other"});
    if (measures_) return measure(*context);
    if (!plan_.empty()) return verify(*context);
    auto [traffic, machine] = read_problem();
    options_.weight = rankmap::parse_weight(weight_);
    options_.method = rankmap::parse_method(method_);
    if (seconds_ && *seconds_ < 0.0)
      throw Error(ErrorCode::usage, {.subject = fmt::format("--time {}", *seconds_),
                                     .cause = "is negative",
                                     .remedy = "use 0 s or more, or leave it out"});
    if (seconds_) options_.seconds = *seconds_;
    if (!pins_.empty())
      for (const std::string& pin : items_of(pins_)) options_.pins.push_back(parse_pin(pin));
    const rankmap::LauncherFormat format = rankmap::parse_launcher_format(format_);
    if (output_.empty() && format_option_->count() > 0)
      throw Error(
          ErrorCode::usage,
          {.subject = "--format " + format_, .cause = "needs a launcher file to write", .remedy = "name it with -o"});
    options_.given = given_placement(traffic.n_ranks(), machine);
    rankmap::MapResult found = search(traffic, machine);
    choice_ = rankmap::choose_order(found, machine, options_, min_gain_percent_ / 100.0, sure_ ? &*sure_ : nullptr);
    const Json choice = rankmap::to_json(choice_, found);
    if (choice_.keeps_given) found = rankmap::with_given_order(std::move(found));
    if (!output_.empty()) rankmap::write_launcher_file(output_, format, machine, found.placement);
    Json result = rankmap::to_json(found, traffic, machine);
    result["choice"] = choice;
    result["given_order"] = given_;  // its name; "given" is its list of cores
    result["traffic"] = traffic_json();
    if (!report_.empty()) report(result, traffic);
    share_before_ = found.before.inter_node_share();
    share_after_ = found.after.inter_node_share();
    found_ = found;
    return result;
  }
  [[nodiscard]] int exit_code(const Json& result) const override {
    return !plan_.empty() && result["as_planned"] == false ? barrio::exit_code(ErrorCode::differs) : 0;
  }
  [[nodiscard]] std::string render(const Json& result) const override {
    if (measures_) return render_measured(measured_);
    if (!plan_.empty()) return render_verification(result);
    const auto percent = [](double share) { return fmt::format("{:.1f} %", 100.0 * share); };
    std::vector<std::pair<std::string, std::string>> rows{
        {"ranks", fmt::format("{} on {}", found_.placement.n_ranks(), machine_in_words_)},
        {"order to beat", given_},
        {"cost", fmt::format("{:.6g} -> {:.6g}{}", found_.cost_before, found_.cost_after,
                             found_.cost_before > 0.0
                                 ? fmt::format(" ({:.1f} % of before; no placement is below {:.6g})",
                                               100.0 * found_.cost_after / found_.cost_before, found_.lower_bound)
                                 : "")},
        {"between nodes", fmt::format("{} -> {} of the {}", percent(share_before_), percent(share_after_), weight_)},
        {"busiest node",
         fmt::format("{} -> {} leave it", format_bytes(static_cast<std::uint64_t>(found_.before.max_node_out_bytes)),
                     format_bytes(static_cast<std::uint64_t>(found_.after.max_node_out_bytes)))},
        {"found by", found_.method},
        {"time", format_seconds(found_.seconds)}};
    if (choice_.keeps_given) rows.emplace_back("note", "the given order stays: " + choice_.reason);
    for (const Json& warning : result["warnings"]) rows.emplace_back("warning", warning.get<std::string>());
    if (!output_.empty()) rows.emplace_back("wrote", output_);
    if (!report_.empty()) rows.emplace_back("drew", report_);
    if (!found_.is_complete)
      rows.emplace_back("note",
                        "the search reached its limit of processor time: another run may find another placement");
    return fmt::format("{}\n", fmt::join(traffic_, " + ")) + two_columns(rows);
  }

 private:
  rankmap::MapResult search(const rankmap::TrafficMatrix& traffic, const rankmap::Machine& machine) {
    Progress progress("barrio map", true);
    if (seconds_) progress.expect(*seconds_);
    return rankmap::map(traffic, machine, options_);
  }

  /// Write the page of pictures: the result, and the traffic as summed.
  void report(const Json& result, const rankmap::TrafficMatrix& traffic) const {
    const ScratchFolder folder;
    const std::string map = folder.file("map.json"), summed = folder.file("traffic.json");
    write_file_atomically(map, result.dump() + "\n");
    rankmap::write_traffic(traffic, summed);
    std::vector<std::string> line = report_line({map, summed}, report_);
    line.emplace_back("--no-suggestions");  // they would name files of the scratch folder
    if (run_program(line, ProgramOutput::dropped) != 0)
      throw Error(ErrorCode::failed, {.subject = report_, .cause = "was not written", .remedy = "see above"});
  }

  Json measure(mpi::Context& context) {
    measured_ = rankmap::measure_machine(context);
    Json document = rankmap::to_json(measured_);
    document["ranks"] = context.size();
    return document;
  }

  Json verify(mpi::Context& context) { return rankmap::to_json(rankmap::verify_placement(context, plan_)); }

  /// Return the traffic files with their factors.
  [[nodiscard]] Json traffic_json() const {
    Json list = Json::array();
    for (const auto& [path, factor] : named_traffic()) list.push_back({path, factor});
    return list;
  }

  /// Read the traffic and the machine; a QAPLIB file has both.
  [[nodiscard]] std::pair<rankmap::TrafficMatrix, rankmap::Machine> read_problem() {
    if (traffic_.empty())
      throw Error(ErrorCode::usage, {.subject = "TRAFFIC",
                                     .cause = "is required",
                                     .remedy = "record it: barrio record -- mpirun -n 64 ./solver; see --help"});
    if (sources_.machine.empty() && sources_.hosts.empty() && traffic_.size() == 1 &&
        rankmap::is_qaplib(traffic_.front())) {
      rankmap::QaplibInstance instance = rankmap::read_qaplib(traffic_.front());
      if (given_.empty()) given_ = "block";
      machine_in_words_ = instance.machine.text();
      return {std::move(instance.traffic), std::move(instance.machine)};
    }
    rankmap::TrafficMatrix traffic = read_all_traffic();
    if (!distances_.empty()) sources_.distances = distances_of(distances_);
    rankmap::Machine machine = rankmap::describe_machine(sources_, recorded_);
    const bool is_of_the_run = sources_.machine.empty() && sources_.hosts.empty();
    if (given_.empty()) given_ = is_of_the_run ? "recorded" : "block";
    machine_in_words_ = machine.text();
    return {std::move(traffic), std::move(machine)};
  }

  static std::vector<double> distances_of(const std::string& text) {
    std::vector<double> distances;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(':', begin), text.size());
      const auto value = number_in<double>(std::string_view(text).substr(begin, end - begin));
      if (!value || !(*value >= 0.0 && *value < 1e18))
        throw Error(ErrorCode::usage, {.subject = fmt::format("--distances {}", text),
                                       .cause = "is not a list of numbers >= 0",
                                       .remedy = "write one for each level, from the inside out, as in 1:10:20"});
      distances.push_back(*value);
      begin = end + 1;
    }
    return distances;
  }

  [[nodiscard]] std::vector<std::pair<std::string, double>> named_traffic() const {
    std::vector<std::pair<std::string, double>> named;
    for (const std::string& word : traffic_) {
      const std::size_t star = word.rfind('*');
      const auto factor = star == std::string::npos ? std::nullopt : number_in<double>(word.substr(star + 1));
      if (star != std::string::npos && !(factor && *factor >= 0.0 && *factor < 1e18))
        throw Error(ErrorCode::usage, {.subject = fmt::format("traffic '{}'", word),
                                       .cause = "has no number >= 0 after its '*'",
                                       .remedy = "write FILE*NUMBER, as in 'coarse.json*4'"});
      named.emplace_back(word.substr(0, star), factor.value_or(1.0));
    }
    return named;
  }

  /// Sum the traffic of the files. Keep the hosts of the ranks if the first file records them.
  [[nodiscard]] rankmap::TrafficMatrix read_all_traffic() {
    std::vector<rankmap::TrafficMatrix> all;
    std::vector<double> factors, sure_factors;
    bool are_guessed = false;
    for (const auto& [path, factor] : named_traffic()) {
      rankmap::RecordedRun run = rankmap::read_run(path);
      if (all.empty()) recorded_ = std::move(run.hosts);
      all.push_back(std::move(run.traffic));
      factors.push_back(factor);
      sure_factors.push_back(factor);
      if (all.back().n_ranks() != all.front().n_ranks())
        throw Error(ErrorCode::bad_input, {.subject = path,
                                           .cause = fmt::format("has {} ranks, and {} has {}", all.back().n_ranks(),
                                                                traffic_.front(), all.front().n_ranks()),
                                           .remedy = "give traffic of jobs with the same number of ranks"});
      if (collectives_ == 0.0 || run.collectives.entries().empty()) continue;
      are_guessed = collectives_option_->count() == 0;
      all.push_back(std::move(run.collectives));
      factors.push_back(collectives_ * factor);
      sure_factors.push_back(0.0);
    }
    if (are_guessed) sure_ = rankmap::sum(all, sure_factors);
    return all.size() == 1 && factors.front() == 1.0 ? std::move(all.front()) : rankmap::sum(all, factors);
  }

  [[nodiscard]] static rankmap::Pin parse_pin(const std::string& word) {
    const std::size_t equal = word.find('=');
    const auto rank = number_in<int>(word.substr(0, equal));
    const auto core = equal == std::string::npos ? std::nullopt : number_in<int>(word.substr(equal + 1));
    if (!rank || (equal != std::string::npos && !(core && *core >= 0)))
      throw Error(ErrorCode::usage, {.subject = fmt::format("--pin {}", word),
                                     .cause = "is neither RANK nor RANK=CORE",
                                     .remedy = "write --pin 0,8=16"});
    return {.rank = *rank, .core = core.value_or(-1)};
  }

  [[nodiscard]] rankmap::Placement given_placement(int n_ranks, const rankmap::Machine& machine) const {
    if (given_ == "block") return rankmap::Placement::filled(n_ranks, machine);
    if (given_ == "recorded") {
      if (recorded_.empty())
        throw Error(ErrorCode::usage, {.subject = "--given recorded",
                                       .cause = "the traffic does not record where its ranks were",
                                       .remedy = "name another order: block, cyclic or a file"});
      return rankmap::placement_of_hosts(recorded_, machine);
    }
    if (given_ != "cyclic") {
      const std::string guess = did_you_mean(given_, std::vector<std::string>{"block", "cyclic", "recorded"});
      std::error_code ignored;
      if (!std::filesystem::exists(given_, ignored) && !guess.empty())
        throw Error(ErrorCode::usage, {.subject = fmt::format("--given {}", given_),
                                       .cause = "is not block, cyclic, recorded or a file." + guess,
                                       .remedy = "name an order, or a file with one"});
      return rankmap::read_placement(given_, machine.n_cores());
    }
    return rankmap::Placement::cyclic(n_ranks, machine);
  }
  CLI::Option* format_option_ = nullptr;
  std::vector<std::string> traffic_;
  rankmap::MachineSources sources_;
  std::string distances_;
  std::string machine_in_words_;
  std::vector<rankmap::HostRun> recorded_;
  bool measures_ = false;
  rankmap::MeasuredMachine measured_;
  std::string plan_;
  std::string weight_ = "bytes";
  std::string format_ = "openmpi-rankfile";
  std::string output_;
  std::string report_;
  std::string given_;
  std::string method_ = "best";
  std::optional<double> seconds_;
  std::string pins_;
  CLI::Option* collectives_option_ = nullptr;
  double collectives_ = 1.0;
  double min_gain_percent_ = 0.5;
  std::optional<rankmap::TrafficMatrix> sure_;  // without collectives
  rankmap::OrderChoice choice_;
  rankmap::MapOptions options_;
  rankmap::MapResult found_;
  double share_before_ = 0.0;
  double share_after_ = 0.0;
};

}  // namespace

std::unique_ptr<Command> make_map() { return std::make_unique<Map>(); }

}  // namespace barrio::apps
