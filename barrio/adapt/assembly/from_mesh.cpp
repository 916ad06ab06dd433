#include "barrio/adapt/assembly/from_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "barrio/adapt/assembly/pinched.hpp"
#include "barrio/adapt/size_fields.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/large_pages.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/base/radix_sort.hpp"
#include "barrio/base/ragged.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/halo.hpp"
#include "barrio/geometry/hilbert_place.hpp"
#include "barrio/geometry/predicates.hpp"
#include "barrio/mesh/nested_sets.hpp"
#include "barrio/mesh/topology.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::adapt::detail {
namespace {

using mesh::Dim;

/// Order local vertices along a Hilbert curve: near in space is then near in memory.
std::vector<std::int32_t> order_along_curve(const mesh::Mesh& mesh) {
  const std::vector<double>& x = mesh.vertices().coordinates;
  const std::size_t n = x.size() / 3;
  Point low;
  low.fill(std::numeric_limits<double>::infinity());
  Point high;
  high.fill(-std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < x.size(); ++i) {
    low[i % 3] = std::min(low[i % 3], x[i]);
    high[i % 3] = std::max(high[i % 3], x[i]);
  }
  const double side = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2], 1e-300});
  constexpr int n_bits = 20;
  constexpr double max_place = (1 << n_bits) - 1;
  std::vector<std::pair<std::uint64_t, std::int32_t>> order(n);  // place, vertex
  for (std::size_t v = 0; v < n; ++v) {
    std::array<std::uint64_t, 3> cell{};
    for (std::size_t i = 0; i < 3; ++i)
      cell[i] = static_cast<std::uint64_t>((x[3 * v + i] - low[i]) / side * max_place);
    order[v] = {geometry::hilbert_place(cell, n_bits), static_cast<std::int32_t>(v)};
  }
  radix_sort(order, &std::pair<std::uint64_t, std::int32_t>::first);
  std::vector<std::int32_t> vertices(n);
  std::ranges::transform(order, vertices.begin(), &std::pair<std::uint64_t, std::int32_t>::second);
  return vertices;
}

/// Tell whether a set lists what a Medit file requires to stay.
bool is_required(const mesh::SetInfo& set) {
  return set.kind == mesh::SetKind::other && (set.name == "Corners" || set.name.starts_with("Required"));
}

class Importer {
 public:
  Importer(const mesh::Mesh& mesh, const Sizes& sizes, const std::string& size_field, const AdaptOptions& options,
           SideValues side_values, std::size_t n_expected)
      : mesh_(mesh),
        me_(mesh.context().rank()),
        sizes_(sizes),
        size_field_(size_field),
        options_(options),
        n_expected_(n_expected),
        cosine_(std::cos(options.feature_angle * std::numbers::pi / 180)) {
    out_.side_values = std::move(side_values);
  }

  Imported run() {
    for (const mesh::MeshSet& set : mesh_.sets()) out_.sets.push_back(set.info);
    is_frozen_ = mesh::named_sets(options_.frozen_sets, out_.sets, "freezing");
    for (std::size_t s = 0; s < is_frozen_.size(); ++s)
      if (is_required(out_.sets[s])) is_frozen_[s] = true;
    tets().has_frozen = std::ranges::find(is_frozen_, true) != is_frozen_.end() || !mesh_.cells().has_one_type;
    out_.transfer = Transfer(mesh_, options_.parent_field, size_field_);
    find_node_sets();
    find_owners();
    take_vertices();
    const std::vector<std::uint32_t> membership_of_cell = find_memberships(Dim::volume, out_.cells, 0);
    take_tets(membership_of_cell);
    tets().link_all();
    const std::vector<std::uint32_t> membership_of_face = find_memberships(Dim::face, out_.faces, unlisted + 1);
    take_faces(membership_of_face);
    const std::vector<std::uint32_t> membership_of_edge = find_memberships(Dim::edge, out_.edges, 1);
    take_edges(membership_of_edge);
    out_.others.take(mesh_, out_.transfer, owner_,
                     {.cells = membership_of_cell, .faces = membership_of_face, .edges = membership_of_edge});
    mpi::agree_after(mesh_.context(), [&] { find_features(); });
    classify_vertices();
    split_pinched(mesh_.context(), tets());
    give_edges();
    out_.transfer.end_taking();
    return std::move(out_);
  }

