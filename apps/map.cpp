#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <filesystem>
#include <optional>

#include "apps/command.hpp"
#include "apps/table.hpp"
#include "barrio/base/text.hpp"
#include "barrio/rankmap/launcher.hpp"
#include "barrio/rankmap/map_document.hpp"
#include "barrio/rankmap/qaplib.hpp"
#include "barrio/rankmap/traffic_files.hpp"

namespace barrio::apps {
namespace {

/// A whole text as one number.
template <class T>
std::optional<T> number_in(std::string_view text) {
  T value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

/// What stands between commas.
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
    return "Place ranks on a machine so that those who talk most are near each other";
  }
  [[nodiscard]] std::string example() const override {
    return "barrio map traffic.json --machine 2x4 --given cyclic -o rankfile";
  }
  void add_options(CLI::App& app) override {
    app.add_option(
           "TRAFFIC", traffic_,
           "Traffic: barrio.traffic JSON, METIS graph, Matrix Market or Open MPI monitoring files; several are added "
           "up, "
           "each times what follows a '*', as in 'coarse.json*4'; or a QAPLIB file, which holds the machine too")
        ->required();
    app.add_option(
        "--machine", machine_,
        "Machine: NODESxCORES ('2x4'), a tree ('8:16:4;1:10:20'), nodes that are not alike ('8,8,4;1:10') or a "
        "torus ('torus:4x4x2;8;1:10')");
    app.add_option("--weight", weight_, "What counts: bytes, messages or points")->capture_default_str();
    app.add_option("--message-bytes", options_.message_bytes,
                   "What a message costs beside its bytes, as so many bytes: latency times bandwidth")
        ->capture_default_str();
    app.add_option("--collectives", collectives_,
                   "What the traffic of collectives in a recorded run counts, beside 1 for all other; 0: nothing")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--bottleneck", options_.bottleneck,
                   "Share of the busiest node in what is minimised, 0 to 1; 0: the sum over all pairs alone")
        ->capture_default_str();
    app.add_option("--hosts", hosts_, "Names of the nodes, separated by ',', in the order the launcher fills them");
    app.add_option("--given", given_,
                   "The order to beat: 'block' (rank i on core i), 'cyclic' (ranks dealt round the nodes, as some "
                   "launchers do), or a file (permutation, barrio.map)")
        ->capture_default_str();
    app.add_option(
        "--pin", pins_,
        "Ranks that may not move: RANK stays where the given order has it, RANK=CORE goes there; separated by ','");
    app.add_option("--method", method_,
                   "best, or one of the paper's: paper-construction, paper-improvement, paper-from-given")
        ->capture_default_str();
    app.add_option("--block", options_.block, "Cores per block of the paper's pair exchange")->capture_default_str();
    app.add_option("--time", seconds_,
                   "About how many seconds to search; the result depends on it, not on the machine");
    app.add_option("--seed", options_.seed, "Seed of the search; the same seed finds the same")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    format_option_ =
        app.add_option("-f,--format", format_, "Launcher file: openmpi-rankfile, openmpi-seq, slurm, cray, permutation")
            ->capture_default_str();
    app.add_option("-o,--output", output_, "Launcher file to write");
  }
  Json run(mpi::Context*) override {
    auto [traffic, machine] = read_problem();
    if (!hosts_.empty()) machine.set_node_names(items_of(hosts_));
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
      throw Error(ErrorCode::usage, {.subject = "--format " + format_,
                                     .cause = "is given, and no file to write",
                                     .remedy = "name the launcher file with -o"});
    options_.given = given_placement(traffic.n_ranks(), machine);
    const rankmap::MapResult found = rankmap::map(traffic, machine, options_);
    if (!output_.empty()) rankmap::write_launcher_file(output_, format, machine, found.placement);
    Json result = rankmap::to_json(found, traffic, machine);
    result["given_order"] = given_;  // the word; "given" is its list of cores
    share_before_ = found.before.inter_node_share();
    share_after_ = found.after.inter_node_share();
    found_ = found;
    return result;
  }
  [[nodiscard]] std::string render(const Json&) const override {
    const auto percent = [](double share) { return fmt::format("{:.1f} %", 100.0 * share); };
    std::vector<std::pair<std::string, std::string>> rows{
        {"ranks", fmt::format("{} on {}", found_.placement.n_ranks(), machine_)},
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
    if (found_.cost_after >= found_.cost_before)
      rows.emplace_back("note", "the given order is as good as what was found; it stays");
    if (!output_.empty()) rows.emplace_back("wrote", output_);
    if (!found_.is_complete)
      rows.emplace_back(
          "note", "the search was ended early, by its limit of processor time: another run may find another placement");
    return fmt::format("{}\n", fmt::join(traffic_, " + ")) + two_columns(rows);
  }

 private:
  /// The traffic and the machine; a QAPLIB file has both.
  [[nodiscard]] std::pair<rankmap::TrafficMatrix, rankmap::Machine> read_problem() {
    if (!machine_.empty()) {
      rankmap::TrafficMatrix traffic = read_all_traffic();
      return {std::move(traffic), rankmap::Machine::parse(machine_)};
    }
    if (traffic_.size() != 1 || !rankmap::is_qaplib(traffic_.front()))
      throw Error(ErrorCode::usage, {.subject = "--machine",
                                     .cause = "is required",
                                     .remedy = "describe the machine, as in --machine 2x4; see --help"});
    rankmap::QaplibInstance instance = rankmap::read_qaplib(traffic_.front());
    machine_ = instance.machine.text();
    return {std::move(instance.traffic), std::move(instance.machine)};
  }

  [[nodiscard]] rankmap::TrafficMatrix read_all_traffic() const {
    std::vector<rankmap::TrafficMatrix> all;
    std::vector<double> factors;
    for (const std::string& word : traffic_) {
      const std::size_t star = word.rfind('*');
      const auto factor = star == std::string::npos ? std::nullopt : number_in<double>(word.substr(star + 1));
      if (star != std::string::npos && !(factor && *factor >= 0.0 && *factor < 1e18))
        throw Error(ErrorCode::usage, {.subject = fmt::format("traffic '{}'", word),
                                       .cause = "has no number >= 0 behind its '*'",
                                       .remedy = "write FILE*NUMBER, as in 'coarse.json*4'"});
      all.push_back(rankmap::read_traffic(word.substr(0, star), collectives_));
      factors.push_back(factor.value_or(1.0));
      if (all.back().n_ranks() != all.front().n_ranks())
        throw Error(ErrorCode::bad_input, {.subject = word,
                                           .cause = fmt::format("is of {} ranks, and {} of {}", all.back().n_ranks(),
                                                                traffic_.front(), all.front().n_ranks()),
                                           .remedy = "give traffic of one job"});
    }
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
    if (given_ == "block") return rankmap::Placement::in_order(n_ranks, machine.n_cores());
    if (given_ != "cyclic") {
      const std::string guess = did_you_mean(given_, std::vector<std::string>{"block", "cyclic"});
      std::error_code ignored;
      if (!std::filesystem::exists(given_, ignored) && !guess.empty())
        throw Error(ErrorCode::usage, {.subject = fmt::format("--given {}", given_),
                                       .cause = "is neither block nor cyclic nor a file." + guess,
                                       .remedy = "name an order, or a file with one"});
      return rankmap::read_placement(given_, machine.n_cores());
    }
    return rankmap::Placement::cyclic(n_ranks, machine);
  }
  CLI::Option* format_option_ = nullptr;
  std::vector<std::string> traffic_;
  std::string machine_;
  std::string weight_ = "bytes";
  std::string format_ = "openmpi-rankfile";
  std::string output_;
  std::string given_ = "block";
  std::string method_ = "best";
  std::optional<double> seconds_;
  std::string pins_;
  std::string hosts_;
  double collectives_ = 1.0;
  rankmap::MapOptions options_;
  rankmap::MapResult found_;
  double share_before_ = 0.0;
  double share_after_ = 0.0;
};

}  // namespace

std::unique_ptr<Command> make_map() { return std::make_unique<Map>(); }

}  // namespace barrio::apps
