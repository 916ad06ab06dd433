#include "barrio/rankmap/launcher.hpp"

#include <sstream>

#include "barrio/rankmap/map_document.hpp"
#include "tests/rankmap/support.hpp"

namespace barrio::rankmap {
namespace {

using test::expect_error;
using test::Folder;

// Not its own inverse, so it detects a writer with the wrong direction.
const std::vector<int> cores{2, 0, 3, 5, 1, 4};

Machine two_hosts() {
  Machine machine = Machine::parse("2x3");
  machine.set_node_names({"alpha", "beta"});
  return machine;
}

std::vector<std::string> lines_of(LauncherFormat format, const Machine& machine, const Placement& placement) {
  std::istringstream text(launcher_text(format, machine, placement, "where/order.txt"));
  std::vector<std::string> lines;
  std::string head, line;
  while (std::getline(text, line)) {
    if (line.starts_with('#'))
      head += line + "\n";
    else
      lines.push_back(line);
  }
  const bool says_path = head.find("where/order.txt") != std::string::npos;
  EXPECT_EQ(says_path, format != LauncherFormat::permutation) << head;
  return lines;
}

TEST(Launcher, WritersUseTheRightDirection) {
  const Machine machine = two_hosts();
  const Placement placement(cores, 6);
  using Lines = std::vector<std::string>;
  EXPECT_EQ(lines_of(LauncherFormat::openmpi_rankfile, machine, placement),
            (Lines{"rank 0=alpha slot=2", "rank 1=alpha slot=0", "rank 2=beta slot=0", "rank 3=beta slot=2",
                   "rank 4=alpha slot=1", "rank 5=beta slot=1"}));
  const Lines hosts{"alpha", "alpha", "beta", "beta", "alpha", "beta"};
  EXPECT_EQ(lines_of(LauncherFormat::openmpi_seq, machine, placement), hosts);
  EXPECT_EQ(lines_of(LauncherFormat::slurm, machine, placement), hosts);
  const Lines runs{"alpha:2", "beta:2", "alpha:1", "beta:1"};
  EXPECT_EQ(lines_of(LauncherFormat::mpich, machine, placement), runs);
  EXPECT_EQ(lines_of(LauncherFormat::intel, machine, placement), runs);
  EXPECT_EQ(lines_of(LauncherFormat::flux, machine, placement), (Lines{"[[0,2,2,1],[0,2,1,1]]"}));
  EXPECT_EQ(lines_of(LauncherFormat::cray, machine, placement), (Lines{"1,4,0", "2,5,3"}));
  EXPECT_EQ(lines_of(LauncherFormat::permutation, machine, placement), (Lines{"2", "0", "3", "5", "1", "4"}));
}

TEST(Launcher, HeadsSayHowToLaunch) {
  const Machine machine = two_hosts();
  const Placement placement(cores, 6);
  const auto expect_in = [&](LauncherFormat format, const std::string& words) {
    const std::string text = launcher_text(format, machine, placement, "F");
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  expect_in(LauncherFormat::openmpi_rankfile, "mpirun -n 6 --hostfile HOSTS --rankfile F PROGRAM");
  expect_in(LauncherFormat::openmpi_seq, "mpirun -n 6 --mca rmaps seq --hostfile F PROGRAM");
  expect_in(LauncherFormat::cray, "MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE=F");
  expect_in(LauncherFormat::cray, "srun -n 6 --ntasks-per-node=3 PROGRAM");
  expect_in(LauncherFormat::slurm, "SLURM_HOSTFILE=F srun --distribution=arbitrary -n 6 PROGRAM");
}

TEST(Launcher, NodesThatAreFilledInAnotherOrder) {
  Machine machine = two_hosts();
  machine.set_fill_order({1, 0});
  const Placement placement(cores, 6);
  using Lines = std::vector<std::string>;
  EXPECT_EQ(lines_of(LauncherFormat::cray, machine, placement), (Lines{"2,5,3", "1,4,0"}));
  EXPECT_EQ(lines_of(LauncherFormat::flux, machine, placement), (Lines{"[[1,1,2,1],[0,1,2,1],[1,1,1,1],[0,1,1,1]]"}));
  EXPECT_EQ(Placement::filled(4, machine), Placement({3, 4, 5, 0}, 6));
  EXPECT_EQ(Placement::cyclic(4, machine), Placement({3, 0, 4, 1}, 6));
  expect_error(ErrorCode::usage, {"order of nodes", "each once"}, [&] { machine.set_fill_order({1, 1}); });
}

TEST(Launcher, WarnsWhereHydraWouldTearNodes) {
  const Machine machine = two_hosts();
  const std::string torn = launcher_text(LauncherFormat::mpich, machine, Placement(cores, 6), "F");
  EXPECT_NE(torn.find("mpiexec -f F -n 6 barrio seat MAP.json -- PROGRAM"), std::string::npos) << torn;
  const std::string whole = launcher_text(LauncherFormat::mpich, machine, Placement({2, 0, 1, 5, 3, 4}, 6), "F");
  EXPECT_EQ(whole.find("seat"), std::string::npos) << whole;
  EXPECT_NE(whole.find("mpiexec -f F -n 6 PROGRAM"), std::string::npos) << whole;
}

TEST(Launcher, PartlyFilledNodes) {
  const Machine machine = two_hosts();
  using Lines = std::vector<std::string>;
  EXPECT_EQ(lines_of(LauncherFormat::openmpi_rankfile, machine, Placement({5, 1}, 6)),
            (Lines{"rank 0=beta slot=2", "rank 1=alpha slot=1"}));
  EXPECT_EQ(lines_of(LauncherFormat::cray, machine, Placement({5, 1, 3, 2}, 6)), (Lines{"1,3", "2,0"}));
  EXPECT_EQ(lines_of(LauncherFormat::cray, machine, Placement({1, 5, 2}, 6)), (Lines{"0,2", "1"}));
  expect_error(ErrorCode::usage, {"Cray rank order", "2 ranks on beta after 1 on alpha", "as many cores as ranks"},
               [&] { launcher_text(LauncherFormat::cray, machine, Placement({5, 1, 3}, 6)); });
  const Machine three = Machine::parse("3x2");
  expect_error(ErrorCode::usage, {"1 ranks on node2 after 0 on node1"},
               [&] { launcher_text(LauncherFormat::cray, three, Placement({0, 1, 4}, 6)); });
}

TEST(Launcher, FormatWords) {
  for (const auto format :
       {LauncherFormat::openmpi_rankfile, LauncherFormat::openmpi_seq, LauncherFormat::mpich, LauncherFormat::intel,
        LauncherFormat::cray, LauncherFormat::slurm, LauncherFormat::flux, LauncherFormat::permutation})
    EXPECT_EQ(parse_launcher_format(name_of(format)), format);
  expect_error(ErrorCode::usage, {"launcher 'slrm'", "Did you mean 'slurm'?", "openmpi-rankfile"},
               [] { parse_launcher_format("slrm"); });
}

TEST(Launcher, PermutationIsReadBack) {
  const Folder folder;
  const Placement placement(cores, 6);
  const std::string path = folder.file("order");
  write_launcher_file(path, LauncherFormat::permutation, two_hosts(), placement);
  EXPECT_EQ(read_placement(path, 6), placement);
  const auto refuse = [&](const std::string& text, const std::string& place, const std::string& cause) {
    expect_error(ErrorCode::bad_input, {place, cause}, [&] { read_placement(folder.write("bad", text), 3); });
  };
  refuse("0\n1\n3\n", "bad:3", "the core is 3, not in 0..2");
  refuse("0\n\n0\n", "bad:3", "core 0 is already given in line 1");
  refuse("0 1\n", "bad:1", "must be one core number");
  refuse("zero\n", "bad:1", "'zero', not a whole number");
  expect_error(ErrorCode::failed, {"cannot be written"}, [&] {
    write_launcher_file(folder.file("absent/order"), LauncherFormat::slurm, two_hosts(), placement);
  });
}

TEST(MapDocument, HoldsTheResult) {
  const TrafficMatrix traffic = test::traffic_of(4, {{0, 2, 5}, {2, 0, 3}, {3, 1, 4}});
  const Machine machine = Machine::parse("2x2");
  const MapResult result = map(traffic, machine);
  const Json document = Json::parse(to_json(result, traffic, machine).dump());
  EXPECT_EQ(document["schema"], "barrio.map");
  EXPECT_EQ(document["schema_version"], 1);
  EXPECT_EQ(document["machine"], "2:2;1:10");
  EXPECT_EQ(document["weight"], "bytes");
  EXPECT_EQ(document["ranks"], 4);
  EXPECT_EQ(document["cores"], 4);
  EXPECT_EQ(document["before"]["cost"], 120.0);
  EXPECT_EQ(document["after"]["cost"], 12.0);
  EXPECT_EQ(document["lower_bound"], 12.0);
  EXPECT_EQ(document["before"]["inter_node_share"], 1.0);
  EXPECT_EQ(document["after"]["inter_node_share"], 0.0);
  EXPECT_EQ(document["before"]["node_bytes"], Json::parse("[[0.0, 5.0], [7.0, 0.0]]"));
  EXPECT_EQ(document["after"]["node_bytes"][0][1], 0.0);
  EXPECT_EQ(document["given"], Json::parse("[0, 1, 2, 3]"));
  EXPECT_EQ(document["node_names"], Json::parse(R"(["node0", "node1"])"));
  EXPECT_EQ(placement_from_json(document, 4, "map.json"), result.placement);
  const Folder folder;
  EXPECT_EQ(read_placement(folder.write("map.json", document.dump(1)), 4), result.placement);
}

TEST(MapDocument, LeavesTheNodeMatrixOutOnLargeMachines) {
  const TrafficMatrix traffic = test::traffic_of(4, {{0, 2, 5}});
  for (const auto& [text, expected] : {std::pair("64x1", true), std::pair("65x1", false)}) {
    const Machine machine = Machine::parse(text);
    EXPECT_EQ(to_json(map(traffic, machine), traffic, machine)["before"].contains("node_bytes"), expected);
  }
}

TEST(MapDocument, RefusesBadPlacements) {
  const auto refuse = [](const std::string& text, const std::string& cause) {
    SCOPED_TRACE(text);
    expect_error(ErrorCode::bad_input, {"m.json", cause}, [&] { placement_from_json(Json::parse(text), 3, "m.json"); });
  };
  refuse(R"({})", "has no whole number \"cores\"");
  refuse(R"({"cores": 4, "placement": []})", "is for a machine of 4 cores, not 3");
  refuse(R"({"cores": 3})", "has no list \"placement\"");
  refuse(R"({"cores": 3, "placement": [0, 3]})", "placement[1] is 3");
  refuse(R"({"cores": 3, "placement": [0, "1"]})", "placement[1] is \"1\"");
  refuse(R"({"cores": 3, "placement": [0, 0]})", "already taken");
}

}  // namespace
}  // namespace barrio::rankmap
