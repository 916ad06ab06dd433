#include "barrio/mesh/degenerate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/exchange/ask.hpp"
#include "barrio/exchange/outbox.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/cell_type.hpp"
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
      {.subject = "degenerate", .cause = fmt::format("'{}' is not known", name), .remedy = "use keep or reduce"});
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

/// Cache of the shapes of degenerate cells, by type and pattern of equal corners.
class Collapses {
 public:
  /// Return the shape of a cell. Local. Valid until the next call.
  const Collapse& of(const CellBlock& block, std::span<const GlobalId> nodes) {
    static constexpr Collapse sound{};
    static constexpr Collapse other{Outcome::other};
    const std::size_t n_corners = topology(block.type).n_corners;
    Pattern pattern{};
    const auto find_first = [&](std::size_t i) {
      while (nodes[pattern[i]] != nodes[i]) ++pattern[i];
      return std::cmp_equal(pattern[i], i);
    };
    bool is_sound = true;
    for (std::size_t i = 0; i < n_corners; ++i) is_sound = find_first(i) && is_sound;
    if (is_sound) return sound;
    if (nodes.size() > pattern.size()) return other;
    for (std::size_t i = n_corners; i < nodes.size(); ++i) find_first(i);
    const auto [known, is_new] = known_.try_emplace({block.type, nodes.size(), pattern});
    if (is_new) known->second = detail::collapse_of(block.type, std::span(pattern).first(nodes.size()));
    return known->second;
  }

 private:
  using Pattern = std::array<std::int8_t, 20>;  // corners and middles of edges
  std::map<std::tuple<CellType, std::size_t, Pattern>, Collapse> known_;
};

/// Counts by old type, then by new type; the last two columns are dropped and kept.
class Counts {
 public:
  static constexpr std::size_t n_types = n_cell_types;

  void add(CellType type, const Collapse& collapse) {
    const std::size_t column = collapse.outcome == Outcome::smaller ? index(collapse.type)
                               : collapse.outcome == Outcome::flat  ? n_types
                                                                    : n_types + 1;
    n_[index(type) * (n_types + 2) + column] += 1;
  }
  /// Sum the counts of all ranks. Collective.
  DegenerateCells sum(mpi::Context& context) {
    mpi::all_reduce(context, std::span<std::int64_t>(n_), MPI_SUM);
    DegenerateCells cells;
    for (std::size_t i = 0; i < n_.size(); ++i) {
      if (n_[i] == 0) continue;
      const CellType type = all_cell_types[i / (n_types + 2)];
      const std::size_t column = i % (n_types + 2);
      if (column < n_types) cells.reduced[{type, all_cell_types[column]}] = n_[i];
      if (column == n_types) cells.dropped[type] = n_[i];
      if (column > n_types) cells.kept[type] = n_[i];
    }
    return cells;
  }

 private:
  std::array<std::int64_t, n_types*(n_types + 2)> n_{};
};

/// Call `visit(block, cell, collapse)` for the degenerate cells of this rank.
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

/// Destination of a cell; a dropped cell has no_block.
struct Target {
  static constexpr std::int32_t no_block = -1;
  std::int32_t block;
  std::int64_t row;  ///< in the block
};

/// Moves the cells of changed blocks to their new rows, in the same or in new blocks.
class Reducer {
 public:
  Reducer(mpi::Context& context, MeshTables& tables) : context_(context), tables_(tables) {}

  void run() {
    before_.vertices = tables_.vertices;
    for (const CellBlock& block : tables_.blocks) before_.blocks.push_back({block.type, block.rows, 0, {}, {}});
    std::vector<Membership> members = memberships_at_home(context_, tables_);
    find_targets();
    move_cells();
    move_members(members);
    for (TagTable& tag : tables_.tags) move_tag(tag);
    remove_empty_blocks();
  }

 private:
  [[nodiscard]] Slabs& rows_of(std::int32_t block) { return tables_.blocks[block].rows; }

  /// Return the number of a kind of smaller cells: by type, those with corners alone first.
  static std::size_t kind_of(const Collapse& collapse) {
    return 2 * index(collapse.type) + (collapse.n_nodes > topology(collapse.type).n_corners ? 1 : 0);
  }

