#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "apps/command.hpp"
#include "apps/program.hpp"
#include "apps/table.hpp"
#include "barrio/base/text.hpp"
#include "barrio/rankmap/recorded_run.hpp"

namespace barrio::apps {
namespace {

namespace fs = std::filesystem;

/// What one job of MPI sent.
struct Job {
  std::string path;
  int n_ranks = 0;
  std::size_t n_hosts = 0;
  double seconds = 0.0;
  std::size_t n_pairs = 0;
  double messages = 0.0, bytes = 0.0, collective_bytes = 0.0;
  std::size_t most_partners = 0;
  std::optional<double> share_between_hosts = {};
};

Job summarise(const std::string& path, const rankmap::RecordedRun& run) {
  Job job{.path = path, .n_ranks = run.traffic.n_ranks(), .seconds = run.seconds};
  job.n_pairs = run.traffic.entries().size();
  std::vector<std::string> names;
  std::vector<std::size_t> host_of;  // by rank
  for (const rankmap::HostRun& host : run.hosts) {
    const auto at = std::ranges::find(names, host.name);
    host_of.insert(host_of.end(), static_cast<std::size_t>(host.count), static_cast<std::size_t>(at - names.begin()));
    if (at == names.end()) names.push_back(host.name);
  }
  job.n_hosts = names.size();
  double between = 0.0;
  std::vector<std::size_t> partners(static_cast<std::size_t>(job.n_ranks), 0);
  for (const rankmap::TrafficEntry& entry : run.traffic.entries()) {
    const auto from = static_cast<std::size_t>(entry.from), to = static_cast<std::size_t>(entry.to);
    job.messages += entry.messages;
    job.bytes += entry.bytes;
    job.most_partners = std::max(job.most_partners, ++partners[from]);
    if (!host_of.empty() && host_of[from] != host_of[to]) between += entry.bytes;
  }
  if (names.size() > 1 && job.bytes > 0.0) job.share_between_hosts = between / job.bytes;
  for (const rankmap::TrafficEntry& entry : run.collectives.entries()) job.collective_bytes += entry.bytes;
  return job;
}

Json to_json(const Job& job) {
  Json document{{"path", job.path},
                {"ranks", job.n_ranks},
                {"hosts", job.n_hosts},
                {"seconds", job.seconds},
                {"pairs", job.n_pairs},
                {"messages", job.messages},
                {"bytes", job.bytes},
                {"most_partners", job.most_partners},
                {"collective_bytes", job.collective_bytes}};
  if (job.share_between_hosts) document["share_between_hosts"] = *job.share_between_hosts;
  return document;
}

void put_in_front(const char* variable, const std::string& value, char separator) {
  const char* const others = std::getenv(variable);
  ::setenv(variable,
           (others != nullptr && *others != '\0' ? fmt::format("{}{}{}", value, separator, others) : value).c_str(), 1);
}

/// Have all that is started from here count its messages.
void set_environment(const fs::path& library, const std::string& place) {
  put_in_front("LD_PRELOAD", library.string(), ':');
  ::setenv("BARRIO_RECORD", place.c_str(), 1);
  // Open MPI's launcher hands variables on to other hosts only if it is told.
  if (std::string_view(BARRIO_MPI_FLAVOUR) == "openmpi")
    put_in_front("OMPI_MCA_mca_base_env_list", "LD_PRELOAD;BARRIO_RECORD;BARRIO_RECORD_QUIET", ';');
}

class Record : public Command {
 public:
  explicit Record(const int& n_ranks) : n_ranks_(n_ranks) {}
  [[nodiscard]] std::string name() const override { return "record"; }
  [[nodiscard]] std::string summary() const override {
    return "Run an MPI program of yours and write down who sends how much to whom, for barrio map; the program is not "
           "changed";
  }
  [[nodiscard]] std::string example() const override {
    return "barrio record -o traffic.json -- mpirun -n 64 ./solver input.dat";
  }
  void add_options(CLI::App& app) override {
    app.add_option("-o,--output", output_, "Traffic document to write; further MPI jobs of the command get -2, -3, ...")
        ->capture_default_str();
    app.add_option("COMMAND", command_, "What to run, after '--': a launcher with a program, a script, or a program")
        ->required();
  }
  Json run(mpi::Context*) override {
    std::vector<std::string> command = command_;
    if (const std::string reason = why_not_startable(command.front()); !reason.empty())
      throw Error(ErrorCode::failed, {.subject = command.front(), .cause = reason, .remedy = "name a program to run"});
    std::error_code ignored;
    if (output_.empty() || output_.ends_with('/') || fs::is_directory(output_, ignored))
      throw Error(ErrorCode::usage, {.subject = fmt::format("--output '{}'", output_),
                                     .cause = "is no name for a file",
                                     .remedy = "name the document to write, as in -o traffic.json"});
    const fs::path library = preloaded_library("barrio_record.so");
    if (library.empty())
      throw Error(ErrorCode::failed, {.subject = "barrio record",
                                      .cause = "its library barrio_record.so is not there",
                                      .remedy = "build or install barrio again"});
    const fs::path output = fs::absolute(output_);
    if (ranks_of_launcher() > 0) {  // this is a rank: become the program
      set_environment(library, output.string());
      become(command);
    }
    const ScratchFolder place(output.parent_path(), output.filename().string());
    set_environment(library, place.path().string() + "/");
    ::setenv("BARRIO_RECORD_QUIET", "1", 1);
    if (n_ranks_ > 0)
      command = launch_line(n_ranks_, command.front(), {command.begin() + 1, command.end()}, LauncherSpeech::plain);
    code_ = run_program(command);
    keep_documents(place.path(), output);
    if (jobs_.empty())
      throw Error(ErrorCode::failed,
                  {.subject = fmt::format("{}", fmt::join(command_, " ")),
                   .cause = fmt::format("ended with code {}, and no {} program in it came to MPI_Finalize: there is "
                                        "nothing to record",
                                        code_, mpi_name()),
                   .remedy = "check that the program ends well without barrio, and that its MPI is the one that "
                             "'barrio --version' names; or record under the launcher: mpirun -n 64 barrio record -o "
                             "traffic.json -- ./solver"});
    Json result = json_document("barrio.record", 1);
    result["command"] = command_;
    result["exit_code"] = code_;
    result["jobs"] = Json::array();
    for (const Job& job : jobs_) result["jobs"].push_back(to_json(job));
    return result;
  }
  [[nodiscard]] std::string render(const Json&) const override {
    std::string text;
    const auto bytes = [](double value) { return format_bytes(static_cast<std::uint64_t>(value)); };
    const auto count = [](double value) { return format_count(static_cast<std::int64_t>(value)); };
    for (const Job& job : jobs_) {
      std::vector<std::pair<std::string, std::string>> rows{
          {"ranks", fmt::format("{} on {} host{}, {}", job.n_ranks, job.n_hosts, job.n_hosts == 1 ? "" : "s",
                                format_seconds(job.seconds))},
          {"messages", fmt::format("{}, {} between {} pairs, up to {} partners a rank", count(job.messages),
                                   bytes(job.bytes), count(static_cast<double>(job.n_pairs)), job.most_partners)}};
      if (job.share_between_hosts)
        rows.emplace_back("between hosts", fmt::format("{:.1f} % of these bytes", 100.0 * *job.share_between_hosts));
      rows.emplace_back("collectives",
                        fmt::format("about {}, by the pairs of usual algorithms", bytes(job.collective_bytes)));
      text += job.path + "\n" + two_columns(rows);
    }
    if (code_ != 0) text += fmt::format("the command ended with code {}\n", code_);
    return text;
  }
  [[nodiscard]] int exit_code(const Json&) const override { return code_; }

 private:
  static std::string_view mpi_name() {
    return std::string_view(BARRIO_MPI_FLAVOUR) == "openmpi" ? "Open MPI" : "MPICH";
  }

  /// Move what the jobs left, in the order in which they ended, to where it was asked for.
  void keep_documents(const fs::path& folder, const fs::path& output) {
    std::vector<int> numbers;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".json") numbers.push_back(std::atoi(entry.path().stem().c_str()));
    std::ranges::sort(numbers);
    int n_kept = 0;
    for (const int number : numbers) {
      const fs::path made = folder / fmt::format("{}.json", number);
      const rankmap::RecordedRun run = rankmap::read_recorded_run(made.string());
      fs::path kept = output;
      if (++n_kept > 1)
        kept.replace_filename(fmt::format("{}-{}{}", output.stem().string(), n_kept, output.extension().string()));
      fs::rename(made, kept);
      jobs_.push_back(summarise(n_kept > 1 ? kept.string() : output_, run));
    }
  }

  const int& n_ranks_;
  std::vector<std::string> command_;
  std::string output_ = "traffic.json";
  std::vector<Job> jobs_;
  int code_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_record(const int& n_ranks) { return std::make_unique<Record>(n_ranks); }

}  // namespace barrio::apps
