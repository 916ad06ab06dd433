#include "barrio/mesh/tables/agreed_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/mesh/cell_type.hpp"
#include "barrio/mesh/topology.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {

std::size_t MeshArrays::Cells::size() const noexcept {
  if (nodes_per_cell > 0) return nodes.size() / nodes_per_cell;
  return offsets.empty() ? 0 : offsets.size() - 1;
}

MeshArrays::Set& MeshArrays::add_set(SetKind kind, std::int32_t id, std::string name) {
  Set& set = sets.emplace_back();
  set.info.kind = kind;
  set.info.id = id;
  set.info.name = std::move(name);
  return set;
}

MeshArrays::Tag& MeshArrays::add_tag(std::string name, TagType type, int n_components) {
  Tag& tag = tags.emplace_back();
  tag.info.name = std::move(name);
  tag.info.type = type;
  tag.info.n_components = n_components;
  return tag;
}

namespace detail {
namespace {

std::string_view plural(CellType type) { return topology(type).plural; }

void check_vertices(const MeshArrays& arrays) {
  const std::size_t n = arrays.coordinates.size() / 3;
  if (arrays.coordinates.size() % 3 != 0)
    refuse(ErrorCode::usage, "coordinates",
           fmt::format("must be three numbers per vertex, but there are {}", arrays.coordinates.size()));
  const auto wrong = std::ranges::find_if(arrays.coordinates, [](double x) { return !std::isfinite(x); });
  if (wrong != arrays.coordinates.end())
    refuse(ErrorCode::bad_input, "coordinates",
           fmt::format("of vertex {} on this rank must be finite numbers", (wrong - arrays.coordinates.begin()) / 3));
  if (!arrays.vertex_ids.empty() && arrays.vertex_ids.size() != n)
    refuse(ErrorCode::usage, "vertex ids",
           fmt::format("are {}, but there are {} vertices", arrays.vertex_ids.size(), n),
           "give one for each vertex, or none at all");
  constexpr std::int64_t limit = std::int64_t{1} << 60;  // capacity of EntityCode
  const auto beyond = std::ranges::find_if(arrays.vertex_ids, [](std::int64_t id) { return id < 0 || id >= limit; });
  if (beyond != arrays.vertex_ids.end())
    refuse(ErrorCode::bad_input, "vertex ids", fmt::format("must be in 0 .. 2^60 - 1, but one is {}", *beyond));
}

void check_offsets(const MeshArrays::Cells& cells) {
  const std::int64_t end = cells.nodes.size();
  const bool is_sound = cells.offsets.empty() ? end == 0
                                              : cells.offsets.front() == 0 && cells.offsets.back() == end &&
                                                    std::ranges::is_sorted(cells.offsets);
  if (!is_sound)
    refuse(ErrorCode::usage, std::string(plural(cells.type)),
           fmt::format("must have offsets that ascend from 0 to the number of nodes, {}", end));
}

void check_cells(const MeshArrays& arrays) {
  std::array<bool, n_cell_types> is_seen{};
  for (const MeshArrays::Cells& cells : arrays.cells) {
    const std::string who(plural(cells.type));
    if (cells.type == CellType::vertex) refuse(ErrorCode::usage, who, "are not cells");
    if (std::exchange(is_seen[index(cells.type)], true)) refuse(ErrorCode::usage, who, "are given twice by a rank");
    const int n_corners = topology(cells.type).n_corners;
    if (cells.nodes_per_cell < n_corners)
      refuse(ErrorCode::usage, who,
             fmt::format("have {} nodes each, but need at least {}", cells.nodes_per_cell, n_corners));
    if (cells.nodes_per_cell == 0) {
      check_offsets(cells);
    } else if (cells.nodes.size() % cells.nodes_per_cell != 0) {
      refuse(ErrorCode::usage, who,
             fmt::format("have {} nodes, which is not a multiple of {}", cells.nodes.size(), cells.nodes_per_cell));
    }
    if (!cells.parts.empty() && cells.parts.size() != cells.size())
      refuse(ErrorCode::usage, "parts",
             fmt::format("are {}, but there are {} {}", cells.parts.size(), cells.size(), who));
  }
}

void check_sets(const MeshArrays& arrays) {
  for (const MeshArrays::Set& set : arrays.sets)
    for (const MeshArrays::Members& members : set.members) {
      const std::int64_t n = n_given(arrays, members.type);
      const auto wrong = std::ranges::find_if(members.places, [&](std::int64_t p) { return p < 0 || p >= n; });
      if (wrong != members.places.end())
        refuse(ErrorCode::bad_input, fmt::format("{} set '{}'", name(set.info.kind), set.info.name),
               fmt::format("has member {}, but this rank gives {} {}", *wrong, n, plural(members.type)),
               "members are indices into the arrays of the same rank");
    }
}

void check_tags(const MeshArrays& arrays) {
  std::vector<std::string> names;
  for (const MeshArrays::Tag& tag : arrays.tags) {
    const std::string who = fmt::format("tag '{}'", tag.info.name);
    if (tag.info.name.empty()) refuse(ErrorCode::usage, who, "has no name");
    if (std::ranges::find(names, tag.info.name) != names.end()) refuse(ErrorCode::usage, who, "is listed twice");
    names.push_back(tag.info.name);
    if (tag.info.n_components < 1 || tag.info.length_varies)
      refuse(ErrorCode::usage, who, "must have a fixed number of components");
    if (tag.info.type != TagType::int32 && tag.info.type != TagType::float64)
      refuse(ErrorCode::usage, who, fmt::format("has the type {}", name(tag.info.type)), "give int32 or float64");
    for (const MeshArrays::Values& values : tag.values) {
      if (std::ranges::count(tag.values, values.type, &MeshArrays::Values::type) > 1)
        refuse(ErrorCode::usage, who, fmt::format("has more than one array of values of {}", plural(values.type)));
      const std::size_t n = n_given(arrays, values.type);
      if (values.bytes.size() != n * tag.info.value_bytes())
        refuse(ErrorCode::usage, who,
               fmt::format("has {} values of {} bytes for {} {}", values.bytes.size() / tag.info.value_bytes(),
                           tag.info.value_bytes(), n, plural(values.type)));
    }
  }
}

/// Compute a hash of the lists that must be the same on every rank.
std::uint64_t hash_of_lists(const MeshArrays& arrays) {
  Hash64 hash;
  for (const MeshArrays::Set& set : arrays.sets) {
    hash.add(std::int64_t{static_cast<int>(set.info.kind)}).add(std::int64_t{set.info.id}).add_text(set.info.name);
  }
  hash.add(std::int64_t{std::ssize(arrays.sets)});
  for (const MeshArrays::Tag& tag : arrays.tags) hash.add_text(tag.info.name);
  return hash.add(std::int64_t{arrays.n_parts}).value();
}

void agree_on_lists(mpi::Context& context, const MeshArrays& arrays) {
  const std::uint64_t hash = hash_of_lists(arrays);
  std::array<std::uint64_t, 2> extremes{hash, ~hash};
  mpi::all_reduce(context, std::span<std::uint64_t>(extremes), MPI_MAX);
  if (extremes[0] != ~extremes[1])
    throw AgreedError(ErrorCode::usage, {.subject = "mesh arrays",
                                         .cause = "do not list the same sets, tags and number of parts on every rank",
                                         .remedy = "give the same lists; members and values may be empty"});
}

/// Find the number of rows and the nodes per cell of each type.
void agree_on_counts(mpi::Context& context, const MeshArrays& arrays, AgreedArrays& agreed) {
  AgreedArrays::ByType<std::int64_t> widths{};
  AgreedArrays::ByType<std::int64_t> negative{};
  constexpr std::int64_t nothing = -1000;
  widths.fill(nothing);
  negative.fill(nothing);
  for (const CellType type : all_cell_types) agreed.n_rows[index(type)] = n_given(arrays, type);
  for (const MeshArrays::Cells& cells : arrays.cells) {
    if (cells.size() == 0) continue;
    widths[index(cells.type)] = cells.nodes_per_cell;
    negative[index(cells.type)] = -cells.nodes_per_cell;
  }
  agreed.first_row = agreed.n_rows;
  mpi::exclusive_sum(context, std::span<std::int64_t>(agreed.first_row));
  mpi::all_reduce(context, std::span<std::int64_t>(agreed.n_rows), MPI_SUM);
  mpi::all_reduce(context, std::span<std::int64_t>(widths), MPI_MAX);
  mpi::all_reduce(context, std::span<std::int64_t>(negative), MPI_MAX);
  for (std::size_t t = 0; t < widths.size(); ++t) {
    if (widths[t] == nothing) continue;
    if (widths[t] != -negative[t])
      throw AgreedError(ErrorCode::usage,
                        {.subject = std::string(plural(all_cell_types[t])),
                         .cause = fmt::format("have {} nodes on some ranks and {} on others", -negative[t], widths[t]),
                         .remedy = "give one number of nodes per type, or offsets on every rank"});
    agreed.nodes_per_cell[t] = static_cast<int>(widths[t]);
  }
}

Dim top_dim(const AgreedArrays& agreed) {
  Dim top = Dim::vertex;
  for (const CellType type : all_cell_types)
    if (agreed.n_rows[index(type)] > 0) top = std::max(top, topology(type).dim);
  if (top == Dim::vertex)
    throw AgreedError(ErrorCode::bad_input, {.subject = "mesh arrays", .cause = "have no cells on any rank"});
  return top;
}

void agree_on_parts(mpi::Context& context, const MeshArrays& arrays, AgreedArrays& agreed) {
  const Dim top = top_dim(agreed);
  std::int64_t highest = -1;
  bool is_given = false;
  for (const MeshArrays::Cells& cells : arrays.cells) {
    is_given = is_given || !cells.parts.empty();
    for (const std::int32_t part : cells.parts) highest = std::max<std::int64_t>(highest, part);
  }
  agreed.has_parts = mpi::all_reduce(context, is_given, MPI_LOR);
  if (!agreed.has_parts) return;
  highest = std::min<std::int64_t>(mpi::max(context, highest), std::numeric_limits<int>::max() - 1);
  agreed.n_parts = arrays.n_parts > 0 ? arrays.n_parts : static_cast<int>(highest + 1);
  agree_after(context, [&] {
    for (const MeshArrays::Cells& cells : arrays.cells) {
      const bool is_top = topology(cells.type).dim == top;
      if (cells.size() > 0 && cells.parts.empty() == is_top)
        refuse(ErrorCode::usage, "parts",
               fmt::format("are {} for the {} of a rank", is_top ? "missing" : "given", plural(cells.type)),
               "give parts for all cells of the highest dimension on every rank, and only for these");
      const auto wrong =
          std::ranges::find_if(cells.parts, [&](std::int32_t part) { return part < 0 || part >= agreed.n_parts; });
      if (wrong != cells.parts.end())
        refuse(ErrorCode::bad_input, "parts",
               fmt::format("must be in 0 .. {}, but one is {}", agreed.n_parts - 1, *wrong));
    }
  });
}

/// Agree on the type and components of each tag: those of the ranks that have values.
void agree_on_types(mpi::Context& context, const MeshArrays& arrays, AgreedArrays& agreed) {
  std::vector<std::int64_t> kinds;  // of each tag: components and type in one number, and its negative
  for (const MeshArrays::Tag& tag : arrays.tags) {
    const bool has_some = std::ranges::any_of(tag.values, [](const auto& values) { return !values.bytes.empty(); });
    const std::int64_t kind = 2 * std::int64_t{tag.info.n_components} + (tag.info.type == TagType::float64 ? 1 : 0);
    kinds.push_back(has_some ? kind : 0);
    kinds.push_back(has_some ? -kind : -std::numeric_limits<std::int64_t>::max());
  }
  mpi::all_reduce(context, std::span<std::int64_t>(kinds), MPI_MAX);
  const auto words = [](std::int64_t kind) {
    return fmt::format("{} x {}", kind / 2, name(kind % 2 == 1 ? TagType::float64 : TagType::int32));
  };
  for (std::size_t t = 0; t < arrays.tags.size(); ++t) {
    TagInfo& info = agreed.tags.emplace_back(arrays.tags[t].info);
    if (kinds[2 * t] == 0) continue;  // no values on any rank
    if (kinds[2 * t] != -kinds[2 * t + 1])
      throw AgreedError(ErrorCode::usage, {.subject = fmt::format("tag '{}'", info.name),
                                           .cause = fmt::format("has values of {} on some ranks and of {} on others",
                                                                words(-kinds[2 * t + 1]), words(kinds[2 * t]))});
    info.n_components = static_cast<int>(kinds[2 * t] / 2);
    info.type = kinds[2 * t] % 2 == 1 ? TagType::float64 : TagType::int32;
  }
}

void agree_on_tags(mpi::Context& context, const MeshArrays& arrays, AgreedArrays& agreed) {
  if (arrays.tags.empty()) return;
  agree_on_types(context, arrays, agreed);
  std::vector<std::int32_t> has(n_cell_types * arrays.tags.size(), 0);
  for (std::size_t t = 0; t < arrays.tags.size(); ++t)
    for (const MeshArrays::Values& values : arrays.tags[t].values) has[n_cell_types * t + index(values.type)] = 1;
  mpi::all_reduce(context, std::span<std::int32_t>(has), MPI_MAX);
  agreed.tag_has.resize(arrays.tags.size());
  for (std::size_t i = 0; i < has.size(); ++i)
    agreed.tag_has[i / n_cell_types][i % n_cell_types] = has[i] > 0 && agreed.n_rows[i % n_cell_types] > 0;
  agree_after(context, [&] {
    for (std::size_t i = 0; i < has.size(); ++i) {
      const MeshArrays::Tag& tag = arrays.tags[i / n_cell_types];
      const CellType type = all_cell_types[i % n_cell_types];
      if (has[i] == 0 || n_given(arrays, type) == 0) continue;
      if (std::ranges::find(tag.values, type, &MeshArrays::Values::type) == tag.values.end())
        refuse(ErrorCode::usage, fmt::format("tag '{}'", tag.info.name),
               fmt::format("is given for the {} of some ranks but not of all", plural(type)));
    }
  });
}

void check_ids(mpi::Context& context, const MeshArrays& arrays, AgreedArrays& agreed) {
  agreed.has_ids = mpi::all_reduce(context, !arrays.vertex_ids.empty(), MPI_LOR);
  agree_after(context, [&] {
    if (agreed.has_ids && arrays.vertex_ids.empty() && !arrays.coordinates.empty())
      refuse(ErrorCode::usage, "vertex ids", "are given by some ranks but not by all",
             "give them on all ranks, or on none");
    if (agreed.has_ids) return;  // ids are looked up later
    for (const MeshArrays::Cells& cells : arrays.cells)
      for (std::size_t i = 0; i < cells.size(); ++i)
        for (const std::int64_t node : nodes_of(cells, i))
          if (node < 0 || node >= agreed.n_rows[0])
            refuse(ErrorCode::bad_input, fmt::format("{} {} on this rank", topology(cells.type).name, i),
                   fmt::format("has vertex {}, but all ranks together give {} vertices", node, agreed.n_rows[0]),
                   "number the vertices from 0, rank by rank, or give vertex ids");
  });
}

}  // namespace

std::span<const std::int64_t> nodes_of(const MeshArrays::Cells& cells, std::size_t i) noexcept {
  const std::size_t width = cells.nodes_per_cell;
  if (width > 0) return cells.nodes.subspan(i * width, width);
  const std::size_t first = cells.offsets[i];
  return cells.nodes.subspan(first, cells.offsets[i + 1] - first);
}

std::size_t n_given(const MeshArrays& arrays, CellType type) noexcept {
  if (type == CellType::vertex) return arrays.coordinates.size() / 3;
  for (const MeshArrays::Cells& cells : arrays.cells)
    if (cells.type == type) return cells.size();
  return 0;
}

AgreedArrays agree_on_arrays(mpi::Context& context, const MeshArrays& arrays) {
  agree_after(context, [&] {
    check_vertices(arrays);
    check_cells(arrays);
    check_sets(arrays);
    check_tags(arrays);
  });
  AgreedArrays agreed;
  agree_on_lists(context, arrays);
  agree_on_counts(context, arrays, agreed);
  agree_on_parts(context, arrays, agreed);
  agree_on_tags(context, arrays, agreed);
  check_ids(context, arrays, agreed);
  return agreed;
}

}  // namespace detail
}  // namespace barrio::mesh
