#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/files/h5m_file.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::delaunay::detail {

inline constexpr std::int32_t triangle_table = 0;
inline constexpr std::int32_t edge_table = 1;

/// A set of the file: consecutive rows of a table.
struct RowSet {
  std::int32_t table = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int32_t id = 0;  ///< marker or region
  double attribute = 0.0;
};

/// Rows of parts: pairs of first row and count in the table of triangles, one part after the other. On rank 0.
struct PartRows {
  std::vector<std::int64_t> words;
  std::vector<std::int64_t> end;  ///< of each part in `words`; on all ranks
};

/// Write the list of sets and their tags. Collective. @param sets  the same on all ranks @param parts  sets that follow
void write_sets(mpi::Context& context, files::H5mFile& file, const std::vector<RowSet>& sets,
                const PartRows& parts = {});

/// Write the names of sets, cut to the bytes that the format has for them. Collective; rank 0 has the names.
void write_names(mpi::Context& context, files::H5mFile& file, const std::vector<std::string>& names);

}  // namespace barrio::delaunay::detail