  void find_targets() {
    const std::size_t n_before = tables_.blocks.size();
    Collapses collapses;
    // Cells that change, by old block, then smaller cells by kind.
    std::vector<std::int64_t> n_changes(n_before + 2 * Counts::n_types, 0);
    targets_.resize(n_before);
    for_each_degenerate(tables_, collapses, [&](std::size_t b, std::size_t, const Collapse& collapse) {
      if (collapse.outcome != Outcome::other) n_changes[b] += 1;
      if (collapse.outcome == Outcome::smaller) n_changes[n_before + kind_of(collapse)] += 1;
    });
    mpi::all_reduce(context_, std::span<std::int64_t>(n_changes), MPI_SUM);
    std::vector<std::int32_t> block_of(2 * Counts::n_types, Target::no_block);
    for (std::size_t kind = 0; kind < block_of.size(); ++kind) {
      const std::int64_t n = n_changes[n_before + kind];
      if (n == 0) continue;
      const CellTopology& smaller = topology(all_cell_types[kind / 2]);
      const int n_middles = kind % 2 == 0 ? 0 : static_cast<int>(smaller.edges.size() / 2);
      block_of[kind] = static_cast<std::int32_t>(tables_.blocks.size());
      tables_.blocks.push_back({all_cell_types[kind / 2], {n, context_.size()}, smaller.n_corners + n_middles, {}, {}});
    }
    std::vector<std::int64_t> n_taken(tables_.blocks.size(), 0);  // number of rows used so far, by new block
    for (std::size_t b = 0; b < n_before; ++b)
      if (n_changes[b] != 0) find_targets_of(static_cast<std::int32_t>(b), block_of, n_taken);
  }

  void find_targets_of(std::int32_t b, std::span<const std::int32_t> block_of, std::vector<std::int64_t>& n_taken) {
    CellBlock& block = tables_.blocks[b];
    const std::size_t n_cells = block.rows.size(context_.rank());
    std::vector<std::int64_t> n_here(tables_.blocks.size(), 0);
    auto& targets = targets_[b].emplace();
    targets.resize(n_cells);
    Collapses collapses;
    for (std::size_t i = 0; i < n_cells; ++i) {
      const Collapse& collapse = collapses.of(block, block.cell(i));
      targets[i] = {b, 0};
      if (collapse.outcome == Outcome::flat) targets[i].block = Target::no_block;
      if (collapse.outcome == Outcome::smaller) targets[i].block = block_of[kind_of(collapse)];
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
    for (std::int32_t b = 0; b < std::ssize(before_.blocks); ++b) {
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
        if (target.block == b) {
          for (const GlobalId node : nodes) words.push_back(value(node));
        } else {
          const Collapse& collapse = collapses.of(block, nodes);
          for (const std::int8_t place : std::span(collapse.nodes).first(collapse.n_nodes))
            words.push_back(value(nodes[place]));
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

  /// Find the block that held a row of a dimension, and the row in the block. @pre the row existed and is not a vertex
  [[nodiscard]] std::pair<std::int32_t, std::int64_t> place_before(Dim dim, std::int64_t row) const {
    std::int32_t b = 0;
    for (; b < std::ssize(before_.blocks); ++b) {
      if (topology(before_.blocks[b].type).dim != dim) continue;
      if (row < before_.blocks[b].rows.n_rows) break;
      row -= before_.blocks[b].rows.n_rows;
    }
    return {b, row};
  }
  /// Return the new row, in its dimension, of a cell of this rank; -1 if it was dropped.
  [[nodiscard]] std::int64_t row_after(std::int64_t b, std::int64_t row) const {
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
      const std::int64_t n = column.is_dense ? targets.size() : column.rows.size();
      for (std::int64_t i = 0; i < n; ++i) {
        const Target target = targets[column.is_dense ? i : column.rows[i]];
        if (target.block != Target::no_block)
          rows.push_back({target.block, target.row, column.items.value(i, tag.info.value_bytes())});
      }
    }
    detail::add_columns(context_, rows, tag, tables_);
  }

  /// Replace entities in values by their new rows. Collective.
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
        if (b == std::ssize(before_.blocks)) continue;
        places.push_back({bytes, at, dim_of(code)});
        to.push_back(before_.blocks[b].rows.rank_of(row));
        requests.push_back({b, row});
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
    std::int32_t n_left = 0;
    for (CellBlock& block : tables_.blocks) {
      place.push_back(block.rows.n_rows > 0 ? n_left++ : Target::no_block);
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
  std::map<std::int32_t, std::int64_t> n_left_;              // number of rows that stay, by changed block
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
  if (!found.reduced.empty() || !found.dropped.empty()) Reducer(context, tables).run();
  return found;
}

}  // namespace barrio::mesh
