#include "barrio/rankmap/qaplib.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <sstream>

#include "barrio/rankmap/solve.hpp"
#include "tests/rankmap/support.hpp"

namespace barrio::rankmap {
namespace {

using test::expect_error;
using test::Folder;

std::string qaplib_folder() {
  if (const char* folder = std::getenv("BARRIO_INTEROP")) return std::string(folder) + "/qaplib";
  return {};
}

struct Known {
  std::string name;
  double value;
  bool has_solution;
};

std::vector<Known> known_instances() {
  std::vector<Known> found;
  std::ifstream table(qaplib_folder() + "/bks.csv");
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    std::vector<std::string> field(9);
    for (std::string& text : field) std::getline(fields, text, ',');
    EXPECT_TRUE(field[7] == "first" || field[7].empty()) << field[0];
    found.push_back({field[0], std::stod(field[2]), field[7] == "first"});
  }
  return found;
}

class Qaplib : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(qaplib_folder() + "/bks.csv"))
      GTEST_SKIP() << "no QAPLIB files in '" << qaplib_folder()
                   << "'; set BARRIO_INTEROP to the folder that holds qaplib/";
  }
};

TEST_F(Qaplib, PublishedPermutationsHaveTheBestKnownValues) {
  int n_checked = 0;
  for (const Known& known : known_instances()) {
    if (!known.has_solution) continue;
    SCOPED_TRACE(known.name);
    const std::string stem = qaplib_folder() + "/" + known.name;
    for (const QaplibOrder order : {QaplibOrder::distances_first, QaplibOrder::flows_first}) {
      const QaplibInstance instance = read_qaplib(stem + ".dat", order);
      const QaplibSolution solution = read_qaplib_solution(stem + ".sln", order);
      EXPECT_EQ(cost(instance.traffic, instance.machine, solution.placement), known.value);
      EXPECT_LE(compute_lower_bound(instance.traffic.compute_graph(Weight::bytes), instance.machine), known.value);
    }
    ++n_checked;
  }
  EXPECT_EQ(n_checked, 11);
}

TEST_F(Qaplib, MapComesNearTheBestKnownValues) {
#ifdef __SANITIZE_ADDRESS__
  constexpr double seconds = 1.0;  // for as many steps, which are many times slower
#else
  constexpr double seconds = 0.05;
#endif
  for (const Known& known : known_instances()) {
    const QaplibInstance instance = read_qaplib(qaplib_folder() + "/" + known.name + ".dat");
    const MapResult result = map(instance.traffic, instance.machine, {.seconds = seconds});
    SCOPED_TRACE(known.name);
    EXPECT_GE(result.cost_after, known.value * (1 - 1e-12));
    EXPECT_LT(result.cost_after, known.value * 1.05);
    EXPECT_LE(result.lower_bound, known.value);
    RecordProperty(known.name + "_gap_percent", std::to_string(100 * (result.cost_after / known.value - 1)));
  }
}

TEST(QaplibText, ReadsBothOrders) {
  const Folder folder;
  // Distances of a line of three; flows 0-2 heavy, unsymmetric.
  const std::string path = folder.write("line.dat", "3\n\n0 1 2\n1 0 1 2 1 0\n\n0 1 8\n0 0 0\n1 2 0\n");
  const std::string solution = folder.write("line.sln", "3 13\n2 3 1\n");
  const QaplibInstance first = read_qaplib(path);
  EXPECT_EQ(first.machine.distance(0, 2), 2);
  EXPECT_EQ(first.traffic.entries().size(), 4U);
  const QaplibSolution published = read_qaplib_solution(solution);
  EXPECT_EQ(published.value, 13);
  // Location 1 has facility 2, location 2 facility 3, location 3 facility 1.
  EXPECT_EQ(published.placement, Placement({2, 0, 1}, 3));
  EXPECT_EQ(cost(first.traffic, first.machine, published.placement), 1 * 2 + 9 * 1 + 2 * 1);  // pairs 01, 02, 12
  const QaplibInstance second = read_qaplib(path, QaplibOrder::flows_first);
  EXPECT_EQ(second.machine.distance(0, 2), 4.5);  // the mean of 8 and 1
  const QaplibSolution swapped = read_qaplib_solution(solution, QaplibOrder::flows_first);
  EXPECT_EQ(swapped.placement, Placement({1, 2, 0}, 3));
  EXPECT_EQ(cost(second.traffic, second.machine, swapped.placement), 13);
}

