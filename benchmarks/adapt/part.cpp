#include "benchmarks/adapt/part.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "barrio/mpi/collectives.hpp"

namespace barrio::bench {
namespace {

using adapt::detail::Classification;
using adapt::detail::NewTet;
using adapt::detail::no_slot;
using adapt::detail::Point;
using adapt::detail::Slot;
using adapt::detail::Tet;
using adapt::detail::Vertex;
using mesh::Dim;

/// Value of `Vertex::owner`: this rank, or several.
constexpr Rank mine = 0;
constexpr Rank of_several = 1;
/// Value of `Key::high` of a vertex with a global id. Shared vertices have the highest value: an edge to one is
/// proposed by its other end.
constexpr std::uint64_t of_mesh = 1;
constexpr std::uint64_t of_interface = ~0ULL;

/// Return a bit for each side of the unit cube that a point lies on. Points never leave a side, not even by rounding.
unsigned sides_of(const Point& at) noexcept {
  unsigned sides = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    if (at[i] == 0.0) sides |= 1U << (2 * i);
    if (at[i] == 1.0) sides |= 2U << (2 * i);
  }
  return sides;
}

/// Classify a tet: the sides of its vertices give boundary faces and feature edges.
NewTet classified(const std::array<Slot, 4>& v, const std::vector<Vertex>& vertices) noexcept {
  NewTet tet;
  tet.v = v;
  std::array<unsigned, 4> sides{};
  for (std::size_t i = 0; i < 4; ++i) sides[i] = sides_of(vertices[v[i]].at);
  for (std::size_t f = 0; f < 4; ++f) {
    const auto& at = adapt::detail::face_of[f];
    tet.face_membership[f] = (sides[at[0]] & sides[at[1]] & sides[at[2]]) != 0 ? 1 : 0;
  }
  for (const auto& [a, b] : adapt::detail::edge_of)
    if (std::popcount(sides[a] & sides[b]) > 1) tet.features |= adapt::detail::edge_bit(a, b);
  return tet;
}

}  // namespace

Part::Part(mesh::LocalMesh&& local, const adapt::detail::Sizes& sizes, const adapt::detail::Limits& limits)
    : local_(std::move(local)), limits_(limits) {
  local_.vertex_sharers.resize(local_.n_vertices(), -1);
  add_vertices(sizes);
  add_tets();
}

void Part::add_vertices(const adapt::detail::Sizes& sizes) {
  const auto field = std::ranges::find(local_.fields, open_field, &mesh::FieldData::name);
  const auto& open = std::get<std::vector<std::int32_t>>(field->values);
  for (std::size_t v = 0; v < local_.n_vertices(); ++v) {
    const bool is_shared = local_.vertex_sharers[v] >= 0;
    Vertex vertex;
    for (std::size_t i = 0; i < 3; ++i) vertex.at[i] = local_.coordinates[3 * v + i];
    vertex.inverse_size = sizes.inverse_at(vertex.at, 1.0F);
    vertex.key = {is_shared ? of_interface : of_mesh, static_cast<std::uint64_t>(value(local_.vertex_ids[v]))};
    vertex.owner = is_shared ? of_several : mine;
    vertex.classification = static_cast<Classification>(3 - std::min(std::popcount(sides_of(vertex.at)), 3));
    vertex.active = static_cast<std::uint8_t>(open[v]);
    tets_.add_vertex(vertex);
    if (is_shared) shared_.push_back(static_cast<Slot>(v));
  }
}

void Part::add_tets() {
  const mesh::LocalEntities& cells = local_.entities[mesh::index(Dim::volume)];
  for (std::size_t c = 0; c < cells.size(); ++c) {
    std::array<Slot, 4> v{};
    std::ranges::transform(cells.nodes_of(c), v.begin(), [](LocalId node) { return value(node); });
    const Slot t = tets_.add_tet(classified(v, tets_.vertices));
    adapt::detail::note_wants(tets_, t, limits_);
  }
  tets_.link_all();
}

