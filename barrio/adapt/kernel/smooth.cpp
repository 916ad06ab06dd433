#include <algorithm>
#include <array>
#include <cmath>

#include "barrio/adapt/kernel/operator.hpp"

// Sums over a star are in fixed point: they do not depend on where a walk around it begins.

namespace barrio::adapt::detail {
namespace {

constexpr double unit = 1 << 24;

std::int64_t fixed(double x) noexcept { return std::llround(x * unit); }

}  // namespace

void Smooth::propose(Slot v, std::uint32_t round, std::vector<Candidate>& out) {
  if (vertex(v).classification == Classification::corner) return;
  out.push_back({hash_of(vertex(v).key, {1, round}), {v, no_slot, no_slot}, vertex(v).tet});
}

/// Project a move onto the plane of the listed faces, or the line of the feature edges. @return whether it keeps the
/// shape of the faces and edges at the vertex
bool Smooth::project(Slot v, Point& move) {
  const Classification classification = vertex(v).classification;
  if (classification == Classification::volume) return true;
  sheets_.gather(mesh_, v, star_.tets);
  if (!sheets_.are_flat(limits_.flatness)) return false;
  if (classification == Classification::edge) {
    const std::optional<FeatureLine> line = sheets_.straight_line(limits_.flatness);
    if (!line) return false;
    const Point way = vertex(line->ends[1]).at - vertex(line->ends[0]).at;
    move = (dot(move, way) / dot(way, way)) * way;
    return true;
  }
  const std::optional<Point> normal = sheets_.normal();
  if (!normal) return false;
  move = move - (dot(move, *normal) / dot(*normal, *normal)) * *normal;
  // Remove the rounding error across the plane along the largest component of its normal: no vertex leaves a plane of
  // constant x, y or z.
  const std::size_t k = std::ranges::max_element(*normal, {}, [](double x) { return std::abs(x); }) - normal->begin();
  move[k] = 0.0;
  move[k] = -dot(move, *normal) / (*normal)[k];
  return true;
}

/// Return the move to the mean of the best points above each face, where bad tetrahedra weigh more.
Point Smooth::best_move(const Vertex& centre) const {
  constexpr double min_quality = 1e-6;
  std::array<std::int64_t, 3> sum{};
  std::int64_t weights = 0;
  const double inverse_size = centre.inverse_size;
  const double of_size = std::sqrt(2.0 / 3) / inverse_size;  // height of a regular tetrahedron
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
    for (std::size_t k = 0; k < 3; ++k) sum[k] += fixed(weight * (best[k] - centre.at[k]) * inverse_size);
    weights += fixed(weight);
  }
  Point move{};
  for (std::size_t k = 0; k < 3; ++k)
    move[k] = static_cast<double>(sum[k]) / static_cast<double>(weights) / inverse_size;
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
  if (is_held(mesh_, v, star_.tets) || !project(v, move)) return false;
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
