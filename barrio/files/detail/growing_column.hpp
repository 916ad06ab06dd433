#pragma once

#include <string>

#include "barrio/files/writer.hpp"

namespace barrio::files::detail {

/// A dataset of which each step of a series has a run of rows, one after the other.
struct GrowingColumn {
  FileWriter::Rows rows;
  std::int64_t n = 0;      ///< rows so far
  std::int64_t first = 0;  ///< of the latest run

  /// Append a run of rows: make the dataset, or make that of a series longer. Collective, as FileWriter's.
  void append(FileWriter& file, const std::string& place, hid_t type, std::int64_t row_size, std::int64_t n_rows,
              bool is_series);
};

}  // namespace barrio::files::detail
