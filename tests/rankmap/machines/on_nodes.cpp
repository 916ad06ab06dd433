// Hosts, measurements and verifications of a running job; all ranks of the test are on one host.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/rankmap/machines/job_hosts.hpp"
#include "barrio/rankmap/map_document.hpp"
#include "barrio/rankmap/measured_machine.hpp"
#include "barrio/rankmap/verify.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::rankmap {
namespace {

using barrio::test::world;

TEST(OnNodes, HostsOfAJob) {
  mpi::Context& context = world();
  const std::vector<HostRun> hosts = find_hosts(context);
  ASSERT_EQ(hosts.size(), 1u);
  EXPECT_EQ(hosts.front(), (HostRun{host_name(), context.size()}));
}

TEST(OnNodes, NamesWithAndWithoutADomain) {
  EXPECT_TRUE(is_same_host("n1", "n1"));
  EXPECT_TRUE(is_same_host("n1.site.org", "n1"));
  EXPECT_FALSE(is_same_host("n1", "n12"));
  EXPECT_FALSE(is_same_host("n1.a", "n1.b"));
}

TEST(OnNodes, MeasuresWhatCanBeMeasured) {
  mpi::Context& context = world();
  if (context.size() == 1) {
    EXPECT_THROW(measure_machine(context), AgreedError);
    return;
  }
  const MeasuredMachine machine =
      measure_machine(context, {.max_bytes = 1 << 16, .max_pairs = 2, .pair_seconds = 0.02});
  EXPECT_EQ(machine.inside.bytes.front(), 1);
  EXPECT_EQ(machine.inside.bytes.back(), 1 << 16);
  EXPECT_EQ(machine.inside.n_pairs, std::min(context.size() - 1, 2));
  EXPECT_EQ(machine.between.n_pairs, 0);
  for (const double seconds : machine.inside.seconds) EXPECT_TRUE(seconds > 0.0 && seconds < 1.0) << seconds;
  EXPECT_EQ(machine.distances(), (std::vector<double>{1.0, 10.0}));
  EXPECT_EQ(mpi::max(context, machine.inside.seconds.back()), mpi::min(context, machine.inside.seconds.back()));
}

class Plan {
 public:
  Plan(mpi::Context& context, const std::string& machine_text, const std::vector<std::string>& names) {
    path_ = (test::scratch() / "plan.json").string();
    if (context.is_root()) {
      Machine machine = Machine::parse(machine_text);
      if (!names.empty()) machine.set_node_names(names);
      const TrafficMatrix traffic(context.size());
      std::ofstream(path_) << to_json(map(traffic, machine, {}), traffic, machine).dump();
    }
    mpi::barrier(context);
  }
  [[nodiscard]] const std::string& path() const& { return path_; }

 private:
  std::string path_;
};

TEST(OnNodes, VerifiesAPlan) {
  mpi::Context& context = world();
  const int n = context.size();
  {
    const Plan here(context, "1x" + std::to_string(n), {host_name()});
    const Verification found = verify_placement(context, here.path());
    EXPECT_TRUE(found.is_as_planned());
    EXPECT_TRUE(found.names_are_known);
    EXPECT_TRUE(found.faults.empty());
    mpi::barrier(context);
  }
  {
    const Plan nowhere(context, "1x" + std::to_string(n), {"elsewhere"});
    const Verification found = verify_placement(context, nowhere.path());
    EXPECT_EQ(found.n_elsewhere, n);
    EXPECT_EQ(found.faults.size(), static_cast<std::size_t>(std::min(n, 8)));
    EXPECT_NE(found.faults.front().find("rank 0 is on " + host_name() + ", but the plan has it on elsewhere"),
              std::string::npos);
    mpi::barrier(context);
  }
  if (n > 1) {
    const Plan apart(context, std::to_string(n) + "x1", {});  // no names: compares which ranks are together
    const Verification found = verify_placement(context, apart.path());
    EXPECT_FALSE(found.names_are_known);
    EXPECT_EQ(found.n_elsewhere, n);
    mpi::barrier(context);
  }
  {
    const Plan other(context, std::to_string(n + 1) + "x1", {});
    EXPECT_THROW(verify_placement(context, "/no/such/plan.json"), AgreedError);
    mpi::barrier(context);
  }
}

}  // namespace
}  // namespace barrio::rankmap
