#include "barrio/rankmap/traffic.hpp"

#include <limits>

#include "tests/rankmap/support.hpp"

namespace barrio::rankmap {
namespace {

using test::expect_error;
using test::Folder;

TEST(Traffic, AddsUpAndSorts) {
  const TrafficMatrix traffic(3, {{2, 1, 1, 8, 1}, {0, 2, 2, 16, 1}, {2, 1, 3, 24, 2}});
  const std::vector<TrafficEntry> expected{{0, 2, 2, 16, 1}, {2, 1, 4, 32, 3}};
  EXPECT_EQ(traffic.entries(), expected);
  EXPECT_EQ(traffic.n_ranks(), 3);
  EXPECT_GE(traffic.memory_bytes(), 80U);
}

TEST(Traffic, GraphMergesDirectionsOfEachWeight) {
  const TrafficMatrix traffic(4,
                              {{0, 1, 1, 10, 5}, {1, 0, 2, 0, 5}, {0, 3, 0, 7, 1}, {2, 2, 9, 9, 9}, {3, 0, 0, 4, 0}});
  const CommunicationGraph bytes = traffic.compute_graph(Weight::bytes);
  EXPECT_EQ(bytes.offsets, (std::vector<std::int64_t>{0, 2, 3, 3, 4}));
  EXPECT_EQ(bytes.partners, (std::vector<Rank>{1, 3, 0, 0}));
  EXPECT_EQ(bytes.weights, (std::vector<double>{10, 11, 10, 11}));
  EXPECT_EQ(bytes.compute_total_weight(), 21.0);
  const CommunicationGraph points = traffic.compute_graph(Weight::points);
  EXPECT_EQ(points.partners, (std::vector<Rank>{1, 0}));
  EXPECT_EQ(points.weights, (std::vector<double>{3, 3}));
  EXPECT_EQ(traffic.compute_graph(Weight::messages).compute_total_weight(), 11.0);
}

TEST(Traffic, GraphEqualsDenseSumOnRandomTraffic) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const int n = 1 + static_cast<int>(seed % 9);
    const TrafficMatrix traffic = test::random_traffic(random, n, 0.4);
    std::vector<std::vector<double>> w(n, std::vector<double>(static_cast<std::size_t>(n), 0.0));
    for (const TrafficEntry& entry : traffic.entries()) {
      if (entry.from == entry.to) continue;
      w[entry.from][entry.to] += entry.bytes;
      w[entry.to][entry.from] += entry.bytes;
    }
    const CommunicationGraph graph = traffic.compute_graph(Weight::bytes);
    ASSERT_EQ(graph.n_ranks(), n);
    for (Rank rank = 0; rank < n; ++rank) {
      Rank before = -1;
      for (std::size_t k = 0; k < graph.degree_of(rank); ++k) {
        const Rank partner = graph.partners_of(rank)[k];
        EXPECT_GT(partner, before);
        before = partner;
        double& expected = w[rank][partner];
        EXPECT_EQ(graph.weights_of(rank)[k], expected);
        expected = 0.0;
      }
      for (const double left : w[static_cast<std::size_t>(rank)]) EXPECT_EQ(left, 0.0);
    }
  }
}

TEST(Traffic, HoldsManyRanksWithoutASquare) {
  const int n = 1 << 20;  // a full matrix would have 8 TiB
  std::vector<TrafficEntry> entries;
  for (Rank rank = 0; rank + 1 < n; ++rank) entries.push_back({rank, rank + 1, 1, 8, 1});
  const TrafficMatrix traffic(n, std::move(entries));
  const CommunicationGraph graph = traffic.compute_graph(Weight::points);
  EXPECT_EQ(graph.compute_total_weight(), n - 1.0);
  EXPECT_LT(graph.memory_bytes(), 100U << 20U);
}

