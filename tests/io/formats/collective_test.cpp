// Independent reads of a dataset in HDF5 waste most of a large machine's bandwidth. Only this test detects them.
#include <gtest/gtest.h>

#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/io/damage.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::io {
namespace {

using test::world;

/// Reads of all ranks while they read a mesh file.
struct Reads {
  std::uint64_t collective = 0;  ///< per rank, the same on all ranks
  std::uint64_t collective_bytes = 0;
  std::uint64_t independent = 0;
  std::uint64_t independent_bytes = 0;
};

Reads reads_of(const std::string& path) {
  const mpi::Counters before = world().counters();
  static_cast<void>(read(world(), path, {.ghost_layers = 1}));
  const mpi::Counters after = world().counters();
  EXPECT_EQ(mpi::min(world(), after.collective_reads - before.collective_reads),
            mpi::max(world(), after.collective_reads - before.collective_reads));
  return {after.collective_reads - before.collective_reads,
          mpi::sum(world(), after.collective_bytes_read - before.collective_bytes_read),
          mpi::sum(world(), after.independent_reads - before.independent_reads),
          mpi::sum(world(), after.independent_bytes_read - before.independent_bytes_read)};
}

TEST(CollectiveReads, OfARealFileWithGeometry) {
  const auto path = test::interop("h5m/64bricks_1khex.h5m");
  if (!path) GTEST_SKIP() << "the collection of sample files is not there: no 64bricks_1khex.h5m";
  const Reads reads = reads_of(path->string());
  EXPECT_EQ(reads.independent, 0U);
  EXPECT_EQ(reads.independent_bytes, 0U);
  // Coordinates and connectivity of 2197 vertices, 1728 hexes, 2160 quads, 3780 edges at least.
  EXPECT_GE(reads.collective, 5U);
  EXPECT_GE(reads.collective_bytes, 8U * (3 * 2197 + 8 * 1728 + 4 * 2160 + 2 * 3780));
}

TEST(CollectiveReads, OfAFileOfItsOwn) {
  const std::string path = (test::scratch() / "collective.h5m").string();
  write_h5m(world(), mesh::make_box(world(), {.n = {6, 5, 4}, .tets = true, .volumes = {2, 2, 2}, .parts = {2, 2, 1}}),
            path);
  const Reads reads = reads_of(path);
  EXPECT_EQ(reads.independent, 0U);
  EXPECT_EQ(reads.independent_bytes, 0U);
  std::uint64_t n_bytes = 0;
  for (const char* table : {"nodes/coordinates", "elements/Tet4/connectivity", "elements/Tri3/connectivity",
                            "elements/Edge2/connectivity", "sets/contents"})
    n_bytes += 8 * test::numbers(path, std::string("/tstt/") + table).size();
  EXPECT_GE(reads.collective, 5U);
  EXPECT_GE(reads.collective_bytes, n_bytes);
}

}  // namespace
}  // namespace barrio::io
