#include "tests/io/h5m/other_sample.hpp"

#include <gtest/gtest.h>

#include <string>

#include "barrio/io/read.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::test {

bool expect_sample(mpi::Context& context, const OtherSample& sample) {
  SCOPED_TRACE(sample.file);
  const auto path = interop(std::string("other/") + sample.file);
  if (!path) return false;
  const mesh::MeshTables tables = io::read_tables(context, path->string());
  EXPECT_EQ(tables.vertices.n_rows, sample.n_vertices);
  std::map<mesh::CellType, std::int64_t> n;
  for (const mesh::CellBlock& block : tables.blocks) n[block.type] += block.rows.n_rows;
  EXPECT_EQ(n, sample.n);
  io::read(context, path->string(), {.ghost_layers = 1}).validate();
  return true;
}

}  // namespace barrio::test
