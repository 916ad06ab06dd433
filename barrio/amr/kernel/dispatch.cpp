#include "barrio/amr/kernel/dispatch.hpp"

namespace barrio::amr::detail {

const EulerKernels& euler_kernels(InstructionSet set) noexcept {
  switch (set) {
    case InstructionSet::scalar: return kernels_scalar::euler;
    case InstructionSet::baseline: break;
#ifdef __x86_64__
    case InstructionSet::avx2: return kernels_avx2::euler;
    case InstructionSet::avx512: return kernels_avx512::euler;
#else
    case InstructionSet::avx2:
    case InstructionSet::avx512: break;
#endif
  }
  return kernels_baseline::euler;
}

}  // namespace barrio::amr::detail
