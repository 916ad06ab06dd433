#include "barrio/adapt/assembly/to_mesh.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <iterator>
#include <string>
#include <utility>

#include "barrio/adapt/assembly/pinched.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/base/ragged.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/message.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/partition/hilbert.hpp"

namespace barrio::adapt::detail {
namespace {

using mesh::Dim;

/// Return an id that breaks ties between points at one place of the curve.
GlobalId tie_break(std::uint64_t hash) noexcept { return global_id(hash >> 1U); }

/// A vertex or listed side that several ranks use, as its owner sends it.
struct SharedItem {
  std::array<Key, 4> keys;  // of a vertex one, of an edge two, of a triangle three
  GlobalId id;
  std::uint32_t n_ranks;  // of those that follow
};

/// A listed edge or face.
struct Side {
  std::array<Slot, 4> v{no_slot, no_slot, no_slot, no_slot};  // of an edge two, of a triangle three
  std::uint16_t membership = 0;
  GlobalId id = no_global_id;

  [[nodiscard]] std::span<const Slot> nodes() const noexcept {
    return std::span(v).first(v[2] == no_slot ? 2 : v[3] == no_slot ? 3 : 4);
  }
};

/// The listed sides of one dimension.
struct Sides {
  std::vector<Side> numbered;         // by this rank, which owns the lowest vertex
  Ragged<Rank> users;                 // of those: the ranks whose cells have them, ascending
  std::vector<Side> kept;             // that cells of this rank have
  std::vector<std::int32_t> sharers;  // of those

  void add(const Side& side, std::vector<Rank>& ranks) {
    sort_unique(ranks);
    numbered.push_back(side);
    users.add(ranks);
  }
};

class Exporter {
 public:
  Exporter(mpi::Context& context, Imported&& imported, std::span<const Rank> neighbours, const std::string& held_field)
      : context_(context),
        imported_(std::move(imported)),
        neighbours_(neighbours.begin(), neighbours.end()),
        held_field_(held_field) {
    const std::span<const Rank> more = others().neighbours();
    neighbours_.insert(neighbours_.end(), more.begin(), more.end());
    sort_unique(neighbours_);
  }

  mesh::LocalMesh run() {
    out_.cell_dim = Dim::volume;
    at_pinched_ = merge_pinched(imported_.tets);
    imported_.others.add_to(imported_.tets);
    find_owners();
    number_vertices();
    take_cells();
    find_edges();
    find_faces();
    find_faces_of_others();
    number(edges_);
    number(faces_);
    spread();
    take_vertices();
    take_sides(Dim::edge, edges_);
    take_sides(Dim::face, faces_);
    take_sets();
    imported_.transfer.give(context_, tets(), used_, mine_, others().parents(), out_);
    give_held();
    give_side_values(Dim::edge, edges_, imported_.edges);
    give_side_values(Dim::face, faces_, imported_.faces);
    free_memory(imported_.tets.tets);  // numbering needs as much
    free_memory(owner_);
    return_free_memory();
    number_cells();
    return std::move(out_);
  }

 private:
  [[nodiscard]] const Tets& tets() const noexcept { return imported_.tets; }
  [[nodiscard]] const OtherCells& others() const noexcept { return imported_.others; }
  [[nodiscard]] bool is_live(Slot v) const noexcept { return vertex(v).tet != no_slot || others().is_used(v); }
  [[nodiscard]] const Vertex& vertex(Slot v) const noexcept { return imported_.tets.vertices[v]; }
  [[nodiscard]] Rank me() const noexcept { return context_.rank(); }

  void find_owners() {
    owner_.resize(tets().tets.size(), -1);
    for (Slot t = 0; t < std::ssize(owner_); ++t) {
      const Tet& tet = tets().tets[t];
      if (tet.is_free()) continue;
      owner_[t] = context_.size() == 1 ? me() : owner_of(tets(), tet);
      if (owner_[t] == me()) mine_.push_back(t);
    }
  }

