#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "apps/command.hpp"
#include "apps/program.hpp"
#include "barrio/base/log.hpp"
#include "barrio/mpi/node.hpp"

namespace barrio::apps {
namespace {

constexpr int ranks_per_core = 64;

bool is_assignment(const std::string& word) {
  const std::size_t equals = word.find('=');
  return equals != std::string::npos && word.find('/') > equals && !word.starts_with("-");
}

}  // namespace

int ranks_of_launcher() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    if (const char* size = std::getenv(variable)) return std::atoi(size);
  }
  return 0;
}

std::vector<std::string> launch_line(int n_ranks, const std::string& program, const std::vector<std::string>& arguments,
                                     LauncherSpeech speech) {
  std::vector<std::string> line;
  const bool is_oversubscribed = n_ranks > mpi::usable_cores();
  const std::string flavour = BARRIO_MPI_FLAVOUR;
  if (flavour == "openmpi") {
    if (::geteuid() == 0) line = {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"};
    line.insert(line.end(), {BARRIO_MPIEXEC, "-n", std::to_string(n_ranks), "--bind-to", "none"});
    if (is_oversubscribed) line.emplace_back("--oversubscribe");
    if (speech == LauncherSpeech::quiet) line.emplace_back("-q");
  } else {
    if (flavour == "mpich" && is_oversubscribed) {
      const char* const others = std::getenv("LD_PRELOAD");  // what the user loads stays
      if (const std::filesystem::path shim = preloaded_library("barrio_mpich_yield.so"); !shim.empty())
        line.push_back("LD_PRELOAD=" + shim.string() + (others != nullptr ? fmt::format(":{}", others) : ""));
    }
    line.insert(line.end(), {BARRIO_MPIEXEC, "-n", std::to_string(n_ranks)});
  }
  line.push_back(program);
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

bool is_first_of_launcher() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
    if (const char* rank = std::getenv(variable)) return std::atoi(rank) == 0;
  return true;
}

void launch(int n_ranks, const std::string& program, const std::vector<std::string>& arguments, LauncherSpeech speech) {
  if (ranks_of_launcher() > 0) {
    throw Error(ErrorCode::usage, {.subject = fmt::format("--ranks {}", n_ranks),
                                   .cause = fmt::format("a launcher has started {} ranks already", ranks_of_launcher()),
                                   .remedy = "leave --ranks out under mpiexec or srun"});
  }
  // A launcher given far too many ranks for one machine hangs or dies in its own words.
  const int limit = ranks_per_core * mpi::usable_cores();
  if (n_ranks > limit) {
    throw Error(ErrorCode::usage, {.subject = fmt::format("--ranks {}", n_ranks),
                                   .cause = fmt::format("is more than {} for each of this machine's {} cores",
                                                        ranks_per_core, mpi::usable_cores()),
                                   .remedy = "use your cluster's launcher, and leave --ranks out"});
  }
  const auto line = launch_line(n_ranks, program, arguments, speech);
  Log log;
  std::string why;
  if (n_ranks > mpi::usable_cores()) why = fmt::format("; {} ranks share {} cores", n_ranks, mpi::usable_cores());
  log.info(fmt::format("starting {} rank{}: {}{}", n_ranks, n_ranks == 1 ? "" : "s", fmt::join(line, " "), why));
  become(line);
}

void restart_with_ranks(int n_ranks, const std::vector<std::string>& arguments) {
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--ranks") {
      ++i;
    } else if (!arguments[i].starts_with("--ranks=")) {
      rest.push_back(arguments[i]);
    }
  }
  launch(n_ranks, std::filesystem::read_symlink("/proc/self/exe").string(), rest, LauncherSpeech::quiet);
}

}  // namespace barrio::apps
