#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "barrio/io/text/scanner.hpp"
#include "barrio/io/vtk/vtk_file.hpp"

namespace barrio::io::detail {

/// Check of the order of geometry keywords in a legacy file: each in a dataset that allows it, once, after what it
/// needs and before the data. The readers of shares rely on it.
class VtkOrder {
 public:
  /// Check that the geometry may have a keyword here; other keywords pass.
  /// @param dataset  null before it is known. @throws Error{bad_input}
  void enter(const Scanner& in, const VtkIndex::Dataset* dataset, std::string_view keyword) {
    const auto* const part = std::ranges::find(parts, keyword, &Part::keyword);
    if (part == parts.end()) return;
    if (dataset == nullptr) in.refuse(fmt::format("has {} before its dataset", keyword));
    if ((part->datasets >> static_cast<unsigned int>(*dataset) & 1U) == 0)
      in.refuse(fmt::format("has {}, which does not belong to its type of dataset", keyword));
    if (is_closed_) in.refuse(fmt::format("has {} after the data of points or cells", keyword));
    if (has(keyword)) in.refuse(fmt::format("has {} twice", keyword));
    const bool counts_on_grid = *dataset >= VtkIndex::Dataset::structured_grid && part->needs == "dimensions";
    if ((counts_on_grid || part->needs == "cells") && !has(part->needs))
      in.refuse(fmt::format("has {} before {}", keyword, part->needs));
    seen_ |= 1U << (part - parts.begin());
  }
  /// Start the data: no geometry may follow.
  void close() noexcept { is_closed_ = true; }
  [[nodiscard]] bool has(std::string_view keyword) const noexcept {
    const auto place = std::ranges::find(parts, keyword, &Part::keyword) - parts.begin();
    return (seen_ >> place & 1U) != 0;
  }
  [[nodiscard]] int n_axes() const noexcept {
    int n = 0;
    for (const std::string_view axis : {"x_coordinates", "y_coordinates", "z_coordinates"}) n += has(axis) ? 1 : 0;
    return n;
  }

 private:
  struct Part {
    std::string_view keyword;
    unsigned int datasets;  ///< one bit each
    std::string_view needs;
  };
  // A bit for each type of dataset, in the order of VtkIndex::Dataset.
  static constexpr unsigned int cells_apart = 1U << 0U;
  static constexpr unsigned int polygons = 1U << 1U;
  static constexpr unsigned int curved = 1U << 2U;
  static constexpr unsigned int along_axes = 1U << 3U;
  static constexpr unsigned int even = 1U << 4U;
  static constexpr std::array<Part, 14> parts{{{"points", cells_apart | polygons | curved, "dimensions"},
                                               {"dimensions", curved | along_axes | even, ""},
                                               {"origin", even, ""},
                                               {"spacing", even, ""},
                                               {"aspect_ratio", even, ""},
                                               {"x_coordinates", along_axes, "dimensions"},
                                               {"y_coordinates", along_axes, "dimensions"},
                                               {"z_coordinates", along_axes, "dimensions"},
                                               {"cells", cells_apart, ""},
                                               {"cell_types", cells_apart, "cells"},
                                               {"vertices", polygons, ""},
                                               {"lines", polygons, ""},
                                               {"polygons", polygons, ""},
                                               {"triangle_strips", polygons, ""}}};
  unsigned int seen_ = 0;
  bool is_closed_ = false;
};

}  // namespace barrio::io::detail
