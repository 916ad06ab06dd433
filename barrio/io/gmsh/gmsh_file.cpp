#include "barrio/io/gmsh/gmsh_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include "barrio/base/error.hpp"
#include "barrio/io/gmsh/gmsh_parts.hpp"

namespace barrio::io::detail {
namespace {

class Indexer {
 public:
  Indexer(const std::string& path, int n_ranks) : path_(path), in_(path, gmsh_remedy), n_ranks_(n_ranks) {}

  GmshIndex run() {
    bool has_nodes = false;
    bool has_elements = false;
    while (in_.next_line()) {
      const std::string section = in_.line();
      if (section.empty() || section[0] != '$') continue;
      if (section == "$MeshFormat") {
        format();
      } else if (section == "$PhysicalNames") {
        names();
      } else if (section == "$Entities") {
        entities();
      } else if (section == "$PartitionedEntities" && !index_.is_old) {
        partitioned_entities();
      } else if (section == "$NOD" && !has_nodes) {
        // The first format has no heading.
        index_.is_old = index_.is_first = true;
        index_old_gmsh_nodes(in_, index_, n_ranks_);
        has_nodes = true;
      } else if (section == "$ELM" && index_.is_first && !has_elements) {
        index_old_gmsh_elements(in_, index_, n_ranks_);
        has_elements = true;
      } else if (section == "$Nodes" || (section == "$ParametricNodes" && index_.is_old)) {
        index_.has_parameters = section != "$Nodes";
        index_.is_old ? index_old_gmsh_nodes(in_, index_, n_ranks_) : nodes();
        has_nodes = true;
      } else if (section == "$Elements") {
        index_.is_old ? index_old_gmsh_elements(in_, index_, n_ranks_) : elements();
        has_elements = true;
      } else {
        pass_over(section);
        continue;
      }
      expect_end(section);
    }
    if (!has_nodes || !has_elements) in_.refuse(has_nodes ? "ends without elements" : "ends without nodes");
    return std::move(index_);
  }

