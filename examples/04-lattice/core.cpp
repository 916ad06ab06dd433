#include "core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numbers>

namespace lattice {

using barrio::GlobalId;
using barrio::Rank;
using barrio::mesh::CellBlock;
using barrio::mesh::CellType;
using barrio::mesh::Dim;
using barrio::mesh::MeshTables;
using barrio::mesh::SetKind;

namespace {

/// Return the kind of an assembly: three kinds in each ring around the centre.
int kind_at(const Core& core, int ring, int place) { return (3 * ring + (place % 3 + 3) % 3) % core.n_kinds; }

}  // namespace

std::vector<Slot> slots_of(const Core& core) {
  std::vector<Slot> slots;
  if (core.shape == Shape::square) {
    for (int y = 0; y < core.n[1]; ++y) {
      for (int x = 0; x < core.n[0]; ++x) {
        const int ring = std::max(std::abs(2 * x - core.n[0] + 1), std::abs(2 * y - core.n[1] + 1)) / 2;
        slots.push_back({{static_cast<double>(x), static_cast<double>(y)}, kind_at(core, ring, x - y)});
      }
    }
    return slots;
  }
  const int k = core.n_rings - 1;
  for (int r = -k; r <= k; ++r) {
    for (int q = std::max(-k, -k - r); q <= std::min(k, k - r); ++q) {
      const int ring = std::max({std::abs(q), std::abs(r), std::abs(q + r)});
      slots.push_back({{std::numbers::sqrt3 * (q + 0.5 * r), 1.5 * r}, kind_at(core, ring, q - r)});
    }
  }
  return slots;
}

Expected expected(const Core& core) {
  const Section section(core.shape, 0, core.n_pins, core.cells_per_pin);
  const auto n_slots = static_cast<std::int64_t>(slots_of(core).size());
  const std::int64_t n = std::int64_t{core.n_pins} * core.cells_per_pin;  // edges along a side
  const std::int64_t n_faces = n_slots * section.n_quads();
  Expected found{};
  std::int64_t n_outer = 0;  // sides of assemblies without a neighbour
  if (core.shape == Shape::square) {
    n_outer = 2 * (std::int64_t{core.n[0]} + core.n[1]);
    found.n_sides = (4 * n_slots - n_outer) / 2;
  } else {
    n_outer = 6 * (2 * std::int64_t{core.n_rings} - 1);
    found.n_sides = (6 * n_slots - n_outer) / 2;
  }
  // Euler's formula for a disc: V - E + F = 1. Each face has four edges; each edge has two faces, outer edges one.
  const std::int64_t n_edges = (4 * n_faces + n * n_outer) / 2;
  found.n_cells = n_faces * core.n_layers;
  found.n_vertices = (1 + n_edges - n_faces) * (core.n_layers + 1);
  found.n_on_side = (n + 1) * (core.n_layers + 1);
  found.volume = static_cast<double>(n_slots) * section.area() * Core::height;
  return found;
}

MeshTables make_assembly(barrio::Context& context, const Core& core, int kind) {
  const Section section(core.shape, kind, core.n_pins, core.cells_per_pin);
  const Rank me = context.rank();
  MeshTables tables;
  tables.vertices = {section.n_vertices() * (core.n_layers + 1), context.size()};
  const std::int64_t first_vertex = tables.vertices.first(me);
  for (std::int64_t row = first_vertex; row < tables.vertices.first(me + 1); ++row) {
    const Point at = section.position(row % section.n_vertices());
    const std::int64_t layer = row / section.n_vertices();
    tables.coordinates.insert(tables.coordinates.end(),
                              {at[0], at[1], static_cast<double>(layer) * Core::height / core.n_layers});
  }
  constexpr std::array<const char*, 3> materials{"fuel", "absorber", "coolant"};
  for (int m = 0; m < 3; ++m)
    tables.sets.push_back({.kind = SetKind::material,
                           .id = 10 * (kind + 1) + m,
                           .name = fmt::format("{} {}", materials[static_cast<std::size_t>(m)], kind + 1)});
  CellBlock hexes;
  hexes.type = CellType::hex;
  hexes.nodes_per_cell = 8;
  hexes.rows = {section.n_quads() * core.n_layers, context.size()};
  for (std::int64_t row = hexes.rows.first(me); row < hexes.rows.first(me + 1); ++row) {
    const std::int64_t quad = row % section.n_quads();
    for (const std::int64_t level : {row / section.n_quads(), row / section.n_quads() + 1})
      for (const std::int64_t vertex : section.quad(quad))
        hexes.nodes.push_back(GlobalId{level * section.n_vertices() + vertex});
    const auto set = static_cast<std::int32_t>(section.material(quad));
    const bool goes_on = !tables.members.empty() && tables.members.back().set == set;
    if (goes_on) {
      tables.members.back().count += 1;
    } else {
      tables.members.push_back({.set = set, .dim = Dim::volume, .first = row, .count = 1});
    }
  }
  tables.n_parts = 1;
  tables.parts.assign(hexes.rows.size(me), 0);
  tables.blocks.push_back(std::move(hexes));
  return tables;
}

MeshTables moved(const MeshTables& assembly, const Point& to) {
  MeshTables copy = assembly;
  for (std::size_t i = 0; i < copy.coordinates.size(); i += 3) {
    copy.coordinates[i] += to[0];
    copy.coordinates[i + 1] += to[1];
  }
  return copy;
}

}  // namespace lattice
