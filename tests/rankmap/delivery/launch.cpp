#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <sstream>
#include <thread>

#include "barrio/rankmap/launcher.hpp"
#include "tests/rankmap/support.hpp"

// The files of the writers, used by a real launcher on two invented hosts: a script instead of ssh keeps the host name
// for the report, and runs the command here. Each rank prints its host and cores.
namespace barrio::rankmap {
namespace {

constexpr const char* agent_script = R"sh(#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
INVENTED_HOST=$1; TMPDIR=$HOME/$1; export INVENTED_HOST TMPDIR; shift
mkdir -p "$TMPDIR"; exec sh -c "$*"
)sh";
constexpr const char* report_script = R"sh(echo "$OMPI_COMM_WORLD_RANK $INVENTED_HOST $(
  sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)"
)sh";

struct Seen {
  std::string host;
  std::string cpus;
};

class Launch : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v mpiexec.openmpi >/dev/null 2>&1") != 0) GTEST_SKIP() << "no mpiexec.openmpi here";
    machine_.set_node_names({"alpha", "beta"});
    folder_.write("hosts", "alpha slots=2\nbeta slots=2\n");
    folder_.write("report.sh", report_script);
    std::filesystem::permissions(folder_.write("agent.sh", agent_script), std::filesystem::perms::owner_all);
  }

  // One entry per rank, in rank order.
  std::vector<Seen> launch(const std::string& options) {
    // A clean environment: this test may run under a launcher itself.
    std::string command = "env -i PATH=\"$PATH\" HOME=" + folder_.path() + " TMPDIR=" + folder_.path() + " ";
    if (::geteuid() == 0) command += "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ";
    command += "timeout 30 mpiexec.openmpi -n 4 --mca plm_rsh_agent " + folder_.file("agent.sh") +
               " --mca plm_rsh_no_tree_spawn 1 " + options + " sh " + folder_.file("report.sh") + " 2>&1";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    std::string output;
    std::array<char, 4096> piece{};
    while (std::fgets(piece.data(), piece.size(), pipe) != nullptr) output += piece.data();
    EXPECT_EQ(::pclose(pipe), 0) << output;
    std::vector<Seen> seen(4);
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::size_t rank = 4;
      if (Seen found; words >> rank >> found.host >> found.cpus && rank < 4) seen[rank] = found;
    }
    return seen;
  }

  const test::Folder folder_;
  Machine machine_ = Machine::parse("2x2");
  const Placement placement_{{2, 0, 3, 1}, 4};  // not its own inverse: core -> rank is 1 3 0 2
};

TEST_F(Launch, RankfilePutsRanksOnHostAndCore) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "a rank file for two cores needs two cores";
  const std::string path = folder_.file("rankfile");
  write_launcher_file(path, LauncherFormat::openmpi_rankfile, machine_, placement_);
  const std::vector<Seen> seen = launch("--hostfile " + folder_.file("hosts") + " --rankfile " + path);
  const std::vector<std::string> hosts{"beta", "alpha", "beta", "alpha"};
  for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_EQ(seen[rank].host, hosts[rank]) << "rank " << rank;
  EXPECT_EQ(seen[0].cpus, seen[1].cpus);  // slot 0
  EXPECT_EQ(seen[2].cpus, seen[3].cpus);  // slot 1
  EXPECT_NE(seen[0].cpus, seen[2].cpus);
}

TEST_F(Launch, SeqHostfilePutsRanksOnHosts) {
  const std::string path = folder_.file("order");
  write_launcher_file(path, LauncherFormat::openmpi_seq, machine_, placement_);
  const std::vector<Seen> seen = launch("--oversubscribe --bind-to none --mca rmaps seq --hostfile " + path);
  const std::vector<std::string> hosts{"beta", "alpha", "beta", "alpha"};
  for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_EQ(seen[rank].host, hosts[rank]) << "rank " << rank;
}

}  // namespace
}  // namespace barrio::rankmap
