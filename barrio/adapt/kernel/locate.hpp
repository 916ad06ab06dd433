#pragma once

#include <array>
#include <span>

#include "barrio/adapt/kernel/tets.hpp"

namespace barrio::adapt::detail {

/// Location of a point: a tetrahedron, and the barycentric weights of its vertices.
struct Location {
  Slot tet = no_slot;
  std::array<Slot, 4> vertices{};   ///< of the tetrahedron, by ascending key
  std::array<double, 4> weights{};  ///< from 0 to 1; their sum is 1 up to rounding
};

/// Find the tetrahedron of a cavity that a point lies deepest in, or closest to. The result is the same bits for any
/// order of the cavity and of a tetrahedron's vertices. Local. Cost: O(cavity).
Location locate(const Tets& mesh, std::span<const Slot> cavity, const Point& at);

/// Return the centroid of a tetrahedron, the same bits for any order of its vertices.
Point centroid_of(const Tets& mesh, const std::array<Slot, 4>& v);

/// Evaluate a function that is linear in the tetrahedron. @param value  double(Slot)
template <class Value>
[[nodiscard]] double linear_at(const Location& location, Value&& value) {
  double sum = 0.0;
  double weight = 0.0;
  for (std::size_t i = 0; i < 4; ++i) {
    sum += location.weights[i] * value(location.vertices[i]);
    weight += location.weights[i];
  }
  return sum / weight;
}

}  // namespace barrio::adapt::detail