TEST(QaplibText, DiagonalsCount) {
  const Folder folder;
  std::mt19937_64 random(12);
  for (const int n : {1, 2, 5, 7}) {
    std::vector<std::vector<int>> a(n), b(a);
    std::string text = std::to_string(n) + "\n";
    for (auto* matrix : {&a, &b}) {
      for (std::size_t i = 0; i < matrix->size(); ++i)
        for (std::size_t j = 0; j < matrix->size(); ++j)
          (*matrix)[i].push_back(matrix == &a && j < i ? a[j][i] : static_cast<int>(random() % 9 + (i == j ? 5 : 0)));
      for (const auto& row : *matrix) {
        for (const int value : row) text += std::to_string(value) + " ";
        text += "\n";
      }
    }
    const std::string path = folder.write("diagonals.dat", text);
    for (const QaplibOrder order : {QaplibOrder::distances_first, QaplibOrder::flows_first}) {
      SCOPED_TRACE(std::to_string(n) + (order == QaplibOrder::flows_first ? " flows first" : " distances first"));
      const QaplibInstance instance = read_qaplib(path, order);
      const auto& distances = order == QaplibOrder::flows_first ? b : a;
      const auto& flows = order == QaplibOrder::flows_first ? a : b;
      const auto value_of = [&](const std::vector<int>& places) {
        double sum = 0.0;
        for (std::size_t i = 0; i < flows.size(); ++i)
          for (std::size_t j = 0; j < flows.size(); ++j) sum += flows[i][j] * distances[places[i]][places[j]];
        return sum;
      };
      std::vector<int> places(n);
      std::iota(places.begin(), places.end(), 0);
      const double in_order = value_of(places);
      double best = in_order;
      do {
        best = std::min(best, value_of(places));
        EXPECT_EQ(cost(instance.traffic, instance.machine, Placement(places, n)), value_of(places));
      } while (std::ranges::next_permutation(places).found);
      const MapResult result = map(instance.traffic, instance.machine);
      EXPECT_EQ(result.cost_before, in_order);
      EXPECT_EQ(result.cost_after, best);
      EXPECT_LE(result.lower_bound, best);
      EXPECT_EQ(result.after.cost, best);
      EXPECT_EQ(cost(instance.traffic, instance.machine, result.placement), best);
      EXPECT_EQ(result.placement.n_ranks(), n);
      expect_error(ErrorCode::usage, {"paper-construction", "cannot weigh the diagonals"},
                   [&] { map(instance.traffic, instance.machine, {.method = Method::paper_construction}); });
      expect_error(ErrorCode::usage, {"bottleneck", "diagonals"},
                   [&] { map(instance.traffic, instance.machine, {.bottleneck = 0.5}); });
    }
  }
  // A diagonal in only one matrix is multiplied by zeros.
  const QaplibInstance one = read_qaplib(folder.write("one.dat", "2\n0 1 1 0\n7 1 1 3\n"));
  EXPECT_EQ(map(one.traffic, one.machine).cost_after, 2.0);
}

TEST(QaplibText, RefusesBadText) {
  const Folder folder;
  const auto refuse = [&](const std::string& text, const std::string& place, const std::string& cause) {
    SCOPED_TRACE(text);
    expect_error(ErrorCode::bad_input, {place, cause}, [&] { read_qaplib(folder.write("bad.dat", text)); });
  };
  refuse("", "bad.dat:0", "is empty");
  refuse("x", "bad.dat:1", "the size is 'x'");
  refuse("0", "bad.dat:1", "the size is 0, not in");
  refuse("1000000000\n0 1\n", "bad.dat:1", "the size is 1000000000");
  refuse("2\n0 1\n1 0\n0 1\n1\n", "bad.dat:5", "ends in row 2 of the second matrix of 2 rows");
  refuse("2\n0 1\n", "bad.dat:2", "ends in row 2 of the first matrix");
  refuse("2\n0 1 1 0\n0 -1 1 0\n", "bad.dat:3", "row 1 column 2 of the second matrix is -1");
  refuse("2\n0 1 1 0\n0 nan 1 0\n", "bad.dat:3", "a finite number");
  refuse("2\n0 1 1 0\n0 1 1 0 7\n", "bad.dat:3", "more than two matrices");
  refuse("2\n0 1 2 0\n0 1 2 0\n", "bad.dat:3", "neither matrix is symmetric");
  const auto refuse_solution = [&](const std::string& text, const std::string& cause) {
    SCOPED_TRACE(text);
    expect_error(ErrorCode::bad_input, {"bad.sln", cause},
                 [&] { read_qaplib_solution(folder.write("bad.sln", text)); });
  };
  refuse_solution("", "is empty");
  refuse_solution("3", "the value is ''");
  refuse_solution("3 7 1 2", "ends after 2 of 3 places");
  refuse_solution("3 7 1 2 4", "a place is 4");
  refuse_solution("3 7 1 2 2", "place 2 is given twice");
  refuse_solution("3 7 1 2 3 1", "more than 3 places");
  expect_error(ErrorCode::failed, {"cannot be read: it is a folder"}, [&] { read_qaplib(folder.path()); });
}

}  // namespace
}  // namespace barrio::rankmap
