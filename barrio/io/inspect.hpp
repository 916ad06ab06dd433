#pragma once

/// @file Inspect a mesh file without MPI: format, counts, sets, tags, parts, box, quality.

#include <string>

#include "barrio/base/json.hpp"

namespace barrio::io {

/// Options of `inspect()`.
struct InspectOptions {
  bool with_quality = true;  ///< also box and cell quality; reads all coordinates into memory, up to `limit_bytes`
  /// Limit of the memory for coordinates. Of a larger mesh box and quality are left out.
  std::uint64_t limit_bytes = std::uint64_t{2} << 30U;
};

/// Describe a mesh file: format, counts by type, sets by kind, tags, parts, box, quality, and contents that barrio does
/// not support yet. Local; works before MPI_Init, on one process. Keys: format, file_bytes, vertices, entities{type:
/// n}, sets{kind: n}, time_steps, times[] (if the file has them, in its unit), partitions[] (of .h5m: tag, parts),
/// named_sets[], tags[], grid (of longitudes and latitudes: points along the axes, time steps, whether it is periodic),
/// box{low, high}, quality{...}, unsupported[].
/// @throws Error as detect_format, and {bad_input} for a damaged file
Json inspect(const std::string& path, InspectOptions options = {});

}  // namespace barrio::io
