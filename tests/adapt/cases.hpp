#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "barrio/adapt/adapt.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::test {

/// Where cells are before a mesh is adapted.
enum class Start { boxes, on_rank_0, scattered };

/// A unit cube of n^3 boxes of six tets each, with its six boundaries, and a material for each of some bricks along x.
mesh::Mesh tet_cube(mpi::Context& context, std::int64_t n, Start start = Start::boxes, int n_materials = 1);

/// Fine around the plane x = 1/2: `finest` there, up to 8 times that.
adapt::SizeFunction shock(double finest);

/// What can be measured of a mesh of tets, on all ranks.
struct Measured {
  std::int64_t n_cells = 0;
  double volume = 0.0;
  double min_quality = 2.0;  ///< mean ratio
  double mean_quality = 0.0;
  double part_in_range = 0.0;  ///< of edges: length in the wanted size from 1 / sqrt(2) to sqrt(2)
  double longest = 0.0;        ///< edge in the wanted size
  double complexity = 0.0;     ///< integral of 1 / size^3
};
/// By formulas of its own, from coordinates and connectivity. Collective.
Measured measure(const mesh::Mesh& mesh, const adapt::SizeFunction& size);

/// Area of the faces in a boundary, and the greatest distance from the plane x[axis] = at. Collective.
std::array<double, 2> measure_boundary(const mesh::Mesh& mesh, const std::string& name, std::size_t axis, double at);
/// Volume of the cells in a material. Collective.
double measure_material(const mesh::Mesh& mesh, const std::string& name);

}  // namespace barrio::test
