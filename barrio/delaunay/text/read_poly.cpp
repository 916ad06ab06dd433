#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <string_view>
#include <system_error>
#include <vector>

#include "barrio/base/line_reader.hpp"
#include "barrio/delaunay/poly_file.hpp"

namespace barrio::delaunay {
namespace {

constexpr std::int64_t max_rows = std::numeric_limits<std::int32_t>::max();

/// Reader of lines of words that skips blank lines and comments.
class Rows {
 public:
  explicit Rows(const std::string& path) : reader_(path) {}

  /// Go to the next line that has words. @return false at the end of the file
  bool next() {
    while (reader_.next_line()) {
      words_ = reader_.words();
      const auto comment = std::ranges::find_if(words_, [](std::string_view word) { return word.starts_with('#'); });
      words_.erase(comment, words_.end());
      if (!words_.empty()) return true;
    }
    return false;
  }
  void need(std::string_view what) {
    if (!next()) reader_.fail(fmt::format("the file ends before {}", what), "the file may be truncated");
  }
  [[nodiscard]] std::size_t size() const noexcept { return words_.size(); }
  /// Return a whole number of the line.
  std::int64_t integer(std::size_t i, std::string_view what, std::int64_t least, std::int64_t most) const {
    need_word(i, what);
    return reader_.integer(words_[i], what, least, most);
  }
  /// Return the number that the line begins with, or another one if it begins with none.
  [[nodiscard]] std::int64_t number_or(std::int64_t other) const noexcept {
    const std::string_view word = words_.front();
    std::int64_t number = 0;
    const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), number);
    return fault == std::errc() && end == word.data() + word.size() ? number : other;
  }
  double real(std::size_t i, std::string_view what) const {
    need_word(i, what);
    return reader_.real(words_[i], what);
  }
  [[nodiscard]] const LineReader& reader() const noexcept { return reader_; }

 private:
  void need_word(std::size_t i, std::string_view what) const {
    if (i >= words_.size()) reader_.fail(fmt::format("{} is missing", what), "the line is too short");
  }
  LineReader reader_;
  std::vector<std::string_view> words_;
};

std::int32_t marker_at(const Rows& rows, std::size_t i) {
  return static_cast<std::int32_t>(
      rows.integer(i, "a marker", std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
}

/// Read the list of points; the current line is its head.
void read_points(Rows& rows, PolyFile& file) {
  const std::int64_t n = rows.integer(0, "the number of points", 0, max_rows);
  if (rows.size() > 1 && rows.integer(1, "the dimension", 0, 100) != 2)
    rows.reader().fail("points are not in the plane", "give two coordinates a point");
  const std::int64_t n_attributes = rows.size() > 2 ? rows.integer(2, "the number of attributes", 0, 1000) : 0;
  const bool has_markers = rows.size() > 3 && rows.integer(3, "the number of markers", 0, 1) == 1;
  for (std::int64_t k = 0; k < n_attributes; ++k)
    file.graph.attributes.push_back({.name = fmt::format("attribute_{}", k + 1)});
  for (std::int64_t i = 0; i < n; ++i) {
    rows.need(fmt::format("point {} of {}", i + 1, n));
    const std::int64_t number = rows.integer(0, "the number of a point", 0, max_rows);
    if (i == 0) file.first_number = number;
    if (file.first_number > 1) rows.reader().fail("the first point is neither 0 nor 1", "number points from 0 or 1");
    if (number != file.first_number + i)
      rows.reader().fail(fmt::format("has point {} where {} was expected", number, file.first_number + i),
                         "number points consecutively");
    file.graph.points.push_back({rows.real(1, "x"), rows.real(2, "y")});
    for (std::int64_t k = 0; k < n_attributes; ++k)
      file.graph.attribute_values.push_back(rows.real(3 + k, "an attribute"));
    if (has_markers) file.graph.point_markers.push_back(marker_at(rows, 3 + n_attributes));
  }
}

void read_segments(Rows& rows, PolyFile& file) {
  if (!rows.next()) return;
  const std::int64_t n = rows.integer(0, "the number of segments", 0, max_rows);
  const bool has_markers = rows.size() > 1 && rows.integer(1, "the number of markers", 0, 1) == 1;
  const std::int64_t last = file.first_number + std::ssize(file.graph.points) - 1;
  for (std::int64_t i = 0; i < n; ++i) {
    rows.need(fmt::format("segment {} of {}", i + 1, n));
    file.segment_numbers.push_back(rows.number_or(file.first_number + i));
    PlanarGraph::Edge edge;
    for (std::size_t e = 0; e < 2; ++e)
      edge.ends[e] = static_cast<std::int32_t>(rows.integer(1 + e, "an end of a segment", file.first_number, last) -
                                               file.first_number);
    if (edge.ends[0] == edge.ends[1]) rows.reader().fail("the segment begins and ends in one point", "leave it out");
    if (has_markers) edge.marker = marker_at(rows, 3);
    file.graph.segments.push_back(edge);
  }
}

void read_holes(Rows& rows, PolyFile& file) {
  if (!rows.next()) return;
  const std::int64_t n = rows.integer(0, "the number of holes", 0, max_rows);
  for (std::int64_t i = 0; i < n; ++i) {
    rows.need(fmt::format("hole {} of {}", i + 1, n));
    file.graph.holes.push_back({rows.real(1, "x of a hole"), rows.real(2, "y of a hole")});
  }
}

void read_regions(Rows& rows, PolyFile& file) {
  if (!rows.next()) return;
  const std::int64_t n = rows.integer(0, "the number of regions", 0, max_rows);
  for (std::int64_t i = 0; i < n; ++i) {
    rows.need(fmt::format("region {} of {}", i + 1, n));
    PlanarGraph::RegionSeed seed{.place = {rows.real(1, "x of a region"), rows.real(2, "y of a region")}};
    seed.attribute = rows.real(3, "the attribute of a region");
    // a single number is attribute and area at once; a negative area means that there is no bound
    seed.max_area = std::max(rows.size() > 4 ? rows.real(4, "the area of a region") : seed.attribute, 0.0);
    file.graph.regions.push_back(seed);
  }
}

}  // namespace

PolyFile read_poly(const std::string& path) {
  PolyFile file;
  Rows rows(path);
  rows.need("the number of points");
  if (path.ends_with(".node")) {
    read_points(rows, file);
    return file;
  }
  if (rows.integer(0, "the number of points", 0, max_rows) == 0) {
    Rows points(std::filesystem::path(path).replace_extension(".node"));
    points.need("the number of points");
    read_points(points, file);
  } else {
    read_points(rows, file);
  }
  read_segments(rows, file);
  read_holes(rows, file);
  read_regions(rows, file);
  if (rows.next())
    rows.reader().fail("has lines after the regions", "check the numbers of points, segments, holes and regions");
  return file;
}

}  // namespace barrio::delaunay
