#pragma once

#include "tests/io/exodus/netcdf_writer.hpp"

namespace barrio::test {

/// Make a grid of 6 longitudes around the globe, 4 latitudes and 3 levels, with two time steps. Fields over all axes:
/// `T`. Over latitudes and longitudes: `PS` with time steps, `mask` of integers, `packed` with one missing value.
NetcdfContents climate_sample();

/// Return `T` at a vertex in the last time step.
double climate_temperature(long i, long j, long k);

/// Make a grid with one field `T` at all points. Its values are the positions in the file.
NetcdfContents climate_grid(std::vector<double> longitudes, std::vector<double> latitudes,
                            std::vector<double> levels = {});

}  // namespace barrio::test
