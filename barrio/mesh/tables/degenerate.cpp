#include "barrio/mesh/degenerate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/exchange/ask.hpp"
#include "barrio/exchange/outbox.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/memberships.hpp"
#include "barrio/mesh/tables/collapse.hpp"
#include "barrio/mesh/tables/sound_nodes.hpp"
#include "barrio/mesh/tables/tag_rows.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {

std::string_view name(Degenerate degenerate) noexcept { return degenerate == Degenerate::keep ? "keep" : "reduce"; }

Degenerate degenerate_named(std::string_view name) {
  for (const Degenerate one : {Degenerate::keep, Degenerate::reduce})
    if (mesh::name(one) == name) return one;
  throw Error(
      ErrorCode::usage,
      {.subject = "degenerate", .cause = fmt::format("'{}' is not known", name), .remedy = "'keep' and 'reduce' are"});
}

std::string DegenerateCells::text() const {
  const auto cells = [](std::int64_t n, CellType type) {
    return fmt::format("{} {}", n, n == 1 ? topology(type).name : topology(type).plural);
  };
  std::vector<std::string> parts;
  for (const auto& [types, n] : reduced)
    parts.push_back(n == 1 ? fmt::format("{} became a {}", cells(n, types.first), topology(types.second).name)
                           : fmt::format("{} became {}", cells(n, types.first), topology(types.second).plural));
  for (const auto& [type, n] : dropped)
    parts.push_back(fmt::format("{} {} dropped", cells(n, type), n == 1 ? "was" : "were"));
  for (const auto& [type, n] : kept) parts.push_back(fmt::format("{} stayed", cells(n, type)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

namespace {

using detail::Collapse;
using Outcome = Collapse::Outcome;

/// What the degenerate cells of a block become.
class Collapses {
 public:
  /// Local. The answer holds until the next call.
  const Collapse& of(const CellBlock& block, std::span<const GlobalId> nodes) {
    static constexpr Collapse sound{};
    static constexpr Collapse other{Outcome::other};
    const std::size_t n = topology(block.type).n_corners;
    Pattern pattern{};
    bool is_sound = true;
    for (std::size_t i = 0; i < n; ++i) {
      const auto first = std::ranges::find(nodes.first(i), nodes[i]) - nodes.begin();
      pattern[i] = static_cast<std::int8_t>(first);
      is_sound = is_sound && first == static_cast<std::ptrdiff_t>(i);
    }
    if (is_sound) return sound;
    if (nodes.size() > n) return other;
    const auto [known, is_new] = known_.try_emplace({block.type, pattern});
    if (is_new) known->second = detail::collapse_of(block.type, std::span(pattern).first(n));
    return known->second;
  }

 private:
  using Pattern = std::array<std::int8_t, 8>;
  std::map<std::pair<CellType, Pattern>, Collapse> known_;
};

/// Numbers by old type, then by new type; behind those: dropped, kept.
class Counts {
 public:
  static constexpr std::size_t n_types = n_cell_types;

  void add(CellType type, const Collapse& collapse) {
    const std::size_t column = collapse.outcome == Outcome::smaller ? static_cast<std::size_t>(collapse.type)
                               : collapse.outcome == Outcome::flat  ? n_types
                                                                    : n_types + 1;
    n_[static_cast<std::size_t>(type) * (n_types + 2) + column] += 1;
  }
  /// Collective.
  DegenerateCells sum(mpi::Context& context) {
    mpi::all_reduce(context, std::span<std::int64_t>(n_), MPI_SUM);
    DegenerateCells cells;
    for (std::size_t i = 0; i < n_.size(); ++i) {
      if (n_[i] == 0) continue;
      const auto type = static_cast<CellType>(i / (n_types + 2));
      const std::size_t column = i % (n_types + 2);
      if (column < n_types) cells.reduced[{type, static_cast<CellType>(column)}] = n_[i];
      if (column == n_types) cells.dropped[type] = n_[i];
      if (column > n_types) cells.kept[type] = n_[i];
    }
    return cells;
  }

 private:
  std::array<std::int64_t, n_types*(n_types + 2)> n_{};
};

/// Call `visit(block, cell, collapse)` for the degenerate cells here.
template <class Visit>
void for_each_degenerate(const MeshTables& tables, Collapses& collapses, Visit&& visit) {
  for (std::size_t b = 0; b < tables.blocks.size(); ++b) {
    const CellBlock& block = tables.blocks[b];
    if (topology(block.type).n_corners == 0 || block.nodes_per_cell == 0) continue;
    if (detail::has_sound_nodes(block, tables.vertices.n_rows)) continue;
    const std::size_t n = block.nodes.size() / block.nodes_per_cell;
    for (std::size_t i = 0; i < n; ++i)
      if (const Collapse& collapse = collapses.of(block, block.cell(i)); collapse.outcome != Outcome::sound)
        visit(b, i, collapse);
  }
}

/// Where a cell goes; no block: nowhere.
struct Target {
  static constexpr std::int32_t no_block = -1;
  std::int32_t block;
  std::int64_t row;  ///< in the block
};

/// Moves cells from some blocks to their old and new ones.
class Reducer {
 public:
  Reducer(mpi::Context& context, MeshTables& tables) : context_(context), tables_(tables) {}

  void run(const DegenerateCells& found) {
    before_.vertices = tables_.vertices;
    for (const CellBlock& block : tables_.blocks) before_.blocks.push_back({block.type, block.rows, 0, {}, {}});
    std::vector<Membership> members = memberships_at_home(context_, tables_);
    find_targets(found);
    move_cells();
    move_members(members);
    for (TagTable& tag : tables_.tags) move_tag(tag);
    remove_empty_blocks();
  }

 private:
  [[nodiscard]] Slabs& rows_of(std::int32_t block) { return tables_.blocks[block].rows; }

  void find_targets(const DegenerateCells& found) {
    const std::size_t n_before = tables_.blocks.size();
    std::vector<std::int32_t> block_of(Counts::n_types, Target::no_block);
    for (const auto& [types, n] : found.reduced) {
      std::int32_t& block = block_of[static_cast<std::size_t>(types.second)];
      if (block == Target::no_block) {
        block = static_cast<std::int32_t>(tables_.blocks.size());
        tables_.blocks.push_back({types.second, {0, context_.size()}, topology(types.second).n_corners, {}, {}});
      }
      rows_of(block).n_rows += n;
    }
    Collapses collapses;
    std::vector<int> changes(n_before, 0);
    targets_.resize(n_before);
    for_each_degenerate(tables_, collapses, [&](std::size_t b, std::size_t, const Collapse& collapse) {
      if (collapse.outcome != Outcome::other) changes[b] = 1;
    });
    mpi::all_reduce(context_, std::span<int>(changes), MPI_MAX);
    std::vector<std::int64_t> n_taken(tables_.blocks.size(), 0);  // of the rows of new blocks
    for (std::size_t b = 0; b < n_before; ++b)
      if (changes[b] != 0) find_targets_of(b, block_of, n_taken);
  }

  void find_targets_of(std::size_t b, const std::vector<std::int32_t>& block_of, std::vector<std::int64_t>& n_taken) {
    CellBlock& block = tables_.blocks[b];
    const std::size_t n_cells = block.rows.size(context_.rank());
    std::vector<std::int64_t> n_here(tables_.blocks.size(), 0);
    auto& targets = targets_[b].emplace();
    targets.resize(n_cells);
    Collapses collapses;
    for (std::size_t i = 0; i < n_cells; ++i) {
      const Collapse& collapse = collapses.of(block, block.cell(i));
      targets[i] = {static_cast<std::int32_t>(b), 0};
      if (collapse.outcome == Outcome::flat) targets[i].block = Target::no_block;
      if (collapse.outcome == Outcome::smaller) targets[i].block = block_of[static_cast<std::size_t>(collapse.type)];
      if (targets[i].block != Target::no_block) targets[i].row = n_here[targets[i].block]++;
    }
    std::vector<std::int64_t> n_all = n_here;
    mpi::exclusive_sum(context_, std::span<std::int64_t>(n_here));
    mpi::all_reduce(context_, std::span<std::int64_t>(n_all), MPI_SUM);
    for (Target& target : targets)
      if (target.block != Target::no_block) target.row += n_here[target.block] + n_taken[target.block];
    for (std::size_t t = 0; t < n_all.size(); ++t) n_taken[t] += n_all[t];
    n_left_[b] = n_all[b];
  }

  /// Move the cells. Each travels as words: block, row, part, nodes.
  void move_cells() {
    exchange::Outbox outbox;
    Collapses collapses;
    for (const auto& [b, n] : n_left_) tables_.blocks[b].rows.n_rows = n;
    const Dim top = before_.top_dim();
    std::vector<std::vector<std::int32_t>> parts(tables_.blocks.size());
    std::size_t at_part = 0;
    for (std::size_t b = 0; b < before_.blocks.size(); ++b) {
      CellBlock& block = tables_.blocks[b];
      const std::size_t n = before_.blocks[b].rows.size(context_.rank());
      const bool has_parts = tables_.n_parts > 0 && topology(block.type).dim == top;
      const auto part = [&](std::size_t i) { return has_parts ? tables_.parts[at_part + i] : -1; };
      for (std::size_t i = 0; i < n && has_parts && !targets_[b]; ++i) parts[b].push_back(part(i));
      for (std::size_t i = 0; i < n && targets_[b]; ++i) {
        const Target target = (*targets_[b])[i];
        if (target.block == Target::no_block) continue;
        const auto nodes = block.cell(i);
        auto& words = outbox.begin(rows_of(target.block).rank_of(target.row));
        words.insert(words.end(), {target.block, target.row, part(i)});
        if (target.block == static_cast<std::int32_t>(b)) {
          for (const GlobalId node : nodes) words.push_back(value(node));
        } else {
          const Collapse& collapse = collapses.of(block, nodes);
          for (int c = 0; c < topology(collapse.type).n_corners; ++c)
            words.push_back(value(nodes[collapse.corners[c]]));
        }
      }
      if (targets_[b]) block.nodes.clear();
      at_part += has_parts ? n : 0;
    }
    take_cells(exchange::route(context_, outbox.parcels()).items, parts);
    if (tables_.n_parts == 0) return;
    tables_.parts.clear();
    for (const auto& of_block : parts) tables_.parts.insert(tables_.parts.end(), of_block.begin(), of_block.end());
  }

  void take_cells(std::span<const std::int64_t> words, std::vector<std::vector<std::int32_t>>& parts) {
    struct Arrived {
      std::int64_t block;
      std::int64_t row;
      std::int32_t part;
      std::span<const std::int64_t> nodes;
    };
    std::vector<Arrived> arrived;
    for (exchange::WordReader in(words); !in.done();) {
      Arrived& one = arrived.emplace_back(Arrived{in.get(), 0, 0, {}});
      one.row = in.get();
      one.part = static_cast<std::int32_t>(in.get());
      one.nodes = in.get(tables_.blocks[one.block].nodes_per_cell);
    }
    std::ranges::sort(arrived, {}, [](const Arrived& one) { return std::tuple(one.block, one.row); });
    for (const Arrived& one : arrived) {
      CellBlock& block = tables_.blocks[one.block];
      for (const std::int64_t node : one.nodes) block.nodes.push_back(GlobalId{node});
      if (one.part >= 0) parts[one.block].push_back(one.part);
    }
  }

  /// The block that held a row of a dimension, and the row in the block. @pre it existed; no vertex
  [[nodiscard]] std::pair<std::size_t, std::int64_t> place_before(Dim dim, std::int64_t row) const {
    std::size_t b = 0;
    for (; b < before_.blocks.size(); ++b) {
      if (topology(before_.blocks[b].type).dim != dim) continue;
      if (row < before_.blocks[b].rows.n_rows) break;
      row -= before_.blocks[b].rows.n_rows;
    }
    return {b, row};
  }
  /// The new row, in its dimension, of a cell here; -1: dropped.
  [[nodiscard]] std::int64_t row_after(std::size_t b, std::int64_t row) const {
    if (!targets_[b]) return tables_.first_row(b) + row;
    const Target target = (*targets_[b])[row - before_.blocks[b].rows.first(context_.rank())];
    return target.block == Target::no_block ? -1 : tables_.first_row(target.block) + target.row;
  }

  void move_members(std::vector<Membership>& members) {
    for (Membership& member : members) {
      if (member.dim == Dim::vertex) continue;
      const auto [b, row] = place_before(member.dim, member.row);
      member.row = row_after(b, row);
    }
    std::erase_if(members, [](const Membership& member) { return member.row < 0; });
    tables_.members = as_runs(members);
  }

  void move_tag(TagTable& tag) {
    if (tag.info.type == TagType::entity) translate_codes(tag);
    std::vector<TagColumn> moved;  // values are borrowed from here
    for (TagColumn& column : tag.columns)
      if (column.block >= 0 && targets_[column.block]) moved.push_back(std::move(column));
    if (moved.empty()) return;
    std::erase_if(tag.columns,
                  [&](const TagColumn& column) { return column.block >= 0 && targets_[column.block].has_value(); });
    std::vector<detail::TagRow> rows;
    for (const TagColumn& column : moved) {
      const auto& targets = *targets_[column.block];
      const std::size_t n = column.is_dense ? targets.size() : column.rows.size();
      for (std::size_t i = 0; i < n; ++i) {
        const Target target = targets[column.is_dense ? i : static_cast<std::size_t>(column.rows[i])];
        if (target.block != Target::no_block)
          rows.push_back({target.block, target.row, column.items.value(i, tag.info.value_bytes())});
      }
    }
    detail::add_columns(context_, rows, tag, tables_);
  }

  /// Make values that are entities name the new rows. Collective.
  void translate_codes(TagTable& tag) {
    std::vector<std::vector<std::byte>*> all{&tag.info.default_value, &tag.info.mesh_value, &tag.on_sets.items.bytes};
    for (TagColumn& column : tag.columns) all.push_back(&column.items.bytes);
    struct CodeAt {
      std::vector<std::byte>* bytes;
      std::size_t at;
      Dim dim;
    };
    struct Request {
      std::int64_t block;
      std::int64_t row;
    };
    std::vector<CodeAt> places;
    std::vector<Rank> to;
    std::vector<Request> requests;
    for (std::vector<std::byte>* bytes : all) {
      for (std::size_t at = 0; at + sizeof(EntityCode) <= bytes->size(); at += sizeof(EntityCode)) {
        EntityCode code{};
        std::memcpy(&code, &(*bytes)[at], sizeof code);
        if (code == EntityCode::none || is_set(code) || dim_of(code) == Dim::vertex) continue;
        const auto [b, row] = place_before(dim_of(code), row_of(code));
        if (b == before_.blocks.size()) continue;
        places.push_back({bytes, at, dim_of(code)});
        to.push_back(before_.blocks[b].rows.rank_of(row));
        requests.push_back({static_cast<std::int64_t>(b), row});
      }
    }
    const std::vector<std::int64_t> rows = exchange::ask(
        context_, to, requests, [&](const Request& request) { return row_after(request.block, request.row); });
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const CodeAt& place = places[i];
      const EntityCode code = rows[i] < 0 ? EntityCode::none : code_of(place.dim, GlobalId{rows[i]});
      std::memcpy(&(*place.bytes)[place.at], &code, sizeof code);
    }
  }

  void remove_empty_blocks() {
    std::vector<std::int32_t> place;
    std::vector<CellBlock> left;
    for (CellBlock& block : tables_.blocks) {
      place.push_back(block.rows.n_rows > 0 ? static_cast<std::int32_t>(left.size()) : Target::no_block);
      if (block.rows.n_rows > 0) left.push_back(std::move(block));
    }
    tables_.blocks = std::move(left);
    for (TagTable& tag : tables_.tags) {
      std::erase_if(tag.columns, [&](const TagColumn& column) {
        return column.block >= 0 && place[column.block] == Target::no_block;
      });
      for (TagColumn& column : tag.columns)
        if (column.block >= 0) column.block = place[column.block];
    }
  }

  mpi::Context& context_;
  MeshTables& tables_;
  MeshTables before_;                                        // slabs and types
  std::vector<std::optional<std::vector<Target>>> targets_;  // of this rank's cells, by old block, if it changes
  std::map<std::size_t, std::int64_t> n_left_;               // rows that stay in blocks that change
};

}  // namespace

DegenerateCells count_degenerate(mpi::Context& context, const MeshTables& tables) {
  Counts counts;
  Collapses collapses;
  for_each_degenerate(tables, collapses, [&](std::size_t b, std::size_t, const Collapse&) {
    counts.add(tables.blocks[b].type, {Outcome::other});
  });
  return counts.sum(context);
}

DegenerateCells reduce_degenerate(mpi::Context& context, MeshTables& tables) {
  Counts counts;
  Collapses collapses;
  for_each_degenerate(tables, collapses, [&](std::size_t b, std::size_t, const Collapse& collapse) {
    counts.add(tables.blocks[b].type, collapse);
  });
  const DegenerateCells found = counts.sum(context);
  if (!found.reduced.empty() || !found.dropped.empty()) Reducer(context, tables).run(found);
  return found;
}

}  // namespace barrio::mesh
