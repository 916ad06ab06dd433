#include <algorithm>
#include <array>
#include <cmath>

#include "barrio/adapt/kernel/operator.hpp"

// Sums over a star are in fixed point: they do not depend on where a walk around it begins.

namespace barrio::adapt::detail {
namespace {

constexpr double unit = 1 << 24;

std::int64_t fixed(double x) noexcept { return std::llround(x * unit); }

bool are_parallel(const Point& a, const Point& b) noexcept {
  constexpr double max_turn = 1e-12;  // square of the sine
  const double ab = dot(a, b);
  return ab * ab >= (1 - max_turn) * dot(a, a) * dot(b, b);
}

}  // namespace

void Smooth::propose(Slot v, std::uint32_t round, std::vector<Candidate>& out) {
  if (vertex(v).classification == Classification::corner) return;
  out.push_back({hash_of(vertex(v).key, {1, round}), {v, no_slot, no_slot}, vertex(v).tet});
}

/// Project a move onto the plane of all listed faces, or the line of the feature edges. @return whether there is one
bool Smooth::project(Slot v, Point& move) const {
  const Classification classification = vertex(v).classification;
  if (classification == Classification::volume) return true;
  // Take the axis of the neighbour or face of lowest key: it does not depend on the walk.
  std::optional<Point> axis;
  Key lowest;
  for (const Slot t : star_.tets) {
    const Tet& tet = mesh_.tets[t];
    const std::size_t at = tet.place_of(v);
    for (std::size_t i = 0; i < 4; ++i) {
      if (i == at || (classification == Classification::edge ? (tet.features & edge_bit(at, i)) == 0
                                                             : tet.face_membership[i] == 0))
        continue;
      Point way{};
      Key key;
      if (classification == Classification::edge) {
        way = vertex(tet.v[i]).at - vertex(v).at;
        key = mesh_.key(tet.v[i]);
      } else {
        const auto& f = face_of[i];
        way = cross(vertex(tet.v[f[1]]).at - vertex(tet.v[f[0]]).at, vertex(tet.v[f[2]]).at - vertex(tet.v[f[0]]).at);
        for (const std::size_t w : f) key.low += hash_of(mesh_.key(tet.v[w]), {});
      }
      if (axis && !are_parallel(*axis, way)) return false;
      if (!axis || key < lowest) {
        axis = way;
        lowest = key;
      }
    }
  }
  if (!axis) return false;
  const Point along = (dot(move, *axis) / dot(*axis, *axis)) * *axis;
  if (classification == Classification::edge) {
    move = along;
    return true;
  }
  move = move - along;
  // Remove the rounding error across the plane along the largest component of its normal: no vertex leaves a plane of
  // constant x, y or z.
  const std::size_t k = std::ranges::max_element(*axis, {}, [](double x) { return std::abs(x); }) - axis->begin();
  move[k] = 0.0;
  move[k] = -dot(move, *axis) / (*axis)[k];
  return true;
}

/// Return the move to the mean of the best points above each face, where bad tetrahedra weigh more.
Point Smooth::best_move(const Vertex& centre) const {
  constexpr double min_quality = 1e-6;
  std::array<std::int64_t, 3> sum{};
  std::int64_t weights = 0;
  const double of_size = std::sqrt(2.0 / 3) / centre.inverse_size;  // height of a regular tetrahedron
  for (std::size_t i = 0; i < star_.faces.size(); ++i) {
    const auto& f = star_.faces[i];
    const Point& a = star_.at[f[0]];
    const Point& b = star_.at[f[1]];
    const Point& c = star_.at[f[2]];
    const Point normal = cross(b - a, c - a);  // away from the centre
    const double area = std::sqrt(dot(normal, normal));
    const double q = std::cbrt(std::max<double>(mesh_.tets[star_.tets[i]].quality, min_quality));
    const double weight = 1 / (q * q);
    const double of_area = std::sqrt(area * (4.0 / (3 * std::sqrt(3.0))));
    const double height = (1 - limits_.by_size) * of_area + limits_.by_size * of_size;
    const Point best = (1.0 / 3) * (a + b + c) - (height / area) * normal;
    for (std::size_t k = 0; k < 3; ++k) sum[k] += fixed(weight * (best[k] - centre.at[k]) * centre.inverse_size);
    weights += fixed(weight);
  }
  Point move{};
  for (std::size_t k = 0; k < 3; ++k)
    move[k] = static_cast<double>(sum[k]) / static_cast<double>(weights) / centre.inverse_size;
  return move;
}

std::optional<double> Smooth::badness(const Point& at, double least) const {
  std::int64_t sum = 0;
  for (const auto& f : star_.faces) {
    const double q = cubed_mean_ratio(at, star_.at[f[0]], star_.at[f[1]], star_.at[f[2]]);
    if (q < least || q <= 0) return {};
    sum += fixed(1 / std::cbrt(q));
  }
  return static_cast<double>(sum);
}

bool Smooth::decide(const Candidate& candidate, std::uint32_t /*round*/, Change& out) {
  const Slot v = candidate.of[0];
  const Vertex& centre = vertex(v);
  star_.gather(mesh_, v, out.cavity);
  if (star_.worst > limits_.good_star) {
    has_nothing(v);
    return false;
  }
  Point move = best_move(centre);
  if (!project(v, move)) return false;
  const double least = std::min<double>(star_.worst, limits_.floor);
  const std::optional<double> before = badness(centre.at, 0);
  constexpr double min_gain = 0.005;
  for (const double step : {1.0, 0.5, 0.25}) {
    const Point at = centre.at + step * move;
    const std::optional<double> now = badness(at, least);
    if (!now || (before && *now >= (1 - min_gain) * *before)) continue;
    out.moved = v;
    out.to = at;
    return true;
  }
  return false;
}

}  // namespace barrio::adapt::detail
