#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#include "apps/command.hpp"
#include "apps/launch/program.hpp"
#include "barrio/rankmap/map_document.hpp"

namespace barrio::apps {
namespace {

/// Max length of a line: MPICH reads the launcher's answers into a buffer of this size.
constexpr std::size_t max_line = 1024;
constexpr std::string_view mapping_key = "PMI_process_mapping";

/// One direction of a line protocol between a program and its launcher.
class Stream {
 public:
  Stream(int from, int to) : from_(from), to_(to) {}
  [[nodiscard]] int source() const noexcept { return from_; }

  /// Pass on what has arrived, line by line. @return false at the end
  template <class Change>
  bool hand_on(const Change& change) {
    std::array<char, 4096> piece{};
    const ssize_t n = ::read(from_, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) return true;
    if (n <= 0) return false;
    waiting_.append(piece.data(), n);
    for (std::size_t end = waiting_.find('\n'); end != std::string::npos; end = waiting_.find('\n')) {
      std::string line = waiting_.substr(0, end + 1);
      waiting_.erase(0, end + 1);
      change(line);
      for (std::size_t done = 0; done < line.size();) {
        const ssize_t sent = ::send(to_, line.data() + done, line.size() - done, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        done += sent;
      }
    }
    return true;
  }

 private:
  int from_, to_;
  std::string waiting_;
};

/// Relay between a program and its launcher, but answer from the plan which ranks share a host.
[[noreturn]] void relay(int program, int launcher, const std::string& mapping) {
  // The launcher takes an open output for a running program.
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(standard);
  Stream asking(program, launcher), answering(launcher, program);
  bool is_asked = false;
  for (;;) {
    std::array<pollfd, 2> ends{{{program, POLLIN, 0}, {launcher, POLLIN, 0}}};
    if (::poll(ends.data(), ends.size(), -1) < 0 && errno != EINTR) break;
    if (ends[0].revents != 0 &&
        !asking.hand_on([&](const std::string& line) { is_asked = line.find(mapping_key) != std::string::npos; }))
      break;
    if (ends[1].revents != 0 && !answering.hand_on([&](std::string& line) {
          const std::size_t value = line.find("value=(vector,");
          if (is_asked && value != std::string::npos) line = line.substr(0, value) + "value=" + mapping + "\n";
        }))
      break;
  }
  std::_Exit(0);
}

/// Return the ranks on each node in the form that Hydra gives MPICH: blocks of (first node, nodes, ranks on each).
std::string mapping_of(const Json& document, const std::string& path, int n_ranks) {
  const std::vector<int> nodes = rankmap::nodes_from_json(document, path);
  if (static_cast<int>(nodes.size()) != n_ranks)
    throw Error(ErrorCode::bad_input,
                {.subject = path,
                 .cause = fmt::format("places {} ranks, but the launcher started {}", nodes.size(), n_ranks),
                 .remedy = "give the document of this plan: barrio map ... --result map.json"});
  std::string text = "(vector";
  for (std::size_t rank = 0; rank < nodes.size();) {
    std::size_t end = rank;
    while (end < nodes.size() && nodes[end] == nodes[rank]) ++end;
    text += fmt::format(",({},1,{})", nodes[rank], end - rank);
    rank = end;
  }
  text += ")";
  if (text.size() + 64 > max_line)
    throw Error(ErrorCode::failed, {.subject = path,
                                    .cause = "changes hosts too often for the line that MPICH reads",
                                    .remedy = "reorder ranks in the program: rankmap::reorder"});
  return text;
}

class Seat : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "seat"; }
  [[nodiscard]] std::string summary() const override {
    return "Start a rank of a mapped MPICH program under Hydra, so that the ranks of a host share memory";
  }
  [[nodiscard]] std::string example() const override {
    return "mpiexec -f hosts -n 64 barrio seat map.json -- ./solver input.dat";
  }
  [[nodiscard]] GlobalUse global_use() const override { return {.result = false}; }
  void add_options(CLI::App& app) override {
    app.add_option("MAP", plan_, "Result document of the plan for which the launcher's host file was written")
        ->required();
    app.add_option("COMMAND", command_, "Program to run, after '--'")->required();
  }
  Json run(mpi::Context*) override {
    if (const std::string reason = why_not_startable(command_.front()); !reason.empty())
      throw Error(ErrorCode::failed, {.subject = command_.front(), .cause = reason, .remedy = "name a program to run"});
    const char *const fd = std::getenv("PMI_FD"), *const size = std::getenv("PMI_SIZE");
    if (fd == nullptr || size == nullptr)
      throw Error(ErrorCode::usage, {.subject = "barrio seat",
                                     .cause = "was not started by Hydra, the launcher of MPICH",
                                     .remedy = example() + "; other launchers need no barrio seat"});
    const std::string mapping =
        mapping_of(read_json_document(plan_, rankmap::map_schema, rankmap::map_schema_version), plan_, std::atoi(size));
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) refuse_system();
    // A grandchild: the program may wait for all its children, and this must not be one of them.
    const pid_t child = ::fork();
    if (child < 0) refuse_system();
    if (child == 0) {
      if (::fork() != 0) std::_Exit(0);
      ::close(ends[0]);
      relay(ends[1], std::atoi(fd), mapping);
    }
    ::waitpid(child, nullptr, 0);
    ::close(ends[1]);
    ::close(std::atoi(fd));
    ::setenv("PMI_FD", std::to_string(ends[0]).c_str(), 1);
    become(command_);
  }
  [[nodiscard]] std::string render(const Json&) const override { return ""; }

 private:
  [[noreturn]] static void refuse_system() {
    throw Error(ErrorCode::failed,
                {.subject = "barrio seat", .cause = fmt::format("cannot start: {}", std::strerror(errno))});
  }

  std::string plan_;
  std::vector<std::string> command_;
};

}  // namespace

std::unique_ptr<Command> make_seat() { return std::make_unique<Seat>(); }

}  // namespace barrio::apps
