#pragma once

#include <barrio/mesh/tables.hpp>
#include <vector>

#include "section.hpp"

namespace lattice {

/// What a core is made of: assemblies of several kinds side by side.
struct Core {
  Shape shape = Shape::hexagon;
  std::array<int, 2> n{5, 4};  ///< squares along x and y
  int n_rings = 3;             ///< of hexagons; the one in the middle is a ring
  int n_kinds = 12;
  int n_pins = 3;         ///< along a side of an assembly
  int cells_per_pin = 6;  ///< along a side of the cell around a pin
  int n_layers = 4;       ///< of cells along the height
  static constexpr double height = 2.0;
};

/// Where an assembly stands, and of which kind it is.
struct Slot {
  Point at;
  int kind;
};

[[nodiscard]] std::vector<Slot> slots_of(const Core& core);

/// What must come out, in closed form.
struct Expected {
  std::int64_t n_cells;
  std::int64_t n_vertices;  ///< each once
  std::int64_t n_sides;     ///< of assemblies, where two of them meet
  std::int64_t n_on_side;   ///< vertices of one assembly on one side
  double volume;
};
[[nodiscard]] Expected expected(const Core& core);

/// Make the mesh of one kind of assembly: its section, drawn out along z, with a set for each material. Collective,
/// without a message: each rank makes its slabs. It is one part.
barrio::mesh::MeshTables make_assembly(barrio::Context& context, const Core& core, int kind);

/// Copy an assembly to a place. Local.
barrio::mesh::MeshTables moved(const barrio::mesh::MeshTables& assembly, const Point& to);

}  // namespace lattice
