#include "barrio/amr/advance/interpolate.hpp"

#include <algorithm>
#include <array>
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
  return (static_cast<double>(fine - coarse * ratio) + 0.5) / ratio - 0.5;
}

/// Give finer cells the state of the coarser cell if any of them would have an unphysical state. All finer cells on the
/// coarser cell count, whether or not they lie in the region: the result must not depend on blocks.
template <std::size_t D>
void flatten_where_faulty(const System<D>& system, const CellView<D>& coarse, const CellView<D>& fine,
                          const geometry::IndexBox<D>& region, int ratio, int n_variables) {
  const geometry::IndexBox<D> under = region.coarsened(ratio);
  std::vector<double> u(n_variables);
  std::vector<std::array<double, D>> slopes(n_variables);
  for (std::int64_t n = 0; n < under.size(); ++n) {
    const auto at = under.at(n);
    for (int v = 0; v < n_variables; ++v) {
      const double* const here = &coarse(v, at);
      for (std::size_t k = 0; k < D; ++k)
        slopes[v][k] = limited(here[0] - here[-coarse.strides[k]], here[coarse.strides[k]] - here[0]);
    }
    geometry::IndexBox<D> all{at, at};
    for (std::size_t k = 0; k < D; ++k) all.high[k] += 1;
    all = all.refined(ratio);
    bool is_faulty = false;
    for (std::int64_t c = 0; c < all.size() && !is_faulty; ++c) {
      const auto child = all.at(c);
      for (int v = 0; v < n_variables; ++v) {
        u[v] = coarse(v, at);
        for (std::size_t k = 0; k < D; ++k) u[v] += slopes[v][k] * offset(child[k], at[k], ratio);
      }
      is_faulty = !system.fault_of(u).empty();
    }
    if (!is_faulty) continue;
    const geometry::IndexBox<D> wanted = all.intersected(region);
    for (int v = 0; v < n_variables; ++v)
      for (std::int64_t c = 0; c < wanted.size(); ++c) fine(v, wanted.at(c)) = coarse(v, at);
  }
}

}  // namespace

template <std::size_t D>
void interpolate(const System<D>& system, const CellView<D>& coarse, const CellView<D>& fine,
                 const geometry::IndexBox<D>& region, int ratio, int n_variables) {
  using Index = typename geometry::IndexBox<D>::Index;
  const geometry::IndexBox<D> under = region.coarsened(ratio);
  for (int v = 0; v < n_variables; ++v) {
    for (std::int64_t n = 0; n < under.size(); ++n) {
      const Index at = under.at(n);
      const double* const here = &coarse(v, at);
      std::array<double, D> slope;
      geometry::IndexBox<D> cells;
      for (std::size_t k = 0; k < D; ++k) {
        const std::ptrdiff_t stride = coarse.strides[k];
        slope[k] = limited(here[0] - here[-stride], here[stride] - here[0]);
        cells.low[k] = std::max(at[k] * ratio, region.low[k]);
        cells.high[k] = std::min((at[k] + 1) * ratio, region.high[k]);
      }
      const std::int64_t k_low = D == 3 ? cells.low[D - 1] : 0;
      const std::int64_t k_high = D == 3 ? cells.high[D - 1] : 1;
      for (std::int64_t k = k_low; k < k_high; ++k) {
        for (std::int64_t j = cells.low[1]; j < cells.high[1]; ++j) {
          Index to = cells.low;
          to[1] = j;
          double row = here[0] + slope[1] * offset(j, at[1], ratio);
          if constexpr (D == 3) {
            to[2] = k;
            row += slope[2] * offset(k, at[2], ratio);
          }
          double* const out = &fine(v, to);
          for (std::int64_t i = cells.low[0]; i < cells.high[0]; ++i)
            out[i - cells.low[0]] = row + slope[0] * offset(i, at[0], ratio);
        }
      }
    }
  }
  if (system.checks_interpolation()) flatten_where_faulty(system, coarse, fine, region, ratio, n_variables);
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
