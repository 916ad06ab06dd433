#pragma once

#include <array>
#include <span>

#include "barrio/adapt/kernel/tets.hpp"

namespace barrio::adapt::detail {

/// A place among tetrahedra: in which one, and how much of each of its vertices.
struct Place {
  Slot tet = no_slot;
  std::array<Slot, 4> of{};         ///< its vertices, by ascending key
  std::array<double, 4> weights{};  ///< from 0 to 1; their sum is 1 but for rounding
};

/// Find a point among the tetrahedra of a cavity: the one that it lies deepest in, or closest to. Neither the order of
/// the cavity nor that of a tetrahedron's vertices changes a bit of it. Local. Cost: O(cavity).
Place locate(const Tets& mesh, std::span<const Slot> cavity, const Point& at);

/// The middle of a tetrahedron, the same bits for any order of its vertices.
Point middle_of(const Tets& mesh, const std::array<Slot, 4>& v);

/// What a value that is linear in the tetrahedron comes to at a place. @param value  double(Slot)
template <class Value>
[[nodiscard]] double linear_at(const Place& place, Value&& value) {
  double sum = 0.0;
  double weight = 0.0;
  for (std::size_t i = 0; i < 4; ++i) {
    sum += place.weights[i] * value(place.of[i]);
    weight += place.weights[i];
  }
  return sum / weight;
}

}  // namespace barrio::adapt::detail
