#include <fmt/format.h>

#include <filesystem>

#include "apps/command.hpp"
#include "apps/table.hpp"
#include "barrio/base/text.hpp"
#include "barrio/rankmap/launcher.hpp"
#include "barrio/rankmap/map_document.hpp"
#include "barrio/rankmap/traffic_files.hpp"

namespace barrio::apps {
namespace {

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
    app.add_option("TRAFFIC", traffic_,
                   "Traffic: barrio.traffic JSON, METIS graph, Matrix Market, or Open MPI monitoring files")
        ->required();
    app.add_option("--machine", machine_,
                   "Machine: NODESxCORES ('2x4'), a tree ('8:16:4;1:10:20') or a torus ('torus:4x4x2;8;1:10')")
        ->required();
    app.add_option("--weight", weight_, "What counts: bytes, messages or points")->capture_default_str();
    app.add_option("--hosts", hosts_, "Names of the nodes, in the order the launcher fills them")->delimiter(',');
    app.add_option("--given", given_,
                   "The order to beat: 'block' (rank i on core i), 'cyclic' (ranks dealt round the nodes, as some "
                   "launchers do), or a file (permutation, barrio.map)")
        ->capture_default_str();
    app.add_option("--time-limit", options_.time_limit_seconds, "Give up improving after so many seconds");
    app.add_option("--seed", options_.seed, "Seed of an additional random search; 0: none")->capture_default_str();
    format_option_ =
        app.add_option("-f,--format", format_, "Launcher file: openmpi-rankfile, openmpi-seq, slurm, cray, permutation")
            ->capture_default_str();
    app.add_option("-o,--output", output_, "Launcher file to write");
  }
  Json run(mpi::Context*) override {
    const rankmap::TrafficMatrix traffic = rankmap::read_traffic(traffic_);
    rankmap::Machine machine = rankmap::Machine::parse(machine_);
    if (!hosts_.empty()) machine.set_node_names(hosts_);
    options_.weight = rankmap::parse_weight(weight_);
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
        {"found by", found_.method},
        {"time", format_seconds(found_.seconds)}};
    if (found_.cost_after >= found_.cost_before)
      rows.emplace_back("note", "the given order is as good as what was found; it stays");
    if (!output_.empty()) rows.emplace_back("wrote", output_);
    return traffic_ + "\n" + two_columns(rows);
  }

 private:
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
    std::vector<int> core_of_rank;
    for (int rank = 0; rank < n_ranks; ++rank)
      core_of_rank.push_back(rank % machine.n_nodes() * machine.cores_per_node() + rank / machine.n_nodes());
    return {std::move(core_of_rank), machine.n_cores()};
  }
  CLI::Option* format_option_ = nullptr;
  std::string traffic_;
  std::string machine_;
  std::string weight_ = "bytes";
  std::string format_ = "openmpi-rankfile";
  std::string output_;
  std::string given_ = "block";
  std::vector<std::string> hosts_;
  rankmap::MapOptions options_;
  rankmap::MapResult found_;
  double share_before_ = 0.0;
  double share_after_ = 0.0;
};

}  // namespace

std::unique_ptr<Command> make_map() { return std::make_unique<Map>(); }

}  // namespace barrio::apps
