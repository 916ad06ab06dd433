#include "barrio/mesh/tables/collapse.hpp"

#include <algorithm>
#include <vector>

#include "barrio/mesh/topology.hpp"

namespace barrio::mesh::detail {
namespace {

using CornerPlace = std::int8_t;
using Face = std::vector<CornerPlace>;
using Outcome = Collapse::Outcome;

/// Remove consecutive repetitions from a loop of corners. @return empty if the loop encloses nothing
Face without_repetition(std::span<const CornerPlace> loop) {
  Face left;
  for (const CornerPlace place : loop)
    if (left.empty() || left.back() != place) left.push_back(place);
  while (left.size() > 1 && left.back() == left.front()) left.pop_back();
  Face sorted = left;
  std::ranges::sort(sorted);
  const bool is_folded = std::ranges::adjacent_find(sorted) != sorted.end();
  return is_folded || left.size() < 3 ? Face() : left;
}

/// Rotate a loop to start at its lowest place.
Face canonical_loop(Face face) {
  std::ranges::rotate(face, std::ranges::min_element(face));
  return face;
}

Face sorted_places(Face face) {
  std::ranges::sort(face);
  return face;
}

/// Find the remaining faces with an area; two that coincide cancel.
std::vector<Face> faces_left(CellType type, std::span<const CornerPlace> first_alike) {
  std::vector<Face> faces;
  for_each_side<CornerPlace>(type, first_alike, [&](std::span<const CornerPlace> side) {
    Face face = without_repetition(side);
    if (face.empty()) return;
    const auto opposite = std::ranges::find(faces, sorted_places(face), sorted_places);
    if (opposite != faces.end()) {
      faces.erase(opposite);
    } else {
      faces.push_back(canonical_loop(std::move(face)));
    }
  });
  std::ranges::sort(faces);
  return faces;
}

/// Tell whether a cell of a type with these corners has exactly these faces, with the same orientation.
bool has_faces(CellType type, std::span<const CornerPlace> corners, const std::vector<Face>& faces) {
  std::vector<Face> own;
  for_each_side<CornerPlace>(type, corners, [&](std::span<const CornerPlace> side) {
    own.push_back(canonical_loop({side.begin(), side.end()}));
  });
  std::ranges::sort(own);
  return own == faces;
}

Collapse flat_cell(std::span<const CornerPlace> first_alike) {
  const Face left = without_repetition(first_alike);
  if (left.empty()) return {Outcome::flat};
  Collapse result{Outcome::smaller, CellType::triangle};
  std::ranges::copy(left, result.corners.begin());
  return result;
}

}  // namespace

Collapse collapse_of(CellType type, std::span<const std::int8_t> first_alike) {
  Face corners = sorted_places({first_alike.begin(), first_alike.end()});
  corners.erase(std::ranges::unique(corners).begin(), corners.end());
  if (corners.size() == first_alike.size()) return {};
  if (topology(type).dim == Dim::edge) return {Outcome::flat};
  if (topology(type).dim == Dim::face) return flat_cell(first_alike);
  const std::vector<Face> faces = faces_left(type, first_alike);
  if (faces.size() < 4) return {Outcome::flat};  // fewer faces enclose no volume
  for (const CellType smaller : {CellType::tet, CellType::pyramid, CellType::prism, CellType::knife}) {
    if (topology(smaller).n_corners != std::ssize(corners)) continue;
    do {
      if (!has_faces(smaller, corners, faces)) continue;
      Collapse result{Outcome::smaller, smaller};
      std::ranges::copy(corners, result.corners.begin());
      return result;
    } while (std::ranges::next_permutation(corners).found);
  }
  return {Outcome::other};
}

}  // namespace barrio::mesh::detail
