#include "barrio/mesh/tables/collapse.hpp"

#include <algorithm>
#include <utility>
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

Collapse smaller_cell(CellType type, std::span<const CornerPlace> corners) {
  Collapse result{Outcome::smaller, type, static_cast<int>(corners.size())};
  std::ranges::copy(corners, result.nodes.begin());
  return result;
}

Collapse flat_cell(std::span<const CornerPlace> first_alike) {
  const Face left = without_repetition(first_alike);
  if (left.empty()) return {Outcome::flat};
  return smaller_cell(CellType::triangle, left);
}

/// Return the corners of a tet of which a quad and the two triangles on one of its diagonals are left; empty if the
/// faces are others.
Face tet_on_quad(const std::vector<Face>& faces) {
  if (faces.size() != 3) return {};
  const auto quad = std::ranges::find(faces, 4U, &Face::size);
  if (quad == faces.end()) return {};
  Face seen_from_inside(quad->rbegin(), quad->rend());
  for (int turn = 0; turn < 2; ++turn) {
    const Face& q = seen_from_inside;
    // The diagonal from 1 to 3 is on the inner side.
    std::vector<Face> triangles{canonical_loop({q[1], q[3], q[0]}), canonical_loop({q[3], q[1], q[2]})};
    std::ranges::sort(triangles);
    if (std::ranges::includes(faces, triangles)) {
      if (q[2] < q[0]) std::ranges::rotate(seen_from_inside, seen_from_inside.begin() + 2);
      return seen_from_inside;
    }
    std::ranges::rotate(seen_from_inside, seen_from_inside.begin() + 1);
  }
  return {};
}

Collapse volume_cell(CellType type, std::span<const CornerPlace> first_alike, Face corners) {
  const std::vector<Face> faces = faces_left(type, first_alike);
  if (const Face tet = tet_on_quad(faces); !tet.empty()) return smaller_cell(CellType::tet, tet);
  if (faces.size() < 4) return {Outcome::flat};  // fewer faces enclose no volume
  for (const CellType smaller : {CellType::tet, CellType::pyramid, CellType::prism, CellType::knife}) {
    if (topology(smaller).n_corners != std::ssize(corners)) continue;
    do {
      if (has_faces(smaller, corners, faces)) return smaller_cell(smaller, corners);
    } while (std::ranges::next_permutation(corners).found);
  }
  return {Outcome::other};
}

/// Add the middles of the edges that are left. @return a shape that matches no type if one is missing, or not one
Collapse with_middles(CellType type, std::span<const CornerPlace> first_alike, Collapse cell) {
  const CellTopology& from = topology(type);
  const CellTopology& to = topology(cell.type);
  const std::size_t n_corners = from.n_corners;
  for (std::size_t e = 0; e < to.edges.size(); e += 2) {
    const auto ends = std::minmax(cell.nodes[to.edges[e]], cell.nodes[to.edges[e + 1]]);
    CornerPlace middle = -1;
    for (std::size_t f = 0; f < from.edges.size(); f += 2) {
      if (std::minmax(first_alike[from.edges[f]], first_alike[from.edges[f + 1]]) != ends) continue;
      const CornerPlace found = first_alike[n_corners + f / 2];
      if (middle >= 0 && middle != found) return {Outcome::other};
      middle = found;
    }
    if (middle < 0 || std::cmp_less(middle, n_corners)) return {Outcome::other};
    cell.nodes[cell.n_nodes++] = middle;
  }
  Face nodes(cell.nodes.begin(), cell.nodes.begin() + cell.n_nodes);
  std::ranges::sort(nodes);
  return std::ranges::adjacent_find(nodes) == nodes.end() ? cell : Collapse{Outcome::other};
}

}  // namespace

Collapse collapse_of(CellType type, std::span<const std::int8_t> first_alike) {
  const std::size_t n_corners = topology(type).n_corners;
  const auto of_corners = first_alike.first(n_corners);
  Face corners = sorted_places({of_corners.begin(), of_corners.end()});
  corners.erase(std::ranges::unique(corners).begin(), corners.end());
  if (corners.size() == n_corners) return {};
  const bool has_middles = first_alike.size() == n_corners + topology(type).edges.size() / 2;
  if (first_alike.size() != n_corners && !has_middles) return {Outcome::other};
  if (topology(type).dim == Dim::edge) return {Outcome::flat};
  const Collapse cell =
      topology(type).dim == Dim::face ? flat_cell(of_corners) : volume_cell(type, of_corners, std::move(corners));
  return has_middles && cell.outcome == Outcome::smaller ? with_middles(type, first_alike, cell) : cell;
}

}  // namespace barrio::mesh::detail
