#include "barrio/mesh/tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "barrio/base/distinct.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/exchange/ask.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/tables/set_runs.hpp"
#include "barrio/mesh/tables/sound_nodes.hpp"
#include "barrio/mesh/topology.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {

std::string_view name(SetKind kind) noexcept {
  static constexpr std::array<std::string_view, 5> names{"material", "dirichlet", "neumann", "geometry", "other"};
  return names[static_cast<std::size_t>(kind)];
}

std::optional<std::int32_t> SetInfo::id_as(SetKind wanted) const noexcept {
  if (kind == wanted) return id;
  const auto role = std::ranges::find(more_roles, wanted, &SetRole::kind);
  return role == more_roles.end() ? std::optional<std::int32_t>() : role->id;
}

void drop_part_sets(mpi::Context& context, PartSets& sets) {
  if (!sets.tags.empty()) {
    std::vector<std::string> names;
    for (const PartSets::Tag& tag : sets.tags) names.push_back(tag.name);
    context.log().notice(
        fmt::format("the parts are new: the former parts' values of the tags {} are dropped", fmt::join(names, ", ")));
  }
  sets = {};
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
  bytes += barrio::memory_bytes(part_sets.values);
  for (const PartSets::Tag& tag : part_sets.tags)
    bytes += barrio::memory_bytes(tag.on_parts.sets) + barrio::memory_bytes(tag.on_parts.items.bytes);
  return bytes;
}

std::vector<GlobalId> top_ids(mpi::Context& context, const MeshTables& tables) {
  std::vector<GlobalId> ids;
  for (std::size_t b = 0; b < tables.blocks.size(); ++b) {
    const CellBlock& block = tables.blocks[b];
    if (topology(block.type).dim != tables.top_dim()) continue;
    const GlobalId first{tables.first_row(b) + block.rows.first(context.rank())};
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i) ids.push_back(first + i);
  }
  return ids;
}

std::vector<double> compute_centres(mpi::Context& context, const MeshTables& tables) {
  Distinct<GlobalId> distinct;
  std::size_t n_cells = 0;
  for (const CellBlock& block : tables.blocks) {
    if (topology(block.type).dim != tables.top_dim()) continue;
    for (const GlobalId node : block.nodes) distinct.add(node);
    n_cells += block.rows.size(context.rank());
  }
  const std::vector<GlobalId> wanted = distinct.take();
  std::vector<Rank> to;
  to.reserve(wanted.size());
  for (const GlobalId id : wanted) to.push_back(tables.vertices.rank_of(id));

  const std::size_t first = tables.vertices.first(context.rank());
  const auto points = exchange::ask(context, to, wanted, [&](GlobalId id) {
    const double* x = &tables.coordinates[3 * (index(id) - first)];
    return std::array<double, 3>{x[0], x[1], x[2]};
  });

  std::vector<double> centres;
  centres.reserve(3 * n_cells);
  std::vector<GlobalId> room;
  for (const CellBlock& block : tables.blocks) {
    if (topology(block.type).dim != tables.top_dim()) continue;
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i) {
      const std::span<const GlobalId> nodes = block.cell(i);
      const std::span<const GlobalId> corners = distinct_corners(block.type, nodes, room);
      std::array<double, 3> sum{};
      for (const GlobalId corner : corners) {
        const auto at = std::lower_bound(wanted.begin(), wanted.end(), corner) - wanted.begin();
        for (std::size_t k = 0; k < 3; ++k) sum[k] += points[at][k];
      }
      for (std::size_t k = 0; k < 3; ++k) centres.push_back(sum[k] / static_cast<double>(corners.size()));
    }
  }
  return centres;
}

