#pragma once

#include <string>

#include "barrio/files/writer.hpp"

namespace barrio::files::detail {

/// A dataset with consecutive runs of rows, one for each step of a series.
struct GrowingColumn {
  FileWriter::Rows rows;
  std::int64_t n = 0;      ///< number of rows so far
  std::int64_t first = 0;  ///< first row of the latest run

  /// Append a run of rows: make the dataset or, in a series, extend it. Collective, as FileWriter's functions.
  void append(FileWriter& file, const std::string& place, hid_t type, std::int64_t row_size, std::int64_t n_rows,
              bool is_series);
};

}  // namespace barrio::files::detail