 private:
  /// A face with a membership, at one of its edges.
  struct EdgeFace {
    Slot low;
    Slot high;
    Slot tet;
    std::uint8_t face;
    auto operator<=>(const EdgeFace&) const = default;
  };

  Tets& tets() noexcept { return out_.tets; }
  [[nodiscard]] Rank me() const noexcept { return me_; }
  [[nodiscard]] bool has_own(const std::array<Slot, 4>& v, std::size_t but = 4) const {
    for (std::size_t i = 0; i < 4; ++i)
      if (i != but && out_.tets.vertices[v[i]].owner == me()) return true;
    return false;
  }

  /// Find the rank that decides about each local vertex: the lowest one that has a cell of its star. The owners that
  /// the mesh draws at random share vertices evenly, but would make the border larger.
  void find_owners() {
    owner_.assign(mesh_.n_local(Dim::vertex), std::numeric_limits<Rank>::max());
    const mesh::EntityTable& cells = mesh_.cells();
    for (std::size_t c = 0; c < cells.size(); ++c)
      for (const LocalId v : cells.nodes_of(c)) owner_[index(v)] = std::min(owner_[index(v)], cells.owner(c));
    // The owner in the mesh sees the whole star.
    exchange::HaloExchange<Rank>(mesh_.context(), mesh_.halo_plan(Dim::vertex), owner_, 1).exchange();
  }

  /// Find the memberships of vertices in sets. Those of sets that stay as they are make corners.
  void find_node_sets() {
    SetMemberships memberships;
    const std::vector<std::uint32_t> of = find_memberships(Dim::vertex, memberships, 0);
    NodeSets node_sets(memberships.all());
    node_sets_.reserve(of.size());
    for (const std::uint32_t one : of) {
      const std::span<const std::int32_t> sets = memberships.sets_of(one & ~std::uint32_t{frozen_face});
      node_sets_.push_back(node_sets.number_of({sets.begin(), sets.end()}));
      stays_.push_back((one & frozen_face) != 0);
    }
    Tets::Carried carried = out_.transfer.carried();
    carried.node_sets = memberships.all().size() > 1;
    carried.rank = me();
    tets().carry(carried, std::move(node_sets));
  }