  void number_vertices() {
    std::vector<Slot> own;
    std::vector<double> points;
    std::vector<GlobalId> ids;
    for (Slot v = 0; v < std::ssize(tets().vertices); ++v) {
      const Vertex& one = tets().vertices[v];
      if (!is_live(v) || one.owner != me()) continue;
      own.push_back(v);
      points.insert(points.end(), one.at.begin(), one.at.end());
      ids.push_back(tie_break(hash_of(one.key, {})));
    }
    const std::vector<GlobalId> numbers = partition::hilbert_numbers(context_, points, ids);
    id_.assign(tets().vertices.size(), no_global_id);
    for (std::size_t i = 0; i < own.size(); ++i) id_[own[i]] = numbers[i];
  }

  void take_cells() {
    place_.assign(tets().vertices.size(), -1);
    mesh::LocalEntities& cells = out_.entities[mesh::index(Dim::volume)];
    cells.types = {mesh::CellType::tet};
    cells.nodes_per_entity = 4;
    cells.nodes.reserve(4 * mine_.size());
    cells.ids.assign(mine_.size() + others().n_cells(), no_global_id);  // until number_cells
    for (const Slot t : mine_)
      for (const Slot v : tets().tets[t].v) cells.nodes.push_back(place_of(v));
    if (others().n_cells() == 0) return;
    cells.types.assign(mine_.size(), mesh::CellType::tet);
    for (std::int32_t c = 0; c <= std::ssize(mine_); ++c) cells.offsets.push_back(4 * c);
    for (std::size_t c = 0; c < others().n_cells(); ++c) {
      cells.types.push_back(others().type(c));
      for (const Slot v : others().nodes_of(c)) cells.nodes.push_back(place_of(v));
      cells.offsets.push_back(static_cast<std::int32_t>(cells.nodes.size()));
    }
  }

  void number_cells() {
    mesh::LocalEntities& cells = out_.entities[mesh::index(Dim::volume)];
    std::vector<double> points;
    points.reserve(3 * cells.size());
    std::vector<GlobalId> ids;
    ids.reserve(cells.size());
    std::vector<std::uint64_t> hashes(used_.size());
    std::ranges::transform(used_, hashes.begin(), [&](Slot v) { return hash_of(vertex(v).key, {}); });
    std::vector<LocalId> ordered;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const auto nodes = cells.nodes_of(c);
      ordered.assign(nodes.begin(), nodes.end());
      // rounding depends on the order
      std::ranges::sort(ordered, {}, [&](LocalId v) { return out_.vertex_ids[index(v)]; });
      const double part = 1.0 / static_cast<double>(nodes.size());
      std::uint64_t hash = 0;
      std::array<double, 3> centre{};
      for (const LocalId v : ordered) {
        hash += hashes[index(v)];
        for (std::size_t i = 0; i < 3; ++i) centre[i] += part * out_.coordinates[3 * index(v) + i];
      }
      points.insert(points.end(), centre.begin(), centre.end());
      ids.push_back(tie_break(hash));
    }
    cells.ids = partition::hilbert_numbers(context_, points, ids);
  }

  LocalId place_of(Slot v) {
    if (place_[v] < 0) {
      place_[v] = static_cast<std::int32_t>(used_.size());
      used_.push_back(v);
    }
    return LocalId{place_[v]};
  }

