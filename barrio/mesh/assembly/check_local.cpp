#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <variant>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/mesh/assembly/adoption.hpp"
#include "barrio/mesh/assembly/distinct_ids.hpp"
#include "barrio/mesh/tables/order_of_runs.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

// Data from a user's program is checked in full before any of it is taken.

namespace barrio::mesh {
namespace {

std::string entity_name(Dim dim, Dim cell_dim) {
  if (dim == Dim::vertex) return "vertex";
  if (dim == cell_dim) return "cell";
  return dim == Dim::edge ? "edge" : "face";
}

/// Order entities by global id.
/// @throws Error{usage} for a negative id, or one given twice
std::vector<std::int32_t> order_of(std::span<const GlobalId> ids, const std::string& name) {
  std::vector<std::int32_t> order = detail::order_of_runs(ids);
  if (order.empty()) return order;
  if (const std::int64_t lowest = barrio::value(ids[order.front()]); lowest < 0)
    refuse(ErrorCode::usage, fmt::format("{} {}", name, lowest), "is not a global id", "number entities from 0");
  const auto twice = std::ranges::adjacent_find(order, {}, [&](std::int32_t at) { return ids[at]; });
  if (twice != order.end())
    refuse(ErrorCode::usage, fmt::format("{} {}", name, barrio::value(ids[*twice])), "is given twice on this rank");
  return order;
}

void check_size(const std::string& what, std::size_t n, std::size_t wanted) {
  if (n != wanted) refuse(ErrorCode::usage, what, fmt::format("must have {} entries, but have {}", wanted, n));
}

void check_range(const std::string& what, const Range& members, std::size_t n) {
  const auto runs = members.runs();
  if (runs.empty() || (barrio::value(runs.front().first) >= 0 && index(runs.back().last) <= n)) return;
  refuse(ErrorCode::usage, what,
         fmt::format("refers to place {}, but there are {}", barrio::value(runs.back().last) - 1, n));
}

/// Find the first number that is not finite, or return the end. Fast if all are finite.
std::vector<double>::const_iterator first_not_finite(const std::vector<double>& numbers) {
  std::int64_t n = 0;
  for (const double x : numbers) n += std::abs(x) <= std::numeric_limits<double>::max() ? 0 : 1;
  if (n == 0) return numbers.end();
  return std::ranges::find_if(numbers, [](double x) { return !std::isfinite(x); });
}

/// Tell whether all nodes are places in a list of n. Fast if they are.
bool are_places(std::span<const LocalId> nodes, std::size_t n) {
  std::uint32_t highest = 0;  // a negative one wraps to a high one
  for (const LocalId v : nodes) {
    const std::uint32_t place = barrio::value(v);
    highest = std::max(highest, place);
  }
  return nodes.empty() || highest < n;
}

std::size_t n_values(const FieldData& field) {
  return std::visit([](const auto& values) { return values.size(); }, field.values);
}

}  // namespace

void MeshAdoption::check_arrays() {
  const int top = value(from_.cell_dim);
  if (top < 1 || top > 3)
    refuse(ErrorCode::usage, fmt::format("cells of dimension {}", top), "must be of dimension 1, 2 or 3");
  if (from_.n_vertices() > std::size_t{std::numeric_limits<std::int32_t>::max()})
    refuse(ErrorCode::usage, fmt::format("{} vertices", from_.n_vertices()), "are more than one rank can hold",
           "use more ranks");
  order_[0] = order_of(from_.vertex_ids, "vertex");
  check_size("coordinates", from_.coordinates.size(), 3 * from_.n_vertices());
  const auto wrong = first_not_finite(from_.coordinates);
  if (wrong != from_.coordinates.end())
    refuse(ErrorCode::usage,
           fmt::format("coordinates of vertex {}", value(from_.vertex_ids[(wrong - from_.coordinates.begin()) / 3])),
           "must be finite numbers");
  for (std::size_t s = 0; s < from_.rank_sets.size(); ++s) {
    const std::span<const Rank> ranks = from_.rank_sets[s];
    const bool is_sound = ranks.size() > 1 && ranks.front() >= 0 && ranks.back() < context_.size() &&
                          std::ranges::binary_search(ranks, context_.rank()) &&
                          std::ranges::adjacent_find(ranks, std::ranges::greater_equal()) == ranks.end();
    if (!is_sound)
      refuse(ErrorCode::usage, fmt::format("set of ranks {}: {}", s, fmt::join(ranks, ", ")),
             fmt::format("must hold rank {} and others of the {} ranks, ascending", context_.rank(), context_.size()));
  }
  check_sharers(from_.vertex_sharers, from_.n_vertices());
  for (int d = 1; d < 4; ++d) {
    if (d <= top) {
      check_entities(Dim{d});
    } else if (from_.size(Dim{d}) > 0) {
      refuse(ErrorCode::usage, fmt::format("entities of dimension {}", d),
             fmt::format("must not exceed the dimension of the cells, {}", top));
    }
  }
  if (!from_.cell_parts.empty()) {
    check_size("parts of cells", from_.cell_parts.size(), from_.size(from_.cell_dim));
    const Slabs slices{from_.n_parts, context_.size()};
    const std::int64_t first = slices.first(context_.rank());
    const std::int64_t end = slices.first(context_.rank() + 1);
    for (const std::int32_t part : from_.cell_parts)
      if (part < first || part >= end)
        refuse(ErrorCode::usage, fmt::format("part {}", part), "must be in this rank's slice of the parts");
  }
  check_members();
}

void MeshAdoption::check_sharers(std::span<const std::int32_t> sharers, std::size_t n) const {
  if (sharers.empty()) return;
  check_size("numbers of sharers", sharers.size(), n);
  for (const std::int32_t set : sharers)
    if (set < -1 || set >= std::ssize(from_.rank_sets))
      refuse(ErrorCode::usage, fmt::format("set of ranks {}", set),
             fmt::format("must be -1 or one of the {} in rank_sets", from_.rank_sets.size()));
}

void MeshAdoption::check_entities(Dim dim) {
  const LocalEntities& all = given(dim);
  const std::string name = entity_name(dim, from_.cell_dim);
  order_[index(dim)] = order_of(all.ids, name);
  const std::size_t n = all.size();
  if (n == 0) return;
  if (all.types.size() != 1) check_size(fmt::format("types of {}s", name), all.types.size(), n);
  for (const CellType type : all.types)
    if (static_cast<int>(type) >= n_cell_types || topology(type).dim != dim)
      refuse(ErrorCode::usage, fmt::format("{} type {}", name, static_cast<int>(type)),
             fmt::format("is not a type of dimension {}", value(dim)));
  if (dim == from_.cell_dim && std::ranges::any_of(all.sharers, [](std::int32_t set) { return set >= 0; }))
    refuse(ErrorCode::usage, "cells with sharers", "are not allowed: a cell is on one rank only");
  check_sharers(all.sharers, n);
  if (all.offsets.empty()) {
    check_size(fmt::format("nodes of {}s", name), all.nodes.size(), n * all.nodes_per_entity);
  } else {
    check_size(fmt::format("offsets of {}s", name), all.offsets.size(), n + 1);
    if (all.offsets.front() != 0 || !std::ranges::is_sorted(all.offsets) || all.offsets.back() != std::ssize(all.nodes))
      refuse(ErrorCode::usage, fmt::format("offsets of {}s", name),
             fmt::format("must ascend from 0 to the number of nodes, {}", all.nodes.size()));
  }
  const auto min_nodes = [](CellType type) {
    return std::max(topology(type).n_corners, type == CellType::edge ? 2 : 3);
  };
  const bool are_alike =
      all.offsets.empty() && all.types.size() == 1 && all.nodes_per_entity >= min_nodes(all.types[0]);
  if (are_alike && are_places(all.nodes, from_.n_vertices())) return;
  for (std::size_t i = 0; i < n; ++i) {
    const auto nodes = all.nodes_of(i);
    const CellType type = all.type(i);
    const int least = min_nodes(type);
    if (std::ssize(nodes) < least)
      refuse(ErrorCode::usage, fmt::format("{} {}", name, barrio::value(all.ids[i])),
             fmt::format("has {} nodes, too few for a {}", nodes.size(), topology(type).name));
    for (const LocalId v : nodes)
      if (barrio::value(v) < 0 || index(v) >= from_.n_vertices())
        refuse(ErrorCode::usage, fmt::format("{} {}", name, barrio::value(all.ids[i])),
               fmt::format("refers to vertex place {}, but there are {}", barrio::value(v), from_.n_vertices()));
  }
}

void MeshAdoption::check_members() const {
  for (const MeshSet& set : from_.sets) {
    check_range(fmt::format("set '{}'", set.info.name), set.vertices, from_.n_vertices());
    for (std::size_t d = 1; d < 4; ++d)
      check_range(fmt::format("set '{}'", set.info.name), set.entities[d], from_.entities[d].size());
    for (const SetInSet& inner : set.info.contained)
      if (inner.set < 0 || inner.set >= std::ssize(from_.sets))
        refuse(ErrorCode::usage, fmt::format("set '{}'", set.info.name),
               fmt::format("contains set {}, but there are {}", inner.set, from_.sets.size()));
  }
  for (const MeshTag& tag : from_.tags) {
    for (int d = 0; d < 4; ++d) {
      const MeshTag::Values& values = tag.on[d];
      check_range(fmt::format("tag '{}'", tag.info.name), values.entities, from_.size(Dim{d}));
      const std::size_t n = values.entities.size();
      if (tag.info.length_varies) {
        if (n > 0) check_size(fmt::format("offsets of tag '{}'", tag.info.name), values.items.offsets.size(), n + 1);
      } else {
        check_size(fmt::format("bytes of tag '{}'", tag.info.name), values.items.bytes.size(),
                   n * tag.info.value_bytes());
      }
    }
  }
  for (const FieldData& field : from_.fields) {
    if (field.dim > from_.cell_dim || field.n_components < 1)
      refuse(ErrorCode::usage, fmt::format("field '{}'", field.name),
             "must be on a dimension of the mesh and have at least 1 component");
    check_size(fmt::format("values of field '{}'", field.name), n_values(field),
               from_.size(field.dim) * field.n_components);
  }
}

/// Check that ranks which give the same entity share it. Collective. A shared entity counts on its lowest rank.
void MeshAdoption::check_distinct() const {
  const auto ids_of = [&](Dim dim) { return std::span(dim == Dim::vertex ? from_.vertex_ids : given(dim).ids); };
  std::array<std::int64_t, 4> highest{};
  for (int d = 0; d < 4; ++d)
    if (!order_[d].empty()) highest[d] = value(ids_of(Dim{d})[order_[d].back()]);
  mpi::all_reduce(context_, std::span<std::int64_t>(highest), MPI_MAX);
  detail::DistinctIds distinct(context_, highest);
  for (int d = 0; d < 4; ++d) {
    const std::span<const GlobalId> given_ids = ids_of(Dim{d});
    for (const std::int32_t at : order_[d]) {
      const std::int32_t sharers = given_sharers(Dim{d}, at);
      if (sharers < 0 || from_.rank_sets[sharers].front() == context_.rank())
        distinct.add(Dim{d}, value(given_ids[at]));
    }
  }
  const std::optional<detail::GivenTwice> twice = distinct.find();
  agree_after(context_, [&] {
    if (twice)
      refuse(ErrorCode::usage, fmt::format("{} {}", entity_name(twice->dim, from_.cell_dim), twice->id),
             fmt::format("is given by rank {} and by rank {}, which do not share it", twice->low, twice->high),
             twice->dim == from_.cell_dim ? "give each cell on one rank" : "give it with its sharers");
  });
}

void MeshAdoption::agree_on_shapes() {
  constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::min();
  // The maximum and the negated minimum of each number; ranks without entities do not count.
  std::array<std::int64_t, 20> ends{};
  ends.fill(nothing);
  std::size_t next = 0;
  const auto say = [&](bool has_one, std::int64_t lowest, std::int64_t highest) {
    if (has_one) ends[next] = highest;
    if (has_one) ends[next + 1] = -lowest;
    next += 2;
  };
  for (int d = 1; d < 4; ++d) {
    const LocalEntities& all = given(Dim{d});
    const bool has_some = all.size() > 0;
    const auto [low, high] = has_some ? std::ranges::minmax(all.types) : std::ranges::minmax_result<CellType>{};
    say(has_some, static_cast<int>(low), static_cast<int>(high));
    const int width = all.offsets.empty() ? all.nodes_per_entity : 0;
    say(has_some, width, width);
  }
  const bool has_cells = given(from_.cell_dim).size() > 0;
  const std::int64_t n_parts = from_.cell_parts.empty() ? 0 : from_.n_parts;
  say(has_cells, n_parts, n_parts);
  Hash64 lists(index(from_.cell_dim));
  for (const MeshSet& set : from_.sets)
    lists.add_text(set.info.name).add(static_cast<std::uint64_t>(set.info.kind)).add(std::int64_t{set.info.id});
  for (const MeshTag& tag : from_.tags)
    lists.add_text(tag.info.name)
        .add(static_cast<std::uint64_t>(tag.info.type))
        .add(std::int64_t{tag.info.n_components});
  for (const FieldData& field : from_.fields)
    lists.add_text(field.name)
        .add(std::uint64_t{index(field.dim)})
        .add(std::int64_t{field.n_components})
        .add(std::uint64_t{field.values.index()});
  const std::int64_t hash = lists.value() >> 1U;
  say(true, hash, hash);
  say(true, from_.revision, from_.revision);
  mpi::all_reduce(context_, std::span<std::int64_t>(ends).first(next), MPI_MAX);

  const auto is_one = [&](std::size_t i) { return ends[2 * i] == -ends[2 * i + 1]; };
  if (!is_one(7))
    throw AgreedError(ErrorCode::usage, {.subject = "local mesh",
                                         .cause = "must have the same sets, tags, fields and cell dimension on every "
                                                  "rank",
                                         .remedy = "give all ranks the same lists, also ranks without cells"});
  for (std::size_t d = 1; d < 4; ++d) {
    EntityTable& to = d == index(from_.cell_dim) ? known_.cells : shapes_[d];
    const std::size_t type = 2 * (d - 1);
    is_listed_[d] = ends[2 * type] != nothing;
    if (!is_listed_[d]) continue;
    to.has_one_type = is_one(type);
    if (to.has_one_type) to.types = {static_cast<CellType>(ends[2 * type])};
    to.nodes_per_entity = is_one(type + 1) ? static_cast<int>(ends[2 * (type + 1)]) : 0;
    if (to.nodes_per_entity == 0) to.offsets = {0};
  }
  if (!is_listed_[index(from_.cell_dim)]) refuse_together(ErrorCode::usage, "local mesh", "has no cells on any rank");
  const std::int64_t parts_of_all = ends[12] == nothing ? 0 : ends[12];
  if (!is_one(6) && parts_of_all != 0)
    throw AgreedError(ErrorCode::usage,
                      {.subject = "parts of cells", .cause = "must have the same n_parts on every rank"});
  out_.revision = ends[16] + std::uint64_t{1};
  out_.n_parts = parts_of_all > 0 ? static_cast<int>(parts_of_all) : context_.size();
  const Slabs slices{out_.n_parts, context_.size()};
  out_.parts = {local_id(slices.first(context_.rank())), local_id(slices.first(context_.rank() + 1))};
}

}  // namespace barrio::mesh
