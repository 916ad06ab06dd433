#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/slabs.hpp"
#include "barrio/io/medit/medit_numbers.hpp"

namespace barrio::io::detail {
namespace {

bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Tell whether a word may be a keyword: letters and digits. "nan" begins with a letter too, but is a value.
bool may_be_keyword(std::string_view word) noexcept {
  constexpr std::size_t longest = 60;
  if (word.empty() || word.size() > longest || !is_letter(word[0])) return false;
  if (is_same_word(word, "nan") || is_same_word(word, "inf") || is_same_word(word, "infinity")) return false;
  return std::ranges::all_of(word, [](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

/// Common base of the indexers of text and binary files.
class MeditIndexer {
 protected:
  MeditIndexer(const std::string& path, int n_ranks) : in_(path, medit_remedy, '#'), n_ranks_(n_ranks) {}

  void take_version(std::int64_t version) {
    if (version < 0 || version > 4)
      in_.refuse(fmt::format("is of version {}; barrio reads 0 to 4", version), "save it as version 2");
    index_.head.version = static_cast<int>(version);
  }
  void take_dimension(std::int64_t dimension) {
    if (dimension != 2 && dimension != 3) in_.refuse(fmt::format("has {} dimensions, but must have 2 or 3", dimension));
    index_.head.dimension = static_cast<int>(dimension);
  }
  void leave_out(std::string name) {
    if (std::ranges::find(index_.left_out, name) != index_.left_out.end()) return;
    constexpr std::size_t max_names = 50;
    if (index_.left_out.size() < max_names)
      index_.left_out.push_back(std::move(name));
    else if (index_.left_out.size() == max_names)
      index_.left_out.emplace_back("and more");
  }
  void refuse_cells(const MeditKeyword& keyword, std::int64_t n) const {
    if (n == 0) return;
    in_.refuse(fmt::format("has {}, which barrio does not read from Medit files", keyword.name),
               "save a mesh of first or second order, without polygons and polyhedra");
  }
  void add_section(const MeditKeyword& keyword, std::int64_t n) {
    const bool is_second = std::ranges::any_of(index_.sections, [&](const MeditIndex::Section& section) {
      const MeditKeyword& other = *section.keyword;
      const bool are_cells = keyword.use == MeditUse::cells && other.use == MeditUse::cells;
      return other.code == keyword.code ||
             (are_cells && other.type == keyword.type && other.n_nodes_of_cell() == keyword.n_nodes_of_cell());
    });
    if (is_second) in_.refuse(fmt::format("has {} twice", keyword.name));
    if (n > 0) index_.sections.push_back({&keyword, n, in_.offset()});
  }
  /// Read an order of nodes here: so few numbers that the index keeps them.
  void take_order(const MeditKeyword& keyword, std::int64_t n) {
    if (n == 0) return;
    const int n_nodes = keyword.n_nodes_of_cell();
    if (n != n_nodes) in_.refuse(fmt::format("has {} rows of {}, but must have {}", n, keyword.name, n_nodes));
    if (index_.find_order(keyword.type, n_nodes) != nullptr) in_.refuse(fmt::format("has {} twice", keyword.name));
    std::vector<std::int64_t> indices(static_cast<std::size_t>(n_nodes) * n_bezier_indices(keyword.type));
    MeditNumbers numbers(in_, index_.head);
    for (std::int64_t& number : indices) number = numbers.integer();
    const std::optional<MeditOrder> order = medit_order(keyword.type, n_nodes, indices);
    if (!order) in_.refuse(fmt::format("has {} that do not name each of the {} nodes once", keyword.name, n_nodes));
    index_.orders.push_back(*order);
  }
  MeditIndex finish() {
    if (index_.n_rows(MeditUse::vertices, mesh::CellType::vertex) == 0) in_.refuse("has no vertices");
    return std::move(index_);
  }

  Scanner in_;
  int n_ranks_;
  MeditIndex index_;
};

/// Indexer of texts. It counts words, not lines: fields may be on one line or on several.
class MeditTextIndexer : private MeditIndexer {
 public:
  MeditTextIndexer(const std::string& path, int n_ranks) : MeditIndexer(path, n_ranks) {
    if (in_.bytes_left() == 0) return;
    in_.skip(in_.bytes_left() - 1);
    is_last_line_whole_ = in_.binary<char>() == '\n';
    in_.go_to(0);
  }

  MeditIndex run() {
    if (!is_same_word(in_.word(), medit_first_word)) in_.refuse("is not a Medit file");
    take_version(in_.number_word<std::int64_t>());
    for (bool is_skipping = false;;) {
      if (!is_skipping && is_at_end()) {
        index_.head.has_end = false;
        return finish();
      }
      const std::string word = next_keyword(is_skipping);
      const MeditKeyword* const keyword = find_medit_keyword(word);
      is_skipping = false;
      if (is_same_word(word, medit_dimension)) {
        dimension();
      } else if (keyword == nullptr) {
        leave_out(word);
        is_skipping = true;
      } else if (keyword->use == MeditUse::end) {
        return finish();
      } else if (keyword->use == MeditUse::ordering) {
        take_order(*keyword, in_.number_word<std::int64_t>());
      } else if (keyword->use == MeditUse::refuse) {
        refuse_cells(*keyword, in_.number_word<std::int64_t>());
        is_skipping = true;
      } else {
        section(*keyword);
      }
    }
  }

 private:
  /// Tell whether a file without End has been read up to its last, whole line.
  bool is_at_end() {
    in_.skip_blank_bytes();
    return in_.bytes_left() == 0 && is_last_line_whole_;
  }
  std::string next_keyword(bool is_skipping) {
    for (;;) {
      const std::string_view word = in_.word();
      if (may_be_keyword(word)) return std::string(word);
      if (!is_skipping) in_.refuse(fmt::format("has '{}' where a keyword was expected", word.substr(0, 60)));
    }
  }
  void dimension() {
    if (!index_.sections.empty()) in_.refuse("has its Dimension after data that depend on it");
    take_dimension(in_.number_word<std::int64_t>());
    has_dimension_ = true;
  }
  void section(const MeditKeyword& keyword) {
    if (!has_dimension_) in_.refuse(fmt::format("must have its Dimension before {}", keyword.name));
    const std::int64_t n = in_.checked_count(in_.number_word<std::int64_t>());
    const std::int64_t begin = in_.offset();
    cut_rows(keyword, n);
    if (n > 0 && has_wide_keyword(keyword) && !is_keyword_next()) cut_wide_rows(keyword, n, begin);
  }
  void cut_rows(const MeditKeyword& keyword, std::int64_t n) {
    add_section(keyword, n);
    if (n == 0) return;
    const MeditRow row = medit_row(keyword, index_.head.dimension);
    const Slabs slabs{n, n_ranks_};
    for (Rank rank = 0; rank < n_ranks_; ++rank) {
      const std::int64_t n_rows = slabs.size(rank);
      if (n_rows == 0) continue;
      index_.starts.push_back({rank, {std::ssize(index_.sections) - 1, in_.offset()}});
      in_.skip_words(n_rows * (row.n_reals + row.n_integers));
    }
  }
  bool is_keyword_next() {
    const std::int64_t here = in_.offset();
    const bool is_keyword = is_at_end() || may_be_keyword(in_.word());
    in_.go_to(here);
    return is_keyword;
  }
  /// Cut the last section again, whose rows have the numbers of another keyword and an order of nodes that is Gmsh's.
  /// Nothing is done if the rows are not of such a length.
  void cut_wide_rows(const MeditKeyword& keyword, std::int64_t n, std::int64_t begin) {
    std::int64_t n_more = 0;
    while (!is_keyword_next()) {
      in_.skip_words(1);
      ++n_more;
    }
    const std::int64_t n_nodes = keyword.n_nodes_of_cell() + n_more / n;
    const MeditKeyword* const wide = n_more % n == 0 ? find_wide_keyword(keyword.code, n_nodes) : nullptr;
    in_.go_to(begin);
    if (wide == nullptr) return in_.skip_words(n * (keyword.n_nodes_of_cell() + 1));
    index_.sections.pop_back();
    std::erase_if(index_.starts,
                  [&](const auto& start) { return start.second.section == std::ssize(index_.sections); });
    cut_rows(*wide, n);
    MeditOrder order = default_medit_order(wide->type, wide->n_nodes);
    std::ranges::copy(gmsh_kind(wide->type, wide->n_nodes)->order, order.places.begin());
    index_.orders.push_back(order);
  }
  bool has_dimension_ = false;
  bool is_last_line_whole_ = false;
};

/// Indexer of binary files. Each keyword states where the next one begins.
class MeditBinaryIndexer : private MeditIndexer {
 public:
  MeditBinaryIndexer(const std::string& path, int n_ranks) : MeditIndexer(path, n_ranks) {}

  MeditIndex run() {
    index_.head.is_binary = true;
    const std::int32_t one = in_.binary<std::int32_t>();
    index_.head.is_swapped = one != 1;
    if (one != 1 && byte_swapped(one) != 1) in_.refuse("is not a Medit file");
    take_version(word());
    if (word() != medit_dimension_code) in_.refuse("must begin with its Dimension");
    const std::int64_t next = position();
    take_dimension(word());
    go_on(next);
    while (section()) {
    }
    return finish();
  }

 private:
  /// Read a code or the dimension: these have 32 bits in all versions.
  std::int32_t word() {
    const auto number = in_.binary<std::int32_t>();
    return index_.head.is_swapped ? byte_swapped(number) : number;
  }
  std::int64_t position() {
    if (index_.head.position_bytes() == 4) return word();
    const auto number = in_.binary<std::int64_t>();
    return index_.head.is_swapped ? byte_swapped(number) : number;
  }
  void go_on(std::int64_t next) {
    const std::int64_t ahead = next - in_.offset();
    if (next < 0 || ahead < 0) in_.refuse(fmt::format("has a keyword that refers to byte {} as the next one", next));
    in_.skip(ahead);
  }
  /// Index a section. @return whether another one follows
  bool section() {
    const std::int32_t code = word();
    const std::int64_t next = position();
    const MeditKeyword* const keyword = find_medit_keyword(code);
    if (keyword == nullptr) {
      leave_out(medit_name(code));
    } else if (keyword->use == MeditUse::end) {
      return false;
    } else {
      rows(*keyword, next);
    }
    if (next != 0) go_on(next);
    return next != 0;
  }
  void rows(const MeditKeyword& keyword, std::int64_t next) {
    const std::int64_t n = in_.checked_count(MeditNumbers(in_, index_.head).integer());
    if (keyword.use == MeditUse::refuse) return refuse_cells(keyword, n);
    if (keyword.use == MeditUse::ordering) return take_order(keyword, n);
    add_section(keyword, n);
    const std::int64_t row_bytes = medit_row(keyword, index_.head.dimension).bytes(index_.head);
    const std::int64_t n_bytes = next == 0 ? in_.bytes_left() : std::min(next - in_.offset(), in_.bytes_left());
    if (n > n_bytes / row_bytes)
      in_.refuse(fmt::format("announces {} {}, which do not fit into the file", n, keyword.name));
    if (next != 0 && n * row_bytes != next - in_.offset())
      in_.refuse(
          fmt::format("has {} bytes for {} {}, which take {}", next - in_.offset(), n, keyword.name, n * row_bytes));
  }
};

}  // namespace

bool is_medit(std::string_view head) noexcept {
  constexpr std::array<std::string_view, 2> first_bytes{std::string_view("\1\0\0\0", 4),
                                                        std::string_view("\0\0\0\1", 4)};
  constexpr std::array<std::string_view, 2> dimension{std::string_view("\3\0\0\0", 4), std::string_view("\0\0\0\3", 4)};
  for (std::size_t order = 0; order < 2; ++order)
    if (head.starts_with(first_bytes[order]) &&
        head.substr(std::min<std::size_t>(8, head.size()), 4) == dimension[order])
      return true;
  constexpr std::string_view blanks = " \t\r\n\v\f";
  for (;;) {
    head.remove_prefix(std::min(head.find_first_not_of(blanks), head.size()));
    if (!head.starts_with('#')) break;
    head.remove_prefix(std::min(head.find('\n'), head.size()));
  }
  const std::string_view word = head.substr(0, head.find_first_of(blanks));
  return is_same_word(word, medit_first_word);
}

MeditIndex index_medit(const std::string& path, int n_ranks) {
  Scanner in(path, medit_remedy);
  const bool is_binary = in.bytes_left() >= 4 && (in.binary<std::uint8_t>() <= 1);
  return is_binary ? MeditBinaryIndexer(path, n_ranks).run() : MeditTextIndexer(path, n_ranks).run();
}

}  // namespace barrio::io::detail
