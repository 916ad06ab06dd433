#include "barrio/adapt/kernel/operator.hpp"

#include <algorithm>

namespace barrio::adapt::detail {
namespace {

/// The finaliser of SplitMix64.
std::uint64_t mixed(std::uint64_t x) noexcept {
  x ^= x >> 30U;
  x *= 0xBF58476D1CE4E5B9ULL;
  x ^= x >> 27U;
  x *= 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

/// Tell without roots that the metric length of an edge lies between two lengths. Most do; of others some are missed.
bool is_surely_between(double low, double high, const Vertex& a, const Vertex& b) noexcept {
  constexpr double margin = 1e-9;  // above the rounding of `metric_length`
  const Point d = b.at - a.at;
  const double squared = dot(d, d);
  const double p = a.inverse_size;
  const double q = b.inverse_size;
  const double at_most = 0.5 * (p + q);  // of the mean of inverse sizes: sqrt(pq) lies between the smaller and the mean
  const double at_least = (4.0 * std::min(p, q) + (p + q)) / 6.0;
  return squared * (at_most * at_most) < high * high * (1 - margin) &&
         squared * (at_least * at_least) > low * low * (1 + margin);
}

}  // namespace

std::uint64_t hash_of(const Key& a, const Key& b) noexcept {
  return mixed(mixed(mixed(mixed(a.high) + a.low) + b.high) + b.low);
}

bool is_in_share(const Key& a, const Key& b, const Limits& limits) noexcept {
  constexpr double all = 0x1p64;
  return limits.share >= 1.0 || static_cast<double>(mixed(hash_of(a, b) + limits.seed)) < limits.share * all;
}

std::uint64_t order_of(double step, std::uint64_t hash) noexcept {
  constexpr unsigned hash_bits = 58;
  constexpr std::uint64_t hash_mask = (1ULL << hash_bits) - 1;
  return static_cast<std::uint64_t>(std::clamp(step, 0.0, 63.0)) << hash_bits | (hash & hash_mask);
}

void note_wants(Tets& mesh, Slot t, const Limits& limits) noexcept {
  const Tet& tet = mesh.tets[t];
  if (tet.quality < limits.mend)
    for (const Slot v : tet.v) mesh.vertices[v].active |= wanted(collapses);
  if (tet.quality <= limits.good)
    for (const Slot v : tet.v) mesh.vertices[v].active |= wanted(swaps);
  if (tet.quality <= limits.good_star)
    for (const Slot v : tet.v) mesh.vertices[v].active |= wanted(smooths);
  for (const auto& [i, j] : edge_of) {
    Vertex& a = mesh.vertices[tet.v[i]];
    Vertex& b = mesh.vertices[tet.v[j]];
    if (is_surely_between(limits.short_edge, limits.long_edge, a, b)) continue;
    const double length = metric_length(a, b);
    if (length < limits.short_edge) {
      const std::uint8_t step = step_of(length);
      for (Vertex* end : {&a, &b}) {
        end->active |= wanted(collapses);
        end->short_step = std::min(end->short_step, step);
      }
    } else if (length > limits.long_edge) {
      (a.key < b.key ? a : b).active |= wanted(splits);
    }
  }
}

bool Operator::is_untouched(std::span<const Slot> tets, std::uint32_t round) const noexcept {
  return std::ranges::none_of(tets, [&](Slot t) { return mesh_.tets[t].changed == round; });
}

bool is_held(const Tets& mesh, Slot v, std::span<const Slot> star) {
  const NodeSets::Number own = mesh.membership_of(v);
  if (own == 0) return false;
  const Classification on = mesh.vertices[v].classification;
  bool has_peers = false;  // neighbours that lie on the same line or surface, or in the volume as well
  bool peers_hold = false;
  bool others_hold = false;
  for (const Slot t : star) {
    const Tet& tet = mesh.tets[t];
    const std::size_t at = tet.place_of(v);
    for (std::size_t i = 0; i < 4; ++i) {
      if (i == at) continue;
      const auto has_face = [&](std::size_t f) { return f != at && f != i && tet.face_membership[f] != 0; };
      const bool is_along = on == Classification::edge ? (tet.features & edge_bit(at, i)) != 0
                                                       : on != Classification::surface || has_face(0) || has_face(1) ||
                                                             has_face(2) || has_face(3);
      if (!is_along) continue;
      const bool holds = !mesh.node_sets().has_all_of(mesh.membership_of(tet.v[i]), own);
      const bool is_peer = mesh.vertices[tet.v[i]].classification == on;
      has_peers = has_peers || is_peer;
      (is_peer ? peers_hold : others_hold) |= holds;
    }
  }
  return has_peers ? peers_hold : others_hold;
}

void Star::gather(Tets& mesh, Slot v) {
  mesh.star(v, tets);
  gather(mesh, v, tets);
}

void Star::gather(Tets& mesh, Slot v, std::span<const Slot> cavity) {
  if (cavity.data() != tets.data()) tets.assign(cavity.begin(), cavity.end());
  neighbours.clear();
  at.clear();
  length.clear();
  with.clear();
  faces.clear();
  worst = 2.0F;
  const std::uint32_t mark = mesh.next_mark();
  const Vertex& centre = mesh.vertices[v];
  for (const Slot t : tets) {
    const Tet& tet = mesh.tets[t];
    worst = std::min(worst, tet.quality);
    const auto& rest = face_of[tet.place_of(v)];
    std::array<std::int32_t, 3> face{};
    for (std::size_t i = 0; i < 3; ++i) {
      Vertex& w = mesh.vertices[tet.v[rest[i]]];
      if (w.mark != mark) {
        w.mark = mark;
        w.place = static_cast<std::int32_t>(neighbours.size());
        neighbours.push_back(tet.v[rest[i]]);
        at.push_back(w.at);
        length.push_back(metric_length(centre, w));
        with.push_back(t);
      }
      face[i] = w.place;
    }
    faces.push_back(face);
  }
}

bool StarOperator::find_cavity(const Candidate& candidate, std::uint32_t round, Change& out) {
  if (mesh_.tets[candidate.tet].changed == round) return false;
  return mesh_.untouched_star(candidate.of[0], round, out.cavity);
}

}  // namespace barrio::adapt::detail
