#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "barrio/adapt/kernel/operator.hpp"

namespace barrio::adapt::detail {

void Split::propose(Slot v, std::uint32_t round, std::vector<Candidate>& out) {
  star_.gather(mesh_, v);
  const std::size_t n_before = out.size();
  for (std::size_t i = 0; i < star_.neighbours.size(); ++i) {
    if (star_.length[i] <= limits_.long_edge) continue;
    const Slot w = star_.neighbours[i];
    if (mesh_.key(w) < mesh_.key(v)) continue;  // the other end proposes it
    const std::uint64_t hash = hash_of(mesh_.key(v), mesh_.key(w)) + round;
    if (!is_in_share(mesh_.key(v), mesh_.key(w), limits_)) continue;
    out.push_back({order_of(63 - 4 * std::log2(star_.length[i]), hash), {v, w, no_slot}, star_.with[i]});
  }
  if (out.size() == n_before) has_nothing(v);
}

bool Split::find_cavity(const Candidate& candidate, std::uint32_t round, Change& out) {
  if (mesh_.tets[candidate.tet].changed == round) return false;
  mesh_.ring(candidate.tet, candidate.of[0], candidate.of[1], ring_);
  out.cavity.assign(ring_.tets.begin(), ring_.tets.end());
  return is_untouched(out.cavity, round);
}

bool Split::makes_short_edge(const Change& change) const {
  return std::ranges::any_of(change.cavity, [&](Slot t) {
    return std::ranges::any_of(mesh_.tets[t].v,
                               [&](Slot v) { return metric_length(change.added, vertex(v)) < limits_.short_edge; });
  });
}

/// Tell whether a cell has an edge that is to be split first: halving the longest edge keeps cells in shape.
bool Split::is_outranked(double length, std::span<const Slot> cavity) const {
  const double longest = limits_.outranked * length;
  return std::ranges::any_of(cavity, [&](Slot t) {
    const Tet& tet = mesh_.tets[t];
    return std::ranges::any_of(
        edge_of, [&](const auto& e) { return metric_length(vertex(tet.v[e[0]]), vertex(tet.v[e[1]])) > longest; });
  });
}

/// Return the membership of a vertex between two others: in the sets that both are in and cover the same line, or the
/// same surface or volume, with a vertex across the edge; else the two may stand alone. If an end lies on something of
/// lower dimension, all vertices across that do not may decide: a set without what bounds it grows up to there.
NodeSets::Number Split::membership_between(Slot a, Slot b, Classification on) const {
  if (!mesh_.carried().node_sets) return 0;
  const NodeSets& sets = mesh_.node_sets();
  const NodeSets::Number both = sets.common(mesh_.membership_of(a), mesh_.membership_of(b));
  if (on == Classification::edge) return both;
  const bool has_a = vertex(a).classification == on;
  const bool has_b = vertex(b).classification == on;
  std::optional<NodeSets::Number> all;  // common to the vertices across that lie on it
  NodeSets::Number some = 0;            // that some of them share with both ends
  for (const Slot t : ring_.tets) {
    const Tet& tet = mesh_.tets[t];
    for (std::size_t f = 0; f < 4; ++f) {
      if (tet.v[f] == a || tet.v[f] == b || (on == Classification::surface && tet.face_membership[f] == 0)) continue;
      const Slot v = *std::ranges::find_if(tet.v, [&](Slot w) { return w != a && w != b && w != tet.v[f]; });
      const NodeSets::Number of_v = mesh_.membership_of(v);
      const NodeSets::Number shared = sets.common(both, of_v);
      if (sets.rank_of(some) < sets.rank_of(shared)) some = shared;  // in any order of the ring
      if (vertex(v).classification == on) all = all ? sets.common(*all, of_v) : of_v;
    }
  }
  if (has_a && has_b) return some;
  if (!all) return has_a || has_b || on == Classification::surface ? some : NodeSets::Number{0};
  if (!has_a && !has_b) return *all;
  const NodeSets::Number grown = sets.common(*all, mesh_.membership_of(has_a ? a : b));
  return sets.has_all_of(grown, some) ? grown : some;
}

bool Split::decide(const Candidate& candidate, std::uint32_t round, Change& out) {
  const auto [a, b, none] = candidate.of;
  if ((mesh_.listed_edges().membership_of(a, b) & frozen_face) != 0) return false;
  if (is_outranked(metric_length(vertex(a), vertex(b)), out.cavity)) return false;
  Vertex& midpoint = out.added;
  midpoint = Vertex{};
  midpoint.at = 0.5 * (vertex(a).at + vertex(b).at);
  double worst = 2;
  double least = 2;
  for (const Slot t : out.cavity) {
    const Tet& tet = mesh_.tets[t];
    worst = std::min<double>(worst, tet.quality);
    const std::size_t ia = tet.place_of(a);
    const std::size_t ib = tet.place_of(b);
    if ((tet.features & edge_bit(ia, ib)) != 0) midpoint.classification = Classification::edge;
    for (std::size_t f = 0; f < 4; ++f)
      if (f != ia && f != ib && tet.face_membership[f] != 0)
        midpoint.classification = std::min(midpoint.classification, Classification::surface);
    for (const auto& [gone, kept] : {std::array{ia, ib}, std::array{ib, ia}}) {
      NewTet one{tet.v, tet.face_membership, tet.cell_membership, tet.features, mesh_.tet_parent(t)};
      one.v[gone] = new_vertex;
      one.face_membership[kept] = 0;
      std::array<Point, 4> p{};
      for (std::size_t i = 0; i < 4; ++i) {
        if (i != gone && i != kept) one.features &= static_cast<std::uint8_t>(~edge_bit(gone, i));
        p[i] = i == gone ? midpoint.at : vertex(tet.v[i]).at;
      }
      least = std::min(least, cubed_mean_ratio(p[0], p[1], p[2], p[3]));
      out.made.push_back(one);
    }
  }
  if (least < std::min({worst, limits_.floor, limits_.split_floor})) return false;
  midpoint.inverse_size = sizes_.inverse_between(vertex(a), vertex(b), midpoint.at);
  // An edge so short that a collapse may make it is split only if no collapse would undo that.
  if (metric_length(vertex(a), vertex(b)) <= limits_.longest_made && makes_short_edge(out)) return false;
  midpoint.key = {hash_of(mesh_.key(a), mesh_.key(b)) | of_split, hash_of(mesh_.key(b), mesh_.key(a)) + round};
  out.adds_vertex = true;
  out.added_to = membership_between(a, b, midpoint.classification);
  return true;
}

}  // namespace barrio::adapt::detail
