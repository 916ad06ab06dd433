#include "barrio/io/su2/su2_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "barrio/base/slabs.hpp"
#include "barrio/io/text/scanner.hpp"

namespace barrio::io::detail {
namespace {

constexpr const char* su2_remedy = "check that the file is a complete SU2 mesh";

/// Offset of every 1024th line of a section: a share begins a few lines after one of them.
struct MarkedLines {
  static constexpr std::int64_t step = 1024;
  std::int64_t n = 0;
  std::vector<std::int64_t> offsets;
};

std::string_view trimmed_of(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

/// Read the next line that is neither blank nor a comment. @return false at the end of the file
bool next_line(Scanner& in) {
  while (in.next_line()) {
    const std::string_view text = trimmed_of(in.line());
    if (!text.empty() && text.front() != '%') return true;
  }
  return false;
}

void need_line(Scanner& in) {
  if (!next_line(in)) in.refuse("ends early");
}

class Indexer {
 public:
  Indexer(const std::string& path, int n_shares) : in_(path, su2_remedy), n_shares_(n_shares) {}

  Su2Index run() {
    while (next_line(in_)) {
      const std::string line = in_.line();
      const std::size_t sign = line.find('=');
      if (sign == std::string::npos) {
        if (is_known_) in_.refuse(fmt::format("has the line '{}' where a keyword was expected", line.substr(0, 60)));
        continue;  // of a section that is left out
      }
      const std::string_view text = line;
      keyword(trimmed_of(text.substr(0, sign)), trimmed_of(text.substr(sign + 1)));
    }
    Su2Catalog& catalog = index_.catalog;
    if (catalog.n_dims == 0) in_.refuse("ends without NDIME=");
    if (!has_points_) in_.refuse("ends without NPOIN=");
    if (sections_.size() < 2 || sections_[1].n == 0) in_.refuse("ends without NELEM=");
    catalog.n_points = sections_[0].n;
    cut();
    return std::move(index_);
  }

 private:
  [[nodiscard]] std::int64_t number_in(std::string_view keyword, std::string_view text) const {
    std::int64_t n = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), n).ec != std::errc())
      in_.refuse(fmt::format("has '{}' where the number of {} was expected", text.substr(0, 60), keyword));
    return in_.checked_count(n);
  }
  void keyword(std::string_view word, std::string_view value) {
    is_known_ = true;
    Su2Catalog& catalog = index_.catalog;
    if (word == "NDIME") {
      const std::int64_t n = number_in(word, value);
      if (n != 2 && n != 3) in_.refuse(fmt::format("has {} dimensions, but must have 2 or 3", n));
      catalog.n_dims = static_cast<int>(n);
    } else if (word == "NZONE" && number_in(word, value) > 1) {
      in_.refuse(fmt::format("has {} zones; barrio reads files with one", value),
                 "save each zone in a file of its own, and join them: barrio join");
    } else if (word == "NPOIN") {
      if (has_points_) in_.refuse("has NPOIN= twice");
      has_points_ = true;
      section(0, number_in(word, value));
    } else if (word == "NELEM") {
      if (sections_[1].n > 0) in_.refuse("has NELEM= twice");
      section(1, number_in(word, value));
    } else if (word == "MARKER_TAG") {
      is_halo_ = value == "SEND_RECEIVE";
      if (is_halo_)
        leave_out(value);
      else
        catalog.markers.emplace_back(value);
    } else if (is_halo_ && (word == "MARKER_ELEMS" || word == "SEND_TO" || word == "SEND_RECV")) {
      is_known_ = false;  // pass over the copies of points that follow
    } else if (word == "MARKER_ELEMS") {
      if (catalog.markers.size() + 1 != sections_.size()) in_.refuse("has MARKER_ELEMS= without MARKER_TAG= before it");
      sections_.emplace_back();
      section(sections_.size() - 1, number_in(word, value));
    } else if (word != "NMARK" && word != "NZONE" && word != "IZONE") {
      is_known_ = false;
      leave_out(word);
    }
  }
  void leave_out(std::string_view word) {
    std::vector<std::string>& all = index_.catalog.left_out;
    if (std::ranges::find(all, word) == all.end()) all.emplace_back(word);
  }
  void section(std::size_t place, std::int64_t n) {
    MarkedLines& lines = sections_[place];
    lines.n = n;
    for (std::int64_t i = 0; i < n; ++i) {
      if (i % MarkedLines::step == 0) lines.offsets.push_back(in_.offset());
      need_line(in_);
    }
  }
  /// Add the lines of a section that are in a share. @param before  lines of earlier sections that are cut with it
  void add(Rank share, const Slabs& slabs, std::size_t place, std::int64_t before) {
    const MarkedLines& lines = sections_[place];
    const std::int64_t first = std::max<std::int64_t>(slabs.first(share) - before, 0);
    const std::int64_t end = std::min(slabs.first(share + 1) - before, lines.n);
    if (first >= end) return;
    index_.segments.push_back({share,
                               {static_cast<std::int64_t>(place), first % MarkedLines::step, end - first,
                                lines.offsets[first / MarkedLines::step]}});
  }
  void cut() {
    const Slabs points{sections_[0].n, n_shares_};
    std::int64_t n_elements = 0;
    for (std::size_t place = 1; place < sections_.size(); ++place) n_elements += sections_[place].n;
    const Slabs elements{n_elements, n_shares_};
    std::size_t place = 1;
    std::int64_t before = 0;
    for (Rank share = 0; share < n_shares_; ++share) {
      add(share, points, 0, 0);
      for (;;) {
        add(share, elements, place, before);
        if (before + sections_[place].n > elements.first(share + 1) || place + 1 == sections_.size()) break;
        before += sections_[place++].n;
      }
    }
  }

