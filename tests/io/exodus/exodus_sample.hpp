#pragma once

#include "tests/io/exodus/netcdf_writer.hpp"

namespace barrio::test {

/// Make two adjacent hexes along x, a pyramid on the second, a shell under the first; sets and variables of every kind.
/// Node i + 3 (j + 2 k) + 1 is at (i, j, k), node 13 at (1.5, 0.5, 2). Elements: hexes 1 and 2, pyramid 3, shell 4.
NetcdfContents exodus_sample();

}  // namespace barrio::test