  void take_vertices() {
    const mesh::VertexTable& from = mesh_.vertices();
    slot_.assign(from.size(), no_slot);
    constexpr std::size_t cells_of_vertex = 5;
    tets().vertices.reserve(2 * std::max(from.size(), n_expected_ / cells_of_vertex));
    prefer_large_pages(tets().vertices.data(), barrio::memory_bytes(tets().vertices));
    std::vector<bool> is_seen(from.size(), false);
    const mesh::EntityTable& cells = mesh_.cells();
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const auto nodes = cells.nodes_of(c);
      if (!is_tet(cells, c) || std::ranges::none_of(nodes, [&](LocalId v) { return owner_[index(v)] == me(); }))
        continue;
      for (const LocalId v : nodes) is_seen[index(v)] = true;
    }
    for (const std::size_t v : order_along_curve(mesh_)) {
      if (!is_seen[v]) continue;
      Vertex vertex;
      for (std::size_t i = 0; i < 3; ++i) vertex.at[i] = from.coordinates[3 * v + i];
      vertex.key = {of_mesh, index(from.global_ids[v])};
      vertex.owner = owner_[v];
      slot_[v] = tets().add_vertex(vertex);
      out_.transfer.take_vertex(local_id(v), slot_[v], tets());
      tets().set_membership(slot_[v], node_sets_[v]);
    }
    take_sizes();
  }

  void take_sizes() {
    if (sizes_.is_linear()) {
      const std::vector<double> sizes = sizes_in_field(mesh_, size_field_);
      for (std::size_t v = 0; v < sizes.size(); ++v)
        if (slot_[v] >= 0) tets().vertices[slot_[v]].inverse_size = static_cast<float>(1.0 / sizes[v]);
      return;
    }
    mpi::agree_after(mesh_.context(), [&] {
      for (Vertex& vertex : tets().vertices) vertex.inverse_size = sizes_.inverse_at(vertex.at, 1.0F);
      sizes_.throw_fault();
    });
  }

  /// Number the memberships of the local entities: the sets that each is in.
  std::vector<std::uint32_t> find_memberships(Dim dim, SetMemberships& memberships, std::uint16_t first) {
    std::vector<std::pair<std::int32_t, std::int32_t>> members;  // entity, set
    const auto sets = mesh_.sets();
    for (std::int32_t s = 0; s < std::ssize(sets); ++s)
      for (const LocalId id : dim == Dim::vertex ? sets[s].vertices : sets[s].entities[mesh::index(dim)])
        members.emplace_back(value(id), s);
    out_.side_values.add_numbers(mesh_, dim, members);
    if (!std::ranges::is_sorted(members)) std::ranges::sort(members);  // a single set is
    std::vector<std::uint32_t> of(mesh_.n_local(dim));
    std::vector<std::int32_t> in;
    std::size_t next = 0;
    std::size_t last = 0;
    for (std::size_t i = 0; i < of.size(); ++i) {
      in.clear();
      for (; next < members.size() && std::cmp_equal(members[next].first, i); ++next)
        in.push_back(members[next].second);
      const bool is_same = i > 0 && std::ranges::equal(in, last_);
      if (!is_same) last = memberships.add(in);
      last_ = in;
      of[i] = static_cast<std::uint32_t>(last);
    }
    const std::vector<std::uint16_t> numbers = memberships.agree(mesh_.context(), first);
    for (std::uint32_t& one : of) {
      one = numbers[one];
      if (std::ranges::any_of(memberships.sets_of(one), [&](std::int32_t set) {
            return std::cmp_less(set, is_frozen_.size()) && is_frozen_[set];
          }))
        one |= dim == Dim::volume ? frozen_cell : frozen_face;
    }
    return of;
  }

  void take_tets(const std::vector<std::uint32_t>& membership_of_cell) {
    const mesh::EntityTable& cells = mesh_.cells();
    // by their lowest slot, so that those at a vertex are together
    const auto visit_all = [&](auto&& put) {
      for (std::int32_t c = 0; std::cmp_less(c, cells.size()); ++c) {
        if (!is_tet(cells, c)) continue;
        Slot lowest = std::numeric_limits<Slot>::max();
        bool is_seen = false;
        for (const LocalId v : cells.nodes_of(c)) {
          lowest = std::min(lowest, slot_[index(v)]);
          is_seen = is_seen || owner_[index(v)] == me();
        }
        if (is_seen) put(lowest, c);
      }
    };
    const std::vector<std::int32_t> order =
        Ragged<std::int32_t>::grouped(tets().vertices.size(), visit_all).take_items();
    // Pages that are never touched cost nothing, but an array that grows exists twice for a moment.
    tets().tets.reserve(2 * std::max(order.size(), n_expected_));
    prefer_large_pages(tets().tets.data(), barrio::memory_bytes(tets().tets));
    for (const std::int32_t c : order) {
      NewTet tet;
      const auto nodes = cells.nodes_of(c);
      for (std::size_t i = 0; i < 4; ++i) tet.v[i] = slot_[index(nodes[i])];
      tet.cell_membership = membership_of_cell[c];
      tet.parent = out_.transfer.cell_parent(local_id(c));
      tets().add_tet(tet);
    }
    mpi::agree_after(mesh_.context(), [&] {
      for (std::size_t t = 0; t < order.size(); ++t) {
        const Tet& tet = tets().tets[t];
        const auto& at = tets().vertices;
        const int sign = std::isnan(tet.quality)
                             ? 1
                             : geometry::orient3d(at[tet.v[0]].at, at[tet.v[1]].at, at[tet.v[2]].at, at[tet.v[3]].at);
        if (sign > 0 && tet.quality > 0) continue;
        refuse(ErrorCode::bad_input, fmt::format("cell {}", value(cells.id(order[t]))),
               sign < 0    ? "is inverted: its volume is negative"
               : sign == 0 ? "is flat: it has no volume"
                           : "is too large or too small to compute with: scale the coordinates");
      }
    });
  }

  /// Take the memberships of listed faces and of the boundary.
  void take_faces(std::span<const std::uint32_t> membership_of) {
    const mesh::EntityTable& listed = mesh_.entities(Dim::face);
    std::vector<std::pair<std::array<Slot, 3>, std::uint16_t>> known;
    std::vector<bool> is_on_listed(tets().vertices.size(), false);
    for (std::size_t f = 0; f < listed.size(); ++f) {
      std::array<Slot, 3> key{};
      const auto nodes = listed.nodes_of(f);
      if (nodes.size() != key.size()) continue;
      for (std::size_t i = 0; i < 3; ++i) key[i] = slot_[index(nodes[i])];
      std::ranges::sort(key);
      if (key[0] < 0) continue;
      for (const Slot v : key) is_on_listed[v] = true;
      known.emplace_back(key, static_cast<std::uint16_t>(membership_of[f]));
    }
    std::ranges::sort(known);
    const std::uint32_t first = tets().tets.empty() ? 0 : tets().tets[0].cell_membership;
    const bool has_one_body =
        std::ranges::all_of(tets().tets, [&](const Tet& tet) { return tet.cell_membership == first; });
    for (Tet& tet : tets().tets) {
      for (std::size_t f = 0; f < 4; ++f) {
        const bool may_be_listed =
            std::ranges::all_of(face_of[f], [&](std::size_t i) { return is_on_listed[tet.v[i]]; });
        const bool is_boundary =
            tet.across[f] < 0 ? has_own(tet.v, f)
                              : !has_one_body && tets().tets[tet.across[f] >> 2].cell_membership != tet.cell_membership;
        if (is_boundary) tet.face_membership[f] = unlisted;
        if (!may_be_listed) continue;
        const auto key = face_key(tet, f);
        const auto at = std::ranges::lower_bound(known, key, {}, [](const auto& one) { return one.first; });
        if (at != known.end() && at->first == key) tet.face_membership[f] = at->second;
      }
    }
    freeze_sides_of_others();
  }

  using Ids = std::pair<std::int64_t, std::int64_t>;  // global ids of an edge's ends, ascending

  [[nodiscard]] Ids ids_of(Slot a, Slot b) const {
    return std::minmax(static_cast<std::int64_t>(out_.tets.key(a).low),
                       static_cast<std::int64_t>(out_.tets.key(b).low));
  }

  /// Take the listed edges: they are feature edges. The ends of frozen ones stay.
  void take_edges(std::span<const std::uint32_t> membership_of) {
    const mesh::EntityTable& listed = mesh_.entities(Dim::edge);
    for (std::size_t e = 0; e < listed.size(); ++e) {
      const auto ends = listed.nodes_of(e);
      const auto [a, b] = std::minmax(slot_[index(ends[0])], slot_[index(ends[1])]);
      if (a < 0 || !tets().has_own_end(a, b)) continue;
      features_.emplace_back(a, b);
      listed_edges_.emplace_back(ids_of(a, b), static_cast<ListedEdges::Number>(membership_of[e]));
      if ((membership_of[e] & frozen_face) == 0) continue;
      for (const Slot v : {a, b}) tets().vertices[v].classification = Classification::corner;
    }
    std::ranges::sort(listed_edges_);
  }

  [[nodiscard]] ListedEdges::Number membership_of_edge(Slot a, Slot b) const {
    const auto at =
        std::ranges::lower_bound(listed_edges_, ids_of(a, b), {}, &std::pair<Ids, ListedEdges::Number>::first);
    return at != listed_edges_.end() && at->first == ids_of(a, b) ? at->second : ListedEdges::Number{0};
  }

  /// Give the tetrahedra the memberships of listed edges. Copies of pinched vertices have the ids of these.
  void give_edges() {
    if (listed_edges_.empty()) return;
    for (const Tet& tet : tets().tets) {
      for (std::size_t e = 0; tet.features != 0 && e < edge_of.size(); ++e) {
        if ((tet.features >> e & 1U) == 0) continue;
        const Slot a = tet.v[edge_of[e][0]];
        const Slot b = tet.v[edge_of[e][1]];
        const ListedEdges::Number membership = membership_of_edge(a, b);
        if (membership != 0 && tets().has_own_end(a, b)) tets().listed_edges().set(a, b, membership);
      }
    }
  }

  /// Freeze the faces and vertices where tetrahedra meet cells of other types.
  void freeze_sides_of_others() {
    std::vector<std::array<Slot, 3>> sides;
    for (std::size_t c = 0; c < mesh_.cells().size(); ++c) {
      if (is_tet(mesh_.cells(), c)) continue;
      mesh::for_each_side(mesh_.cells().type(c), mesh_.cells().nodes_of(c), [&](std::span<const LocalId> corners) {
        if (corners.size() != 3) return;
        std::array<Slot, 3> key{slot_[index(corners[0])], slot_[index(corners[1])], slot_[index(corners[2])]};
        std::ranges::sort(key);
        if (key[0] >= 0) sides.push_back(key);
      });
      for (const LocalId v : mesh_.cells().nodes_of(c))
        if (const Slot slot = slot_[index(v)]; slot >= 0) tets().vertices[slot].classification = Classification::corner;
    }
    std::ranges::sort(sides);
    if (sides.empty()) return;
    for (Tet& tet : tets().tets)
      for (std::size_t f = 0; f < 4; ++f)
        if (tet.across[f] < 0 && std::ranges::binary_search(sides, face_key(tet, f)))
          tet.face_membership[f] = std::max(tet.face_membership[f], unlisted) | frozen_face;
  }

  [[nodiscard]] Point normal(const EdgeFace& side) const {
    const Tet& tet = out_.tets.tets[side.tet];
    const auto& f = face_of[side.face];
    const auto& at = out_.tets.vertices;
    const Point n = cross(at[tet.v[f[1]]].at - at[tet.v[f[0]]].at, at[tet.v[f[2]]].at - at[tet.v[f[0]]].at);
    return (1.0 / std::sqrt(dot(n, n))) * n;
  }

  /// Find the feature edges: where faces with memberships meet, unless these are two of one membership in a smooth
  /// surface.
  void find_features() {
    std::vector<EdgeFace> sides;
    for (Slot t = 0; t < std::ssize(tets().tets); ++t) {
      const Tet& tet = tets().tets[t];
      for (std::uint8_t f = 0; f < 4; ++f) {
        if (tet.face_membership[f] == 0) continue;
        // An inner face has two tetrahedra: take it once.
        if (tet.across[f] >= 0 && (tet.across[f] >> 2) < t) continue;
        const auto key = face_key(tet, f);
        for (const auto& [a, b] : {std::pair{key[0], key[1]}, std::pair{key[0], key[2]}, std::pair{key[1], key[2]}})
          if (tets().has_own_end(a, b)) sides.push_back({a, b, t, f});
      }
    }
    std::ranges::sort(sides);
    for (std::size_t first = 0; first < sides.size();) {
      std::size_t end = first + 1;
      while (end < sides.size() && sides[end].low == sides[first].low && sides[end].high == sides[first].high) ++end;
      add_if_feature(std::span(sides).subspan(first, end - first));
      first = end;
    }
    for (std::size_t v = 0; v < stays_.size(); ++v)
      if (stays_[v] && slot_[v] >= 0) tets().vertices[slot_[v]].classification = Classification::corner;
    sort_unique(features_);
    std::vector<std::uint8_t> is_on_feature(tets().vertices.size(), 0);
    for (const auto& [a, b] : features_) is_on_feature[a] = is_on_feature[b] = 1;
    for (Tet& tet : tets().tets) {
      if (std::ranges::count_if(tet.v, [&](Slot v) { return is_on_feature[v] != 0; }) < 2) continue;
      for (const auto& [i, j] : edge_of) {
        const auto [a, b] = std::minmax(tet.v[i], tet.v[j]);
        if (std::ranges::binary_search(features_, std::pair{a, b})) tet.features |= edge_bit(i, j);
      }
    }
  }

  void add_if_feature(std::span<const EdgeFace> sides) {
    const auto face_membership = [&](const EdgeFace& side) { return tets().tets[side.tet].face_membership[side.face]; };
    const auto n_outer =
        std::ranges::count_if(sides, [&](const EdgeFace& side) { return tets().tets[side.tet].across[side.face] < 0; });
    // A face at a cell of another type is not on the boundary.
    const bool may_meet_others = !mesh_.cells().has_one_type && std::ranges::any_of(sides, [&](const EdgeFace& side) {
      return (face_membership(side) & frozen_face) != 0;
    });
    if (n_outer != 0 && n_outer != 2 && !may_meet_others)
      refuse(
          ErrorCode::bad_input,
          fmt::format("edge between vertices {} and {}", tets().key(sides[0].low).low, tets().key(sides[0].high).low),
          fmt::format("has {} boundary faces, but must have 2: the boundary must be a surface", n_outer));
    const bool is_smooth = sides.size() == 2 && face_membership(sides[0]) == face_membership(sides[1]) &&
                           std::abs(dot(normal(sides[0]), normal(sides[1]))) >= cosine_;
    if (!is_smooth) features_.emplace_back(sides[0].low, sides[0].high);
  }

  /// Classify vertices by the feature edges at them; copies get it from their owner.
  void classify_vertices() {
    std::vector<std::pair<Slot, Slot>> ends;  // vertex, other end of a feature
    for (const auto& [a, b] : features_) {
      ends.emplace_back(a, b);
      ends.emplace_back(b, a);
    }
    std::ranges::sort(ends);
    for (const Tet& tet : tets().tets)
      for (std::size_t f = 0; f < 4; ++f)
        if (tet.face_membership[f] != 0)
          for (const std::size_t i : face_of[f])
            tets().vertices[tet.v[i]].classification =
                std::min(tets().vertices[tet.v[i]].classification, Classification::surface);
    for (std::size_t first = 0, end = 0; first < ends.size(); first = end) {
      while (end < ends.size() && ends[end].first == ends[first].first) ++end;
      Vertex& vertex = tets().vertices[ends[first].first];
      if (vertex.classification == Classification::corner) continue;
      vertex.classification = Classification::corner;
      if (end - first != 2) continue;
      if (membership_of_edge(ends[first].first, ends[first].second) !=
          membership_of_edge(ends[first].first, ends[first + 1].second))
        continue;
      const Point one = tets().vertices[ends[first].second].at - vertex.at;
      const Point other = tets().vertices[ends[first + 1].second].at - vertex.at;
      if (-dot(one, other) >= cosine_ * std::sqrt(dot(one, one) * dot(other, other)))
        vertex.classification = Classification::edge;
    }
    // The rank that decides about a vertex sees all its tetrahedra. The others get the result by way of the owner in
    // the mesh.
    std::vector<std::int32_t> on(mesh_.n_local(Dim::vertex), -1);
    for (std::size_t v = 0; v < on.size(); ++v)
      if (owner_[v] == me() && slot_[v] >= 0)  // the others belong to cells that stay
        on[v] = static_cast<std::int32_t>(tets().vertices[slot_[v]].classification);
    exchange::HaloExchange<std::int32_t> halo(mesh_.context(), mesh_.halo_plan(Dim::vertex), on, 1);
    halo.reduce([](std::int32_t mine, std::int32_t other) { return std::max(mine, other); });
    halo.exchange();
    for (std::size_t v = 0; v < on.size(); ++v)
      if (slot_[v] >= 0) tets().vertices[slot_[v]].classification = static_cast<Classification>(on[v]);
  }

  const mesh::Mesh& mesh_;
  Rank me_;
  const Sizes& sizes_;
  const std::string& size_field_;
  const AdaptOptions& options_;
  std::size_t n_expected_;
  double cosine_;
  Imported out_;
  std::vector<Rank> owner_;  // decides about each local vertex
  std::vector<Slot> slot_;   // of each local vertex
  std::vector<std::pair<Slot, Slot>> features_;
  std::vector<std::pair<Ids, ListedEdges::Number>> listed_edges_;  // ascending
  std::vector<std::int32_t> last_;
  std::vector<bool> is_frozen_;              // of each set
  std::vector<NodeSets::Number> node_sets_;  // of each local vertex
  std::vector<bool> stays_;                  // of each local vertex: it is in a frozen set
};

}  // namespace

