#pragma once

#include <cstdint>
#include <vector>

#include "barrio/mesh/mesh.hpp"

namespace heat {

/// The heat equation  M dT/dt = -K T  on tets: linear finite elements (P1), lumped mass, unit diffusivity.
/// Has the rows of owned vertices. With a layer of ghost cells a rank has all cells around them, so rows are complete
/// without messages. Entries are summed in the order of global ids, so they are bitwise the same on any rank count.
class Conduction {
 public:
  /// Assemble the matrices. Local. @pre the mesh has tets and one ghost layer
  explicit Conduction(const barrio::Mesh& mesh);

  /// Compute rate = -(K T) / M for owned vertices first .. last - 1; fixed vertices get 0. Local.
  void compute_rate(barrio::mesh::LocalRange rows, const double* temperature, double* rate) const;
  /// Keep the temperature of a vertex constant. @pre it is owned
  void fix(barrio::LocalId vertex) { is_fixed_[barrio::index(vertex)] = 1; }
  /// Return an upper bound of the eigenvalues of K / M over this rank's rows (Gershgorin).
  [[nodiscard]] double local_spectral_bound() const;
  /// Return the lumped mass of an owned vertex: a quarter of the volume of the tets around it.
  [[nodiscard]] double mass(std::size_t vertex) const { return mass_[vertex]; }

 private:
  std::vector<std::int64_t> offsets_;
  std::vector<barrio::LocalId> columns_;  // by ascending global id
  std::vector<double> entries_;           // of K
  std::vector<double> mass_;
  std::vector<char> is_fixed_;
};

}  // namespace heat
