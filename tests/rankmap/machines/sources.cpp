#include <algorithm>
#include <numeric>

#include "barrio/rankmap/hosts.hpp"
#include "barrio/rankmap/machine_sources.hpp"
#include "barrio/rankmap/machines/node_inside.hpp"
#include "barrio/rankmap/machines/switches.hpp"
#include "barrio/rankmap/measured_machine.hpp"
#include "tests/rankmap/support.hpp"

namespace barrio::rankmap {
namespace {

using test::expect_error;
using test::Folder;
using Names = std::vector<std::string>;
using Runs = std::vector<HostRun>;

TEST(Hosts, ShortFormsOfNames) {
  EXPECT_EQ(expand_names("n1"), (Names{"n1"}));
  EXPECT_EQ(expand_names("n[08-10,3],login"), (Names{"n08", "n09", "n10", "n3", "login"}));
  EXPECT_EQ(expand_names("r[1-2]n[0-1]x"), (Names{"r1n0x", "r1n1x", "r2n0x", "r2n1x"}));
  for (const char* wrong : {"", "a,,b", "n[1-", "n[2-1]", "n[a]", "n[]", "n]", "a b", "n[1-9999999]"})
    expect_error(ErrorCode::usage, {"hosts '"}, [&] { expand_names(wrong); });
}

TEST(Hosts, ListsWithCounts) {
  EXPECT_EQ(parse_hosts("a:8,n[1-2]:4,b"), (Runs{{"a", 8}, {"n1", 4}, {"n2", 4}, {"b", 0}}));
  for (const char* wrong : {"a:", "a:0", "a:-1", "a:x", "a:1.5", "a:1048577"})
    expect_error(ErrorCode::usage, {"must have a count of 1 to 1048576"}, [&] { parse_hosts(wrong); });
}

TEST(Hosts, FilesOfLaunchersAndBatchSystems) {
  const Folder folder;
  EXPECT_EQ(read_host_file(folder.write("openmpi", "# nodes\nn1 slots=4 max_slots=8\nn2 slots=2 # half\n\n")),
            (Runs{{"n1", 4}, {"n2", 2}}));
  EXPECT_EQ(read_host_file(folder.write("hydra", "n1:4\nn2:2\n")), (Runs{{"n1", 4}, {"n2", 2}}));
  EXPECT_EQ(read_host_file(folder.write("names", "n1\nn2\n")), (Runs{{"n1", 0}, {"n2", 0}}));
  const auto pbs = read_host_file(folder.write("pbs", "n1\nn1\nn2\nn2\nn1\n"));
  EXPECT_EQ(merge_hosts(pbs), (Runs{{"n1", 3}, {"n2", 2}}));
  expect_error(ErrorCode::bad_input, {"bad:2", "must be a count"},
               [&] { read_host_file(folder.write("bad", "n1\n'n2 x'\n")); });
  expect_error(ErrorCode::bad_input, {"bad:1", "slots=many"},
               [&] { read_host_file(folder.write("bad", "n1 slots=many\n")); });
  expect_error(ErrorCode::bad_input, {"names no host"}, [&] { read_host_file(folder.write("bad", "# none\n")); });
  expect_error(ErrorCode::failed, {"absent"}, [&] { read_host_file(folder.file("absent")); });
}

TEST(Hosts, PlacementOfARecordedRun) {
  Machine machine = Machine::parse("2x3");
  machine.set_node_names({"a", "b"});
  EXPECT_EQ(placement_of_hosts(Runs{{"b", 1}, {"a", 2}, {"b", 1}}, machine), Placement({3, 0, 1, 4}, 6));
  expect_error(ErrorCode::bad_input, {"host c", "not in the machine"},
               [&] { placement_of_hosts(Runs{{"c", 1}}, machine); });
  expect_error(ErrorCode::bad_input, {"host a", "at least 4 ranks, but 3 cores"},
               [&] { placement_of_hosts(Runs{{"a", 4}}, machine); });
}

constexpr const char* topology = R"(# a site
SwitchName=leaf1 \
  Nodes=n[1-2] LinkSpeed=100
SwitchName=leaf0 Nodes=n[3-4],n9
switchname=top Switches=leaf[0-1],far
SwitchName=far Nodes=m1
)";

TEST(Switches, TreesOfSlurm) {
  const Folder folder;
  const Switches switches = read_topology_conf(folder.write("topology.conf", topology));
  EXPECT_EQ(switches.nodes, (Names{"n3", "n4", "n9", "n1", "n2", "m1"}));
  ASSERT_EQ(switches.levels.size(), 2u);
  EXPECT_EQ(switches.levels[0], (std::vector<int>{0, 0, 0, 1, 1, 2}));
  EXPECT_EQ(switches.levels[1], (std::vector<int>{0, 0, 0, 0, 0, 0}));
  const Switches kept = keep_nodes(switches, Names{"n2", "n4", "n1"});
  EXPECT_EQ(kept.nodes, (Names{"n4", "n1", "n2"}));
  EXPECT_EQ(kept.levels, (std::vector<std::vector<int>>{{0, 1, 1}}));
  expect_error(ErrorCode::bad_input, {"host n7", "under no switch"}, [&] { keep_nodes(switches, Names{"n1", "n7"}); });
}

TEST(Switches, FilesThatMeanNothing) {
  const Folder folder;
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"SwitchName=a\n", "either nodes or switches"},
      {"SwitchName=a Nodes=n1 Switches=b\n", "either nodes or switches"},
      {"Nodes=n1\n", "either nodes or switches"},
      {"SwitchName=a Switches=b\n", "b, which is not a switch"},
      {"SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", "appears twice"},
      {"SwitchName=a Nodes=n1\nSwitchName=b Nodes=n1\n", "n1 is under two switches"},
      {"SwitchName=a Switches=b\nSwitchName=b Switches=a\n", "in a ring"},
      {"SwitchName=a Nodes=n1\nSwitchName=b Switches=a\nSwitchName=c Switches=a\n", "a is under two switches"},
      {"SwitchName=a Nodes=n[1\n", "without ']'"},
      {"hello\n", "must be KEY=VALUE"},
      {"# nothing\n", "names no switch"}};
  for (const auto& [text, cause] : wrong)
    expect_error(ErrorCode::bad_input, {"t.conf", cause}, [&] { read_topology_conf(folder.write("t.conf", text)); });
}