void Part::open_bad() {
  for (const Tet& tet : tets_.tets)
    if (tet.quality < limits_.bad)
      for (const Slot v : tet.v) tets_.vertices[v].active |= adapt::detail::smooths;
}

void Part::note_shared() {
  constexpr std::uint8_t open = 15;
  for (const Slot v : shared_) tets_.vertices[v].active &= open;
  const auto is_shared = [&](Slot v) { return tets_.vertices[v].owner == of_several; };
  for (std::size_t t = 0; t < tets_.tets.size(); ++t)
    if (!tets_.tets[t].is_free() && std::ranges::any_of(tets_.tets[t].v, is_shared))
      adapt::detail::note_wants(tets_, static_cast<Slot>(t), limits_);
}

bool Part::is_new(const Vertex& vertex) const noexcept {
  return vertex.key.high != of_mesh && vertex.key.high != of_interface;
}

mesh::LocalMesh Part::give(mpi::Context& context, std::span<const Rank> to, NextIds& next) && {
  const auto is_new_vertex = [&](const Vertex& v) { return v.tet != no_slot && is_new(v); };
  const auto is_new_tet = [](const Tet& t) { return !t.is_free() && t.changed != 0; };
  const std::array<std::int64_t, 2> n_new{std::ranges::count_if(tets_.vertices, is_new_vertex),
                                          std::ranges::count_if(tets_.tets, is_new_tet)};
  std::array<std::int64_t, 2> before = n_new;
  std::array<std::int64_t, 2> all = n_new;
  mpi::exclusive_sum(context, std::span<std::int64_t>(before));
  mpi::all_reduce(context, std::span<std::int64_t>(all), MPI_SUM);
  mesh::LocalMesh out;
  out.revision = local_.revision;
  give_vertices(out, next.vertex + before[0]);
  give_cells(out, to, next.cell + before[1]);
  out.rank_sets = std::move(local_.rank_sets);
  next.vertex += all[0];
  next.cell += all[1];
  return out;
}

void Part::give_vertices(mesh::LocalMesh& out, std::int64_t first_id) {
  std::vector<std::int32_t> open;
  place_.assign(tets_.vertices.size(), -1);
  for (std::size_t v = 0; v < tets_.vertices.size(); ++v) {
    const Vertex& vertex = tets_.vertices[v];
    if (vertex.tet == no_slot) continue;
    place_[v] = static_cast<std::int32_t>(out.vertex_ids.size());
    out.vertex_ids.push_back(is_new(vertex) ? GlobalId{first_id++}
                                            : GlobalId{static_cast<std::int64_t>(vertex.key.low)});
    out.coordinates.insert(out.coordinates.end(), vertex.at.begin(), vertex.at.end());
    out.vertex_sharers.push_back(vertex.owner == of_several ? local_.vertex_sharers[v] : -1);
    open.push_back(vertex.active & 15);
  }
  out.fields.push_back({open_field, Dim::vertex, 1, std::move(open)});
}

void Part::give_cells(mesh::LocalMesh& out, std::span<const Rank> to, std::int64_t first_id) const {
  const mesh::LocalEntities& old = local_.entities[mesh::index(Dim::volume)];
  mesh::LocalEntities& cells = out.entities[mesh::index(Dim::volume)];
  cells.types = {mesh::CellType::tet};
  cells.nodes_per_entity = 4;
  std::vector<std::int32_t> targets;
  for (std::size_t t = 0; t < tets_.tets.size(); ++t) {
    const Tet& tet = tets_.tets[t];
    if (tet.is_free()) continue;
    cells.ids.push_back(tet.changed != 0 ? GlobalId{first_id++} : old.ids[t]);
    for (const Slot v : tet.v) cells.nodes.push_back(LocalId{place_[v]});
    targets.push_back(to[t]);
  }
  out.fields.push_back({target_field, Dim::volume, 1, std::move(targets)});
}

}  // namespace barrio::bench
