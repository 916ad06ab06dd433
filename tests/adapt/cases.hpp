#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "barrio/adapt/adapt.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::test {

/// Distribution of the cells before adaptation.
enum class Start { boxes, on_rank_0, scattered };

/// Build a unit cube of n^3 boxes of six tets, with its six boundaries, and materials as slabs along x.
mesh::Mesh tet_cube(mpi::Context& context, std::int64_t n, Start start = Start::boxes, int n_materials = 1);

/// Make a size function that is `finest` at the plane x = 1/2 and grows to 8 times that.
adapt::SizeFunction shock(double finest);

/// Measurements of a mesh of tets, over all ranks.
struct Measured {
  std::int64_t n_cells = 0;
  double volume = 0.0;
  double min_quality = 2.0;  ///< mean ratio
  double mean_quality = 0.0;
  double part_in_range = 0.0;  ///< share of edges of length 1 / sqrt(2) to sqrt(2) in the size field
  double longest = 0.0;        ///< longest edge in the size field
  double complexity = 0.0;     ///< integral of 1 / size^3
};
/// Measure a mesh by independent formulas, from coordinates and connectivity. Collective.
Measured measure(const mesh::Mesh& mesh, const adapt::SizeFunction& size);

/// Return the area of the faces in a boundary, and their max distance from the plane x[axis] = at. Collective.
std::array<double, 2> measure_boundary(const mesh::Mesh& mesh, const std::string& name, std::size_t axis, double at);
/// Return the volume of the cells in a material. Collective.
double measure_material(const mesh::Mesh& mesh, const std::string& name);

}  // namespace barrio::test
