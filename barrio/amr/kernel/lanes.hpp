#pragma once

#include <cstddef>

#include <experimental/simd>

// For sources that are compiled for several instruction sets: everything is in the namespace of the set.

namespace barrio::amr::detail::BARRIO_KERNEL_SET {

namespace simd = std::experimental;

#ifdef BARRIO_KERNEL_IS_SCALAR
using Lanes = simd::simd<double, simd::simd_abi::scalar>;
#else
using Lanes = simd::native_simd<double>;
#endif

constexpr std::ptrdiff_t n_lanes = Lanes::size();

inline Lanes load(const double* from) { return Lanes(from, simd::element_aligned); }
inline void store(const Lanes& lanes, double* to) { lanes.copy_to(to, simd::element_aligned); }

/// Select a where the mask is set, else b.
inline Lanes select(const Lanes::mask_type& mask, const Lanes& a, const Lanes& b) {
  Lanes result = b;
  simd::where(mask, result) = a;
  return result;
}

}  // namespace barrio::amr::detail::BARRIO_KERNEL_SET
