#include "barrio/adapt/assembly/to_mesh.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "barrio/adapt/assembly/pinched.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/message.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/partition/hilbert.hpp"

namespace barrio::adapt::detail {
namespace {

using mesh::Dim;

/// Return an id that breaks ties between points at one place of the curve.
GlobalId tie_break(std::uint64_t hash) noexcept { return global_id(hash >> 1U); }

/// A vertex or listed face that several ranks use, as its owner sends it.
struct SharedItem {
  std::array<Key, 4> keys;  // of a vertex one, of a triangle three
  GlobalId id;
  std::uint32_t n_ranks;  // of those that follow
};

class Exporter {
 public:
  Exporter(mpi::Context& context, Imported&& imported, std::span<const Rank> neighbours)
      : context_(context), imported_(std::move(imported)), neighbours_(neighbours.begin(), neighbours.end()) {
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
    find_faces();
    find_faces_of_others();
    number_faces();
    spread();
    take_faces();
    take_sets();
    imported_.transfer.give(context_, tets(), used_, mine_, others().parents(), out_);
    free_memory(imported_.tets.tets);  // numbering needs as much
    free_memory(owner_);
    number_cells();
    return std::move(out_);
  }

 private:
  struct Face {
    std::array<Slot, 4> v{no_slot, no_slot, no_slot, no_slot};  // of a triangle three
    std::uint16_t face_membership = 0;
    GlobalId id = no_global_id;
    std::array<Rank, 2> ranks{};  // that have it, ascending
    std::uint32_t n_ranks = 0;

    void add(Rank rank) noexcept {
      if (rank < 0 || n_ranks == ranks.size() || (n_ranks == 1 && ranks[0] == rank)) return;
      ranks[n_ranks++] = rank;
      if (n_ranks == 2 && ranks[1] < ranks[0]) std::swap(ranks[0], ranks[1]);
    }
    [[nodiscard]] int n_nodes() const noexcept { return v[3] == no_slot ? 3 : 4; }
    [[nodiscard]] std::span<const Slot> nodes() const noexcept { return std::span(v).first(n_nodes()); }
  };

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
      owner_[t] = owner_of(tets(), tet);
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
    std::vector<Slot> ordered;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const auto nodes = cells.nodes_of(c);
      ordered.resize(nodes.size());
      std::ranges::transform(nodes, ordered.begin(), [&](LocalId v) { return used_[index(v)]; });
      std::ranges::sort(ordered, {}, [&](Slot v) { return vertex(v).key; });  // rounding depends on the order
      const double part = 1.0 / static_cast<double>(nodes.size());
      std::uint64_t hash = 0;
      std::array<double, 3> centre{};
      for (const Slot v : ordered) {
        hash += hash_of(vertex(v).key, {});
        for (std::size_t i = 0; i < 3; ++i) centre[i] += part * vertex(v).at[i];
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
        Face face{{tet.v[at[0]], tet.v[at[1]], tet.v[at[2]], no_slot}, tet.face_membership[f]};
        std::ranges::sort(std::span(face.v).first(3), {}, [&](Slot v) { return vertex(v).key; });
        if (vertex(face.v[0]).owner != me()) continue;
        face.add(owner_[t]);
        if (tet.across[f] >= 0) face.add(owner_[tet.across[f] >> 2]);
        if (tet.across[f] < 0) meet_others(face);
        faces_.push_back(face);
      }
    }
  }
  /// Add the ranks that have a cell of another type at a face.
  void meet_others(Face& face) {
    const std::array<Key, 4> keys{vertex(face.v[0]).key, vertex(face.v[1]).key, vertex(face.v[2]).key};
    const auto at = std::ranges::lower_bound(others().faces(), keys, {}, &OtherFace::keys);
    if (at == others().faces().end() || at->keys != keys) return;
    is_found_[at - others().faces().begin()] = true;
    for (const Rank rank : at->ranks) face.add(rank);
  }
  /// Add the listed faces that no tetrahedron has.
  void find_faces_of_others() {
    for (std::size_t f = 0; f < is_found_.size(); ++f) {
      if (is_found_[f]) continue;
      const OtherFace& from = others().faces()[f];
      Face& face = faces_.emplace_back();
      face.face_membership = from.face_membership;
      for (std::size_t i = 0; i < 4 && from.keys[i] != Key{}; ++i) face.v[i] = others().slot_of(from.keys[i]);
      for (const Rank rank : from.ranks) face.add(rank);
    }
  }

