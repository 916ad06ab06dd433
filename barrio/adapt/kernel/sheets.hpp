#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "barrio/adapt/kernel/tets.hpp"

namespace barrio::adapt::detail {

/// Line of two feature edges at a vertex.
struct FeatureLine {
  std::array<Slot, 2> ends{no_slot, no_slot};  ///< the other ends, by ascending key
};

/// Sheets of a vertex: the listed faces at it, grouped where they meet in edges that are not feature edges. Local.
/// No result depends on slots or on the order in the star.
class Sheets {
 public:
  /// Gather the faces and feature edges at a vertex. @param star  all tetrahedra of the vertex @pre the mesh lives on
  void gather(const Tets& mesh, Slot v, std::span<const Slot> star);

  /// Tell whether each sheet is flat: no vertex of it is further than `tolerance` from the plane through `v` that its
  /// largest face has.
  [[nodiscard]] bool are_flat(double tolerance) const;
  /// Return the normal of the only sheet, not of unit length; nothing if there is none or more than one.
  [[nodiscard]] std::optional<Point> normal() const;
  /// Return the line of the feature edges; nothing unless there are two, with `v` between their other ends and not
  /// further than `tolerance` from the straight line between these.
  [[nodiscard]] std::optional<FeatureLine> straight_line(double tolerance) const;

 private:
  struct Face {
    Slot a;  // by ascending key
    Slot b;
    Point normal;  // of (v, a, b)
    double area;   // square of twice the area
    std::uint32_t sheet;
  };
  void join_sheets();
  [[nodiscard]] const Face& largest(std::uint32_t sheet) const;

  const Tets* mesh_ = nullptr;
  Slot v_ = no_slot;
  std::vector<Face> faces_;           // by sheet
  std::vector<std::uint32_t> first_;  // face of each sheet, and the number of faces
  std::vector<Slot> feature_ends_;
  std::vector<std::pair<Slot, std::uint32_t>> at_edges_;  // scratch: other end of an edge, face
};

}  // namespace barrio::adapt::detail
