#pragma once

#include <array>
#include <cstdint>

#include "barrio/base/ids.hpp"
#include "barrio/geometry/index_box.hpp"

// A directory finds the neighbours of boxes. The index space is cut into bins about as large as the average box, and a
// hash assigns each bin to a rank. Boxes are entered in the bins that they touch. A box asks in the bins within its
// reach, shifted by a period where that leaves the domain.

namespace barrio::mesh::detail {

/// A box in the directory, or a query for the boxes that intersect it.
template <std::size_t D>
struct BoxEntry {
  geometry::IndexBox<D> box;
  typename geometry::IndexBox<D>::Index shift;  // of a query: from an answer's box to its periodic image
  std::int64_t bin;
  std::int32_t number;  // among the boxes of its rank
  std::int32_t is_question;
};

template <std::size_t D>
struct BoxAnswer {
  geometry::IndexBox<D> box;
  typename geometry::IndexBox<D>::Index shift;
  std::int32_t asking;
  std::int32_t number;
  Rank rank;
};

template <std::size_t D>
struct BoxBins {
  geometry::IndexBox<D> domain;
  std::array<std::int64_t, D> size;  // cells of a bin along each axis
  geometry::IndexBox<D> grid;

  [[nodiscard]] auto of(const typename geometry::IndexBox<D>::Index& cell) const {
    typename geometry::IndexBox<D>::Index at{};
    for (std::size_t k = 0; k < D; ++k) at[k] = (cell[k] - domain.low[k]) / size[k];
    return at;
  }
  /// Return the bins that a box within the domain touches.
  [[nodiscard]] geometry::IndexBox<D> touched_by(const geometry::IndexBox<D>& box) const {
    geometry::IndexBox<D> bins{of(box.low), {}};
    for (std::size_t k = 0; k < D; ++k) bins.high[k] = (box.high[k] - 1 - domain.low[k]) / size[k] + 1;
    return bins;
  }
};

}  // namespace barrio::mesh::detail
