#pragma once

#include <cstdint>
#include <map>

#include "barrio/mesh/cell_type.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::test {

/// A real file of another program: its path in the collection of samples, and known facts.
struct OtherSample {
  const char* file;
  std::int64_t n_vertices;
  std::map<mesh::CellType, std::int64_t> n;
};
/// Read the file, compare the counts, and build the mesh with ghosts. Collective. @return whether the file exists
bool expect_sample(mpi::Context& context, const OtherSample& sample);

}  // namespace barrio::test
