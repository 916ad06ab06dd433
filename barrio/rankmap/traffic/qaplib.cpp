#include "barrio/rankmap/qaplib.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "barrio/base/line_reader.hpp"
#include "barrio/rankmap/text/words.hpp"

namespace barrio::rankmap {
namespace {

constexpr int max_n = 20000;  // 3 GB per matrix

struct Matrix {
  int n = 0;
  std::vector<double> values;

  [[nodiscard]] double at(int i, int j) const { return values[index(i, j)]; }
  [[nodiscard]] std::size_t index(int i, int j) const {
    const std::size_t width = n;
    return i * width + j;
  }
  [[nodiscard]] bool has_diagonal() const {
    for (int i = 0; i < n; ++i)
      if (at(i, i) > 0.0) return true;
    return false;
  }
  [[nodiscard]] bool is_symmetric() const {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j)
        if (at(i, j) != at(j, i)) return false;
    return true;
  }
  void make_symmetric() {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j) values[index(i, j)] = values[index(j, i)] = (at(i, j) + at(j, i)) / 2.0;
  }
};

int read_size(LineReader& reader) {
  const auto word = reader.next_word();
  if (word.empty()) reader.fail("is empty", "a QAPLIB file begins with its size");
  return detail::read_int(reader, word, "the size", 1, max_n);
}

Matrix read_matrix(LineReader& reader, int n, std::string_view which) {
  Matrix matrix{.n = n, .values = {}};
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const auto word = reader.next_word();
      if (word.empty())
        reader.fail(fmt::format("the file ends in row {} of the {} matrix of {} rows", i + 1, which, n),
                    "it may be truncated");
      matrix.values.push_back(
          reader.amount(word, fmt::format("row {} column {} of the {} matrix", i + 1, j + 1, which)));
    }
  }
  return matrix;
}

}  // namespace

bool is_qaplib(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored) || !std::filesystem::exists(path, ignored)) return false;
  LineReader reader(path);
  while (reader.next_line()) {
    const auto words = reader.words();
    if (words.empty()) continue;
    return words.size() == 1 && words.front().find_first_not_of("0123456789") == std::string_view::npos;
  }
  return false;
}

QaplibInstance read_qaplib(const std::string& path, QaplibOrder order) {
  LineReader reader(path);
  const int n = read_size(reader);
  Matrix distances = read_matrix(reader, n, "first");
  Matrix flows = read_matrix(reader, n, "second");
  if (!reader.next_word().empty()) reader.fail("more than two matrices");
  if (order == QaplibOrder::flows_first) std::swap(distances, flows);
  if (!distances.is_symmetric()) {
    if (!flows.is_symmetric()) reader.fail("neither matrix is symmetric", "one of them must be");
    distances.make_symmetric();
  }
  // A diagonal of only one matrix is multiplied by zeros.
  const bool has_diagonals = distances.has_diagonal() && flows.has_diagonal();
  std::vector<double> core_costs;
  for (int i = 0; i < n; ++i) core_costs.push_back(std::exchange(distances.values[distances.index(i, i)], 0.0));
  std::vector<TrafficEntry> entries;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if ((i != j || has_diagonals) && flows.at(i, j) > 0.0)
        entries.push_back({.from = i, .to = j, .points = flows.at(i, j), .bytes = flows.at(i, j), .messages = 1.0});
  Machine machine = Machine::dense(n, std::move(distances.values));
  if (has_diagonals) machine.set_core_costs(std::move(core_costs));
  return {std::move(machine), TrafficMatrix(n, std::move(entries))};
}

QaplibSolution read_qaplib_solution(const std::string& path, QaplibOrder order) {
  LineReader reader(path);
  const int n = read_size(reader);
  QaplibSolution solution;
  solution.value = reader.amount(reader.next_word(), "the value");
  std::vector<int> forward(n), inverse(n, -1);
  for (int i = 0; i < n; ++i) {
    const auto word = reader.next_word();
    if (word.empty()) reader.fail(fmt::format("the file ends after {} of {} places", i, n), "it may be truncated");
    const int place = detail::read_int(reader, word, "a place", 1, n) - 1;
    forward[i] = place;
    int& owner = inverse[place];
    if (owner >= 0) reader.fail(fmt::format("place {} is given twice", place + 1));
    owner = i;
  }
  if (!reader.next_word().empty()) reader.fail(fmt::format("more than {} places", n));
  // Row i of the first matrix is paired with row p(i) of the second: p is rank -> core if flows come first, else core
  // -> rank.
  solution.placement = Placement(order == QaplibOrder::flows_first ? std::move(forward) : std::move(inverse), n);
  return solution;
}

}  // namespace barrio::rankmap