  /// Find the listed edges that this rank numbers: those whose lowest vertex it owns.
  void find_edges() {
    struct User {
      std::array<Slot, 2> edge;  // by ascending key
      Rank rank;
      std::uint16_t membership;
      auto operator<=>(const User&) const = default;
    };
    std::vector<User> users;
    const ListedEdges& listed = tets().listed_edges();
    for (Slot t = 0; !listed.is_empty() && t < std::ssize(owner_); ++t) {
      const Tet& tet = tets().tets[t];
      for (std::size_t e = 0; tet.features != 0 && !tet.is_free() && e < edge_of.size(); ++e) {
        if ((tet.features >> e & 1U) == 0) continue;
        std::array<Slot, 2> edge{tet.v[edge_of[e][0]], tet.v[edge_of[e][1]]};
        const ListedEdges::Number membership = listed.membership_of(edge[0], edge[1]);
        if (vertex(edge[1]).key < vertex(edge[0]).key) std::swap(edge[0], edge[1]);
        if (membership != 0 && vertex(edge[0]).owner == me()) users.push_back({edge, owner_[t], membership});
      }
    }
    for (const OtherEdge& edge : others().edges())
      users.push_back({{others().slot_of(edge.keys[0]), others().slot_of(edge.keys[1])}, edge.rank, edge.membership});
    sort_unique(users);
    for (auto first = users.begin(); first != users.end();) {
      const auto end = std::ranges::upper_bound(first, users.end(), first->edge, {}, &User::edge);
      ranks_.clear();
      for (auto one = first; one != end; ++one) ranks_.push_back(one->rank);
      edges_.add({{first->edge[0], first->edge[1], no_slot, no_slot}, first->membership}, ranks_);
      first = end;
    }
  }

  /// Find the listed faces that this rank numbers: those whose lowest vertex it owns.
  void find_faces() {
    is_found_.assign(others().faces().size(), false);
    for (Slot t = 0; t < std::ssize(owner_); ++t) {
      const Tet& tet = tets().tets[t];
      if (tet.is_free()) continue;
      for (std::size_t f = 0; f < 4; ++f) {
        if ((tet.face_membership[f] & ~frozen_face) <= unlisted) continue;
        if (tet.across[f] >= 0 && (tet.across[f] >> 2) < t) continue;
        const auto& at = face_of[f];
        Side face{{tet.v[at[0]], tet.v[at[1]], tet.v[at[2]], no_slot}, tet.face_membership[f]};
        std::ranges::sort(std::span(face.v).first(3), {}, [&](Slot v) { return vertex(v).key; });
        if (vertex(face.v[0]).owner != me()) continue;
        ranks_.assign(1, owner_[t]);
        if (tet.across[f] >= 0) ranks_.push_back(owner_[tet.across[f] >> 2]);
        if (tet.across[f] < 0) meet_others(face);
        faces_.add(face, ranks_);
      }
    }
  }
  /// Add the ranks that have a cell of another type at a face.
  void meet_others(const Side& face) {
    const std::array<Key, 4> keys{vertex(face.v[0]).key, vertex(face.v[1]).key, vertex(face.v[2]).key};
    const auto at = std::ranges::lower_bound(others().faces(), keys, {}, &OtherFace::keys);
    if (at == others().faces().end() || at->keys != keys) return;
    is_found_[at - others().faces().begin()] = true;
    std::ranges::copy_if(at->ranks, std::back_inserter(ranks_), [](Rank rank) { return rank >= 0; });
  }
  /// Add the listed faces that no tetrahedron has.
  void find_faces_of_others() {
    for (std::size_t f = 0; f < is_found_.size(); ++f) {
      if (is_found_[f]) continue;
      const OtherFace& from = others().faces()[f];
      Side face;
      face.membership = from.face_membership;
      for (std::size_t i = 0; i < 4 && from.keys[i] != Key{}; ++i) face.v[i] = others().slot_of(from.keys[i]);
      ranks_.clear();
      std::ranges::copy_if(from.ranks, std::back_inserter(ranks_), [](Rank rank) { return rank >= 0; });
      faces_.add(face, ranks_);
    }
  }