Imported import_mesh(const mesh::Mesh& mesh, const Sizes& sizes, const std::string& size_field,
                     const AdaptOptions& options, SideValues side_values, std::size_t n_expected) {
  return Importer(mesh, sizes, size_field, options, std::move(side_values), n_expected).run();
}

std::vector<double> sizes_in_field(const mesh::Mesh& mesh, const std::string& name) {
  std::vector<double> sizes = real_values(mesh, name, Dim::vertex);
  mpi::agree_after(mesh.context(), [&] {
    for (std::size_t v = 0; v < sizes.size(); ++v) {
      const std::vector<double>& x = mesh.vertices().coordinates;
      (void)Sizes::inverse(sizes[v], {x[3 * v], x[3 * v + 1], x[3 * v + 2]});
    }
  });
  sizes.resize(mesh.n_local(Dim::vertex));
  exchange::HaloExchange<double>(mesh.context(), mesh.halo_plan(Dim::vertex), sizes, 1).exchange();
  return sizes;
}

std::vector<std::string> check_adaptable(const mesh::Mesh& mesh, const SideValues& side_values) {
  mpi::agree_after(mesh.context(), [&] {
    constexpr const char* what_is_changed =
        "adaptation changes tetrahedra of 4 nodes; hexes, prisms and pyramids beside them stay";
    if (mesh.cell_dim() != Dim::volume)
      refuse(ErrorCode::usage, "a surface mesh", "cannot be adapted", what_is_changed);
    const mesh::EntityTable& cells = mesh.cells();
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const mesh::CellTopology& topology = mesh::topology(cells.type(c));
      const bool may_stay = mesh::has_fixed_sides(cells.type(c)) && std::ssize(cells.nodes_of(c)) == topology.n_corners;
      const bool is_of_second_order = cells.type(c) == mesh::CellType::tet && !may_stay;
      if (is_of_second_order)
        refuse(ErrorCode::usage,
               fmt::format("cell {}: a tet of {} nodes", value(cells.id(c)), cells.nodes_of(c).size()),
               "cannot be adapted",
               "reduce the cells to their corners while they are read: --to-linear, or ReadOptions::to_linear");
      if (!may_stay || (cells.has_one_type && !is_tet(cells, c)))
        refuse(ErrorCode::usage,
               fmt::format("cell {}: a {} of {} nodes", value(cells.id(c)), topology.name, cells.nodes_of(c).size()),
               "cannot be adapted", what_is_changed);
    }
    for (const Dim dim : {Dim::edge, Dim::face}) {
      const mesh::EntityTable& listed = mesh.entities(dim);
      for (std::size_t i = 0; i < listed.size(); ++i)
        if (listed.nodes_of(i).size() != mesh::n_corners(listed.type(i), listed.nodes_of(i).size()))
          refuse(ErrorCode::usage,
                 fmt::format("{} {}: a {} of {} nodes", dim == Dim::edge ? "listed edge" : "listed face",
                             value(listed.id(i)), mesh::topology(listed.type(i)).name, listed.nodes_of(i).size()),
                 "cannot be adapted", what_is_changed);
    }
  });
  std::vector<std::string> lost = side_values.left_out();
  std::vector<std::int64_t> n_values;  // of each tag: those that name entities
  for (const mesh::MeshTag& tag : mesh.tags()) {
    std::int64_t& n = n_values.emplace_back(0);
    if (tag.info.type != mesh::TagType::entity || tag.info.name == "GLOBAL_ID") continue;
    for (const mesh::MeshTag::Values& values : tag.on) n += values.entities.size();
    n += names_entities(tag) ? 1 : 0;
  }
  mpi::all_reduce(mesh.context(), std::span<std::int64_t>(n_values), MPI_SUM);
  for (std::size_t t = 0; t < mesh.tags().size(); ++t)
    if (n_values[t] > 0) lost.push_back(fmt::format("tag '{}', whose values are entities", mesh.tags()[t].info.name));
  return lost;
}

}  // namespace barrio::adapt::detail