namespace {

/// Find a vertex at two corners of a cell. Padded polygons, which repeat their last vertex, are exempt.
std::optional<GlobalId> repeated_corner(const CellBlock& block, std::span<const GlobalId> nodes) {
  if (block.type == CellType::polygon || block.type == CellType::polyhedron) return {};
  const auto corners = nodes.first(n_corners(block.type, nodes.size()));
  for (std::size_t i = 1; i < corners.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (corners[i] == corners[j]) return corners[i];
  return {};
}

/// Find a fault in a polyhedron's faces. @return empty if there is none
std::string fault_of_loops(std::span<const GlobalId> nodes) {
  std::string fault;
  std::size_t n_faces = 0;
  std::vector<std::array<GlobalId, 2>> edges;
  const std::size_t n_closed = for_each_loop(nodes, [&](std::span<const GlobalId> face) {
    n_faces += 1;
    std::vector<GlobalId> sorted(face.begin(), face.end());
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
      fault = fmt::format("has vertex {} twice in face {}", value(*twice), n_faces - 1);
    if (face.size() < 3) fault = fmt::format("has a face of {} vertices, but needs at least 3", face.size());
    for (std::size_t i = 0; i < face.size(); ++i) {
      const auto [low, high] = std::minmax(face[i], face[(i + 1) % face.size()]);
      edges.push_back({low, high});
    }
  });
  if (!fault.empty()) return fault;
  if (n_closed < nodes.size()) return fmt::format("has faces that are not closed, after the first {}", n_faces);
  if (n_faces < 4) return fmt::format("has {} faces, but needs at least 4", n_faces);
  std::ranges::sort(edges);
  for (std::size_t i = 0; i < edges.size(); i += 2) {
    if (i + 1 < edges.size() && edges[i + 1] == edges[i] && (i + 2 == edges.size() || edges[i + 2] != edges[i]))
      continue;
    return fmt::format("is not closed: the edge from vertex {} to {} must belong to exactly two of its faces",
                       value(edges[i][0]), value(edges[i][1]));
  }
  return {};
}

/// Check the tables of this rank. @return whether a cell repeats a vertex at two corners, if cells may
bool validate_locally(mpi::Context& context, const MeshTables& tables, const std::string& subject,
                      bool may_repeat_corners) {
  bool repeats_corners = false;
  const auto refuse = [&](std::string cause, std::string remedy = damaged_remedy) {
    throw Error(ErrorCode::bad_input, {.subject = subject, .cause = std::move(cause), .remedy = std::move(remedy)});
  };
  const std::int64_t n_vertices = tables.vertices.n_rows;
  // Tables are usually sound. One quick pass confirms it; only if it fails is the fault searched for row by row.
  if (!std::ranges::all_of(tables.coordinates, [](double x) { return std::isfinite(x); })) {
    const auto fault = std::ranges::find_if(tables.coordinates, [](double x) { return !std::isfinite(x); });
    refuse(fmt::format("a coordinate of vertex {} is not a finite number",
                       tables.vertices.first(context.rank()) + (fault - tables.coordinates.begin()) / 3));
  }
  for (std::size_t b = 0; b < tables.blocks.size(); ++b) {
    const CellBlock& block = tables.blocks[b];
    const int n_min = block.type == CellType::polygon ? 3 : topology(block.type).n_corners;
    if (block.nodes_per_cell >= n_min && detail::has_sound_nodes(block, n_vertices)) continue;
    const GlobalId first{tables.first_row(b) + block.rows.first(context.rank())};
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i) {
      const auto nodes = block.cell(i);
      const std::string who = fmt::format("{} {}", topology(block.type).name, value(first + i));
      if (std::ssize(nodes) < n_min)
        refuse(fmt::format("{} has {} vertices, but needs at least {}", who, nodes.size(), n_min));
      for (const GlobalId node : nodes) {
        if (value(node) < 0 || value(node) >= n_vertices)
          refuse(fmt::format("{} has vertex {}, but there are {} vertices", who, value(node), n_vertices));
      }
      if (block.type == CellType::polyhedron) {
        if (const std::string fault = fault_of_loops(nodes); !fault.empty())
          refuse(who + " " + fault, "repair the mesh, or drop the element");
      }
      const auto twice = repeated_corner(block, nodes);
      repeats_corners = repeats_corners || twice;
      if (twice && !may_repeat_corners)
        refuse(fmt::format("{} has vertex {} twice", who, value(*twice)), "repair the mesh, or drop the element");
    }
  }
  for (const SetRows& rows : tables.members) {
    if (rows.set < 0 || rows.set >= std::ssize(tables.sets) || rows.first < 0 || rows.count < 0 ||
        rows.first + rows.count > tables.n_global(rows.dim)) {
      refuse(fmt::format("set {} contains entities that do not exist", rows.set));
    }
  }
  for (std::size_t s = 0; s < tables.sets.size(); ++s) {
    const SetInfo& set = tables.sets[s];
    const auto exists = [&](std::int32_t other) { return other >= 0 && other < std::ssize(tables.sets); };
    if (!std::ranges::all_of(set.contained, exists, &SetInSet::set) || !std::ranges::all_of(set.children, exists) ||
        !std::ranges::all_of(set.parents, exists))
      refuse(fmt::format("set {} refers to a set that does not exist", s));
  }
  return repeats_corners;
}

/// Check that every top cell has a part. Collective. The message does not depend on the rank count: counts are global.
void validate_parts(mpi::Context& context, const MeshTables& tables, const std::string& subject) {
  const auto is_without = [&](std::int32_t part) { return part < 0 || part >= tables.n_parts; };
  const std::int64_t n_here = std::ranges::count_if(tables.parts, is_without);
  const std::int64_t n_without = mpi::sum(context, n_here);
  if (n_without == 0) return;
  std::int64_t first = tables.n_global(tables.top_dim());
  if (n_here > 0) {
    const auto place = std::ranges::find_if(tables.parts, is_without) - tables.parts.begin();
    first = value(top_ids(context, tables)[place]);
  }
  throw AgreedError(ErrorCode::bad_input,
                    {.subject = subject,
                     .cause = fmt::format("the partition leaves out {} element(s), the first is element {} (0-based)",
                                          n_without, -mpi::max(context, -first)),
                     .remedy = "partition the mesh again: barrio partition IN -n P -o OUT"});
}

}  // namespace

void validate(mpi::Context& context, const MeshTables& tables, const std::string& subject) {
  agree_after(context, [&] { validate_locally(context, tables, subject, false); });
  if (tables.n_parts > 0) validate_parts(context, tables, subject);
}

bool validate_all_but_degenerate(mpi::Context& context, const MeshTables& tables, const std::string& subject) {
  int repeats_corners = 0;
  agree_after(context, [&] { repeats_corners = validate_locally(context, tables, subject, true) ? 1 : 0; });
  if (tables.n_parts > 0) validate_parts(context, tables, subject);
  return mpi::max(context, repeats_corners) > 0;
}

}  // namespace barrio::mesh