  void number(Sides& sides) {
    std::vector<double> points;
    std::vector<GlobalId> ids;
    for (const Side& side : sides.numbered) {
      const auto nodes = side.nodes();
      std::uint64_t hash = 0;
      std::array<double, 3> centre{};
      for (const Slot v : nodes) {
        hash += hash_of(vertex(v).key, {});
        for (std::size_t i = 0; i < 3; ++i) centre[i] += vertex(v).at[i] / static_cast<double>(nodes.size());
      }
      points.insert(points.end(), centre.begin(), centre.end());
      ids.push_back(tie_break(hash));
    }
    const std::vector<GlobalId> numbers = partition::hilbert_numbers(context_, points, ids);
    for (std::size_t i = 0; i < sides.numbered.size(); ++i) sides.numbered[i].id = numbers[i];
  }

  void find_ranks_at(Slot v, std::vector<Slot>& star, std::vector<Rank>& ranks) {
    star.clear();
    const auto at = std::ranges::equal_range(at_pinched_, v, {}, &std::pair<Slot, Slot>::first);
    for (const auto& [pinched, t] : at) star.push_back(t);
    if (at.empty() && vertex(v).tet != no_slot) imported_.tets.star(v, star);
    const std::span<const Rank> more = others().ranks_at(v);
    ranks.assign(more.begin(), more.end());
    for (const Slot t : star)
      if (std::ranges::find(ranks, owner_[t]) == ranks.end()) ranks.push_back(owner_[t]);
    std::ranges::sort(ranks);
  }

  /// Tell the ranks that use a vertex or listed side its id and its users, and receive the same from other owners.
  void spread() {
    struct Letter {
      std::vector<SharedItem> vertices;
      std::vector<SharedItem> sides;
      std::vector<Rank> ranks;                 // of vertices, then of sides
      std::vector<std::uint16_t> memberships;  // of vertices, then of sides
      std::vector<HeldBy> held;                // of vertices, if wanted
    };
    std::vector<Letter> letters(neighbours_.size());
    sharers_.assign(used_.size(), -1);
    memberships_.assign(used_.size(), 0);
    const bool wants_held = !held_field_.empty();
    if (wants_held) held_.assign(used_.size(), HeldBy::nothing);
    const auto tell = [&](std::uint16_t item_membership, const SharedItem& item, std::span<const Rank> ranks,
                          auto&& list) {
      for (const Rank rank : ranks) {
        if (rank == me()) continue;
        Letter& letter = letters[std::ranges::lower_bound(neighbours_, rank) - neighbours_.begin()];
        list(letter).push_back(item);
        letter.memberships.push_back(item_membership);
        letter.ranks.insert(letter.ranks.end(), ranks.begin(), ranks.end());
      }
    };
    std::vector<Slot> star;
    std::vector<Rank> users;
    for (Slot v = 0; v < std::ssize(tets().vertices); ++v) {
      const Vertex& one = tets().vertices[v];
      if (!is_live(v) || one.owner != me()) continue;
      const std::uint16_t vertex_membership = tets().membership_of(v);
      if (place_[v] >= 0) memberships_[place_[v]] = vertex_membership;
      const HeldBy held = std::cmp_less(v, imported_.held.size()) ? imported_.held[v] : HeldBy::nothing;
      if (wants_held && place_[v] >= 0) held_[place_[v]] = held;
      if (neighbours_.empty()) continue;  // no other rank uses it
      find_ranks_at(v, star, users);
      if (place_[v] >= 0 && users.size() > 1) sharers_[place_[v]] = out_.rank_sets.add(users);
      tell(vertex_membership, {{one.key}, id_[v], static_cast<std::uint32_t>(users.size())}, users,
           [&](Letter& to) -> auto& {
             if (wants_held) to.held.push_back(held);
             return to.vertices;
           });
    }
    for (Sides* const sides : {&edges_, &faces_}) {
      for (std::size_t i = 0; i < sides->numbered.size(); ++i) {
        const Side& side = sides->numbered[i];
        const std::span<const Rank> ranks = sides->users[i];
        SharedItem item{{}, side.id, static_cast<std::uint32_t>(ranks.size())};
        std::ranges::transform(side.nodes(), item.keys.begin(), [&](Slot v) { return vertex(v).key; });
        tell(side.membership, item, ranks, [](Letter& to) -> auto& { return to.sides; });
        if (std::ranges::binary_search(ranks, me())) keep(*sides, side, ranks);
      }
    }
    if (context_.size() == 1) return;
    KnownKeys known(*this);
    exchange::Neighborhood hood(context_, neighbours_, {.delivery = exchange::Delivery::by_rank});
    exchange::ByteRound round = hood.begin_byte_round();
    exchange::MessageWriter message;
    for (std::size_t n = 0; n < neighbours_.size(); ++n) {
      message.clear();
      message.put(letters[n].vertices);
      message.put(letters[n].sides);
      message.put(letters[n].ranks);
      message.put(letters[n].memberships);
      message.put(letters[n].held);
      round.send(neighbours_[n], message.bytes());
    }
    round.close();
    for (const auto& [from, bytes] : round.received()) {
      exchange::MessageReader reader(bytes);
      const auto vertices = reader.get<SharedItem>();
      const auto sides = reader.get<SharedItem>();
      auto ranks = reader.get<Rank>();
      const auto memberships = reader.get<std::uint16_t>();
      const auto held = reader.get<HeldBy>();
      for (std::size_t i = 0; i < vertices.size(); ++i) {
        const SharedItem& item = vertices[i];
        const Slot v = known.find(item.keys[0]);
        memberships_[place_[v]] = memberships[i];
        if (wants_held) held_[place_[v]] = held[i];
        id_[v] = item.id;
        if (item.n_ranks > 1) sharers_[place_[v]] = out_.rank_sets.add(ranks.first(item.n_ranks));
        ranks = ranks.subspan(item.n_ranks);
      }
      for (std::size_t i = 0; i < sides.size(); ++i) {
        Side side;
        side.membership = memberships[vertices.size() + i];
        side.id = sides[i].id;
        for (std::size_t k = 0; k < 4 && sides[i].keys[k] != Key{}; ++k) side.v[k] = known.find(sides[i].keys[k]);
        keep(side.nodes().size() == 2 ? edges_ : faces_, side, ranks.first(sides[i].n_ranks));
        ranks = ranks.subspan(sides[i].n_ranks);
      }
    }
  }

