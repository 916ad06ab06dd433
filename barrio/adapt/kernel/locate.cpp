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

Place locate(const Tets& mesh, std::span<const Slot> cavity, const Point& at) {
  Place best;
  double depth = -std::numeric_limits<double>::infinity();
  const auto keys = [&](const Place& place) {
    return std::tuple(mesh.key(place.of[0]), mesh.key(place.of[1]), mesh.key(place.of[2]), mesh.key(place.of[3]));
  };
  for (const Slot t : cavity) {
    Place place{t, by_key(mesh, mesh.tets[t].v), {}};
    std::array<Point, 4> p{};
    for (std::size_t i = 0; i < 4; ++i) p[i] = mesh.vertices[place.of[i]].at;
    const double whole = volume6(p[0], p[1], p[2], p[3]);
    for (std::size_t i = 0; i < 4; ++i) {
      std::array<Point, 4> part = p;
      part[i] = at;
      place.weights[i] = volume6(part[0], part[1], part[2], part[3]) / whole;
    }
    const double least = *std::ranges::min_element(place.weights);
    if (best.tet != no_slot && (least < depth || (least == depth && keys(best) < keys(place)))) continue;
    depth = least;
    best = place;
  }
  for (double& weight : best.weights) weight = std::clamp(weight, 0.0, 1.0);
  return best;
}

Point middle_of(const Tets& mesh, const std::array<Slot, 4>& v) {
  Point middle{};
  for (const Slot one : by_key(mesh, v))
    for (std::size_t k = 0; k < 3; ++k) middle[k] += 0.25 * mesh.vertices[one].at[k];
  return middle;
}

}  // namespace barrio::adapt::detail
