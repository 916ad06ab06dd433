#include "barrio/io/medit/medit_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "barrio/base/slabs.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/io/common/share_catalog.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {
namespace {

template <class T>
T byte_swapped(T value) {
  std::array<std::byte, sizeof(T)> bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
  std::ranges::reverse(bytes);
  return std::bit_cast<T>(bytes);
}

/// Reader of numbers in the encoding of a file.
class MeditNumbers {
 public:
  MeditNumbers(Scanner& in, const MeditHead& head) : in_(in), head_(head) {}

  std::int64_t integer() {
    std::int64_t number = 0;
    integers({&number, 1});
    return number;
  }
  void integers(std::span<std::int64_t> numbers) {
    if (!head_.is_binary) {
      for (std::int64_t& number : numbers) number = in_.number_word<std::int64_t>();
    } else if (head_.integer_bytes() == 8) {
      binary<std::int64_t>(numbers);
    } else {
      binary<std::int32_t>(numbers);
    }
  }
  void reals(std::span<double> numbers) {
    if (!head_.is_binary) {
      for (double& number : numbers) number = in_.number_word<double>();
    } else if (head_.real_bytes() == 8) {
      binary<double>(numbers);
    } else {
      binary<float>(numbers);
    }
  }

 private:
  template <class InFile, class T>
  void binary(std::span<T> numbers) {
    std::array<InFile, max_numbers> row{};
    const std::span<InFile> read = std::span(row).first(numbers.size());
    in_.binary(read);
    std::ranges::transform(read, numbers.begin(), [&](InFile number) {
      return static_cast<T>(head_.is_swapped ? byte_swapped(number) : number);
    });
  }
  static constexpr std::size_t max_numbers = 16;  // more than any row has
  Scanner& in_;
  const MeditHead& head_;
};

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
    if (version < 1 || version > 4)
      in_.refuse(fmt::format("is of version {}; barrio reads 1 to 4", version), "save it as version 2");
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
               "save a mesh of first order, without polygons and polyhedra");
  }
  void add_section(const MeditKeyword& keyword, std::int64_t n) {
    const bool is_second = std::ranges::any_of(
        index_.sections, [&](const MeditIndex::Section& section) { return section.keyword->code == keyword.code; });
    if (is_second) in_.refuse(fmt::format("has {} twice", keyword.name));
    if (n > 0) index_.sections.push_back({&keyword, n, in_.offset()});
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
  MeditTextIndexer(const std::string& path, int n_ranks) : MeditIndexer(path, n_ranks) {}

  MeditIndex run() {
    if (!is_same_word(in_.word(), medit_first_word)) in_.refuse("is not a Medit file");
    take_version(in_.number_word<std::int64_t>());
    for (bool is_skipping = false;;) {
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
      } else if (keyword->use == MeditUse::refuse) {
        refuse_cells(*keyword, in_.number_word<std::int64_t>());
        is_skipping = true;
      } else {
        section(*keyword);
      }
    }
  }

 private:
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
  bool has_dimension_ = false;
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

/// A section in the form in which it is sent.
struct SentMeditSection {
  std::int64_t code;
  std::int64_t n;
  std::int64_t offset;
};

}  // namespace

MeditRow medit_row(const MeditKeyword& keyword, int dimension) noexcept {
  switch (keyword.use) {
    case MeditUse::vertices: return {dimension, 1};
    case MeditUse::cells: return {0, mesh::topology(keyword.type).n_corners + 1};
    default: return {0, 1};
  }
}

std::int64_t MeditIndex::n_rows(MeditUse use, mesh::CellType type) const noexcept {
  const auto found = std::ranges::find_if(
      sections, [&](const Section& section) { return section.keyword->use == use && section.keyword->type == type; });
  return found == sections.end() ? 0 : found->n;
}

void MeditIndex::share(mpi::Context& context) {
  mpi::broadcast(context, std::span(&head, 1));
  std::vector<SentMeditSection> sent;
  for (const Section& section : sections) sent.push_back({section.keyword->code, section.n, section.offset});
  mpi::broadcast(context, sent);
  sections.clear();
  for (const SentMeditSection& section : sent)
    sections.push_back({find_medit_keyword(static_cast<int>(section.code)), section.n, section.offset});
  share_catalog(context, left_out);
  if (head.is_binary) {
    for (Section& section : sections)
      section.offset += Slabs{section.n, context.size()}.first(context.rank()) *
                        medit_row(*section.keyword, head.dimension).bytes(head);
    return;
  }
  std::vector<Rank> to;
  std::vector<Start> items;
  for (const auto& [rank, start] : starts) {
    to.push_back(rank);
    items.push_back(start);
  }
  for (const Start& start : exchange::route(context, exchange::pack_by_rank<Start>(to, items)).items)
    sections[start.section].offset = start.offset;
  starts.clear();
}

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

void read_medit_rows(Scanner& in, const MeditIndex& index, const MeditIndex::Section& section, std::int64_t n,
                     const std::function<void(const MeditEntry&)>& visit) {
  if (n == 0) return;
  const MeditKeyword& keyword = *section.keyword;
  const MeditRow row = medit_row(keyword, index.head.dimension);
  const bool is_list = keyword.use == MeditUse::list;
  const std::int64_t n_named =
      index.n_rows(is_list && keyword.type != mesh::CellType::vertex ? MeditUse::cells : MeditUse::vertices,
                   is_list ? keyword.type : mesh::CellType::vertex);
  std::array<std::int64_t, 16> integers{};
  const auto read = std::span(integers).first(row.n_integers);
  const std::span<std::int64_t> named = is_list ? read : read.first(read.size() - 1);
  MeditEntry entry{.numbers = named};
  in.go_to(section.offset);
  MeditNumbers numbers(in, index.head);
  for (std::int64_t i = 0; i < n; ++i) {
    numbers.reals(std::span(entry.x).first(row.n_reals));
    numbers.integers(read);
    for (std::int64_t& number : named) {
      if (number < 1 || number > n_named)
        in.refuse(fmt::format("has {} with number {}, but there are {} {}", keyword.name, number, n_named,
                              mesh::topology(is_list ? keyword.type : mesh::CellType::vertex).plural));
      number -= 1;
    }
    if (!is_list) entry.reference = read.back();
    visit(entry);
  }
}

}  // namespace barrio::io::detail
