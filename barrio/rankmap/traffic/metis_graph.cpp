#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "barrio/base/line_reader.hpp"
#include "barrio/rankmap/text/words.hpp"
#include "barrio/rankmap/traffic_files.hpp"

namespace barrio::rankmap {
namespace {

struct Header {
  int n_vertices = 0;
  std::int64_t n_edges = 0;
  std::size_t n_skipped = 0;  // numbers before the first edge of a line: vertex size and weights
  bool has_edge_weights = false;
};

// Blank lines are vertices without edges, so only comments may be skipped.
bool next_vertex_line(LineReader& reader) {
  while (reader.next_line())
    if (!reader.line().starts_with('%')) return true;
  return false;
}

Header read_header(LineReader& reader) {
  if (!next_vertex_line(reader)) reader.fail("has no header", "a METIS graph begins with 'vertices edges [format]'");
  const auto words = reader.words();
  if (words.size() < 2 || words.size() > 4)
    reader.fail(fmt::format("the header has {} words", words.size()),
                "a METIS graph begins with 'vertices edges [format [weights]]'");
  Header header;
  header.n_vertices = detail::read_int(reader, words[0], "the number of vertices", 0, TrafficMatrix::max_ranks);
  header.n_edges = reader.integer(words[1], "the number of edges", 0, std::int64_t{1} << 48);
  const std::string_view format = words.size() > 2 ? words[2] : "0";
  if (format.size() > 3 || format.find_first_not_of("01") != std::string_view::npos)
    reader.fail(fmt::format("the format '{}' is not of up to three digits 0 or 1", format));
  const auto digit = [&](std::size_t from_right) {
    return format.size() > from_right && format[format.size() - 1 - from_right] == '1';
  };
  header.has_edge_weights = digit(0);
  std::int64_t n_weights = digit(1) ? 1 : 0;
  if (words.size() > 3) {
    n_weights = reader.integer(words[3], "the number of vertex weights", 0, 1000);
    if (!digit(1) && n_weights > 0) reader.fail("vertex weights are counted but the format has none");
  }
  header.n_skipped = n_weights + (digit(2) ? 1 : 0);
  return header;
}

/// Check that each edge is in the lines of both its vertices. The weights may differ, since one may send more than the
/// other.
void check_both_lines(const TrafficMatrix& traffic, const std::string& path) {
  const auto key = [](const TrafficEntry& entry) { return std::pair(entry.from, entry.to); };
  for (const TrafficEntry& entry : traffic.entries()) {
    if (std::ranges::binary_search(traffic.entries(), std::pair(entry.to, entry.from), {}, key)) continue;
    throw Error(ErrorCode::bad_input,
                {.subject = path,
                 .cause = fmt::format("the line of vertex {} has neighbour {}, and the line of vertex {} has no {}",
                                      entry.from + 1, entry.to + 1, entry.to + 1, entry.from + 1),
                 .remedy = "list each edge in the lines of both its vertices"});
  }
}

}  // namespace

TrafficMatrix read_metis_graph(const std::string& path) {
  LineReader reader(path);
  const Header header = read_header(reader);
  std::vector<TrafficEntry> entries;
  for (int vertex = 0; vertex < header.n_vertices; ++vertex) {
    if (!next_vertex_line(reader))
      reader.fail(fmt::format("the file ends after {} of {} vertex lines", vertex, header.n_vertices),
                  "it may be truncated");
    const auto words = reader.words();
    if (words.size() < header.n_skipped)
      reader.fail(fmt::format("has {} numbers; {} vertex weights were expected", words.size(), header.n_skipped));
    const std::size_t step = header.has_edge_weights ? 2 : 1;
    if ((words.size() - header.n_skipped) % step != 0) reader.fail("the last edge has no weight");
    for (std::size_t i = header.n_skipped; i < words.size(); i += step) {
      const Rank to = detail::read_int(reader, words[i], "a neighbour", 1, header.n_vertices) - 1;
      if (to == vertex) reader.fail(fmt::format("vertex {} is its own neighbour", vertex + 1));
      const double value = header.has_edge_weights ? reader.amount(words[i + 1], "an edge weight") : 1.0;
      entries.push_back({.from = vertex, .to = to, .points = value, .bytes = value, .messages = 1.0});
    }
  }
  if (std::ssize(entries) != 2 * header.n_edges)
    reader.fail(
        fmt::format("the lines hold {} edge ends; the header promised {} edges", entries.size(), header.n_edges),
        "list each edge in the lines of both its vertices");
  while (next_vertex_line(reader))
    if (!reader.words().empty()) reader.fail("more lines than vertices");
  TrafficMatrix traffic(header.n_vertices, std::move(entries));
  check_both_lines(traffic, path);
  return traffic;
}

}  // namespace barrio::rankmap
