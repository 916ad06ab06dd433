#include "barrio/mesh/structured/box_regions.hpp"

namespace barrio::mesh::detail {
namespace {

/// List the steps from a place to the cells around it, in the order of precedence: 0 or -1 along each axis on which the
/// place lies between cells.
template <std::size_t D>
std::vector<typename geometry::IndexBox<D>::Index> steps_to_cells(Centering centering) {
  std::vector<typename geometry::IndexBox<D>::Index> steps{{}};
  for (std::size_t k = D; k-- > 0;) {
    if (!is_between_cells(centering, k)) continue;
    const std::size_t n = steps.size();
    for (std::size_t i = 0; i < n; ++i) {
      steps.push_back(steps[i]);
      steps.back()[k] = -1;
    }
  }
  return steps;
}

}  // namespace

template <std::size_t D>
std::vector<geometry::IndexBox<D>> owned_places(const geometry::IndexBox<D>& box, const geometry::IndexBox<D>& window,
                                                Centering centering, std::span<const geometry::IndexBox<D>> others) {
  using Box = geometry::IndexBox<D>;
  const auto steps = steps_to_cells<D>(centering);
  std::vector<Box> owned;
  std::vector<Box> parts;
  std::vector<Box> next;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    // Places from which this step leads into the box: along an axis all cells, or the end behind them.
    Box first = box;
    for (std::size_t k = 0; k < D; ++k) {
      if (steps[s][k] == 0) continue;
      first.low[k] = box.high[k];
      first.high[k] = box.high[k] + 1;
    }
    parts.assign(1, first.intersected(window));
    if (parts.front().empty()) continue;
    for (const Box& other : others) {
      for (std::size_t before = 0; before < s; ++before) {
        auto back = steps[before];
        for (std::int64_t& step : back) step = -step;
        next.clear();
        for (const Box& part : parts) geometry::subtract(part, other.shifted(back), next);
        parts.swap(next);
      }
    }
    owned.insert(owned.end(), parts.begin(), parts.end());
  }
  return owned;
}

template std::vector<geometry::IndexBox<2>> owned_places(const geometry::IndexBox<2>&, const geometry::IndexBox<2>&,
                                                         Centering, std::span<const geometry::IndexBox<2>>);
template std::vector<geometry::IndexBox<3>> owned_places(const geometry::IndexBox<3>&, const geometry::IndexBox<3>&,
                                                         Centering, std::span<const geometry::IndexBox<3>>);

}  // namespace barrio::mesh::detail
