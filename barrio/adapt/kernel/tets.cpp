#include "barrio/adapt/kernel/tets.hpp"

#include <algorithm>
#include <numeric>

#include "barrio/adapt/kernel/measure.hpp"

namespace barrio::adapt::detail {
namespace {

/// Return the ends of an edge of a tetrahedron, ascending.
std::array<Slot, 2> ends_of(const Tet& tet, std::size_t edge) noexcept {
  const auto [low, high] = std::minmax(tet.v[edge_of[edge][0]], tet.v[edge_of[edge][1]]);
  return {low, high};
}

/// Vertex of a tetrahedron, and its place there.
struct SlotAt {
  std::uint32_t slot;
  std::uint32_t at;
};

/// Sort the vertices of a tetrahedron.
std::array<SlotAt, 4> ascending(const std::array<Slot, 4>& v) noexcept {
  std::array<std::uint64_t, 4> word{};
  for (std::size_t i = 0; i < 4; ++i) word[i] = static_cast<std::uint64_t>(v[i]) << 2U | i;
  const auto order = [&](std::size_t i, std::size_t j) {
    const auto [low, high] = std::minmax({word[i], word[j]});
    word[i] = low;
    word[j] = high;
  };
  order(0, 1);
  order(2, 3);
  order(0, 2);
  order(1, 3);
  order(1, 2);
  std::array<SlotAt, 4> sorted{};
  for (std::size_t i = 0; i < 4; ++i)
    sorted[i] = {static_cast<std::uint32_t>(word[i] >> 2U), static_cast<std::uint32_t>(word[i] & 3U)};
  return sorted;
}

/// Return the lowest two vertices of a tetrahedron, ascending.
std::array<Slot, 2> lowest_two(const std::array<Slot, 4>& v) noexcept {
  const auto [a, b] = std::minmax({v[0], v[1]});
  const auto [c, d] = std::minmax({v[2], v[3]});
  return {std::min(a, c), std::min(std::max(a, c), std::min(b, d))};
}

}  // namespace

Slot Tets::add_vertex(const Vertex& vertex) {
  if (free_vertices_.empty()) {
    vertices.push_back(vertex);
    if (carried_.n_values > 0) values_.resize(vertices.size() * carried_.n_values);
    if (carried_.vertex_parents) vertex_parents_.emplace_back();
    if (carried_.node_sets) memberships_.push_back(0);
    return static_cast<Slot>(vertices.size() - 1);
  }
  const Slot v = free_vertices_.back();
  free_vertices_.pop_back();
  vertices[v] = vertex;
  set_membership(v, 0);
  return v;
}

void Tets::free_vertex(Slot v) {
  vertices[v] = Vertex{};
  free_vertices_.push_back(v);
}

double Tets::quality_of(const std::array<Slot, 4>& v) const noexcept {
  return cubed_mean_ratio(vertices[v[0]].at, vertices[v[1]].at, vertices[v[2]].at, vertices[v[3]].at);
}

Slot Tets::add_tet(const NewTet& from) {
  Slot at = static_cast<Slot>(tets.size());
  if (free_tets_.empty()) {
    tets.emplace_back();
    if (carried_.tet_parents) tet_parents_.emplace_back();
  } else {
    at = free_tets_.back();
    free_tets_.pop_back();
    tets[at] = Tet{};
  }
  Tet& tet = tets[at];
  tet.v = from.v;
  tet.face_membership = from.face_membership;
  tet.cell_membership = from.cell_membership;
  tet.features = from.features;
  if (carried_.tet_parents) tet_parents_[at] = from.parent;
  measure(tet);
  for (const Slot v : tet.v) vertices[v].tet = at;
  return at;
}

void Tets::link_all() {
  // Group faces by their lowest vertex: the two sides of a face are in one short list. Of the four faces of a
  // tetrahedron three have its lowest vertex, and one its second.
  struct Half {
    std::uint32_t second;
    std::uint32_t third;
    Slot tet_face;
  };
  std::vector<std::uint32_t> first(vertices.size() + 1, 0);
  for (const Tet& tet : tets) {
    if (tet.is_free()) continue;
    const auto [low, second] = lowest_two(tet.v);
    first[low + 1] += 3;
    first[second + 1] += 1;
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<Half> halves(first.back());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (Slot t = 0; t < std::ssize(tets); ++t) {
    if (tets[t].is_free()) continue;
    const std::array<SlotAt, 4> v = ascending(tets[t].v);
    const auto add = [&](std::size_t low, std::size_t second, std::size_t third, std::size_t without) {
      halves[next[v[low].slot]++] = {v[second].slot, v[third].slot, 4 * t + static_cast<Slot>(v[without].at)};
    };
    add(0, 1, 2, 3);
    add(0, 1, 3, 2);
    add(0, 2, 3, 1);
    add(1, 2, 3, 0);
  }
  const auto is_one_face = [](const Half& one, const Half& other) {
    return other.second == one.second && other.third == one.third;
  };
  constexpr std::ptrdiff_t few = 64;
  for (std::size_t v = 0; v + 1 < first.size(); ++v) {
    const std::span<Half> list = std::span(halves).subspan(first[v], first[v + 1] - first[v]);
    const bool is_sorted = std::ssize(list) > few;
    if (is_sorted) std::ranges::sort(list, {}, [](const Half& one) { return std::pair(one.second, one.third); });
    for (auto one = list.begin(); one != list.end(); ++one) {
      const auto end = is_sorted ? std::min(one + 2, list.end()) : list.end();
      const auto other = std::find_if(one + 1, end, [&](const Half& half) { return is_one_face(*one, half); });
      if (other == end) continue;
      tets[one->tet_face >> 2].across[one->tet_face & 3] = other->tet_face;
      tets[other->tet_face >> 2].across[other->tet_face & 3] = one->tet_face;
    }
  }
}

Tets::FaceEntry& Tets::find_face(const std::array<Slot, 3>& key) {
  const auto part = [&](std::size_t i, std::uint64_t factor) { return key[i] * factor; };
  const std::uint64_t hash =
      part(0, 0x9E3779B97F4A7C15ULL) ^ part(1, 0xC2B2AE3D27D4EB4FULL) ^ part(2, 0x165667B19E3779F9ULL);
  const std::size_t mask = faces_.size() - 1;
  std::size_t at = (hash >> 32U) & mask;
  while (faces_[at].generation == generation_ && faces_[at].key != key) at = (at + 1) & mask;
  return faces_[at];
}

void Tets::link_face(Slot tet, int face) {
  const auto key = face_key(tets[tet], face);
  FaceEntry& entry = find_face(key);
  const Slot mine = 4 * tet + face;
  if (entry.generation != generation_) {
    entry = {key, mine, generation_, 0, false};
    return;
  }
  const Slot other = entry.tet_face;
  if (entry.is_outer) tets[tet].face_membership[face] = entry.face_membership;
  if (other < 0) return;
  tets[tet].across[face] = other;
  tets[other >> 2].across[other & 3] = mine;
}

void Tets::open_cavity(std::span<const Slot> old, std::size_t n_made) {
  const std::size_t n_faces = 4 * (old.size() + n_made);
  if (2 * n_faces > faces_.size()) {
    std::size_t size = faces_.size();
    while (2 * n_faces > size) size *= 2;
    faces_.assign(size, FaceEntry{});
    generation_ = 0;
  }
  ++generation_;
  features_.clear();
  const std::uint32_t mark = next_mark();
  for (const Slot t : old) tets[t].mark = mark;
  for (const Slot t : old) {
    const Tet& tet = tets[t];
    for (std::size_t f = 0; f < 4; ++f) {
      const Slot other = tet.across[f];
      if (other >= 0 && tets[other >> 2].mark == mark) continue;
      const auto key = face_key(tet, f);
      find_face(key) = {key, other, generation_, tet.face_membership[f], true};
      if (other >= 0) tets[other >> 2].across[other & 3] = no_slot;
    }
    for (std::size_t e = 0; tet.features != 0 && e < 6; ++e)
      if ((tet.features >> e & 1U) != 0) features_.push_back(ends_of(tet, e));
  }
}

std::span<const Slot> Tets::replace(std::span<const Slot> old, std::span<const NewTet> made, std::uint32_t round) {
  open_cavity(old, made.size());
  for (const Slot t : old) {
    tets[t].v.fill(no_slot);
    tets[t].changed = round;
    free_tets_.push_back(t);
  }
  made_.clear();
  for (const NewTet& one : made) {
    const Slot at = add_tet(one);
    Tet& tet = tets[at];
    tet.changed = round;
    made_.push_back(at);
    for (const auto& [a, b] : features_)
      if (tet.has(a) && tet.has(b)) tet.features |= edge_bit(tet.place_of(a), tet.place_of(b));
  }
  for (const Slot at : made_)
    for (int f = 0; f < 4; ++f) link_face(at, f);
  if (!listed_edges_.is_empty() && !features_.empty()) follow_listed_edges();
  return made_;
}

/// Give the new feature edges of a cavity the membership of the listed edges that are gone. All of these have the same
/// one: they are one edge that was split, or the two at a vertex that was removed.
void Tets::follow_listed_edges() {
  ListedEdges::Number gone = 0;
  for (const auto& [a, b] : features_) {
    const ListedEdges::Number membership = listed_edges_.membership_of(a, b);
    const auto has_edge = [&, a = a, b = b](Slot t) { return tets[t].has(a) && tets[t].has(b); };
    if (membership == 0 || std::ranges::any_of(made_, has_edge)) continue;
    gone = membership;
    listed_edges_.erase(a, b);
  }
  if (gone == 0) return;
  for (const Slot t : made_) {
    for (std::size_t e = 0; e < edge_of.size(); ++e) {
      if ((tets[t].features >> e & 1U) == 0) continue;
      const std::array<Slot, 2> edge = ends_of(tets[t], e);
      if (has_own_end(edge[0], edge[1]) && std::ranges::find(features_, edge) == features_.end())
        listed_edges_.set(edge[0], edge[1], gone);
    }
  }
}

void Tets::remove(Slot t) {
  Tet& tet = tets[t];
  for (const Slot other : tet.across)
    if (other >= 0) tets[other >> 2].across[other & 3] = no_slot;
  tet.across.fill(no_slot);
  tet.v.fill(no_slot);
  free_tets_.push_back(t);
}

template <class Accept>
bool Tets::walk_star(Slot v, std::vector<Slot>& out, Accept&& accept) {
  out.clear();
  const std::uint32_t mark = next_mark();
  const Slot seed = vertices[v].tet;
  if (!accept(tets[seed])) return false;
  tets[seed].mark = mark;
  out.push_back(seed);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Tet& tet = tets[out[i]];
    for (std::size_t f = 0; f < 4; ++f) {
      const Slot other = tet.across[f];
      if (tet.v[f] == v || other < 0) continue;
      Tet& next = tets[other >> 2];
      if (next.mark == mark) continue;
      if (!accept(next)) return false;
      next.mark = mark;
      out.push_back(other >> 2);
    }
  }
  return true;
}

void Tets::star(Slot v, std::vector<Slot>& out) {
  walk_star(v, out, [](const Tet&) { return true; });
}

bool Tets::untouched_star(Slot v, std::uint32_t round, std::vector<Slot>& out) {
  return walk_star(v, out, [round](const Tet& tet) { return tet.changed != round; });
}

void Tets::ring(Slot first, Slot a, Slot b, Ring& out) const {
  out.tets.clear();
  out.link.clear();
  Slot from = no_slot;
  Slot to = no_slot;
  const auto turn = [&](Slot t) {  // makes (a, b, from, to) positive
    const Tet& tet = tets[t];
    const auto& rest = face_of[tet.place_of(a)];
    const std::size_t at = tet.v[rest[0]] == b ? 0 : tet.v[rest[1]] == b ? 1 : 2;
    from = tet.v[rest[(at + 1) % 3]];
    to = tet.v[rest[(at + 2) % 3]];
  };
  const auto across = [&](Slot t, Slot vertex) {
    const Slot other = tets[t].across[tets[t].place_of(vertex)];
    return other < 0 ? no_slot : other >> 2;
  };
  // Go back to the start of an open ring.
  Slot t = first;
  out.is_closed = false;
  for (;;) {
    turn(t);
    const Slot before = across(t, to);
    out.is_closed = before == first;
    if (before == no_slot || before == first) break;
    t = before;
  }
  const Slot begin = out.is_closed ? first : t;
  t = begin;
  do {
    turn(t);
    out.tets.push_back(t);
    out.link.push_back(from);
    t = across(t, from);
  } while (t != no_slot && t != begin);
  if (!out.is_closed) out.link.push_back(to);
}

}  // namespace barrio::adapt::detail
