#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "apps/command.hpp"
#include "apps/launch/program.hpp"
#include "barrio/base/log.hpp"
#include "barrio/mpi/node.hpp"

namespace barrio::apps {
namespace {

constexpr int ranks_per_core = 64;

bool is_assignment(const std::string& word) {
  const std::size_t equals = word.find('=');
  return equals != std::string::npos && word.find('/') > equals && !word.starts_with("-");
}

/// Check that a launch makes sense, make its line, and log it on stderr.
std::vector<std::string> announced_line(int n_ranks, const std::string& program,
                                        const std::vector<std::string>& arguments, LauncherSpeech speech) {
  if (ranks_of_launcher() > 0) {
    throw Error(ErrorCode::usage, {.subject = fmt::format("--ranks {}", n_ranks),
                                   .cause = fmt::format("a launcher has already started {} ranks", ranks_of_launcher()),
                                   .remedy = "leave --ranks out under mpiexec or srun"});
  }
  // With far too many ranks for one machine, a launcher hangs or dies with a message of its own.
  const int limit = ranks_per_core * mpi::usable_cores();
  if (n_ranks > limit) {
    throw Error(ErrorCode::usage, {.subject = fmt::format("--ranks {}", n_ranks),
                                   .cause = fmt::format("is more than {} for each of this machine's {} cores",
                                                        ranks_per_core, mpi::usable_cores()),
                                   .remedy = "use your cluster's launcher, and leave --ranks out"});
  }
  if (const std::string reason = why_not_startable(BARRIO_MPIEXEC); !reason.empty())
    throw Error(ErrorCode::failed,
                {.subject = BARRIO_MPIEXEC, .cause = reason, .remedy = "barrio doctor says what is missing"});
  auto line = launch_line(n_ranks, program, arguments, speech);
  Log log;
  std::string why;
  if (n_ranks > mpi::usable_cores()) why = fmt::format("; {} ranks share {} cores", n_ranks, mpi::usable_cores());
  log.info(fmt::format("starting {} rank{}: {}{}", n_ranks, n_ranks == 1 ? "" : "s", fmt::join(line, " "), why));
  return line;
}

/// Find the signal that ended a rank from the exit code of its launcher. Ranks of barrio end with 0 to 4 or 70.
/// @return the signal; 0 if none is known
int signal_that_ended_a_rank(int code) {
  if (code > signal_code && code <= signal_code + SIGRTMAX) return code - signal_code;
  // MPICH's launcher returns the raw status: the signal itself.
  const bool is_mpich = std::string_view(BARRIO_MPI_FLAVOUR) == "mpich";
  const bool is_of_rank = code <= exit_code(ErrorCode::differs) || code >= exit_code(ErrorCode::internal);
  return is_mpich && !is_of_rank ? code : 0;
}

}  // namespace

int ranks_of_launcher() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    if (const char* size = std::getenv(variable)) return std::atoi(size);
  }
  return 0;
}

void expect_no_other_processes() {
  // Open MPI 4 starts a daemon for a process without a launcher, in case it spawns others. The user's settings win.
  constexpr int leaves_what_is_set = 0;
  if (ranks_of_launcher() > 0) return;
  ::setenv("OMPI_MCA_ess_singleton_isolated", "true", leaves_what_is_set);
  // Such processes share one session folder, and one process may remove it at its end while another starts or opens a
  // file. A single process needs none, but then shared file pointers have no place, so another module is chosen.
  ::setenv("OMPI_MCA_orte_create_session_dirs", "false", leaves_what_is_set);
  ::setenv("OMPI_MCA_sharedfp", "individual", leaves_what_is_set);
}

std::vector<std::string> launch_line(int n_ranks, const std::string& program, const std::vector<std::string>& arguments,
                                     LauncherSpeech speech) {
  std::vector<std::string> line;
  const bool is_oversubscribed = n_ranks > mpi::usable_cores();
  if (const std::filesystem::path shim = preloaded_library("barrio_yield.so"); is_oversubscribed && !shim.empty()) {
    const char* const others = std::getenv("LD_PRELOAD");  // keep the libraries of the user
    line.push_back("LD_PRELOAD=" + shim.string() + (others != nullptr ? fmt::format(":{}", others) : ""));
  }
  if (std::string_view(BARRIO_MPI_FLAVOUR) == "openmpi") {
    if (::geteuid() == 0) line.insert(line.end(), {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"});
    line.insert(line.end(), {BARRIO_MPIEXEC, "-n", std::to_string(n_ranks), "--bind-to", "none"});
    if (is_oversubscribed) line.emplace_back("--oversubscribe");
    if (speech == LauncherSpeech::quiet) line.emplace_back("-q");
  } else {
    line.insert(line.end(), {BARRIO_MPIEXEC, "-n", std::to_string(n_ranks)});
  }
  // Open MPI's launcher, called by its path, looks in its own folder first: there `python` is not that of the user.
  const std::string path = path_of_program(program);
  line.push_back(path.empty() ? program : path);
  line.insert(line.end(), arguments.begin(), arguments.end());
  return line;
}

void become(const std::vector<std::string>& command) {
  std::size_t first = 0;
  while (first < command.size() && is_assignment(command[first])) {
    const std::string& word = command[first++];
    ::setenv(word.substr(0, word.find('=')).c_str(), word.substr(word.find('=') + 1).c_str(), 1);
  }
  std::vector<char*> words;
  for (std::size_t i = first; i < command.size(); ++i) words.push_back(const_cast<char*>(command[i].c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  throw Error(ErrorCode::failed, {.subject = command[first],
                                  .cause = fmt::format("cannot be started: {}", std::strerror(errno)),
                                  .remedy = "barrio doctor says what is missing"});
}

void launch(int n_ranks, const std::string& program, const std::vector<std::string>& arguments) {
  become(announced_line(n_ranks, program, arguments, LauncherSpeech::plain));
}

RanksEnd run_ranks(int n_ranks, const std::string& program, const std::vector<std::string>& arguments,
                   ProgramOutput output) {
  if (Progress::is_shown()) ::setenv("COLUMNS", fmt::format("{}", Progress::columns()).c_str(), 1);
  if (Progress::is_shown()) ::setenv("BARRIO_PROGRESS", "1", 1);  // to ranks, stderr is a pipe to their launcher
  // The ranks of `amr` save their state when they are told to end.
  if (std::ranges::find(arguments, "amr") != arguments.end()) pass_first_term_on_as(SIGUSR1);
  const ProgramEnd end = watch_program(announced_line(n_ranks, program, arguments, LauncherSpeech::quiet), output);
  if (end.signal != 0) return {.code = signal_code + end.signal};
  const int signal = signal_that_ended_a_rank(end.code);
  if (signal == 0) return {.code = end.code};
  return {.code = signal_code + signal,
          .fault = Error(
              ErrorCode::failed,
              {.subject = fmt::format("--ranks {}", n_ranks),
               .cause = fmt::format("signal {} ({}) ended a rank{}", signal, ::strsignal(signal),
                                    signal == SIGKILL ? ", as the system does when memory runs out" : ""),
               .remedy = signal == SIGKILL ? "use more nodes or a smaller case; the system's log says more" : ""})};
}

RanksEnd restart_with_ranks(int n_ranks, const std::vector<std::string>& arguments) {
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--ranks") {
      ++i;
    } else if (!arguments[i].starts_with("--ranks=")) {
      rest.push_back(arguments[i]);
    }
  }
  return run_ranks(n_ranks, std::filesystem::read_symlink("/proc/self/exe").string(), rest);
}

}  // namespace barrio::apps
