#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "barrio/base/error.hpp"
#include "barrio/io/common/id_sets.hpp"
#include "barrio/io/common/listed_sides.hpp"
#include "barrio/io/common/new_tags.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/io/medit/medit_file.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

// Rows of a keyword are rows of one table, in the same order, so each rank reads its slabs and no data moves. For texts
// rank 0 scans the file once with a bounded buffer and finds where each rank's slabs begin.

namespace barrio::io::detail {
namespace {

using mesh::CellBlock;
using mesh::CellType;
using mesh::Dim;
using mesh::MeshTables;
using mesh::SetKind;
using MeditSection = MeditIndex::Section;

class MeditTablesMaker {
 public:
  MeditTablesMaker(mpi::Context& context, const std::string& path, const MeditIndex& index)
      : context_(context), path_(path), index_(index) {}

  MeshTables run() {
    add_blocks();
    agree_after(context_, [&] {
      Scanner in(path_, medit_remedy, '#');
      for (const MeditSection& section : index_.sections) read(in, section);
    });
    if (tables_.top_dim() == Dim::vertex)
      throw AgreedError(ErrorCode::bad_input,
                        {.subject = path_, .cause = "has no cells other than points", .remedy = no_cells_remedy});
    add_reference_sets();
    add_lists();
    tell_of_doubts();
    if (!index_.left_out.empty())
      context_.log().notice(
          fmt::format("{}: keywords of Medit are left out: {}", path_, fmt::join(index_.left_out, ", ")));
    return std::move(tables_);
  }

 private:
  void tell_of_doubts() {
    if (!index_.head.has_end)
      context_.log().notice(
          fmt::format("{}: has no 'End'; it was read up to its last line, so later keywords may lack", path_));
    const std::vector<std::string> guessed = index_.guessed_orders();
    if (!guessed.empty())
      context_.log().notice(fmt::format(
          "{}: does not state the order of the nodes of {}: taken are corners, nodes on the edges of the base, of the "
          "top, between them, on faces, inside",
          path_, fmt::join(guessed, ", ")));
  }

  /// Add blocks in ascending dimension and type, as .h5m files have them.
  void add_blocks() {
    tables_.vertices = {index_.n_rows(MeditUse::vertices, CellType::vertex), context_.size()};
    for (int t = 0; t < mesh::n_cell_types; ++t) {
      const auto type = static_cast<CellType>(t);
      for (const bool is_second_order : {false, true})
        for (const MeditSection& section : index_.sections) {
          const MeditKeyword& keyword = *section.keyword;
          if (keyword.use == MeditUse::cells && keyword.type == type && (keyword.n_nodes > 0) == is_second_order)
            tables_.blocks.push_back({type, {section.n, context_.size()}, keyword.n_nodes_of_cell(), {}, {}});
        }
    }
    references_.resize(tables_.blocks.size() + 1);
  }

  [[nodiscard]] std::size_t block_of(const MeditKeyword& cells) const {
    const auto is_it = [&](const CellBlock& block) {
      return block.type == cells.type && block.nodes_per_cell == cells.n_nodes_of_cell();
    };
    return std::ranges::find_if(tables_.blocks, is_it) - tables_.blocks.begin();
  }

  /// Read this rank's rows. Local.
  void read(Scanner& in, const MeditSection& section) {
    const std::int64_t n = Slabs{section.n, context_.size()}.size(context_.rank());
    const auto visit_rows = [&](const auto& visit) { read_medit_rows(in, index_, section, n, visit); };
    switch (section.keyword->use) {
      case MeditUse::vertices:
        tables_.coordinates.reserve(3 * n);
        visit_rows([&](const MeditEntry& vertex) {
          tables_.coordinates.insert(tables_.coordinates.end(), vertex.x.begin(), vertex.x.end());
          references_[0].push_back(vertex.reference);
        });
        break;
      case MeditUse::cells: {
        const std::size_t b = block_of(*section.keyword);
        visit_rows([&](const MeditEntry& cell) {
          for (const std::int64_t vertex : cell.numbers) tables_.blocks[b].nodes.push_back(GlobalId{vertex});
          references_[b + 1].push_back(cell.reference);
        });
        break;
      }
      default: {
        std::vector<std::int64_t>& rows = lists_.emplace_back();
        visit_rows([&](const MeditEntry& entry) { rows.push_back(entry.numbers[0]); });
        break;
      }
    }
  }

