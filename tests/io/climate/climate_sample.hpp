#pragma once

#include "tests/io/exodus/netcdf_writer.hpp"

namespace barrio::test {

/// A grid of 6 longitudes all round, 4 latitudes and 3 levels, with two time steps. Fields over all of them: `T`; over
/// latitudes and longitudes: `PS`, which has time steps, `mask` of integers, `packed`, one value of which is missing.
NetcdfContents climate_sample();

/// What `T` is at a vertex, in the last time step.
double climate_temperature(long i, long j, long k);

/// A grid with one field `T` at all places, whose values are the places in the file.
NetcdfContents climate_grid(std::vector<double> longitudes, std::vector<double> latitudes,
                            std::vector<double> levels = {});

}  // namespace barrio::test
