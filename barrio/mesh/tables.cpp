#include "barrio/mesh/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/detail/set_runs.hpp"
#include "barrio/mesh/detail/sides.hpp"
#include "barrio/mpi/agree.hpp"

namespace barrio::mesh {

std::string_view name(SetKind kind) noexcept {
  static constexpr std::array<std::string_view, 5> names{"material", "dirichlet", "neumann", "geometry", "other"};
  return names[static_cast<std::size_t>(kind)];
}

Dim MeshTables::top_dim() const noexcept {
  Dim top = Dim::vertex;
  for (const CellBlock& block : blocks)
    if (block.rows.n_rows > 0) top = std::max(top, topology(block.type).dim);
  return top;
}

std::int64_t MeshTables::n_global(Dim dim) const noexcept {
  if (dim == Dim::vertex) return vertices.n_rows;
  std::int64_t n = 0;
  for (const CellBlock& block : blocks)
    if (topology(block.type).dim == dim) n += block.rows.n_rows;
  return n;
}

std::int64_t MeshTables::first_row(std::size_t block) const noexcept {
  std::int64_t row = 0;
  for (std::size_t b = 0; b < block; ++b)
    if (topology(blocks[b].type).dim == topology(blocks[block].type).dim) row += blocks[b].rows.n_rows;
  return row;
}

Rank MeshTables::home(Dim dim, std::int64_t row) const noexcept {
  if (dim == Dim::vertex) return vertices.rank_of(row);
  for (const CellBlock& block : blocks) {
    if (topology(block.type).dim != dim) continue;
    if (row < block.rows.n_rows) return block.rows.rank_of(row);
    row -= block.rows.n_rows;
  }
  return 0;
}

std::uint64_t MeshTables::memory_bytes() const noexcept {
  std::uint64_t bytes = barrio::memory_bytes(coordinates) + barrio::memory_bytes(parts) +
                        barrio::memory_bytes(members) + barrio::memory_bytes(sets);
  for (const CellBlock& block : blocks)
    bytes += barrio::memory_bytes(block.nodes) + barrio::memory_bytes(block.offsets);
  return bytes;
}

std::vector<GlobalId> top_ids(mpi::Context& context, const MeshTables& tables) {
  std::vector<GlobalId> ids;
  for (std::size_t b = 0; b < tables.blocks.size(); ++b) {
    const CellBlock& block = tables.blocks[b];
    if (topology(block.type).dim != tables.top_dim()) continue;
    const GlobalId first{tables.first_row(b) + block.rows.first(context.rank())};
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i)
      ids.push_back(first + static_cast<std::int64_t>(i));
  }
  return ids;
}

std::vector<double> compute_centres(mpi::Context& context, const MeshTables& tables) {
  std::vector<GlobalId> wanted;
  for (const CellBlock& block : tables.blocks)
    if (topology(block.type).dim == tables.top_dim())
      wanted.insert(wanted.end(), block.nodes.begin(), block.nodes.end());
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  std::vector<Rank> to;
  to.reserve(wanted.size());
  for (const GlobalId id : wanted) to.push_back(tables.vertices.rank_of(id));

  using Point = std::array<double, 3>;
  const auto asked = exchange::route(context, exchange::pack_by_rank<GlobalId>(to, wanted));
  exchange::Parcels<Point> answers;
  const auto first = static_cast<std::size_t>(tables.vertices.first(context.rank()));
  for (std::size_t p = 0; p < asked.n_peers(); ++p) {
    std::vector<Point> group;
    for (const GlobalId id : asked.of(p)) {
      const double* x = &tables.coordinates[3 * (index(id) - first)];
      group.push_back({x[0], x[1], x[2]});
    }
    answers.add(asked.peers[p], group);
  }
  // Homes ascend with ids, so the answers stand in the order of `wanted`.
  const std::vector<Point> points = exchange::route(context, answers).items;

  std::vector<double> centres;
  for (const CellBlock& block : tables.blocks) {
    if (topology(block.type).dim != tables.top_dim()) continue;
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i) {
      const std::span<const GlobalId> nodes = block.cell(i);
      const std::size_t n = detail::n_corners(block.type, nodes.size());
      Point sum{};
      for (std::size_t c = 0; c < n; ++c) {
        const auto at = std::lower_bound(wanted.begin(), wanted.end(), nodes[c]) - wanted.begin();
        for (std::size_t k = 0; k < 3; ++k) sum[k] += points[static_cast<std::size_t>(at)][k];
      }
      for (std::size_t k = 0; k < 3; ++k) centres.push_back(sum[k] / static_cast<double>(n));
    }
  }
  return centres;
}