 private:
  static std::string end_of(const std::string& section) {
    return (section == "$NOD" || section == "$ELM" ? "$END" : "$End") + section.substr(1);
  }
  void expect_end(const std::string& section) {
    do in_.need_line();
    while (in_.line().empty());
    if (in_.line() != end_of(section)) in_.refuse(fmt::format("{} was expected", end_of(section)));
  }
  void pass_over(const std::string& section) {
    // Sections of values begin with the number of their texts, of which the first is a name.
    constexpr int line_of_name = 2;
    if (!section.ends_with("Data") && section != "$Comments") index_.left_out.push_back(section);
    for (int line = 1;; ++line) {
      in_.need_line();
      if (in_.line() == end_of(section)) return;
      if (index_.is_binary && in_.line().ends_with(end_of(section))) return;  // right behind the numbers
      if (line == line_of_name && section.ends_with("Data"))
        index_.left_out.push_back(fmt::format("{} {}", section, in_.line()));
    }
  }
  void format() {
    in_.need_line();
    const auto version = in_.number<double>();
    index_.is_binary = in_.number<int>() == 1;
    const auto size = in_.number<int>();
    index_.is_old = version >= 2.0 && version < 3.0;
    if (!index_.is_old && (version < 4.1 || version >= 5.0)) {
      throw Error(ErrorCode::bad_input,
                  {.subject = path_,
                   .cause = fmt::format("is of format {:.1f}; barrio reads 4.1, 2.2 and 1.0", version),
                   .remedy = "save it again: gmsh IN -save -format msh41 -o OUT"});
    }
    if (index_.is_binary) {
      if (size != 8)  // of a text it says nothing
        in_.refuse(fmt::format("has numbers of {} bytes, but they must have 8", size),
                   "save it again: gmsh IN -save -format msh41 -o OUT");
      if (in_.binary<int>() != 1) in_.refuse("was written with another byte order");
    }
  }
  void names() {
    in_.need_line();
    for (auto n = in_.number<std::int64_t>(); n > 0; --n) {
      in_.need_line();
      const int dim_or_group = in_.number<int>();
      std::string text = in_.rest();
      const std::size_t begin = text.find_first_not_of(" \t");
      // Elmer states the number of the group alone.
      const bool has_dim = begin != std::string::npos && text[begin] != '"';
      const int group = has_dim ? in_.number<int>() : dim_or_group;
      text = in_.rest();
      const std::size_t first = text.find('"');
      const std::size_t last = text.rfind('"');
      if (first == std::string::npos || last <= first) continue;
      for (int dim = has_dim ? dim_or_group : 0; dim <= (has_dim ? dim_or_group : 3); ++dim)
        index_.group_names[{dim, group}] = text.substr(first + 1, last - first - 1);
    }
  }
  template <class T>
  T next() {
    return index_.is_binary ? in_.binary<T>() : in_.number<T>();
  }
  std::vector<int> next_list() {
    std::vector<int> list;
    for (auto n = in_.checked_count(next<std::int64_t>()); n > 0; --n) list.push_back(next<int>());
    return list;
  }
  void begin_line() {
    if (!index_.is_binary) in_.need_line();
  }
  std::array<std::int64_t, 4> numbers_of_entities() {
    std::array<std::int64_t, 4> n{};
    begin_line();
    for (auto& count : n) count = in_.checked_count(next<std::int64_t>());
    return n;
  }
  /// Read what follows the tags of an entity: its place or box, its groups, and what bounds it.
  void end_entity(int dim, int tag) {
    const int n_doubles = dim == 0 ? 3 : 6;
    for (int d = 0; d < n_doubles; ++d) next<double>();
    std::vector<int> found = next_list();
    if (dim > 0 && index_.is_binary) next_list();
    // A negative group means that the entity's orientation is reversed; the members are the same.
    for (int& group : found) {
      if (group == std::numeric_limits<int>::min())
        in_.refuse(fmt::format("has an entity in physical group {}", group));
      group = std::abs(group);
    }
    if (!found.empty()) index_.groups[{dim, tag}] = found;
  }
  void entities() {
    const std::array<std::int64_t, 4> n = numbers_of_entities();
    for (int dim = 0; dim < 4; ++dim) {
      for (std::int64_t i = 0; i < n[dim]; ++i) {
        begin_line();
        end_entity(dim, next<int>());
      }
    }
    if (index_.is_binary) in_.need_line();
  }
  /// Read the entities that a partition cuts the others into: elements are in these.
  void partitioned_entities() {
    begin_line();
    const auto n_parts = in_.checked_count(next<std::int64_t>());
    if (n_parts > std::numeric_limits<std::int32_t>::max()) in_.refuse(fmt::format("announces {} parts", n_parts));
    index_.n_parts = static_cast<int>(n_parts);
    begin_line();
    for (auto n_ghosts = in_.checked_count(next<std::int64_t>()); n_ghosts > 0; --n_ghosts) {
      begin_line();
      next<int>();  // entity
      next<int>();  // part
    }
    const std::array<std::int64_t, 4> n = numbers_of_entities();
    for (int dim = 0; dim < 4; ++dim) {
      for (std::int64_t i = 0; i < n[dim]; ++i) {
        begin_line();
        const int tag = next<int>();
        const int dim_of_parent = next<int>();
        next<int>();  // parent
        if (dim_of_parent != dim) index_.interfaces.insert({dim, tag});
        const std::vector<int> parts = next_list();
        for (const int part : parts)
          if (part < 1 || part > index_.n_parts)
            in_.refuse(fmt::format("has an entity in part {} of {}", part, index_.n_parts));
        if (!parts.empty()) index_.parts[{dim, tag}] = parts[0] - 1;
        end_entity(dim, tag);
      }
    }
    if (index_.is_binary) in_.need_line();
  }
  /// Read the head of a section: numbers of blocks and items, smallest tag, largest tag.
  std::array<std::int64_t, 4> section_head() {
    begin_line();
    std::array<std::int64_t, 4> head{};
    for (auto& word : head) word = next<std::int64_t>();
    return head;
  }
  GmshIndex::Block next_block() {
    GmshIndex::Block block;
    begin_line();
    block.entity_dim = next<int>();
    block.entity_tag = next<int>();
    block.type = next<int>();
    block.n = in_.checked_count(next<std::int64_t>());
    return block;
  }
  void nodes() {
    const std::array<std::int64_t, 4> head = section_head();
    index_.max_node_tag = in_.checked_count(head[3]);
    GmshCutter cutter(in_.checked_count(head[1]), n_ranks_, index_.node_segments);
    std::int64_t n_seen = 0;
    for (std::int64_t b = 0; b < head[0]; ++b) {
      const GmshIndex::Block block = next_block();
      if (block.entity_dim < 0 || block.entity_dim > 3)
        in_.refuse(fmt::format("has nodes on an entity of dimension {}", block.entity_dim));
      n_seen += block.n;
      if (n_seen > head[1]) in_.refuse("has more nodes than it announces");
      if (index_.is_binary) {
        const std::int64_t n_doubles = 3 + (block.type == 0 ? 0 : block.entity_dim);
        const std::int64_t first = in_.offset();
        cutter.cut(b, block.n, [&](GmshSegment& s) {
          s.offset = first + 8 * s.first;
          s.second_offset = first + 8 * block.n + 8 * n_doubles * s.first;
        });
        in_.skip(8 * block.n * (1 + n_doubles));
      } else {
        const std::size_t first_piece = index_.node_segments.size();
        cutter.cut(b, block.n, [&](GmshSegment& s) {
          s.offset = in_.offset();
          for (std::int64_t i = 0; i < s.count; ++i) in_.need_line();
        });
        for (std::size_t p = first_piece; p < index_.node_segments.size(); ++p) {
          GmshSegment& s = index_.node_segments[p].second;
          s.second_offset = in_.offset();
          for (std::int64_t i = 0; i < s.count; ++i) in_.need_line();
        }
      }
      index_.nodes.push_back(block);
    }
    if (n_seen != head[1]) in_.refuse(fmt::format("announces {} nodes and has {}", head[1], n_seen));
    if (index_.is_binary) in_.need_line();
  }
  void elements() {
    const std::array<std::int64_t, 4> head = section_head();
    GmshCutter cutter(in_.checked_count(head[1]), n_ranks_, index_.element_segments);
    std::int64_t n_seen = 0;
    for (std::int64_t b = 0; b < head[0]; ++b) {
      const GmshIndex::Block block = next_block();
      n_seen += block.n;
      if (n_seen > head[1]) in_.refuse("has more elements than it announces");
      const std::int64_t width = 8 * (1 + std::int64_t{gmsh_nodes_per_element(block.type)});
      if (width == 8) refuse_gmsh_type(in_, block.type);
      if (block.entity_dim != gmsh_dimension(block.type))
        in_.refuse(
            fmt::format("has elements of Gmsh type {} on an entity of dimension {}", block.type, block.entity_dim));
      if (index_.is_binary) {
        const std::int64_t first = in_.offset();
        cutter.cut(b, block.n, [&](GmshSegment& s) { s.offset = first + width * s.first; });
        in_.skip(width * block.n);
      } else {
        cutter.cut(b, block.n, [&](GmshSegment& s) {
          s.offset = in_.offset();
          for (std::int64_t i = 0; i < s.count; ++i) in_.need_line();
        });
      }
      index_.elements.push_back(block);
    }
    if (n_seen != head[1]) in_.refuse(fmt::format("announces {} elements and has {}", head[1], n_seen));
    if (index_.is_binary) in_.need_line();
  }