  /// Index of the used vertices by key.
  class KnownKeys {
   public:
    explicit KnownKeys(const Exporter& from) {
      for (const Slot v : from.used_) keys_.emplace_back(from.vertex(v).key, v);
      std::ranges::sort(keys_);
    }
    [[nodiscard]] Slot find(const Key& key) const {
      return std::ranges::lower_bound(keys_, key, {}, [](const auto& one) { return one.first; })->second;
    }

   private:
    std::vector<std::pair<Key, Slot>> keys_;
  };

  void keep(Sides& sides, const Side& side, std::span<const Rank> ranks) {
    sides.kept.push_back(side);
    sides.sharers.push_back(ranks.size() > 1 ? out_.rank_sets.add(ranks) : -1);
  }

  void take_vertices() {
    for (const Slot v : used_) {
      out_.vertex_ids.push_back(id_[v]);
      out_.coordinates.insert(out_.coordinates.end(), vertex(v).at.begin(), vertex(v).at.end());
    }
    out_.vertex_sharers = sharers_;
  }

  void take_sides(Dim dim, const Sides& sides) {
    mesh::LocalEntities& to = out_.entities[mesh::index(dim)];
    const bool has_quads = std::ranges::any_of(sides.kept, [](const Side& side) { return side.nodes().size() == 4; });
    if (!sides.kept.empty() && !has_quads) {
      to.types = {dim == Dim::edge ? mesh::CellType::edge : mesh::CellType::triangle};
      to.nodes_per_entity = dim == Dim::edge ? 2 : 3;
    }
    if (has_quads) to.offsets.push_back(0);
    for (const Side& side : sides.kept) {
      to.ids.push_back(side.id);
      for (const Slot v : side.nodes()) to.nodes.push_back(LocalId{place_[v]});
      if (!has_quads) continue;
      to.types.push_back(side.nodes().size() == 4 ? mesh::CellType::quad : mesh::CellType::triangle);
      to.offsets.push_back(static_cast<std::int32_t>(to.nodes.size()));
    }
    to.sharers = sides.sharers;
  }

