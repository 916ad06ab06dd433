#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <limits>
#include <utility>

#include "barrio/io/gmsh/gmsh_parts.hpp"

// Gmsh 2.2: a node is a number and coordinates; an element is a number, type, tags and nodes, each on a line of its
// own. In binary files a heading states type, count and number of tags of the elements that follow. Gmsh 1.0 is text:
// after type and two tags an element states its number of nodes.

namespace barrio::io::detail {
namespace {

constexpr std::int64_t node_bytes = 4 + 3 * 8;

/// Skip the entity of a node in a binary file, and its parameters on it: as many as a curve or surface has dimensions.
void skip_parameters(Scanner& in) {
  const auto dim = in.binary<std::int32_t>();
  if (dim < 0 || dim > 3) in.refuse(fmt::format("has a node on an entity of dimension {}", dim));
  in.skip(4 + 8 * (dim == 3 ? 0 : dim));
}

/// Heading of elements in a binary file.
struct Heading {
  std::int32_t type;
  std::int32_t n;
  std::int32_t n_tags;

  [[nodiscard]] std::int64_t element_bytes() const {
    return 4 * (std::int64_t{1} + n_tags + gmsh_nodes_per_element(type));
  }
};

void check_tags(const Scanner& in, int type, std::int64_t n_tags) {
  if (gmsh_nodes_per_element(type) == 0) refuse_gmsh_type(in, type);
  if (n_tags < 0 || n_tags > 1 << 16) in.refuse(fmt::format("has an element with {} tags", n_tags));
}

void check_n_nodes(const Scanner& in, int type, int n) {
  if (n != gmsh_nodes_per_element(type)) in.refuse(fmt::format("has an element of type {} with {} nodes", type, n));
}

Heading read_heading(Scanner& in) {
  const auto heading = in.binary<Heading>();
  check_tags(in, heading.type, heading.n_tags);
  if (heading.n < 1) in.refuse(fmt::format("has a heading of {} elements", heading.n));
  return heading;
}

/// Check that the numbers of a binary section end with the line; some programs end no line there.
void end_of_section(Scanner& in, std::string_view what) {
  const std::int64_t end = in.offset();
  in.need_line();
  if (in.line().starts_with("$E")) {
    in.go_to(end);
  } else if (!in.line().empty()) {
    in.refuse(fmt::format("has more {} than it announces", what));
  }
}

/// Go to the next line that is not blank.
void need_full_line(Scanner& in) {
  do in.need_line();
  while (in.line().empty());
}

/// Interpret the tags of an element: physical group, geometric entity, number of partitions, the part, ghosts.
OldGmshElement element_of(const Scanner& in, int type, std::span<const std::int64_t> words, std::size_t n_tags) {
  OldGmshElement element{.type = type, .nodes = words.subspan(n_tags)};
  const std::span<const std::int64_t> tags = words.first(n_tags);
  // A negative group means that the element is reversed; it is a member nevertheless.
  if (n_tags > 0) {
    if (!std::in_range<std::int32_t>(tags[0]) || tags[0] == std::numeric_limits<std::int32_t>::min())
      in.refuse(fmt::format("has an element in physical group {}", tags[0]));
    element.group = std::abs(static_cast<int>(tags[0]));
  }
  if (n_tags > 1 && std::in_range<std::int32_t>(tags[1])) element.entity = static_cast<int>(tags[1]);
  if (n_tags > 3 && tags[2] > 0) {
    if (tags[3] < 1 || tags[3] > 1 << 30) in.refuse(fmt::format("has an element in partition {}", tags[3]));
    element.part = static_cast<int>(tags[3]) - 1;
  }
  return element;
}

}  // namespace

void refuse_gmsh_type(const Scanner& in, int type) {
  in.refuse(fmt::format("has elements of Gmsh type {}, which is not supported", type),
            "reduce the order in Gmsh, with a file of three lines: Merge \"IN\"; SetOrder 2; Save \"OUT.msh\";");
}

void index_old_gmsh_nodes(Scanner& in, GmshIndex& index, int n_ranks) {
  need_full_line(in);
  const std::int64_t n = in.checked_count(in.number<std::int64_t>());
  index.nodes.push_back({.n = n});
  const std::int64_t first = in.offset();
  GmshCutter(n, n_ranks, index.node_segments).cut(0, n, [&](GmshSegment& s) {
    const bool is_even = index.is_binary && !index.has_parameters;
    s.offset = is_even ? first + node_bytes * s.first : in.offset();
    if (is_even) return in.skip(node_bytes * s.count);
    for (std::int64_t i = 0; i < s.count; ++i) {
      if (!index.is_binary) {
        need_full_line(in);
      } else {
        in.skip(node_bytes);
        skip_parameters(in);
      }
    }
  });
  if (index.is_binary) end_of_section(in, "nodes");
}

void index_old_gmsh_elements(Scanner& in, GmshIndex& index, int n_ranks) {
  need_full_line(in);
  const std::int64_t n = in.checked_count(in.number<std::int64_t>());
  index.elements.push_back({.n = n});
  std::int64_t at = 0;  // position of the heading
  Heading heading{};
  std::int64_t left = 0;  // elements after it that remain
  GmshCutter(n, n_ranks, index.element_segments).cut(0, n, [&](GmshSegment& s) {
    s.offset = in.offset();
    s.second_offset = left > 0 ? at : s.offset;
    for (std::int64_t i = 0; i < s.count && !index.is_binary; ++i) need_full_line(in);
    for (std::int64_t i = 0; i < s.count && index.is_binary;) {
      if (left == 0) {
        at = in.offset();
        heading = read_heading(in);
        left = heading.n;
      }
      const std::int64_t n_here = std::min(left, s.count - i);
      in.skip(heading.element_bytes() * n_here);
      left -= n_here;
      i += n_here;
    }
  });
  if (left > 0) in.refuse("has more elements than it announces");
  if (index.is_binary) end_of_section(in, "elements");
}

void read_old_gmsh_nodes(Scanner& in, const GmshIndex& index, const GmshShares& shares,
                         const std::function<void(std::int64_t, const std::array<double, 3>&)>& visit) {
  for (const GmshSegment& segment : shares.nodes) {
    in.go_to(segment.offset);
    for (std::int64_t i = 0; i < segment.count; ++i) {
      if (!index.is_binary) need_full_line(in);
      const std::int64_t tag = index.is_binary ? in.binary<std::int32_t>() : in.number<std::int64_t>();
      checked_node_number(in, tag);
      std::array<double, 3> x{};
      for (double& value : x) value = index.is_binary ? in.binary<double>() : in.number<double>();
      if (index.is_binary && index.has_parameters) skip_parameters(in);
      visit(tag, x);
    }
  }
}

std::string surplus_on_lines(std::int64_t n_elements) {
  return fmt::format("surplus numbers on the lines of {} element(s)", n_elements);
}

std::int64_t read_old_gmsh_elements(const std::string& path, const GmshIndex& index, const GmshShares& shares,
                                    const std::function<void(const OldGmshElement&)>& visit) {
  if (shares.elements.empty()) return 0;
  Scanner in(path, gmsh_remedy);
  std::int64_t n_surplus = 0;
  std::vector<std::int64_t> words;
  std::vector<std::int32_t> raw;
  for (const GmshSegment& segment : shares.elements) {
    in.go_to(segment.second_offset);
    Heading heading{};
    std::int64_t left = 0;
    if (index.is_binary && segment.offset != segment.second_offset) {
      heading = read_heading(in);
      left = heading.n - (segment.offset - in.offset()) / heading.element_bytes();
    }
    in.go_to(segment.offset);
    for (std::int64_t i = 0; i < segment.count; ++i) {
      if (index.is_binary) {
        if (left == 0) {
          heading = read_heading(in);
          left = heading.n;
        }
        left -= 1;
        raw.resize(heading.element_bytes() / 4);
        in.binary(std::span<std::int32_t>(raw));
        words.assign(raw.begin() + 1, raw.end());  // without its number
      } else {
        need_full_line(in);
        in.number<std::int64_t>();
        heading.type = in.number<int>();
        heading.n_tags = index.is_first ? 2 : in.number<int>();
        check_tags(in, heading.type, heading.n_tags);
        words.resize(heading.element_bytes() / 4 - 1);
        for (std::size_t w = 0; w < words.size(); ++w) {
          if (index.is_first && w == 2) check_n_nodes(in, heading.type, in.number<int>());
          words[w] = in.number<std::int64_t>();
        }
        n_surplus += in.field().empty() ? 0 : 1;
      }
      visit(element_of(in, heading.type, words, heading.n_tags));
    }
  }
  return n_surplus;
}

}  // namespace barrio::io::detail
