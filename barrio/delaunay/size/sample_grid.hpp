#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "barrio/delaunay/size_field.hpp"

namespace barrio::delaunay::detail {

/// Samples of a function in a rectangle: one in each cell of a grid, taken when it is first in a triangle. Coarser
/// grids know the smallest value of four cells each, where all of them are known.
class SampleGrid {
 public:
  /// @param function  returns values above 0 @param resolution  distance of samples; 0: that of 2^18 in the rectangle
  /// @throws Error{usage} if there would be more than 2^24 samples
  SampleGrid(std::function<double(const Point&)> function, const Rectangle& domain, double resolution);

  /// Tell whether the function is below a limit at a sample in a triangle.
  [[nodiscard]] bool is_below(const SizeField::Corners& corners, double limit);

 private:
  struct Level {
    std::array<std::int64_t, 2> n{};
    std::vector<double> values;  // 0: not known yet
  };
  struct Query;
  bool search(const Query& query, std::size_t level, std::int64_t i, std::int64_t j);
  [[nodiscard]] Point place_in(std::int64_t i, std::int64_t j) const noexcept;
  [[nodiscard]] Rectangle cell(std::size_t level, std::int64_t i, std::int64_t j) const noexcept;

  std::function<double(const Point&)> function_;
  Rectangle domain_;
  double side_ = 1.0;          // of a cell of the finest grid
  std::vector<Level> levels_;  // the finest first; the last has one cell
};

}  // namespace barrio::delaunay::detail