  void add_reference_sets() {
    IdSets of_cells;
    for (std::int32_t b = 0; b < std::ssize(tables_.blocks); ++b) add_references(of_cells, b);
    const bool has_sets = of_cells.move_into(context_, tables_);
    IdSets of_vertices;
    add_references(of_vertices, -1);
    const std::size_t n_before = tables_.sets.size();
    const bool has_vertex_sets = of_vertices.move_into(context_, tables_);
    for (std::size_t s = n_before; s < tables_.sets.size(); ++s) tables_.sets[s].kind = SetKind::dirichlet;
    if (!has_sets || !has_vertex_sets) keep_as_tag(!has_sets, !has_vertex_sets);
  }
  void add_references(IdSets& sets, std::int32_t block) const {
    const Dim dim = block < 0 ? Dim::vertex : mesh::topology(tables_.blocks[block].type).dim;
    std::int64_t row = tables_.slabs_of(block).first(context_.rank());
    if (block >= 0) row += tables_.first_row(block);
    for (const std::int64_t reference : references_[block + 1]) {
      if (reference != 0) sets.add(dim, reference, row);
      row += 1;
    }
  }

  /// Keep as a tag the references that are too many, or too large, for ids of sets.
  void keep_as_tag(bool of_cells, bool of_vertices) {
    std::int64_t highest = 0;
    for (const std::vector<std::int64_t>& some : references_)
      for (const std::int64_t reference : some)
        highest = std::max(highest, reference < 0 ? -(reference + 1) : reference);
    highest = mpi::max(context_, highest);
    if (highest > std::int64_t{1} << 53)
      throw AgreedError(ErrorCode::bad_input, {.subject = path_,
                                               .cause = "has references that neither 32 bits nor a double can hold",
                                               .remedy = "give its cells and vertices smaller references"});
    const bool is_narrow = highest <= std::numeric_limits<std::int32_t>::max();
    NewTags tags(context_, tables_, without_);
    mesh::TagTable* const tag =
        tags.find_or_add("reference", is_narrow ? mesh::TagType::int32 : mesh::TagType::float64);
    for (std::int32_t b = of_vertices ? -1 : 0; b < (of_cells ? std::ssize(tables_.blocks) : 0); ++b) {
      const std::vector<std::int64_t>& values = references_[b + 1];
      tag->columns.push_back(is_narrow ? dense_column(b, std::vector<std::int32_t>(values.begin(), values.end()))
                                       : dense_column(b, std::vector<double>(values.begin(), values.end())));
    }
    context_.log().notice(
        fmt::format("{}: the references of {} are too many or too large for ids of sets; they "
                    "become the tag 'reference'",
                    path_,
                    of_cells && of_vertices ? "cells and vertices"
                    : of_cells              ? "cells"
                                            : "vertices"));
  }

  void add_lists() {
    auto rows = lists_.begin();
    for (const MeditSection& section : index_.sections) {
      const MeditKeyword& keyword = *section.keyword;
      if (keyword.use != MeditUse::list) continue;
      const Dim dim = mesh::topology(keyword.type).dim;
      const std::int64_t first =
          dim == Dim::vertex ? 0 : tables_.first_row(block_of(*index_.find(MeditUse::cells, keyword.type)->keyword));
      for (std::int64_t& row : *rows) row += first;
      const std::int32_t set = add_set(tables_, {SetKind::other, 0, std::string(keyword.name)});
      add_members(tables_, set, dim, std::move(*rows++));
    }
  }

  mpi::Context& context_;
  const std::string& path_;
  const MeditIndex& index_;
  MeshTables tables_;
  std::vector<std::vector<std::int64_t>> references_;  // of vertices, then of each block
  std::vector<std::vector<std::int64_t>> lists_;       // rows, as the file counts them; in the order of the file
  std::vector<std::string> without_;                   // empty: tags are left out later
};

}  // namespace

MeshTables read_medit(mpi::Context& context, const std::string& path) {
  MeditIndex index;
  agree_after(context, [&] {
    if (context.is_root()) index = index_medit(path, context.size());
  });
  index.share(context);
  return MeditTablesMaker(context, path, index).run();
}

}  // namespace barrio::io::detail
