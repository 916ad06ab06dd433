#pragma once

#include <cstdint>
#include <map>

#include "barrio/mesh/cell_type.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::test {

/// A real file of another program, by its path in the collection of samples, and what is known of it.
struct OtherSample {
  const char* file;
  std::int64_t n_vertices;
  std::map<mesh::CellType, std::int64_t> n;
};
/// Read it, compare the counts, and build the mesh with ghosts. Collective. @return whether it is there
bool expect_sample(mpi::Context& context, const OtherSample& sample);

}  // namespace barrio::test