std::string core_xml() { return "<object type='Core'><object type='PU'/><object type='PU'/></object>"; }
std::string repeated(const std::string& text, int n) {
  std::string all;
  for (int i = 0; i < n; ++i) all += text;
  return all;
}

TEST(NodeInside, CachesAndPackages) {
  const Folder folder;
  const std::string cache = "<object type='L3Cache'>" + repeated(core_xml(), 4) + "</object>";
  const std::string package = "<object type='Package'><object type='NUMANode'/>" + repeated(cache, 2) + "</object>";
  const NodeInside node = read_hwloc(folder.write(
      "node.xml", "<topology version='2.0'><object type='Machine'>" + repeated(package, 2) + "</object></topology>"));
  EXPECT_EQ(node.group_sizes, (std::vector<int>{4, 4, 4, 4}));
  EXPECT_EQ(node.levels, (std::vector<std::vector<int>>{{0, 0, 1, 1}}));
  EXPECT_EQ(node.n_cores(), 16);
  const NodeInside part = first_cores(node, 10);
  EXPECT_EQ(part.group_sizes, (std::vector<int>{4, 4, 2}));
  EXPECT_EQ(part.levels, (std::vector<std::vector<int>>{{0, 0, 1}}));
  expect_error(ErrorCode::bad_input, {"has 16 cores, but 17"}, [&] { first_cores(node, 17); });
}