namespace {

void validate_locally(mpi::Context& context, const MeshTables& tables, const std::string& subject) {
  const auto refuse = [&](std::string cause, std::string remedy = "the file is damaged or was written wrongly") {
    throw Error(ErrorCode::bad_input, {.subject = subject, .cause = std::move(cause), .remedy = std::move(remedy)});
  };
  const std::int64_t n_vertices = tables.vertices.n_rows;
  for (std::size_t i = 0; i < tables.coordinates.size(); ++i) {
    if (!std::isfinite(tables.coordinates[i])) {
      refuse(fmt::format("a coordinate of vertex {} is not a finite number",
                         tables.vertices.first(context.rank()) + static_cast<std::int64_t>(i / 3)));
    }
  }
  for (std::size_t b = 0; b < tables.blocks.size(); ++b) {
    const CellBlock& block = tables.blocks[b];
    const std::int64_t first = tables.first_row(b) + block.rows.first(context.rank());
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i) {
      const std::size_t n = block.cell(i).size();
      const std::size_t n_least = block.type == CellType::polygon ? 3 : detail::n_corners(block.type, 0);
      if (n < n_least) {
        refuse(fmt::format("{} {} has {} vertices, at least {} are needed", topology(block.type).name,
                           first + static_cast<std::int64_t>(i), n, n_least));
      }
      for (const GlobalId node : block.cell(i)) {
        if (value(node) < 0 || value(node) >= n_vertices) {
          refuse(fmt::format("{} {} has vertex {}, but there are {} vertices", topology(block.type).name,
                             first + static_cast<std::int64_t>(i), value(node), n_vertices));
        }
      }
    }
  }
  for (const SetRows& rows : tables.members) {
    if (rows.set < 0 || rows.set >= static_cast<std::int32_t>(tables.sets.size()) || rows.first < 0 || rows.count < 0 ||
        rows.first + rows.count > tables.n_global(rows.dim)) {
      refuse(fmt::format("set {} holds entities that do not exist", rows.set));
    }
  }
  if (tables.n_parts > 0) {
    std::int64_t n_without = 0;
    GlobalId first_without = no_global_id;
    const std::vector<GlobalId> ids = top_ids(context, tables);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (tables.parts[i] >= 0 && tables.parts[i] < tables.n_parts) continue;
      if (n_without++ == 0) first_without = ids[i];
    }
    if (n_without > 0) {
      refuse(fmt::format("the partition leaves out {} element(s), the first is element {} (0-based)", n_without,
                         barrio::value(first_without)),
             "partition the mesh again: barrio partition IN -n P -o OUT");
    }
  }
}

}  // namespace

void assign_parts(mpi::Context& context, MeshTables& tables, const std::vector<SetRows>& rows, int n_parts,
                  const std::string& subject) {
  MeshTables by_part;  // the same rows, with the parts in the place of sets
  by_part.vertices = tables.vertices;
  for (const CellBlock& block : tables.blocks) by_part.blocks.push_back({block.type, block.rows, 0, {}, {}});
  by_part.members = rows;
  const std::vector<SetRows> runs = detail::set_rows_at_home(context, by_part);
  tables.n_parts = n_parts;
  agree_after(context, [&] {
    tables.parts.clear();
    for (std::size_t b = 0; b < tables.blocks.size(); ++b) {
      const CellBlock& block = tables.blocks[b];
      if (topology(block.type).dim != tables.top_dim()) continue;
      const std::size_t n_before = tables.parts.size();
      const std::size_t n = block.rows.size(context.rank());
      tables.parts.resize(n_before + n, -1);
      const std::int64_t first = tables.first_row(b) + block.rows.first(context.rank());
      for (const SetRows& run : detail::rows_within(runs, tables.top_dim(), first, static_cast<std::int64_t>(n))) {
        for (std::int64_t row = run.first; row < run.first + run.count; ++row) {
          std::int32_t& part = tables.parts[n_before + static_cast<std::size_t>(row - first)];
          if (part >= 0) {
            throw Error(ErrorCode::bad_input,
                        {.subject = subject,
                         .cause = fmt::format("element {} (0-based) is in part {} and in part {}", row, part, run.set),
                         .remedy = "partition the mesh again: barrio partition IN -n P -o OUT"});
          }
          part = run.set;
        }
      }
    }
  });
}

void validate(mpi::Context& context, const MeshTables& tables, const std::string& subject) {
  agree_after(context, [&] { validate_locally(context, tables, subject); });
}

}  // namespace barrio::mesh
