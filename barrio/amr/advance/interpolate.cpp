#include "barrio/amr/advance/interpolate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace barrio::amr::detail {
namespace {

/// Return van Leer's mean of two differences.
double limited(double below, double above) {
  const double product = below * above;
  return product > 0.0 ? 2.0 * product / (below + above) : 0.0;
}

/// Return the distance of a finer cell centre from the coarser cell centre, in sizes of the coarser cell.
double offset(std::int64_t fine, std::int64_t coarse, int ratio) {
  return static_cast<double>(2 * (fine - coarse * ratio) + 1 - ratio) / (2 * ratio);
}

/// Sum numbers of the axes; in a plane their order does not matter.
template <std::size_t D>
double sum_of(const std::array<double, D>& of) {
  double sum = of[0] + of[1];
  if constexpr (D == 3) sum += of[2];
  return sum;
}

/// Return the least and the largest value of a cell and all cells that touch it.
template <std::size_t D>
std::array<double, 2> range_around(const double* here, const std::array<std::ptrdiff_t, D>& strides) {
  double low = *here;
  double high = *here;
  for (int direction = 0; direction < n_directions<D>; ++direction) {
    const auto steps = direction_of<D>(direction);
    std::ptrdiff_t at = 0;
    for (std::size_t k = 0; k < D; ++k) at += steps[k] * strides[k];
    low = std::min(low, here[at]);
    high = std::max(high, here[at]);
  }
  return {low, high};
}

/// Find the slopes of a variable along the axes. No finer cell gets a value beyond those of the coarser cell and the
/// cells that touch it; linear values remain linear. @param reach  distance of the outermost finer cells along an axis
template <std::size_t D>
std::array<double, D> slopes_of(const double* here, const std::array<std::ptrdiff_t, D>& strides, double reach) {
  std::array<double, D> slopes{};
  std::array<double, D> sizes{};
  double up = 0.0;  // of the neighbours across faces
  double down = 0.0;
  for (std::size_t k = 0; k < D; ++k) {
    const double below = here[0] - here[-strides[k]];
    const double above = here[strides[k]] - here[0];
    slopes[k] = limited(below, above);
    sizes[k] = std::abs(slopes[k]);
    up = std::max({up, above, -below});
    down = std::max({down, below, -above});
  }
  const double change = reach * sum_of<D>(sizes);
  if (change <= std::min(up, down)) return slopes;
  const auto [low, high] = range_around<D>(here, strides);
  const double room = std::min(high - here[0], here[0] - low);
  if (change <= room) return slopes;
  for (double& slope : slopes) slope *= room / change;
  return slopes;
}

}  // namespace

template <std::size_t D>
void interpolate(const System<D>& system, const CellView<D>& coarse, const CellView<D>& fine,
                 const geometry::IndexBox<D>& region, int ratio, int n_variables) {
  using Index = typename geometry::IndexBox<D>::Index;
  const geometry::IndexBox<D> under = region.coarsened(ratio);
  const double reach = 0.5 - 0.5 / ratio;
  std::vector<double> u(n_variables);
  std::vector<std::array<double, D>> slopes(n_variables);
  std::vector<double> differences(n_variables * D);
  for (std::int64_t n = 0; n < under.size(); ++n) {
    const Index at = under.at(n);
    for (int v = 0; v < n_variables; ++v) {
      u[v] = coarse(v, at);
      slopes[v] = slopes_of<D>(&coarse(v, at), coarse.strides, reach);
      for (std::size_t k = 0; k < D; ++k) differences[v * D + k] = reach * slopes[v][k];
    }
    // All finer cells on the coarser cell count, whether or not they lie in the region: the result must not depend on
    // blocks.
    const double part = system.physical_part(u, differences);
    geometry::IndexBox<D> cells;
    for (std::size_t k = 0; k < D; ++k) {
      cells.low[k] = std::max(at[k] * ratio, region.low[k]);
      cells.high[k] = std::min((at[k] + 1) * ratio, region.high[k]);
    }
    const std::int64_t k_low = D == 3 ? cells.low[D - 1] : 0;
    const std::int64_t k_high = D == 3 ? cells.high[D - 1] : 1;
    for (int v = 0; v < n_variables; ++v) {
      if (part < 1.0)
        for (double& slope : slopes[v]) slope *= part;
      for (std::int64_t k = k_low; k < k_high; ++k) {
        for (std::int64_t j = cells.low[1]; j < cells.high[1]; ++j) {
          Index to = cells.low;
          to[1] = j;
          std::array<double, D> along{0.0, slopes[v][1] * offset(j, at[1], ratio)};
          if constexpr (D == 3) {
            to[2] = k;
            along[2] = slopes[v][2] * offset(k, at[2], ratio);
          }
          double* const out = &fine(v, to);
          for (std::int64_t i = cells.low[0]; i < cells.high[0]; ++i) {
            along[0] = slopes[v][0] * offset(i, at[0], ratio);
            out[i - cells.low[0]] = u[v] + sum_of<D>(along);
          }
        }
      }
    }
  }
}

template <std::size_t D>
void between(const CellView<D>& from, const CellView<D>& to, double part, double* out, std::ptrdiff_t n) {
  for (std::ptrdiff_t i = 0; i < n; ++i) out[i] = from.first[i] + part * (to.first[i] - from.first[i]);
}

template void interpolate<2>(const System<2>&, const CellView<2>&, const CellView<2>&, const geometry::IndexBox<2>&,
                             int, int);
template void interpolate<3>(const System<3>&, const CellView<3>&, const CellView<3>&, const geometry::IndexBox<3>&,
                             int, int);
template void between<2>(const CellView<2>&, const CellView<2>&, double, double*, std::ptrdiff_t);
template void between<3>(const CellView<3>&, const CellView<3>&, double, double*, std::ptrdiff_t);

}  // namespace barrio::amr::detail