TEST(NodeInside, OldNamesAndPlainNodes) {
  const Folder folder;
  const std::string socket =
      "<object type='Socket'><object type='Cache' depth='3'>" + repeated(core_xml(), 3) + "</object></object>";
  const NodeInside node = read_hwloc(
      folder.write("old.xml", "<topology><object type='Machine'>" + repeated(socket, 2) + "</object></topology>"));
  EXPECT_EQ(node.group_sizes, (std::vector<int>{3, 3}));  // one cache per socket: one level
  EXPECT_TRUE(node.levels.empty());
  const NodeInside plain = read_hwloc(folder.write(
      "plain.xml", "<topology><object type='Machine'>" + repeated(core_xml(), 2) + "</object></topology>"));
  EXPECT_EQ(plain.group_sizes, (std::vector<int>{2}));
  expect_error(ErrorCode::bad_input, {"is not XML"}, [&] { read_hwloc(folder.write("cut.xml", "<topology><object")); });
  expect_error(ErrorCode::bad_input, {"holds no cores"}, [&] { read_hwloc(folder.write("other.xml", "<a/>")); });
  expect_error(ErrorCode::failed, {"absent.xml"}, [&] { read_hwloc(folder.file("absent.xml")); });
}

TEST(MachineSources, HostsUnderSwitchesWithAnInside) {
  const Folder folder;
  const std::string socket = "<object type='Package'>" + repeated(core_xml(), 2) + "</object>";
  const std::string node_xml =
      folder.write("node.xml", "<topology><object type='Machine'>" + repeated(socket, 2) + "</object></topology>");
  MachineSources sources{.machine = folder.write("topology.conf", topology), .hosts = "n1,n3:3,n2", .node = node_xml};
  const Machine machine = describe_machine(sources, {});
  // The tree has leaf0 first; the launcher fills n1, n3, n2.
  ASSERT_EQ(machine.n_nodes(), 3);
  EXPECT_EQ(machine.node_name(0), "n3");
  EXPECT_EQ(machine.cores_of_node(0), 3);
  EXPECT_EQ(machine.fill_order(), (std::vector<int>{1, 0, 2}));
  EXPECT_EQ(machine.n_cores(), 11);
  EXPECT_EQ(machine.distance(3, 4), 1.0);   // one package of n1
  EXPECT_EQ(machine.distance(3, 5), 2.0);   // two packages of n1
  EXPECT_EQ(machine.distance(3, 7), 10.0);  // n1 and n2, one switch
  EXPECT_EQ(machine.distance(0, 3), 20.0);  // n3 and n1
  sources.distances = {1, 3, 7, 9};
  EXPECT_EQ(describe_machine(sources, {}).distance(0, 3), 9.0);
  sources.distances = {1, 10};
  expect_error(ErrorCode::usage, {"--distances", "2 inside a node, 2 between"}, [&] { describe_machine(sources, {}); });
}