  void number_faces() {
    std::vector<double> points;
    std::vector<GlobalId> ids;
    for (const Face& face : faces_) {
      std::uint64_t hash = 0;
      std::array<double, 3> centre{};
      for (const Slot v : face.nodes()) {
        hash += hash_of(vertex(v).key, {});
        for (std::size_t i = 0; i < 3; ++i) centre[i] += vertex(v).at[i] / face.n_nodes();
      }
      points.insert(points.end(), centre.begin(), centre.end());
      ids.push_back(tie_break(hash));
    }
    const std::vector<GlobalId> numbers = partition::hilbert_numbers(context_, points, ids);
    for (std::size_t i = 0; i < faces_.size(); ++i) faces_[i].id = numbers[i];
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

  /// Tell the ranks that use a vertex or face its id and its users, and receive the same from other owners.
  void spread() {
    struct Letter {
      std::vector<SharedItem> vertices;
      std::vector<SharedItem> faces;
      std::vector<Rank> ranks;                 // of vertices, then of faces
      std::vector<std::uint16_t> memberships;  // of vertices, then of faces
    };
    std::vector<Letter> letters(neighbours_.size());
    sharers_.assign(used_.size(), -1);
    memberships_.assign(used_.size(), 0);
    const auto tell = [&](std::uint16_t item_membership, const SharedItem& item, const std::vector<Rank>& ranks,
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
      if (neighbours_.empty()) continue;  // no other rank uses it
      find_ranks_at(v, star, users);
      if (place_[v] >= 0 && users.size() > 1) sharers_[place_[v]] = out_.rank_sets.add(users);
      tell(vertex_membership, {{one.key}, id_[v], static_cast<std::uint32_t>(users.size())}, users,
           [](Letter& to) -> auto& { return to.vertices; });
    }
    for (const Face& face : faces_) {
      users.assign(face.ranks.begin(), face.ranks.begin() + face.n_ranks);
      SharedItem item{{}, face.id, face.n_ranks};
      std::ranges::transform(face.nodes(), item.keys.begin(), [&](Slot v) { return vertex(v).key; });
      tell(face.face_membership, item, users, [](Letter& to) -> auto& { return to.faces; });
      if (std::ranges::binary_search(users, me())) keep_face(face, users);
    }
    if (context_.size() == 1) return;
    KnownKeys known(*this);
    exchange::Neighborhood hood(context_, neighbours_, {.delivery = exchange::Delivery::by_rank});
    exchange::ByteRound round = hood.begin_byte_round();
    exchange::MessageWriter message;
    for (std::size_t n = 0; n < neighbours_.size(); ++n) {
      message.clear();
      message.put(letters[n].vertices);
      message.put(letters[n].faces);
      message.put(letters[n].ranks);
      message.put(letters[n].memberships);
      round.send(neighbours_[n], message.bytes());
    }
    round.close();
    for (const auto& [from, bytes] : round.received()) {
      exchange::MessageReader reader(bytes);
      const auto vertices = reader.get<SharedItem>();
      const auto faces = reader.get<SharedItem>();
      auto ranks = reader.get<Rank>();
      const auto memberships = reader.get<std::uint16_t>();
      for (std::size_t i = 0; i < vertices.size(); ++i) {
        const SharedItem& item = vertices[i];
        const Slot v = known.find(item.keys[0]);
        memberships_[place_[v]] = memberships[i];
        id_[v] = item.id;
        if (item.n_ranks > 1) sharers_[place_[v]] = out_.rank_sets.add(ranks.first(item.n_ranks));
        ranks = ranks.subspan(item.n_ranks);
      }
      for (std::size_t i = 0; i < faces.size(); ++i) {
        Face face;
        face.face_membership = memberships[vertices.size() + i];
        face.id = faces[i].id;
        for (std::size_t k = 0; k < 4 && faces[i].keys[k] != Key{}; ++k) face.v[k] = known.find(faces[i].keys[k]);
        keep_face(face, ranks.first(faces[i].n_ranks));
        ranks = ranks.subspan(faces[i].n_ranks);
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

  void keep_face(const Face& face, std::span<const Rank> ranks) {
    kept_.push_back(face);
    face_sharers_.push_back(ranks.size() > 1 ? out_.rank_sets.add(ranks) : -1);
  }

  void take_faces() {
    mesh::LocalEntities& to = out_.entities[mesh::index(Dim::face)];
    const bool has_quads = std::ranges::any_of(kept_, [](const Face& face) { return face.n_nodes() == 4; });
    if (!kept_.empty() && !has_quads) {
      to.types = {mesh::CellType::triangle};
      to.nodes_per_entity = 3;
    }
    if (has_quads) to.offsets.push_back(0);
    for (const Face& face : kept_) {
      to.ids.push_back(face.id);
      for (const Slot v : face.nodes()) to.nodes.push_back(LocalId{place_[v]});
      if (!has_quads) continue;
      to.types.push_back(face.n_nodes() == 4 ? mesh::CellType::quad : mesh::CellType::triangle);
      to.offsets.push_back(static_cast<std::int32_t>(to.nodes.size()));
    }
    to.sharers = face_sharers_;
    for (const Slot v : used_) {
      out_.vertex_ids.push_back(id_[v]);
      out_.coordinates.insert(out_.coordinates.end(), vertex(v).at.begin(), vertex(v).at.end());
    }
    out_.vertex_sharers = sharers_;
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
    for (std::size_t f = 0; f < kept_.size(); ++f)
      for (const std::int32_t set : imported_.faces.sets_of(kept_[f].face_membership & ~frozen_face))
        out_.sets[set].entities[mesh::index(Dim::face)].insert(local_id(f));
    for (std::size_t v = 0; v < used_.size(); ++v)
      for (const std::int32_t set : tets().node_sets().sets_of(memberships_[v]))
        out_.sets[set].vertices.insert(local_id(v));
  }

  mpi::Context& context_;
  Imported imported_;
  std::vector<Rank> neighbours_;
  std::vector<std::pair<Slot, Slot>> at_pinched_;  // pinched vertex, a tetrahedron of it
  mesh::LocalMesh out_;
  std::vector<Rank> owner_;          // of each tetrahedron
  std::vector<Slot> mine_;           // tetrahedra that become cells of this rank
  std::vector<Slot> used_;           // vertices of these, by place
  std::vector<std::int32_t> place_;  // of each vertex; -1: not used here
  std::vector<GlobalId> id_;         // of each vertex
  std::vector<std::int32_t> sharers_;
  std::vector<std::uint16_t> memberships_;  // of used vertices
  std::vector<Face> faces_;                 // that this rank numbers
  std::vector<bool> is_found_;              // a tetrahedron has the listed face of other cells
  std::vector<Face> kept_;                  // that its cells have
  std::vector<std::int32_t> face_sharers_;
};

}  // namespace

mesh::LocalMesh export_mesh(mpi::Context& context, Imported&& imported, std::span<const Rank> neighbours) {
  return Exporter(context, std::move(imported), neighbours).run();
}

}  // namespace barrio::adapt::detail
