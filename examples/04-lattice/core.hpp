#pragma once

#include <barrio/mesh/tables.hpp>
#include <vector>

#include "section.hpp"

namespace lattice {

/// Parameters of a core: assemblies of several kinds next to each other.
struct Core {
  Shape shape = Shape::hexagon;
  std::array<int, 2> n{5, 4};  ///< squares along x and y
  int n_rings = 3;             ///< of hexagons; the central one is a ring
  int n_kinds = 12;
  int n_pins = 3;         ///< along a side of an assembly
  int cells_per_pin = 6;  ///< along a side of the cell around a pin
  int n_layers = 4;       ///< of cells along the height
  static constexpr double height = 2.0;
};

/// The position and kind of an assembly.
struct Slot {
  Point at;
  int kind;
};

[[nodiscard]] std::vector<Slot> slots_of(const Core& core);

/// The expected result, in closed form.
struct Expected {
  std::int64_t n_cells;
  std::int64_t n_vertices;  ///< each once
  std::int64_t n_sides;     ///< between two assemblies
  std::int64_t n_on_side;   ///< vertices of one assembly on one side
  double volume;
};
[[nodiscard]] Expected expected(const Core& core);

/// Make the mesh of one kind of assembly: its section, extruded along z, with a set for each material. It is one part.
/// Collective, but without messages: each rank makes its slabs.
barrio::mesh::MeshTables make_assembly(barrio::Context& context, const Core& core, int kind);

/// Copy an assembly to a position. Local.
barrio::mesh::MeshTables moved(const barrio::mesh::MeshTables& assembly, const Point& to);

}  // namespace lattice