  /// Give the vertices a field that says what holds them, if that is wanted.
  void give_held() {
    if (held_field_.empty()) return;
    std::vector<std::int32_t> values(held_.size());
    std::ranges::transform(held_, values.begin(), [](HeldBy by) { return static_cast<std::int32_t>(by); });
    out_.fields.push_back({held_field_, Dim::vertex, 1, std::move(values)});
  }

  void give_side_values(Dim dim, const Sides& sides, const SetMemberships& memberships) {
    imported_.side_values.give(
        dim, [&](std::size_t i) { return memberships.sets_of(sides.kept[i].membership & ~frozen_face); }, out_);
  }

  void add_sides_to_sets(Dim dim, const Sides& sides, const SetMemberships& memberships) {
    for (std::size_t i = 0; i < sides.kept.size(); ++i)
      for (const std::int32_t set : memberships.sets_of(sides.kept[i].membership & ~frozen_face))
        if (std::cmp_less(set, out_.sets.size())) out_.sets[set].entities[mesh::index(dim)].insert(local_id(i));
  }

  void take_sets() {
    for (const mesh::SetInfo& info : imported_.sets)
      out_.sets.push_back({.info = info, .vertices = {}, .entities = {}});
    for (std::size_t c = 0; c < mine_.size(); ++c)
      for (const std::int32_t set : imported_.cells.sets_of(tets().tets[mine_[c]].cell_membership & ~frozen_cell))
        out_.sets[set].entities[mesh::index(Dim::volume)].insert(local_id(c));
    for (std::size_t c = 0; c < others().n_cells(); ++c)
      for (const std::int32_t set : imported_.cells.sets_of(others().membership_of(c) & ~frozen_cell))
        out_.sets[set].entities[mesh::index(Dim::volume)].insert(local_id(mine_.size() + c));
    add_sides_to_sets(Dim::edge, edges_, imported_.edges);
    add_sides_to_sets(Dim::face, faces_, imported_.faces);
    for (std::size_t v = 0; v < used_.size(); ++v)
      for (const std::int32_t set : tets().node_sets().sets_of(memberships_[v]))
        out_.sets[set].vertices.insert(local_id(v));
  }

  mpi::Context& context_;
  Imported imported_;
  std::vector<Rank> neighbours_;
  std::string held_field_;
  std::vector<std::pair<Slot, Slot>> at_pinched_;  // pinched vertex, a tetrahedron of it
  mesh::LocalMesh out_;
  std::vector<Rank> owner_;          // of each tetrahedron
  std::vector<Slot> mine_;           // tetrahedra that become cells of this rank
  std::vector<Slot> used_;           // vertices of these, by place
  std::vector<std::int32_t> place_;  // of each vertex; -1: not used here
  std::vector<GlobalId> id_;         // of each vertex
  std::vector<std::int32_t> sharers_;
  std::vector<std::uint16_t> memberships_;  // of used vertices
  std::vector<HeldBy> held_;                // of used vertices, if wanted
  Sides edges_;
  Sides faces_;
  std::vector<bool> is_found_;  // a tetrahedron has the listed face of other cells
  std::vector<Rank> ranks_;     // scratch
};

}  // namespace

mesh::LocalMesh export_mesh(mpi::Context& context, Imported&& imported, std::span<const Rank> neighbours,
                            const std::string& held_field) {
  return Exporter(context, std::move(imported), neighbours, held_field).run();
}

}  // namespace barrio::adapt::detail