TEST(MachineSources, HostsAloneAndRecordedRuns) {
  const Folder folder;
  const Runs recorded{{"b", 2}, {"a", 1}, {"b", 1}};
  const Machine machine = describe_machine({}, recorded);
  EXPECT_EQ(machine.node_name(0), "b");
  EXPECT_EQ(machine.cores_of_node(0), 3);
  EXPECT_EQ(machine.distance(0, 3), 10.0);
  EXPECT_EQ(describe_machine({.hosts = "x,y", .cores_per_node = 5}, recorded).n_cores(), 10);
  EXPECT_EQ(describe_machine({.machine = folder.write("hosts", "n1 slots=4\nn2 slots=4\n")}, {}).n_cores(), 8);
  EXPECT_EQ(describe_machine({.machine = folder.write("addresses", "10.0.0.1 slots=2\n10.0.0.2:2\n")}, {}).n_cores(),
            4);
  expect_error(ErrorCode::usage, {"nor an existing file"}, [] { describe_machine({.machine = "hosts.txt"}, {}); });
  expect_error(ErrorCode::usage, {"a count of 1 to 1048576"},
               [] { describe_machine({.hosts = "a:2147483647,a:2147483647"}, {}); });
  Machine named = describe_machine({.machine = "2x4", .hosts = "n[1-2]"}, {});
  EXPECT_EQ(named.node_name(1), "n2");
  expect_error(ErrorCode::usage, {"--machine", "is required"}, [] { describe_machine({}, {}); });
  expect_error(ErrorCode::usage, {"host x", "unknown number of cores"}, [] { describe_machine({.hosts = "x"}, {}); });
  expect_error(ErrorCode::usage, {"host n1", "3 cores in --hosts, but 4 in the machine"},
               [] { describe_machine({.machine = "2x4", .hosts = "n1:3,n2:4"}, {}); });
  expect_error(ErrorCode::usage, {"machine '2x4'", "--cores"},
               [] { describe_machine({.machine = "2x4", .cores_per_node = 3}, {}); });
  const std::string file = folder.file("hosts");
  expect_error(ErrorCode::usage, {"--hosts", "host file too"},
               [&] { describe_machine({.machine = file, .hosts = "a:1"}, {}); });
  expect_error(ErrorCode::bad_input, {"empty"},
               [&] { describe_machine({.machine = folder.write("empty", "\n")}, {}); });
  expect_error(ErrorCode::bad_input, {"--node"},
               [&] { describe_machine({.machine = folder.write("x.xml", "<topology/>")}, {}); });
}

TEST(MachineSources, MatricesOfDistances) {
  const Folder folder;
  const auto machine_in = [&](const std::string& text) {
    return describe_machine({.machine = folder.write("matrix", text), .cores_per_node = 2}, {});
  };
  const Machine machine = machine_in("# cores\n4\n0 1 5 6\n1 0 7 8\n5 7 0 2\n6 8 2 0\n");
  EXPECT_EQ(machine.n_nodes(), 2);
  EXPECT_EQ(machine.distance(0, 3), 6.0);
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"0 1\n2 0\n", "matrix:2"},
      {"0 1\n2 0\n", "make the matrix symmetric"},
      {"0 1\n1 3\n", "gives core 1 a distance of 3 to itself"},
      {"0 1\n1 nan\n", "nan"},
      {"0 -1\n-1 0\n", "matrix:1"},
      {"0 1\n", "ends after 1 rows of 2"},
      {"0 1\n1 0 0\n", "has 3 numbers, but the first row has 2"},
      {"0 1\n1 0\n1 0\n", "more than 2 rows"}};
  for (const auto& [text, cause] : wrong) expect_error(ErrorCode::bad_input, {cause}, [&] { machine_in(text); });
}

TEST(MachineSources, WhatWasMeasured) {
  const Folder folder;
  MeasuredMachine measured;
  measured.hosts = {{"a", 2}, {"b", 2}};
  measured.inside = {.bytes = {1, 1001}, .seconds = {1e-6, 2e-6}, .n_pairs = 1};
  measured.between = {.bytes = {1, 1001}, .seconds = {5e-6, 9e-6}, .n_pairs = 1};
  const std::string path = folder.write("machine.json", to_json(measured).dump());
  const MeasuredMachine read = read_measured_machine(path);
  EXPECT_EQ(read.hosts, measured.hosts);
  EXPECT_DOUBLE_EQ(read.distances()[1], 4.0);
  EXPECT_DOUBLE_EQ(read.message_bytes(), 1250.0);
  const Machine machine = describe_machine({.machine = path}, {});
  EXPECT_DOUBLE_EQ(machine.distance(0, 2), 4.0);
  EXPECT_EQ(machine.node_name(1), "b");
  for (const char* key : {"hosts", "inside", "between"}) {
    Json document = to_json(measured);
    document[key] = "no";
    expect_error(ErrorCode::bad_input, {"broken", key},
                 [&] { read_measured_machine(folder.write("broken", document.dump())); });
  }
}

}  // namespace
}  // namespace barrio::rankmap
