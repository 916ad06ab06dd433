#include <algorithm>
#include <cmath>

#include "barrio/adapt/kernel/operator.hpp"

namespace barrio::adapt::detail {
namespace {

// Both keep the work linear in the number of tetrahedra around a hub.
constexpr std::size_t max_star = 10'000;  // vertices with more tetrahedra stay
constexpr std::size_t max_targets = 64;

}  // namespace

/// Return the length below which edges of a star are collapsed.
double Collapse::below(double worst) const noexcept {
  constexpr double mended = 1.0;
  return worst < limits_.mend ? mended : limits_.short_edge;
}

void Collapse::propose(Slot v, std::uint32_t round, std::vector<Candidate>& out) {
  if (vertex(v).classification == Classification::corner) return;
  if (!is_in_share(vertex(v).key, {}, limits_)) return has_nothing(v);
  if (limits_.mend > 0) {  // which edges are short depends on the star
    star_.gather(mesh_, v);
    if (!note_shortest(v)) return;
  }
  // Short edges first, by the note, which may be of an edge that is gone: no star is walked for an order.
  out.push_back(
      {order_of(vertex(v).short_step, hash_of(vertex(v).key, {0, round}) >> 6U), {v, no_slot, no_slot}, vertex(v).tet});
}

/// Note the length of the shortest edge of the star that was gathered. @return whether it is to be collapsed
bool Collapse::note_shortest(Slot v) {
  const double shortest = *std::ranges::min_element(star_.length);
  const bool is_short = shortest < below(star_.worst);
  mesh_.vertices[v].short_step = is_short ? step_of(shortest) : no_short_edge;
  if (!is_short) has_nothing(v);
  return is_short;
}

/// Tell whether the edge lies along the vertex's classification, and its collapse folds no listed face onto another.
bool Collapse::is_along(Slot v, Slot to) const {
  const Classification classification = vertex(v).classification;
  if (classification == Classification::volume) return true;
  if (vertex(to).classification > classification) return false;
  bool is_along = false;
  for (const Slot t : star_.tets) {
    const Tet& tet = mesh_.tets[t];
    if (!tet.has(to)) continue;
    const std::size_t at = tet.place_of(v);
    const std::size_t other = tet.place_of(to);
    if (tet.face_membership[other] != 0) return false;
    if (classification == Classification::edge) {
      is_along = is_along || (tet.features & edge_bit(at, other)) != 0;
    } else {
      for (std::size_t f = 0; f < 4; ++f) is_along = is_along || (f != at && f != other && tet.face_membership[f] != 0);
    }
  }
  return is_along;
}

/// Tell whether listed faces and feature edges at a vertex are flat and straight, so that they keep their shape if the
/// vertex leaves them.
bool Collapse::is_flat(Slot v) {
  const Classification classification = vertex(v).classification;
  if (classification == Classification::volume) return true;
  sheets_.gather(mesh_, v, star_.tets);
  if (classification == Classification::edge && !sheets_.straight_line(limits_.flatness)) return false;
  return sheets_.are_flat(limits_.flatness);
}

/// Return the lowest quality if the centre moves to a neighbour. A result below `at_least` is an upper bound only.
double Collapse::worst_made(std::size_t target, double at_least) const {
  const std::ptrdiff_t to = target;
  double worst = 2;
  for (std::size_t i = 0; i < star_.faces.size() && worst >= at_least; ++i) {
    const auto& f = star_.faces[i];
    if (f[0] == to || f[1] == to || f[2] == to) continue;
    worst = std::min(worst, cubed_mean_ratio(star_.at[target], star_.at[f[0]], star_.at[f[1]], star_.at[f[2]]));
  }
  return worst;
}

bool Collapse::makes_long_edge(std::size_t target) const {
  const Vertex& to = vertex(star_.neighbours[target]);
  return std::ranges::any_of(star_.neighbours, [&](Slot w) {
    return w != star_.neighbours[target] && metric_length(to, vertex(w)) > limits_.longest_made;
  });
}

/// Tell whether the collapse makes an edge between pinched vertices: there may be one in another group.
bool Collapse::joins_pinched(Slot to) const {
  return is_pinched(mesh_.key(to)) &&
         std::ranges::any_of(star_.neighbours, [&](Slot w) { return w != to && is_pinched(mesh_.key(w)); });
}

/// Find the neighbours that the vertex may move to: those at edges below a length, of many the nearest.
void Collapse::find_targets(double below) {
  targets_.clear();
  for (std::size_t i = 0; i < star_.neighbours.size(); ++i)
    if (star_.length[i] < below) targets_.push_back(i);
  if (targets_.size() <= max_targets) return;
  std::ranges::nth_element(targets_, targets_.begin() + max_targets, [&](std::size_t i, std::size_t j) {
    if (star_.length[i] != star_.length[j]) return star_.length[i] < star_.length[j];
    return mesh_.key(star_.neighbours[i]) < mesh_.key(star_.neighbours[j]);
  });
  targets_.resize(max_targets);
}

bool Collapse::decide(const Candidate& candidate, std::uint32_t /*round*/, Change& out) {
  const Slot v = candidate.of[0];
  if (out.cavity.size() > max_star) return false;
  star_.gather(mesh_, v, out.cavity);
  if (!note_shortest(v)) return false;
  if (is_held(mesh_, v, star_.tets) || !is_flat(v)) return false;
  constexpr double min_gain = 1.05;
  const bool mends = star_.worst < limits_.mend;
  double best = mends ? min_gain * star_.worst : std::min<double>(star_.worst, limits_.floor);
  Slot chosen = no_slot;
  find_targets(below(star_.worst));
  for (const std::size_t target : targets_) {
    const Slot to = star_.neighbours[target];
    if (!is_along(v, to)) continue;
    const double worst = worst_made(target, best);
    if (worst < best || (worst == best && chosen != no_slot && mesh_.key(chosen) < mesh_.key(to))) continue;
    if (makes_long_edge(target) || joins_pinched(to)) continue;
    best = worst;
    chosen = to;
  }
  if (chosen == no_slot) return false;
  for (const Slot t : star_.tets) {
    const Tet& tet = mesh_.tets[t];
    if (tet.has(chosen)) continue;
    NewTet one{tet.v, tet.face_membership, tet.cell_membership, tet.features, mesh_.tet_parent(t)};
    one.v[tet.place_of(v)] = chosen;
    out.made.push_back(one);
  }
  out.removed = v;
  return true;
}

}  // namespace barrio::adapt::detail