TEST(Traffic, RefusesBadEntries) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const auto build = [](int n, TrafficEntry entry) { return [=] { TrafficMatrix(n, {entry}); }; };
  expect_error(ErrorCode::bad_input, {"sending rank 2 is not in 0..1"}, build(2, {2, 0, 0, 0, 0}));
  expect_error(ErrorCode::bad_input, {"receiving rank -1"}, build(2, {0, -1, 0, 0, 0}));
  expect_error(ErrorCode::bad_input, {"points from rank 0 to 1 are nan"}, build(2, {0, 1, nan, 0, 0}));
  expect_error(ErrorCode::bad_input, {"bytes from rank 0 to 1 are -1"}, build(2, {0, 1, 0, -1, 0}));
  expect_error(ErrorCode::bad_input, {"messages from rank 0 to 1 are inf"}, build(2, {0, 1, 0, 0, infinity}));
  expect_error(ErrorCode::bad_input, {"-1 ranks"}, [] { TrafficMatrix(-1); });
}

TEST(Traffic, WeightWords) {
  for (const Weight weight : {Weight::points, Weight::bytes, Weight::messages})
    EXPECT_EQ(parse_weight(name_of(weight)), weight);
  expect_error(ErrorCode::usage, {"weight 'byte'", "Did you mean 'bytes'?", "points, bytes or messages"},
               [] { parse_weight("byte"); });
}

TEST(TrafficDocument, RoundTrip) {
  const Folder folder;
  std::mt19937_64 random(7);
  for (const int n : {0, 1, 5, 40}) {
    const TrafficMatrix traffic = test::random_traffic(random, n, 0.3);
    const std::string path = folder.file("traffic.json");
    write_traffic(traffic, path);
    const TrafficMatrix again = read_traffic_document(path);
    EXPECT_EQ(again.n_ranks(), n);
    EXPECT_EQ(again.entries(), traffic.entries());
    const Json document = read_json_file(path);
    EXPECT_EQ(document["schema"], "barrio.traffic");
    EXPECT_EQ(document["schema_version"], 1);
    EXPECT_TRUE(document.contains("compiler"));
  }
}

TEST(TrafficDocument, RefusesBadText) {
  const Folder folder;
  const auto refuse = [&](const std::string& text, std::vector<std::string> words) {
    SCOPED_TRACE(text);
    words.push_back("bad.json");
    expect_error(ErrorCode::bad_input, words, [&] { read_traffic_document(folder.write("bad.json", text)); });
  };
  const std::string head = R"({"schema": "barrio.traffic", "schema_version": 1, )";
  refuse(head + R"("ranks": 2, "entries": [[0, 1, )", {"is not JSON", "line 1"});
  refuse("", {"is not JSON"});
  refuse("[]", {"has no schema"});
  refuse(R"({"schema": "barrio.map", "schema_version": 1})", {"is a barrio.map"});
  refuse(R"({"schema": "barrio.traffic", "schema_version": 2})", {"newer than 1"});
  refuse(head + R"("entries": []})", {"has no whole number \"ranks\""});
  refuse(head + R"("ranks": 2.5, "entries": []})", {"has no whole number \"ranks\""});
  refuse(head + R"("ranks": -1, "entries": []})", {"-1 ranks"});
  refuse(head + R"("ranks": 2000000000, "entries": []})", {"2000000000 ranks"});
  refuse(head + R"("ranks": 2})", {"has no list \"entries\""});
  refuse(head + R"("ranks": 2, "entries": [[0, 1, 1, 1, 1], [0, 1, 1]]})", {"entries[1]", "is not [from, to"});
  refuse(head + R"("ranks": 2, "entries": [{"from": 0}]})", {"entries[0]"});
  refuse(head + R"("ranks": 2, "entries": [[0, 2, 1, 1, 1]]})", {"entries[0]", "receiving rank 2"});
  refuse(head + R"("ranks": 2, "entries": [[0, 18446744073709551615, 1, 1, 1]]})", {"entries[0]", "is not a rank"});
  refuse(head + R"("ranks": 2, "entries": [[0, 1, -1, 1, 1]]})", {"entries[0]", "points"});
  refuse(head + R"("ranks": 2, "entries": [[0, 1, 1, null, 1]]})", {"entries[0]", "value 3 is not a number"});
  refuse(head + R"("ranks": 2, "entries": [[0, 1, 1, 1, "1"]]})", {"entries[0]", "value 4 is not a number"});
  expect_error(ErrorCode::failed, {"absent.json", "cannot be read"},
               [&] { read_traffic_document(folder.file("absent.json")); });
}

}  // namespace
}  // namespace barrio::rankmap
