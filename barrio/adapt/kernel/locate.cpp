#include "barrio/adapt/kernel/locate.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "barrio/adapt/kernel/measure.hpp"

namespace barrio::adapt::detail {
namespace {

std::array<Slot, 4> by_key(const Tets& mesh, std::array<Slot, 4> v) {
  std::ranges::sort(v, {}, [&](Slot one) { return mesh.key(one); });
  return v;
}

}  // namespace

Location locate(const Tets& mesh, std::span<const Slot> cavity, const Point& at) {
  Location best;
  double depth = -std::numeric_limits<double>::infinity();
  const auto keys = [&](const Location& location) {
    const auto& v = location.vertices;
    return std::tuple(mesh.key(v[0]), mesh.key(v[1]), mesh.key(v[2]), mesh.key(v[3]));
  };
  for (const Slot t : cavity) {
    Location location{t, by_key(mesh, mesh.tets[t].v), {}};
    std::array<Point, 4> p{};
    for (std::size_t i = 0; i < 4; ++i) p[i] = mesh.vertices[location.vertices[i]].at;
    const double whole = volume6(p[0], p[1], p[2], p[3]);
    for (std::size_t i = 0; i < 4; ++i) {
      std::array<Point, 4> part = p;
      part[i] = at;
      location.weights[i] = volume6(part[0], part[1], part[2], part[3]) / whole;
    }
    const double lowest = *std::ranges::min_element(location.weights);
    if (best.tet != no_slot && (lowest < depth || (lowest == depth && keys(best) < keys(location)))) continue;
    depth = lowest;
    best = location;
  }
  for (double& weight : best.weights) weight = std::clamp(weight, 0.0, 1.0);
  return best;
}

Point centroid_of(const Tets& mesh, const std::array<Slot, 4>& v) {
  Point centroid{};
  for (const Slot one : by_key(mesh, v))
    for (std::size_t k = 0; k < 3; ++k) centroid[k] += 0.25 * mesh.vertices[one].at[k];
  return centroid;
}

}  // namespace barrio::adapt::detail
