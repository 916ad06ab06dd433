#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "barrio/adapt/kernel/operator.hpp"

// Sums over a star are in fixed point: they do not depend on where a walk around it begins.

namespace barrio::adapt::detail {
namespace {

constexpr double unit = 1 << 24;

std::int64_t fixed(double x) noexcept { return static_cast<std::int64_t>(x * unit + (x < 0 ? -0.5 : 0.5)); }

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

/// Return what a tetrahedron adds to the badness of its star, by the inverse of its mean ratio.
double Smooth::badness_of(double inverse_ratio) const noexcept {
  constexpr double worst = 100;  // sums of cubes of larger ones might overflow
  if (!limits_.by_worst) return inverse_ratio;
  const double r = std::min(inverse_ratio, worst);
  return r * r * r;
}

/// Find the move to the mean of the best points above each face, where bad tetrahedra weigh more.
Smooth::Wish Smooth::best_move(const Vertex& centre) {
  constexpr double min_quality = 1e-6;
  Wish wish;
  std::int64_t badness = 0;
  bases_.clear();
  std::array<std::int64_t, 3> sum{};
  std::int64_t weights = 0;
  const double inverse_size = centre.inverse_size;
  const double of_size = std::sqrt(2.0 / 3) / inverse_size;  // height of a regular tetrahedron
  for (std::size_t i = 0; i < star_.faces.size(); ++i) {
    const auto& f = star_.faces[i];
    const Point& a = star_.at[f[0]];
    const Point& b = star_.at[f[1]];
    const Point& c = star_.at[f[2]];
    const Point ab = b - a;
    const Point ac = c - a;
    const Point bc = c - b;
    const Point normal = cross(ab, ac);  // away from the centre
    bases_.push_back({a, b, c, normal, dot(ab, ab) + dot(ac, ac) + dot(bc, bc)});
    const double area = std::sqrt(dot(normal, normal));
    const double quality = mesh_.tets[star_.tets[i]].quality;
    const double q = inverse_cube_root(std::max(quality, min_quality));
    const double weight = q * q;
    badness += fixed(quality > 0 ? badness_of(inverse_cube_root(quality)) : 0);
    wish.is_valid = wish.is_valid && quality > 0;
    const double of_area = std::sqrt(area * (4.0 / (3 * std::sqrt(3.0))));
    const double height = (1 - limits_.by_size) * of_area + limits_.by_size * of_size;
    const Point best = (1.0 / 3) * (a + b + c) - (height / area) * normal;
    for (std::size_t k = 0; k < 3; ++k) sum[k] += fixed(weight * (best[k] - centre.at[k]) * inverse_size);
    weights += fixed(weight);
  }
  for (std::size_t k = 0; k < 3; ++k)
    wish.move[k] = static_cast<double>(sum[k]) / static_cast<double>(weights) / inverse_size;
  wish.badness = badness;
  return wish;
}

bool Smooth::is_better(const Point& at, double least, double bound) const {
  const double most = inverse_cube_root(std::max(least, std::numeric_limits<double>::min()));
  const double of_regular = inverse_cube_root(432.0);
  std::int64_t sum = 0;
  for (const Base& base : bases_) {
    const Point a = base.a - at;
    const Point b = base.b - at;
    const Point c = base.c - at;
    const double v6 = dot(a, base.normal);
    if (!(v6 > 0)) return false;
    const double of_volume = inverse_cube_root(v6);
    const double inverse_ratio = of_regular * of_volume * of_volume * (base.sum + dot(a, a) + dot(b, b) + dot(c, c));
    if (!(inverse_ratio <= most)) return false;
    sum += fixed(badness_of(inverse_ratio));
    if (static_cast<double>(sum) >= bound) return false;
  }
  return true;
}

bool Smooth::decide(const Candidate& candidate, std::uint32_t /*round*/, Change& out) {
  const Slot v = candidate.of[0];
  const Vertex& centre = vertex(v);
  star_.gather(mesh_, v, out.cavity);
  if (star_.worst > limits_.good_star) {
    has_nothing(v);
    return false;
  }
  Wish wish = best_move(centre);
  if (is_held(mesh_, v, star_.tets) || !project(v, wish.move)) return false;
  const double least = std::min<double>(star_.worst, limits_.floor);
  constexpr double min_gain = 0.005;
  const double bound =
      wish.is_valid ? (1 - min_gain) * static_cast<double>(wish.badness) : std::numeric_limits<double>::infinity();
  for (const double step : {1.0, 0.5, 0.25}) {
    const Point at = centre.at + step * wish.move;
    if (!is_better(at, least, bound)) continue;
    out.moved = v;
    out.to = at;
    return true;
  }
  return false;
}

}  // namespace barrio::adapt::detail
