#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "apps/command.hpp"
#include "apps/launch/program.hpp"
#include "apps/text/table.hpp"
#include "barrio/base/json.hpp"
#include "barrio/base/temporary_file.hpp"
#include "barrio/base/text.hpp"
#include "barrio/rankmap/recorded_run.hpp"

namespace barrio::apps {
namespace {

namespace fs = std::filesystem;

/// Traffic of one MPI job, in numbers.
struct Job {
  std::string path;
  int n_ranks = 0;
  std::size_t n_hosts = 0;
  double seconds = 0.0;
  std::size_t n_pairs = 0;
  double messages = 0.0, bytes = 0.0, collective_bytes = 0.0;
  std::size_t max_partners = 0;
  std::optional<double> share_between_hosts = {};
  bool is_ended_early = false;
  std::vector<Rank> missing = {};
};

Job summarise(const std::string& path, const rankmap::RecordedRun& run) {
  Job job{.path = path, .n_ranks = run.traffic.n_ranks(), .seconds = run.seconds};
  job.n_pairs = run.traffic.entries().size();
  std::vector<std::string> names;
  std::vector<std::size_t> host_of;  // by rank
  for (const rankmap::HostRun& host : run.hosts) {
    const auto at = std::ranges::find(names, host.name);
    host_of.insert(host_of.end(), host.count, at - names.begin());
    if (at == names.end()) names.push_back(host.name);
  }
  job.n_hosts = names.size();
  double between = 0.0;
  std::vector<std::size_t> partners(job.n_ranks, 0);
  for (const rankmap::TrafficEntry& entry : run.traffic.entries()) {
    const auto from = static_cast<std::size_t>(entry.from), to = static_cast<std::size_t>(entry.to);
    job.messages += entry.messages;
    job.bytes += entry.bytes;
    job.max_partners = std::max(job.max_partners, ++partners[from]);
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
                {"max_partners", job.max_partners},
                {"collective_bytes", job.collective_bytes},
                {"ended_early", job.is_ended_early},
                {"missing_ranks", job.missing}};
  if (job.share_between_hosts) document["share_between_hosts"] = *job.share_between_hosts;
  return document;
}

void put_in_front(const char* variable, const std::string& value, char separator) {
  const char* const others = std::getenv(variable);
  ::setenv(variable,
           (others != nullptr && *others != '\0' ? fmt::format("{}{}{}", value, separator, others) : value).c_str(), 1);
}

/// Make all programs that are started from here count their messages. @param seconds  how long; 0: to the end
void set_environment(const fs::path& library, const std::string& place, double seconds) {
  if (seconds > 0.0) ::setenv("BARRIO_RECORD_SECONDS", fmt::format("{}", seconds).c_str(), 1);
  put_in_front("LD_PRELOAD", library.string(), ':');
  ::setenv("BARRIO_RECORD", place.c_str(), 1);
  // Open MPI's launcher passes variables to other hosts only on request.
  if (std::string_view(BARRIO_MPI_FLAVOUR) == "openmpi")
    put_in_front(
        "OMPI_MCA_mca_base_env_list",
        std::string("LD_PRELOAD;BARRIO_RECORD;BARRIO_RECORD_QUIET") + (seconds > 0.0 ? ";BARRIO_RECORD_SECONDS" : ""),
        ';');
}

/// Parse a duration: 90, 90s, 2m, 1.5h. @return seconds
double parse_duration(const std::string& text) {
  std::size_t n = 0;
  double value = 0.0;
  try {
    value = std::stod(text, &n);
  } catch (const std::exception&) {
    n = 0;
  }
  const std::string unit = n > 0 ? text.substr(n) : "?";
  const double factor = unit.empty() || unit == "s" ? 1.0 : unit == "m" ? 60.0 : unit == "h" ? 3600.0 : 0.0;
  if (!(value * factor > 0.0 && value * factor <= 1e8))
    throw Error(ErrorCode::usage, {.subject = fmt::format("--for {}", text),
                                   .cause = "is not a duration above 0",
                                   .remedy = "write 60s, 10m or 1.5h"});
  return value * factor;
}

/// Write a document as soon as the recording time is over on all ranks, while the program continues.
class EarlyWriter {
 public:
  EarlyWriter(std::string folder, std::string path, double seconds) {
    if (seconds > 0.0)
      thread_ = std::thread([this, folder = std::move(folder), path = std::move(path)] { wait(folder, path); });
  }
  EarlyWriter(const EarlyWriter&) = delete;
  EarlyWriter& operator=(const EarlyWriter&) = delete;
  ~EarlyWriter() {
    {
      const std::lock_guard lock(mutex_);
      is_ended_ = true;
    }
    ended_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void wait(const std::string& folder, const std::string& path) {
    constexpr std::chrono::milliseconds nap(200);
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, nap, [this] { return is_ended_; })) {
      try {
        for (const rankmap::KeptRun& kept : rankmap::read_kept_runs(folder)) {
          if (!kept.is_over) continue;
          write_file_atomically(path, rankmap::to_json(kept, {}).dump() + "\n");
          fmt::print(stderr, "barrio record: {} is written, the program continues\n", path);
          return;
        }
      } catch (const Error&) {
        return;  // reported at the end
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_ended_ = false;
  std::thread thread_;
};

class Record : public Command {
 public:
  explicit Record(const GlobalOptions& options) : options_(options) {}
  [[nodiscard]] std::string name() const override { return "record"; }
  [[nodiscard]] std::string summary() const override {
    return "Run an MPI program of yours, unchanged, and record how much each rank sends to which other, for barrio map";
  }
  [[nodiscard]] std::string example() const override {
    return "barrio record -o traffic.json -- mpirun -n 64 ./solver input.dat";
  }
  [[nodiscard]] GlobalUse global_use() const override { return {.ranks = true}; }
  void add_options(CLI::App& app) override {
    app.add_option("-o,--output", output_, "Traffic document to write; further MPI jobs of the command get -2, -3, ...")
        ->capture_default_str();
    app.add_option("--for", for_,
                   "Record only for this long, as in 60s or 10m, and write; the program continues undisturbed");
    app.add_option("--collect", collect_,
                   "Instead: write the documents from the folder of a recording that was killed: OUTPUT.ranks of one "
                   "under the launcher, or .OUTPUT.*");
    app.add_option("COMMAND", command_,
                   "Command to run, after '--': a launcher with a program, a script, or a program");
  }
  Json run(mpi::Context*) override {
    if (command_.empty() == collect_.empty())
      throw Error(ErrorCode::usage, {.subject = "COMMAND",
                                     .cause = command_.empty() ? "is required" : "cannot be given with --collect",
                                     .remedy = "barrio record -- mpirun -n 64 ./solver, or --collect FOLDER alone"});
    if (!collect_.empty()) return collect();
    const double seconds = for_.empty() ? 0.0 : parse_duration(for_);
    std::vector<std::string> command = command_;
    if (const std::string reason = why_not_startable(command.front()); !reason.empty())
      throw Error(ErrorCode::failed, {.subject = command.front(), .cause = reason, .remedy = "name a program to run"});
    std::error_code ignored;
    if (output_.empty() || output_.ends_with('/') || fs::is_directory(output_, ignored))
      throw Error(ErrorCode::usage, {.subject = fmt::format("--output '{}'", output_),
                                     .cause = "is not the name of a file",
                                     .remedy = "name the document to write, as in -o traffic.json"});
    const fs::path library = preloaded_library("barrio_record.so");
    if (library.empty())
      throw Error(ErrorCode::failed, {.subject = "barrio record",
                                      .cause = "its library barrio_record.so is missing",
                                      .remedy = "build or install barrio again"});
    const fs::path output = fs::absolute(output_);
    if (ranks_of_launcher() > 0) {  // this is a rank: become the program
      set_environment(library, output.string(), seconds);
      become(command);
    }
    check_writable(output.string());
    const ScratchFolder place(output.parent_path(), output.filename().string());
    set_environment(library, place.path().string() + "/", seconds);
    ::setenv("BARRIO_RECORD_QUIET", "1", 1);
    if (options_.n_ranks > 0)
      command =
          launch_line(options_.n_ranks, command.front(), {command.begin() + 1, command.end()}, LauncherSpeech::plain);
    const auto begin = std::chrono::steady_clock::now();
    ProgramEnd end;
    {
      const EarlyWriter early(place.path().string(), output.string(), seconds);
      // Standard output holds one document, so the program's output goes to standard error.
      end = watch_program(command, options_.is_json ? ProgramOutput::to_errors : ProgramOutput::shown);
    }
    code_ = end.code;
    keep_documents(place.path(), output, Keep::moves);
    keep_kept(place.path(), output, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    // MPICH's launcher ends with 0 when a signal told it to end and its only rank died of that.
    if (code_ == 0 && end.signal != 0 && std::ranges::any_of(jobs_, &Job::is_ended_early))
      code_ = signal_code + end.signal;
    if (jobs_.empty())
      throw Error(ErrorCode::failed,
                  {.subject = fmt::format("{}", fmt::join(command_, " ")),
                   .cause = fmt::format("ended with code {}, and no {} program in it reached MPI_Init: there is "
                                        "nothing to record",
                                        code_, mpi_name()),
                   .remedy = "check that the program succeeds without barrio, and that its MPI is the one that "
                             "'barrio --version' names; or record under the launcher: mpirun -n 64 barrio record -o "
                             "traffic.json -- ./solver"});
    return result();
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
                                   bytes(job.bytes), count(static_cast<double>(job.n_pairs)), job.max_partners)}};
      if (job.share_between_hosts)
        rows.emplace_back("between hosts", fmt::format("{:.1f} % of these bytes", 100.0 * *job.share_between_hosts));
      rows.emplace_back("collectives",
                        fmt::format("about {}, by the pairs of usual algorithms", bytes(job.collective_bytes)));
      if (job.is_ended_early)
        rows.emplace_back("note", "the job did not reach MPI_Finalize: this is its traffic until then");
      if (!job.missing.empty())
        rows.emplace_back(
            "missing",
            fmt::format("{} ranks left nothing: {}{}", job.missing.size(),
                        fmt::join(job.missing.begin(),
                                  job.missing.begin() + std::min<std::ptrdiff_t>(20, job.missing.size()), ", "),
                        job.missing.size() > 20 ? ", ..." : ""));
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

  [[nodiscard]] Json result() const {
    Json result = json_document("barrio.record", 1);
    result["command"] = command_;
    result["exit_code"] = code_;
    result["jobs"] = Json::array();
    for (const Job& job : jobs_) result["jobs"].push_back(to_json(job));
    return result;
  }

  Json collect() {
    const fs::path output = fs::absolute(output_);
    check_writable(output.string());
    keep_documents(collect_, output, Keep::copies);  // of jobs that had ended when the recording was killed
    keep_kept(collect_, output, {});
    if (jobs_.empty())
      throw Error(ErrorCode::failed,
                  {.subject = collect_,
                   .cause = "has neither files of ranks nor documents of jobs",
                   .remedy = "name the folder OUTPUT.ranks beside the document, or .OUTPUT.* of a killed recording"});
    return result();
  }

  /// Write the documents of jobs that did not reach MPI_Finalize, from the counts of their ranks.
  void keep_kept(const fs::path& folder, const fs::path& output, std::optional<double> seconds) {
    for (const rankmap::KeptRun& kept : rankmap::read_kept_runs(folder.string())) {
      if (kept.is_written) continue;
      const fs::path path = next_path(output);
      const Json document = rankmap::to_json(kept, seconds);
      write_file_atomically(path.string(), document.dump() + "\n");
      rankmap::RecordedRun run = kept.run;
      run.seconds = document.value("seconds", 0.0);
      jobs_.push_back(summarise(jobs_.empty() ? output_ : path.string(), run));
      jobs_.back().is_ended_early = !kept.is_over;
      jobs_.back().missing = kept.missing;
    }
  }

  /// Return the path of the next job's document: further ones get -2, -3, ...
  [[nodiscard]] fs::path next_path(const fs::path& output) const {
    if (jobs_.empty()) return output;
    fs::path path = output;
    return path.replace_filename(
        fmt::format("{}-{}{}", output.stem().string(), jobs_.size() + 1, output.extension().string()));
  }

  enum class Keep { moves, copies };

  /// Bring the documents of the jobs to the output path, in the order in which the jobs ended.
  void keep_documents(const fs::path& folder, const fs::path& output, Keep how) {
    std::vector<int> numbers;
    std::error_code problem;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem))
      if (entry.path().extension() == ".json") numbers.push_back(std::atoi(entry.path().stem().c_str()));
    std::ranges::sort(numbers);
    for (const int number : numbers) {
      const fs::path made = folder / fmt::format("{}.json", number);
      const rankmap::RecordedRun run = rankmap::read_recorded_run(made.string());
      const fs::path kept = next_path(output);
      if (how == Keep::moves) {
        fs::rename(made, kept);
      } else {
        write_file_atomically(kept.string(), read_json_file(made.string()).dump() + "\n");
      }
      jobs_.push_back(summarise(jobs_.empty() ? output_ : kept.string(), run));
    }
  }

  const GlobalOptions& options_;
  std::vector<std::string> command_;
  std::string output_ = "traffic.json";
  std::string for_, collect_;
  std::vector<Job> jobs_;
  int code_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_record(const GlobalOptions& options) { return std::make_unique<Record>(options); }

}  // namespace barrio::apps