  std::string path_;
  Scanner in_;
  int n_ranks_;
  GmshIndex index_;
};

}  // namespace

int gmsh_nodes_per_element(int type) noexcept {
  const CellKind* const kind = gmsh_kind(type);
  return kind == nullptr ? 0 : kind->n_nodes;
}

GmshIndex index_gmsh(const std::string& path, int n_ranks) { return Indexer(path, n_ranks).run(); }

void read_gmsh_nodes(const std::string& path, const GmshIndex& index, const GmshShares& shares,
                     const std::function<void(std::int64_t, const std::array<double, 3>&)>& visit) {
  if (shares.nodes.empty()) return;
  Scanner in(path, gmsh_remedy);
  if (index.is_old) return read_old_gmsh_nodes(in, index, shares, visit);
  std::vector<std::int64_t> tags;
  for (const GmshSegment& segment : shares.nodes) {
    const GmshIndex::Block& block = index.nodes[segment.block];
    tags.resize(segment.count);
    in.go_to(segment.offset);
    if (index.is_binary) {
      in.binary(std::span<std::int64_t>(tags));
    } else {
      for (std::int64_t& tag : tags) {
        in.need_line();
        tag = in.number<std::int64_t>();
      }
    }
    in.go_to(segment.second_offset);
    const int n_parameters = block.type == 0 ? 0 : block.entity_dim;
    for (const std::int64_t tag : tags) {
      std::array<double, 3> x{};
      checked_node_number(in, tag);
      if (index.is_binary) {
        in.binary(std::span<double>(x));
        for (int p = 0; p < n_parameters; ++p) in.binary<double>();
      } else {
        in.need_line();
        for (double& value : x) value = in.number<double>();
      }
      visit(tag, x);
    }
  }
}

void read_gmsh_elements(const std::string& path, const GmshIndex& index, const GmshShares& shares,
                        const std::function<void(std::size_t, std::int64_t, std::span<const std::int64_t>)>& visit) {
  if (shares.elements.empty()) return;
  Scanner in(path, gmsh_remedy);
  for (const GmshSegment& segment : shares.elements) {
    const std::size_t block = segment.block;
    std::array<std::int64_t, max_cell_nodes + 1> words{};
    const std::size_t n = gmsh_nodes_per_element(index.elements[block].type);
    in.go_to(segment.offset);
    for (std::int64_t i = 0; i < segment.count; ++i) {
      if (index.is_binary) {
        in.binary(std::span<std::int64_t>(words).first(n + 1));
      } else {
        in.need_line();
        for (std::size_t w = 0; w <= n; ++w) words[w] = in.number<std::int64_t>();
      }
      visit(block, segment.first + i, std::span<const std::int64_t>(words).subspan(1, n));
    }
  }
}

}  // namespace barrio::io::detail
