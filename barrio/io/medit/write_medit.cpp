#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "barrio/base/error.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/io/medit/medit_file.hpp"
#include "barrio/io/medit/medit_references.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/written_file.hpp"

namespace barrio::io {
namespace {

using detail::MeditHead;
using detail::MeditKeyword;
using detail::MeditSets;
using detail::MeditUse;
using mesh::CellBlock;
using mesh::CellType;
using mesh::Dim;
using mesh::MeshTables;

constexpr RegionName medit_region{"io.write"};

/// Numbers in the encoding of a file.
class MeditPiece {
 public:
  explicit MeditPiece(const MeditHead& head) : head_(head) {}

  void real(double x) {
    if (head_.is_binary) return bytes(x);
    fmt::format_to(fmt::appender(text_), "{} ", x);
  }
  void integer(std::int64_t number) {
    if (!head_.is_binary) {
      fmt::format_to(fmt::appender(text_), "{} ", number);
    } else if (head_.integer_bytes() == 8) {
      bytes(number);
    } else {
      word(number);
    }
  }
  void end_row() {
    if (!head_.is_binary) text_[text_.size() - 1] = '\n';  // in place of the blank
  }
  /// Append a number of 32 bits; for binary files only.
  void word(std::int64_t number) { bytes(static_cast<std::int32_t>(number)); }
  void position(std::uint64_t place) {
    const std::int64_t number = place;
    head_.position_bytes() == 8 ? bytes(number) : word(number);
  }
  void text(std::string_view words) { text_.append(words); }
  [[nodiscard]] std::string_view view() const& noexcept { return {text_.data(), text_.size()}; }

 private:
  template <class T>
  void bytes(T item) {
    const auto* const first = reinterpret_cast<const char*>(&item);
    text_.append(first, first + sizeof item);
  }
  const MeditHead& head_;
  fmt::memory_buffer text_;
};

/// @throws AgreedError{usage} naming cells that Medit files cannot hold
void check_medit_cells(const MeshTables& tables, const std::string& path) {
  for (const CellBlock& block : tables.blocks) {
    const mesh::CellTopology& topology = mesh::topology(block.type);
    const bool has_keyword = detail::medit_cells(block.type) != nullptr;
    if (block.rows.n_rows == 0 || (has_keyword && block.nodes_per_cell == topology.n_corners)) continue;
    throw AgreedError(
        ErrorCode::usage,
        {.subject = path,
         .cause = has_keyword ? fmt::format("has {} of {} nodes, which barrio does not write to Medit files",
                                            topology.plural, block.nodes_per_cell)
                              : fmt::format("has {}, which Medit files cannot hold", topology.plural),
         .remedy =
             has_keyword ? "cut its cells to their corners: barrio convert --to-linear, or write .h5m" : "write .h5m"});
  }
}

class MeditWriter {
 public:
  MeditWriter(mpi::Context& context, const MeshTables& tables, const std::string& path)
      : context_(context), tables_(tables), path_(path), sets_(detail::medit_sets(context, tables)) {}

  void run() {
    tell_of_lost();
    choose_head();
    mpi::WrittenFile file(context_, path_);
    file_ = &file;
    write_beginning();
    for (const MeditKeyword& keyword : detail::medit_keywords()) {
      if (keyword.use == MeditUse::vertices) write_vertices(keyword);
      if (keyword.use == MeditUse::cells) write_cells(keyword);
      if (keyword.use == MeditUse::list) write_list(keyword);
    }
    write_end();
    file.close();
  }

 private:
  void tell_of_lost() {
    std::vector<std::string> lost = sets_.lost;
    for (const mesh::TagTable& tag : tables_.tags)
      if (tag.info.name != detail::global_id_tag && tag.info.name != detail::name_tag)
        lost.push_back(fmt::format("tag '{}'", tag.info.name));
    if (tables_.n_parts > 0) lost.emplace_back("the partition");
    if (!lost.empty())
      context_.log().notice(
          fmt::format("{}: Medit cannot hold {}; .h5m keeps all of it", path_, fmt::join(lost, ", ")));
  }

  [[nodiscard]] std::int64_t n_cells(CellType type) const {
    std::int64_t n = 0;
    for (const CellBlock& block : tables_.blocks) n += block.type == type ? block.rows.n_rows : 0;
    return n;
  }

  /// Choose a version that old programs read, if numbers and positions fit. Collective.
  void choose_head() {
    int is_flat = tables_.top_dim() == Dim::volume ? 0 : 1;
    for (std::size_t i = 2; i < tables_.coordinates.size() && is_flat > 0; i += 3)
      is_flat = tables_.coordinates[i] == 0.0 ? 1 : 0;
    head_ = {.is_binary = path_.ends_with('b'), .version = 2, .dimension = mpi::min(context_, is_flat) > 0 ? 2 : 3};
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    std::int64_t n_rows = tables_.vertices.n_rows;
    std::int64_t n_bytes = 1000 + n_rows * detail::medit_row(*detail::find_medit_keyword("Vertices"), 3).bytes(head_);
    for (const MeditKeyword& keyword : detail::medit_keywords()) {
      if (keyword.use != MeditUse::cells) continue;
      const std::int64_t n = n_cells(keyword.type);
      n_rows = std::max(n_rows, n);
      n_bytes +=
          n * detail::medit_row(keyword, 3).bytes(head_) + n * head_.integer_bytes();  // each may be in a list too
    }
    if (head_.is_binary && n_bytes > most) head_.version = 3;
    if (n_rows > most) head_.version = 4;
  }

