#include <algorithm>
#include <cmath>

#include "barrio/adapt/kernel/operator.hpp"

namespace barrio::adapt::detail {

void Collapse::propose(Slot v, std::uint32_t round, std::vector<Candidate>& out) {
  if (vertex(v).classification == Classification::corner) return;
  star_.gather(mesh_, v);
  const double shortest = *std::ranges::min_element(star_.length);
  if (shortest >= limits_.short_edge) return has_nothing(v);
  // Short edges first, in four steps for each factor of two; in random order within a step.
  constexpr double max_halvings = 8;
  const double step = 4 * (std::log2(shortest) + max_halvings);
  out.push_back({order_of(step, hash_of(vertex(v).key, {0, round}) >> 6U), {v, no_slot, no_slot}, vertex(v).tet});
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

/// Tell whether listed faces keep their planes and sides.
bool Collapse::keeps_planes(Slot v, Slot to) const {
  constexpr double max_turn = 1e-12;  // square of the sine
  for (const Slot t : star_.tets) {
    const Tet& tet = mesh_.tets[t];
    if (tet.has(to)) continue;
    const std::size_t at = tet.place_of(v);
    for (std::size_t f = 0; f < 4; ++f) {
      if (f == at || tet.face_membership[f] == 0) continue;
      std::array<Point, 3> old{};
      std::array<Point, 3> now{};
      for (std::size_t i = 0; i < 3; ++i) {
        const Slot w = tet.v[face_of[f][i]];
        old[i] = vertex(w).at;
        now[i] = w == v ? vertex(to).at : old[i];
      }
      const Point a = cross(old[1] - old[0], old[2] - old[0]);
      const Point b = cross(now[1] - now[0], now[2] - now[0]);
      const double ab = dot(a, b);
      if (ab <= 0 || ab * ab < (1 - max_turn) * dot(a, a) * dot(b, b)) return false;
    }
  }
  return true;
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

bool Collapse::decide(const Candidate& candidate, std::uint32_t /*round*/, Change& out) {
  const Slot v = candidate.of[0];
  star_.gather(mesh_, v, out.cavity);
  double best = std::min<double>(star_.worst, limits_.floor);
  Slot chosen = no_slot;
  for (std::size_t target = 0; target < star_.neighbours.size(); ++target) {
    const Slot to = star_.neighbours[target];
    if (star_.length[target] >= limits_.short_edge || !is_along(v, to)) continue;
    const double worst = worst_made(target, best);
    if (worst < best || (worst == best && chosen != no_slot && mesh_.key(chosen) < mesh_.key(to))) continue;
    if (makes_long_edge(target) || (vertex(v).classification != Classification::volume && !keeps_planes(v, to)))
      continue;
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
