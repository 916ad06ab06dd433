#include "barrio/rankmap/traffic_files.hpp"

#include "tests/rankmap/support.hpp"

namespace barrio::rankmap {
namespace {

using test::expect_error;
using test::Folder;

std::vector<TrafficEntry> entries_of(const TrafficMatrix& traffic) { return traffic.entries(); }

template <class Reader>
auto refuser(const Folder& folder, Reader reader) {
  return [&folder, reader](const std::string& text, const std::string& place, const std::string& cause) {
    SCOPED_TRACE(text);
    expect_error(ErrorCode::bad_input, {place, cause}, [&] { reader(folder.write("bad", text)); });
  };
}

TEST(MetisGraph, ReadsAllFormats) {
  const Folder folder;
  const std::vector<TrafficEntry> plain{{0, 1, 1, 1, 1}, {1, 0, 1, 1, 1}, {1, 3, 1, 1, 1}, {3, 1, 1, 1, 1}};
  EXPECT_EQ(entries_of(read_metis_graph(folder.write("a", "% head\n4 2\n2\n1 4\n\n2\n"))), plain);
  const std::vector<TrafficEntry> weighted{{0, 1, 5, 5, 1}, {1, 0, 6.5, 6.5, 1}};
  const auto read = [&](const std::string& text) { return entries_of(read_metis_graph(folder.write("a", text))); };
  EXPECT_EQ(read("2 1 1\n2 5\n1 6.5\n"), weighted);
  EXPECT_EQ(read("2 1 001\r\n2 5\r\n% note\r\n1 6.5\r\n"), weighted);
  EXPECT_EQ(read("2 1 011\n9 2 5\n9 1 6.5"), weighted);
  EXPECT_EQ(read("2 1 111 2\n1 9 9 2 5\n1 9 9 1 6.5\n\n\n"), weighted);
  EXPECT_TRUE(read("3 0\n\n\n\n").empty());
}

TEST(MetisGraph, RefusesBadText) {
  const Folder folder;
  const auto refuse = refuser(folder, [](const std::string& path) { read_metis_graph(path); });
  refuse("", "bad:0", "has no header");
  refuse("4\n", "bad:1", "the header has 1 words");
  refuse("x 2\n", "bad:1", "'x', not a whole number");
  refuse("-4 2\n", "bad:1", "is -4, not in");
  refuse("99999999999999999999 2\n", "bad:1", "the number of vertices is 99999999999999999999");
  refuse("2 1 2\n", "bad:1", "the format '2'");
  refuse("2 1 1 1\n2 1\n1 1\n", "bad:1", "the format has none");
  refuse("3 1\n2\n1\n", "bad:3", "the file ends after 2 of 3 vertex lines");
  refuse("2 1\n2\n0\n", "bad:3", "a neighbour is 0, not in 1..2");
  refuse("2 1\n2\n3\n", "bad:3", "a neighbour is 3");
  refuse("2 1\n1\n1\n", "bad:2", "its own neighbour");
  refuse("2 1\n2\n1 1 1\n", "bad:3", "4 edge ends; the header promised 1");
  refuse("4 3\n2 3\n1 3\n4\n3\n", "bad", "the line of vertex 1 has neighbour 3, and the line of vertex 3 has no 1");
  refuse("2 1 1\n2 5\n1\n", "bad:3", "the last edge has no weight");
  refuse("2 1 1\n2 nan\n1 1\n", "bad:2", "a finite number");
  refuse("2 1 1\n2 -5\n1 1\n", "bad:2", "is -5");
  refuse("2 1 11\n\n1 1 1\n", "bad:2", "has 0 numbers");
  refuse("2 1\n2\n1\n1\n", "bad:4", "more lines than vertices");
  refuse(std::string("2 1\n\x01\x02\xff\n"), "bad:2", "not a whole number");
}

TEST(MatrixMarket, ReadsAllKinds) {
  const Folder folder;
  const auto read = [&](const std::string& text) {
    return entries_of(read_matrix_market(folder.write("a.mtx", text)));
  };
  const std::vector<TrafficEntry> general{{0, 1, 2.5, 2.5, 1}, {2, 0, 3, 3, 1}};
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate real general\n% note\n\n3 3 2\n1 2 2.5\n3 1 3\n"), general);
  const std::vector<TrafficEntry> symmetric{{0, 0, 4, 4, 1}, {0, 1, 2, 2, 1}, {1, 0, 2, 2, 1}};
  EXPECT_EQ(read("%%MatrixMarket MATRIX Coordinate Integer Symmetric\n2 2 2\n1 1 4\n2 1 2\n"), symmetric);
  const std::vector<TrafficEntry> pattern{{1, 0, 1, 1, 1}};
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n2 1"), pattern);
}

TEST(MatrixMarket, RefusesBadText) {
  const Folder folder;
  const auto refuse = refuser(folder, [](const std::string& path) { read_matrix_market(path); });
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  refuse("", "bad:0", "banner");
  refuse("3 3 1\n", "bad:1", "banner");
  refuse("%%MatrixMarket matrix array real general\n", "bad:1", "not a sparse matrix");
  refuse("%%MatrixMarket matrix coordinate complex general\n", "bad:1", "values are 'complex'");
  refuse("%%MatrixMarket matrix coordinate real skew-symmetric\n", "bad:1", "'skew-symmetric'");
  refuse(head, "bad:1", "no line of sizes");
  refuse(head + "3 3\n", "bad:2", "rows columns entries");
  refuse(head + "3 4 1\n1 1 1\n", "bad:2", "is not square");
  refuse(head + "3 3 2\n1 2 1\n", "bad:3", "the file ends after 1 of 2 entries");
  refuse(head + "3 3 1\n1 2\n", "bad:3", "is not 'row column value'");
  refuse(head + "3 3 1\n1 4 1\n", "bad:3", "the column is 4, not in 1..3");
  refuse(head + "3 3 1\n0 1 1\n", "bad:3", "the row is 0");
  refuse(head + "3 3 1\n1 2 -1\n", "bad:3", "the value is -1");
  refuse(head + "3 3 1\n1 2 1e999\n", "bad:3", "a finite number");
  refuse(head + "3 3 1\n1 2 1x\n", "bad:3", "'1x', not a number");
  refuse(head + "3 3 1\n1 2 1\n1 3 1\n", "bad:4", "more than the 1 entries");
}

// Make a file like those of Open MPI 4.1.
std::string part(int rank, const std::string& lines) {
  return "# POINT TO POINT\n" + lines + "# OSC\nS\t" + std::to_string(rank) +
         "\t0\t8 bytes\t1 msgs sent\n# COLLECTIVES\n" +
         "D\tMPI_COMM_WORLD\tprocs: 0,1\nO2A\t0\t0 bytes\t0 msgs sent\nA2O\t0\t0 bytes\t0 msgs sent\nA2A\t0\t0 "
         "bytes\t0 msgs sent\n";
}

TEST(Monitoring, ReadsPrefixAndFolder) {
  const Folder folder;
  folder.write("run.0.prof", part(0,
                                  "E\t0\t1\t64 bytes\t2 msgs sent\t0,0,1\nI\t0\t1\t4 bytes\t1 msgs sent\t0\n"
                                  "C\t0\t1\t2710 bytes\t138 msgs sent\n"));
  folder.write("run.1.prof", part(1, "E\t1\t0\t8 bytes\t1 msgs sent\t0,0,1\n"));
  folder.write("notes.txt", "not of the run");
  const std::vector<TrafficEntry> expected{{0, 1, 0, 64, 2}, {1, 0, 0, 8, 1}};
  EXPECT_EQ(entries_of(read_monitoring(folder.file("run"))), expected);
  EXPECT_EQ(entries_of(read_monitoring(folder.path())), expected);
  EXPECT_EQ(entries_of(read_traffic(folder.file("run"))), expected);
  EXPECT_EQ(read_traffic(folder.path()).n_ranks(), 2);
}

TEST(Monitoring, RefusesBadRuns) {
  const auto refuse = [](const std::vector<std::pair<std::string, std::string>>& files,
                         std::vector<std::string> words) {
    SCOPED_TRACE(words.front());
    const Folder folder;
    for (const auto& [name, text] : files) folder.write(name, text);
    expect_error(ErrorCode::bad_input, words, [&] { read_monitoring(folder.path()); });
  };
  const std::string whole = part(0, "");
  refuse({}, {"has no files PREFIX.<rank>.prof"});
  refuse({{"a.1.prof", whole}}, {"the file of rank 0 is missing"});
  refuse({{"a.0.prof", whole}, {"a.2.prof", whole}}, {"the file of rank 1 is missing"});
  refuse({{"a.0.prof", whole}, {"b.0.prof", whole}}, {"files of two runs, a and b"});
  refuse({{"a.0.prof", "# POINT TO POINT\nE\t0\t0\t64 by"}}, {"a.0.prof:2", "is not 'E <from> <to>"});
  refuse({{"a.0.prof", "# POINT TO POINT\n"}}, {"a.0.prof:1", "'# COLLECTIVES' is missing"});
  refuse({{"a.0.prof", ""}}, {"a.0.prof:0", "is missing"});
  refuse({{"a.0.prof", part(0, "E\t1\t0\t8 bytes\t1 msgs sent\n")}}, {"a.0.prof:2", "the sender is 1, not in 0..0"});
  refuse({{"a.0.prof", whole}, {"a.1.prof", part(1, "E\t0\t1\t8 bytes\t1 msgs sent\n")}},
         {"a.1.prof:2", "the sender is 0 in the file of rank 1"});
  refuse({{"a.0.prof", part(0, "E\t0\t5\t8 bytes\t1 msgs sent\n")}}, {"the receiver is 5"});
  refuse({{"a.0.prof", part(0, "E\t0\t0\t-8 bytes\t1 msgs sent\n")}}, {"the bytes is -8"});
  refuse({{"a.0.prof", part(0, "hello\n")}}, {"a.0.prof:2", "not a line of a monitoring file"});
}

TEST(AnyTraffic, EveryTruncationIsNoticed) {
  const Folder folder;
  const std::vector<std::string> files{"3 2 1\n2 5 3 7\n1 6\n1 8\n",
                                       "%%MatrixMarket matrix coordinate real general\n% note\n3 3 2\n1 2 2.5\n3 1 3\n",
                                       TrafficMatrix(2, {{0, 1, 1, 8, 1}, {1, 0, 2, 16, 1}}).to_json().dump()};
  for (const std::string& whole : files) {
    // Without cuts inside the last number, which cannot be detected: "1" may have been "12".
    for (std::size_t length = 0; length + 3 < whole.size(); ++length) {
      SCOPED_TRACE(whole.substr(0, length));
      expect_error(ErrorCode::bad_input, {"cut"}, [&] { read_traffic(folder.write("cut", whole.substr(0, length))); });
    }
    EXPECT_NO_THROW(read_traffic(folder.write("cut", whole)));
  }
}

TEST(AnyTraffic, RubbishIsRefused) {
  const Folder folder;
  const std::uint64_t seed = 5;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> byte(0, 255);
  for (int trial = 0; trial < 200; ++trial) {
    std::string text(trial, ' ');
    for (char& c : text) c = static_cast<char>(byte(random));
    expect_error(ErrorCode::bad_input, {"rubbish"}, [&] { read_traffic(folder.write("rubbish", text)); });
  }
}

TEST(AnyTraffic, IsToldByContent) {
  const Folder folder;
  const std::vector<TrafficEntry> both{{0, 1, 1, 1, 1}, {1, 0, 1, 1, 1}};
  EXPECT_EQ(entries_of(read_traffic(folder.write("a", "% note\n2 1\n2\n1\n"))), both);
  EXPECT_EQ(
      entries_of(read_traffic(folder.write("b", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n"))),
      both);
  write_traffic(TrafficMatrix(2, both), folder.file("c"));
  EXPECT_EQ(entries_of(read_traffic(folder.file("c"))), both);

  const auto refuse = refuser(folder, [](const std::string& path) { read_traffic(path); });
  refuse("", "bad:0", "is empty");
  refuse("%\n\n", "bad:2", "is empty");
  refuse("hello world\n", "bad:1", "not a traffic file that barrio knows");
  refuse("12\n\n0 1", "bad:1", "QAPLIB");
  refuse("{\"schema\"", "bad", "is not JSON");
  expect_error(ErrorCode::failed, {"absent", "cannot be read"}, [&] { read_traffic(folder.file("absent")); });
}

}  // namespace
}  // namespace barrio::rankmap