  Scanner in_;
  int n_shares_;
  Su2Index index_;
  std::vector<MarkedLines> sections_ = std::vector<MarkedLines>(2);
  bool has_points_ = false;
  bool is_known_ = true;  ///< the last keyword
  bool is_halo_ = false;  ///< the last marker has copies of points, no sides
};

}  // namespace

std::map<std::pair<int, int>, std::string> Su2Catalog::set_names() const {
  std::map<std::pair<int, int>, std::string> names;
  for (std::size_t m = 0; m < markers.size(); ++m)
    for (int dim = 0; dim <= n_dims; ++dim) names[{dim, static_cast<int>(m + 1)}] = markers[m];
  return names;
}

bool is_su2(std::string_view head) {
  while (!head.empty()) {
    const std::size_t end = std::min(head.find('\n'), head.size());
    const std::string_view line = trimmed_of(head.substr(0, end));
    if (!line.empty() && line.front() != '%')
      return line.find('=') != std::string_view::npos && (line.starts_with("NDIME") || line.starts_with("NZONE"));
    head.remove_prefix(std::min(end + 1, head.size()));
  }
  return false;
}

Su2Index index_su2(const std::string& path, int n_shares) { return Indexer(path, n_shares).run(); }

VtkGrid read_su2_share(const std::string& path, const Su2Catalog& catalog, const std::vector<Su2Segment>& segments) {
  VtkGrid grid;
  grid.n_points = catalog.n_points;
  std::vector<std::int64_t> groups;
  Scanner in(path, su2_remedy);
  std::array<std::int64_t, max_cell_nodes> nodes{};
  for (const Su2Segment& segment : segments) {
    in.go_to(segment.offset);
    for (std::int64_t i = 0; i < segment.n_skipped; ++i) need_line(in);
    for (std::int64_t i = 0; i < segment.count; ++i) {
      need_line(in);
      if (segment.section == 0) {
        for (int d = 0; d < 3; ++d) grid.coordinates.push_back(d < catalog.n_dims ? in.number<double>() : 0.0);
        continue;
      }
      const int type = in.number<int>();
      const CellKind* const kind = vtk_kind(type);
      if (kind == nullptr || kind->n_nodes > max_cell_nodes)
        in.refuse(fmt::format("has elements of type {}, which are not supported", type),
                  "save lines, triangles, quads, tets, hexes, prisms and pyramids");
      const std::span<std::int64_t> of_cell = std::span(nodes).first(kind->n_nodes);
      for (std::int64_t& node : of_cell) node = in.number<std::int64_t>();
      grid.add_cell(type, of_cell);
      groups.push_back(segment.section - 1);  // 0: no group
    }
  }
  // The name by which tables_of_vtk takes ids from 1 as sets, and 0 as none.
  grid.on_cells.push_back({.name = "gmsh:physical", .values = std::move(groups)});
  return grid;
}

}  // namespace barrio::io::detail