  void write_beginning() {
    MeditPiece piece(head_);
    if (context_.is_root() && head_.is_binary) {
      piece.word(1);
      piece.word(head_.version);
      piece.word(detail::medit_dimension_code);
      piece.position(16 + head_.position_bytes());
      piece.word(head_.dimension);
    } else if (context_.is_root()) {
      piece.text(fmt::format("{} {}\n{} {}\n", detail::medit_first_word, head_.version, detail::medit_dimension,
                             head_.dimension));
    }
    file_->append(piece.view());
  }
  void write_end() {
    MeditPiece piece(head_);
    if (context_.is_root() && head_.is_binary) {
      piece.word(detail::medit_end_code);
      piece.position(0);
    } else if (context_.is_root()) {
      piece.text("\nEnd\n");
    }
    file_->append(piece.view());
  }

  /// Write the keyword and the count in front of rows: on rank 0, whose rows are the first.
  void begin_rows(MeditPiece& piece, const MeditKeyword& keyword, std::int64_t n) const {
    if (!context_.is_root()) return;
    if (!head_.is_binary) {
      piece.text(fmt::format("\n{}\n{}\n", keyword.name, n));
      return;
    }
    const std::int64_t n_bytes = 4 + head_.position_bytes() + head_.integer_bytes() +
                                 n * detail::medit_row(keyword, head_.dimension).bytes(head_);
    piece.word(keyword.code);
    piece.position(file_->size() + n_bytes);
    piece.integer(n);
  }

  void write_vertices(const MeditKeyword& keyword) {
    MeditPiece piece(head_);
    begin_rows(piece, keyword, tables_.vertices.n_rows);
    const std::vector<std::int32_t>& references = sets_.references[0];
    for (std::size_t i = 0; i < references.size(); ++i) {
      for (int d = 0; d < head_.dimension; ++d) piece.real(tables_.coordinates[3 * i + d]);
      piece.integer(references[i]);
      piece.end_row();
    }
    file_->append(piece.view());
  }

  /// Write the blocks of one type after each other, under one keyword.
  void write_cells(const MeditKeyword& keyword) {
    const std::int64_t n = n_cells(keyword.type);
    if (n == 0) return;
    bool is_first = true;
    for (std::size_t b = 0; b < tables_.blocks.size(); ++b) {
      const CellBlock& block = tables_.blocks[b];
      if (block.type != keyword.type) continue;
      MeditPiece piece(head_);
      if (std::exchange(is_first, false)) begin_rows(piece, keyword, n);
      for (std::size_t i = 0; i < block.rows.size(context_.rank()); ++i) {
        for (const GlobalId vertex : block.cell(i)) piece.integer(value(vertex) + 1);
        piece.integer(sets_.references[b + 1][i]);
        piece.end_row();
      }
      file_->append(piece.view());
    }
  }

  void write_list(const MeditKeyword& keyword) {
    const std::vector<std::int64_t>& rows = std::ranges::find(sets_.lists, keyword.name, &MeditSets::List::name)->rows;
    const std::int64_t n = mpi::sum(context_, std::ssize(rows));
    if (n == 0) return;
    MeditPiece piece(head_);
    begin_rows(piece, keyword, n);
    for (const std::int64_t row : rows) {
      piece.integer(number_of(keyword.type, row));
      piece.end_row();
    }
    file_->append(piece.view());
  }

  /// Return the number of a row of a dimension in the file, from 1. @pre it is of the type
  [[nodiscard]] std::int64_t number_of(CellType type, std::int64_t row) const {
    if (type == CellType::vertex) return row + 1;
    std::int64_t before = 0;  // rows of the type in earlier blocks
    for (std::size_t b = 0; b < tables_.blocks.size(); ++b) {
      const CellBlock& block = tables_.blocks[b];
      if (block.type != type) continue;
      const std::int64_t in_block = row - tables_.first_row(b);
      if (in_block >= 0 && in_block < block.rows.n_rows) return before + in_block + 1;
      before += block.rows.n_rows;
    }
    return 0;
  }

  mpi::Context& context_;
  const MeshTables& tables_;
  const std::string& path_;
  MeditSets sets_;
  MeditHead head_;
  mpi::WrittenFile* file_ = nullptr;
};

}  // namespace

void write_medit(mpi::Context& context, const MeshTables& tables, const std::string& path) {
  const Region region(context.trace(), medit_region);
  check_medit_cells(tables, path);
  MeditWriter(context, tables, path).run();
}

}  // namespace barrio::io
