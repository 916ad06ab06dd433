#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/base/ids.hpp"
#include "barrio/mesh/cell_type.hpp"

namespace barrio::mesh::detail {

/// List the corners of the sides of a type with fixed sides, as places in the cell, padded with -1.
template <int n_corners>
std::vector<std::array<std::int8_t, n_corners>> shapes_of(CellType type, Dim dim) {
  std::vector<std::array<std::int8_t, n_corners>> shapes;
  std::array<std::int8_t, n_corners> shape{};
  shape.fill(-1);
  if (value(dim) + 1 == value(topology(type).dim)) {
    std::size_t n = 0;
    for (const std::int8_t corner : topology(type).sides) {
      if (corner >= 0) {
        if (n < n_corners) shape[n] = corner;  // only types absent from the mesh have larger sides
        n += 1;
        continue;
      }
      shapes.push_back(shape);
      shape.fill(-1);
      n = 0;
    }
  } else {
    const auto edges = topology(type).edges;
    for (std::size_t e = 0; e + 1 < edges.size(); e += 2) {
      shape[0] = edges[e];
      shape[1] = edges[e + 1];
      shapes.push_back(shape);
    }
  }
  return shapes;
}

/// Rotate and reverse corners so that the one with the lowest id comes first and its lower neighbour next.
/// @param[in] c  corners or their places, padded with -1 @param id  returns the id of a corner
template <std::size_t n_corners, class Corner, class IdOf>
std::array<Corner, n_corners> canonical(const std::array<Corner, n_corners>& c, IdOf&& id) {
  std::size_t n = n_corners;
  if constexpr (n_corners == 2) {
    return id(c[1]) < id(c[0]) ? std::array<Corner, 2>{c[1], c[0]} : c;
  } else if constexpr (n_corners > 3) {
    while (n > 3 && c[n - 1] == Corner{-1}) --n;
  }
  std::size_t low = 0;
  for (std::size_t i = 1; i < n; ++i)
    if (id(c[i]) < id(c[low])) low = i;
  const std::size_t before = (low == 0 ? n : low) - 1;
  const std::size_t after = low + 1 == n ? 0 : low + 1;
  const bool turns = id(c[before]) < id(c[after]);
  std::array<Corner, n_corners> out = c;  // keeps the padding
  for (std::size_t i = 0, at = low; i < n; ++i) {
    out[i] = c[at];
    at = turns ? (at == 0 ? n : at) - 1 : (at + 1 == n ? 0 : at + 1);
  }
  return out;
}

/// Sides of cells of one type with corners in canonical order, which depends only on the relative order of the corners'
/// ids. Few such patterns occur, so recent ones are cached.
template <int n_corners>
class CanonicalShapes {
 public:
  using Shape = std::array<std::int8_t, n_corners>;
  CanonicalShapes(CellType type, Dim dim) : shapes_(shapes_of<n_corners>(type, dim)) {}
  CanonicalShapes(CanonicalShapes&&) = delete;

  /// Return the corners of all sides of a cell, as places in it; valid until the next call.
  /// @param[in] ids  of its corners, at most eight
  const std::vector<Shape>& of(std::span<const GlobalId> ids) {
    if (last_ != nullptr && is_of(*last_, ids)) return last_->shapes;
    std::array<std::uint32_t, 8> n_lower{};  // number of corners with a lower id, by corner
    std::uint32_t pattern = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      for (const GlobalId other : ids) n_lower[i] += other < ids[i] ? 1U : 0U;
      pattern |= n_lower[i] << (4 * i);
    }
    Known& known = known_[pattern * 0x9e3779b1U >> (32U - log2_known)];
    last_ = &known;
    if (!known.shapes.empty() && is_of(known, ids)) return known.shapes;
    std::uint8_t place = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) known.ascending[n_lower[i]] = place++;
    known.shapes.clear();
    for (const Shape& shape : shapes_)
      known.shapes.push_back(canonical(shape, [&](std::int8_t at) { return ids[at]; }));
    return known.shapes;
  }
  [[nodiscard]] std::size_t n_sides() const noexcept { return shapes_.size(); }

 private:
  static constexpr unsigned log2_known = 6;
  struct Known {
    std::array<std::uint8_t, 8> ascending{};  // places of corners, by ascending id
    std::vector<Shape> shapes;
  };
  static bool is_of(const Known& known, std::span<const GlobalId> ids) {
    bool ascends = true;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i)
      ascends = ascends && ids[known.ascending[i]] < ids[known.ascending[i + 1]];
    return ascends;
  }
  std::vector<Shape> shapes_;
  std::array<Known, 1U << log2_known> known_;
  const Known* last_ = nullptr;
};

}  // namespace barrio::mesh::detail
