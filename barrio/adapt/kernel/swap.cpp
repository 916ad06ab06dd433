#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "barrio/adapt/kernel/operator.hpp"

namespace barrio::adapt::detail {
namespace {

constexpr std::size_t max_link = 7;  // Freitag and Ollivier-Gooch 1997: larger rings rarely pay
constexpr double min_gain = 1.05;    // of the cubed mean ratio

/// Best triangulation of the polygon around an edge, each triangle the base of two tetrahedra. Source: Klincsek 1980.
struct Cut {
  std::array<std::array<double, max_link>, max_link> best{};
  std::array<std::array<std::uint8_t, max_link>, max_link> via{};
};

Cut best_cut(std::span<const Point> p, const Point& a, const Point& b, double least) {
  Cut cut;
  const std::size_t m = p.size();
  for (std::size_t i = 0; i + 1 < m; ++i) cut.best[i][i + 1] = 2;
  for (std::size_t step = 2; step < m; ++step) {
    for (std::size_t i = 0; i + step < m; ++i) {
      const std::size_t j = i + step;
      double best = -1;
      for (std::size_t k = i + 1; k < j; ++k) {
        const double must = std::max(least, best);
        double worst = std::min(cut.best[i][k], cut.best[k][j]);
        if (worst > must) worst = std::min(worst, cubed_mean_ratio(p[i], p[k], p[j], b));
        if (worst > must) worst = std::min(worst, cubed_mean_ratio(p[i], p[j], p[k], a));
        if (worst <= must) continue;
        best = worst;
        cut.via[i][j] = static_cast<std::uint8_t>(k);
      }
      cut.best[i][j] = best;
    }
  }
  return cut;
}

/// Return the face of a tetrahedron that has these three vertices.
std::size_t face_with(const Tet& tet, const std::array<Slot, 3>& vertices) noexcept {
  std::size_t across = 0;
  while (across < 3 && std::ranges::find(vertices, tet.v[across]) != vertices.end()) ++across;
  return across;
}

}  // namespace

bool Swap::makes_long_edge(std::span<const NewTet> made) const {
  return std::ranges::any_of(made, [&](const NewTet& tet) {
    return std::ranges::any_of(edge_of, [&](const auto& e) {
      return metric_length(vertex(tet.v[e[0]]), vertex(tet.v[e[1]])) > limits_.longest_made;
    });
  });
}

float Swap::worst_of(std::span<const Slot> tets) const {
  float worst = 2.0F;
  for (const Slot t : tets) worst = std::min(worst, mesh_.tets[t].quality);
  return worst;
}

bool Swap::may_take_out(const Ring& ring, Slot a, Slot b) const {
  const Tet& first = mesh_.tets[ring.tets[0]];
  const std::size_t n = ring.tets.size();
  if (ring.link.size() > max_link || ring.link.size() < 3) return false;
  if ((first.features & edge_bit(first.place_of(a), first.place_of(b))) != 0) return false;
  // A new edge between pinched vertices may be there already, in another group of tetrahedra.
  if (std::ranges::count_if(ring.link, [&](Slot v) { return is_pinched(mesh_.key(v)); }) > 1) return false;
  for (std::size_t i = 0; i < n; ++i) {
    const Tet& tet = mesh_.tets[ring.tets[i]];
    if (tet.cell_membership != first.cell_membership) return false;
    // The face (a, b, link[i]) is across from link[i + 1].
    const Slot next = ring.link[(i + 1) % ring.link.size()];
    if ((i > 0 || ring.is_closed) && tet.face_membership[tet.place_of(next)] != 0) return false;
  }
  if (ring.is_closed) return true;
  // On the boundary both faces must lie in one plane and have one membership. That they are two sides of a convex
  // quadrilateral follows from positive volumes.
  const Tet& last = mesh_.tets[ring.tets[n - 1]];
  const std::uint16_t of_first = first.face_membership[first.place_of(ring.link[1])];
  const std::uint16_t of_last = last.face_membership[last.place_of(ring.link[n - 1])];
  if (of_first == 0 || of_first != of_last) return false;
  // The surface moves by the distance of the old edge from the new one.
  const Point ab = vertex(b).at - vertex(a).at;
  const Point cd = vertex(ring.link[n]).at - vertex(ring.link[0]).at;
  const Point normal = cross(ab, cd);
  const double off = dot(vertex(ring.link[0]).at - vertex(a).at, normal);
  return off * off <= limits_.flatness * limits_.flatness * dot(normal, normal);
}

/// Retriangulate the ring without its edge. @return the lowest quality of the result; below 0 if there is no gain
double Swap::without_edge(Slot a, Slot b, std::vector<NewTet>& made) {
  if (!may_take_out(ring_, a, b)) return -1;
  if (ring_.is_closed) {  // begin at the lowest key, wherever the walk began
    const auto lowest = std::ranges::min_element(ring_.link, {}, [&](Slot v) { return mesh_.key(v); });
    std::ranges::rotate(ring_.tets, ring_.tets.begin() + (lowest - ring_.link.begin()));
    std::ranges::rotate(ring_.link, lowest);
  }
  const std::size_t m = ring_.link.size();
  std::array<Point, max_link> p{};
  for (std::size_t i = 0; i < m; ++i) p[i] = vertex(ring_.link[i]).at;
  const Cut cut = best_cut(std::span(p).first(m), vertex(a).at, vertex(b).at, min_gain * worst_of(ring_.tets));
  if (cut.best[0][m - 1] < 0) return -1;
  const Tet& first = mesh_.tets[ring_.tets[0]];
  const std::uint16_t outside = ring_.is_closed ? 0 : first.face_membership[first.place_of(ring_.link[1])];
  made.clear();
  std::array<std::array<std::size_t, 2>, 2 * max_link> open{};
  std::size_t n_open = 0;
  open[n_open++] = {0, m - 1};
  while (n_open > 0) {
    const auto [i, j] = open[--n_open];
    if (j - i < 2) continue;
    const std::size_t k = cut.via[i][j];
    NewTet up{{ring_.link[i], ring_.link[k], ring_.link[j], b}, {}, first.cell_membership, 0};
    NewTet down{{ring_.link[i], ring_.link[j], ring_.link[k], a}, {}, first.cell_membership, 0};
    if (i == 0 && j == m - 1) {
      up.face_membership[1] = outside;
      down.face_membership[2] = outside;
    }
    made.push_back(up);
    made.push_back(down);
    open[n_open++] = {i, k};
    open[n_open++] = {k, j};
  }
  return makes_long_edge(made) ? -1 : cut.best[0][m - 1];
}

/// Replace a face by the edge between the two vertices opposite to it. @return as `without_edge`
double Swap::without_face(Slot t, std::size_t f, std::vector<NewTet>& made) const {
  const Tet* low = &mesh_.tets[t];
  const Slot other = low->across[f];
  if (other < 0 || low->face_membership[f] != 0) return -1;
  const Tet* high = &mesh_.tets[other >> 2];
  if (high->cell_membership != low->cell_membership) return -1;
  const double least = min_gain * std::min(low->quality, high->quality);
  std::size_t at = f;
  Slot d = low->v[f];
  Slot e = high->v[other & 3];
  if (is_pinched(mesh_.key(d)) && is_pinched(mesh_.key(e))) return -1;
  if (mesh_.key(e) < mesh_.key(d)) {
    std::swap(low, high);
    std::swap(d, e);
    at = other & 3;
  }
  const auto& face = face_of[at];
  std::size_t first = 0;  // the lowest vertex of the face
  for (std::size_t i = 1; i < 3; ++i)
    if (mesh_.key(low->v[face[i]]) < mesh_.key(low->v[face[first]])) first = i;
  made.clear();
  double worst = 2;
  for (std::size_t i = 0; i < 3; ++i) {
    const NewTet one{
        {d, low->v[face[(first + i) % 3]], low->v[face[(first + i + 1) % 3]], e}, {}, low->cell_membership, 0};
    worst = std::min(worst, mesh_.quality_of(one.v));
    if (worst <= least) return -1;
    made.push_back(one);
  }
  return metric_length(vertex(d), vertex(e)) > limits_.longest_made ? -1 : worst;
}

void Swap::add(std::uint64_t hash, double now, const Candidate& candidate, std::vector<Candidate>& out) const {
  // The best result goes first.
  out.push_back(candidate);
  out.back().order = order_of(63 - 63 * now, hash);
}

void Swap::propose_edge(Slot t, Slot a, Slot b, std::uint32_t round, std::vector<Candidate>& out) {
  mesh_.ring(t, a, b, ring_);
  if (!has_news(ring_.tets)) return;
  const double now = without_edge(a, b, tried_.made);
  if (now >= 0) add(hash_of(mesh_.key(a), mesh_.key(b)) + round, now, {0, {a, b, no_slot}, t}, out);
}

void Swap::propose_face(Slot t, std::size_t f, std::uint32_t round, std::vector<Candidate>& out) {
  if (const std::array two{t, mesh_.tets[t].across[f] >> 2}; !has_news(two)) return;
  const double now = without_face(t, f, tried_.made);
  if (now < 0) return;
  std::array<Slot, 3> of{};
  for (std::size_t i = 0; i < 3; ++i) of[i] = mesh_.tets[t].v[face_of[f][i]];
  std::ranges::sort(of, {}, [&](Slot v) { return mesh_.key(v); });
  const Key two{hash_of(mesh_.key(of[0]), mesh_.key(of[1])), round};
  add(hash_of(two, mesh_.key(of[2])), now, {0, of, t}, out);
}

/// Tell whether a tetrahedron has changed since the last round of swaps looked: if none has, there is no gain now, as
/// there was none then.
bool Swap::has_news(std::span<const Slot> tets) const {
  return std::ranges::any_of(tets, [&](Slot t) { return mesh_.tets[t].changed >= last_round_; });
}

void Swap::propose(Slot v, std::uint32_t round, std::vector<Candidate>& out) {
  if (round != round_) last_round_ = std::exchange(round_, round);
  mesh_.star(v, star_);
  const std::uint32_t mark = mesh_.next_mark();
  bool is_good = true;
  for (const Slot t : star_) {
    const Tet& tet = mesh_.tets[t];
    if (tet.quality > limits_.good) continue;
    is_good = false;
    const std::size_t at = tet.place_of(v);
    for (std::size_t i = 0; i < 4; ++i) {
      if (i == at) continue;
      Vertex& w = mesh_.vertices[tet.v[i]];
      if (w.mark != mark && mesh_.key(v) < w.key) propose_edge(t, v, tet.v[i], round, out);
      w.mark = mark;
      // Propose the face opposite vertex i once, from the worse side.
      const bool is_lowest =
          std::ranges::all_of(face_of[i], [&](std::size_t k) { return mesh_.key(v) <= mesh_.key(tet.v[k]); });
      const Slot other = tet.across[i];
      if (!is_lowest || other < 0) continue;
      const Tet& next = mesh_.tets[other >> 2];
      const bool is_worse = tet.quality < next.quality ||
                            (tet.quality == next.quality && mesh_.key(tet.v[i]) < mesh_.key(next.v[other & 3]));
      if (is_worse) propose_face(t, i, round, out);
    }
  }
  if (is_good) has_nothing(v);
}

bool Swap::find_cavity(const Candidate& candidate, std::uint32_t round, Change& out) {
  if (mesh_.tets[candidate.tet].changed == round) return false;
  if (candidate.of[2] == no_slot) {
    mesh_.ring(candidate.tet, candidate.of[0], candidate.of[1], ring_);
    out.cavity.assign(ring_.tets.begin(), ring_.tets.end());
  } else {
    const Tet& tet = mesh_.tets[candidate.tet];
    out.cavity = {candidate.tet, tet.across[face_with(tet, candidate.of)] >> 2};
  }
  return is_untouched(out.cavity, round);
}

bool Swap::decide(const Candidate& candidate, std::uint32_t /*round*/, Change& out) {
  const auto& of = candidate.of;
  if (of[2] == no_slot) return without_edge(of[0], of[1], out.made) >= 0;
  return without_face(candidate.tet, face_with(mesh_.tets[candidate.tet], of), out.made) >= 0;
}

}  // namespace barrio::adapt::detail
