#include <fmt/format.h>

#include "barrio/base/line_reader.hpp"
#include "barrio/rankmap/text/words.hpp"
#include "barrio/rankmap/traffic_files.hpp"

namespace barrio::rankmap {
namespace {

struct Banner {
  bool has_values = true;
  bool is_symmetric = false;
};

Banner read_banner(LineReader& reader) {
  const bool found = reader.next_line();
  const auto words = reader.words();
  if (!found || words.size() != 5 || words[0] != "%%MatrixMarket")
    reader.fail("does not begin with a Matrix Market banner",
                "the first line is '%%MatrixMarket matrix coordinate real general'");
  using detail::lower;
  const std::string layout = lower(words[2]), field = lower(words[3]), symmetry = lower(words[4]);
  if (lower(words[1]) != "matrix" || layout != "coordinate")
    reader.fail("is not a sparse matrix", "only 'matrix coordinate' is read");
  if (field != "real" && field != "integer" && field != "pattern")
    reader.fail(fmt::format("values are '{}'", field), "only real, integer and pattern are read");
  if (symmetry != "general" && symmetry != "symmetric")
    reader.fail(fmt::format("the matrix is '{}'", symmetry), "only general and symmetric are read");
  return {.has_values = field != "pattern", .is_symmetric = symmetry == "symmetric"};
}

bool next_data_line(LineReader& reader) {
  while (reader.next_line())
    if (!reader.line().starts_with('%') && !reader.words().empty()) return true;
  return false;
}

}  // namespace

TrafficMatrix read_matrix_market(const std::string& path) {
  LineReader reader(path);
  const Banner banner = read_banner(reader);
  if (!next_data_line(reader)) reader.fail("has no line of sizes", "it may be truncated");
  const auto sizes = reader.words();
  if (sizes.size() != 3) reader.fail("the line of sizes is not 'rows columns entries'");
  const int n = detail::read_int(reader, sizes[0], "the number of rows", 0, TrafficMatrix::max_ranks);
  if (reader.integer(sizes[1], "the number of columns", 0, TrafficMatrix::max_ranks) != n)
    reader.fail("is not square", "a traffic matrix has one row and one column per rank");
  const auto n_entries = reader.integer(sizes[2], "the number of entries", 0, std::int64_t{1} << 48);

  std::vector<TrafficEntry> entries;
  for (std::int64_t k = 0; k < n_entries; ++k) {
    if (!next_data_line(reader))
      reader.fail(fmt::format("the file ends after {} of {} entries", k, n_entries), "it may be truncated");
    const auto words = reader.words();
    if (words.size() != (banner.has_values ? 3U : 2U))
      reader.fail(banner.has_values ? "is not 'row column value'" : "is not 'row column'");
    const Rank row = detail::read_int(reader, words[0], "the row", 1, n) - 1;
    const Rank column = detail::read_int(reader, words[1], "the column", 1, n) - 1;
    const double value = banner.has_values ? reader.amount(words[2], "the value") : 1.0;
    const auto add = [&](Rank from, Rank to) {
      entries.push_back({.from = from, .to = to, .points = value, .bytes = value, .messages = 1.0});
    };
    add(row, column);
    if (banner.is_symmetric && row != column) add(column, row);
  }
  if (next_data_line(reader)) reader.fail(fmt::format("more than the {} entries promised", n_entries));
  return TrafficMatrix(n, std::move(entries));
}

}  // namespace barrio::rankmap
