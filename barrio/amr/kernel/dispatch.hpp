#pragma once

#include "barrio/amr/kernel/euler_kernels.hpp"
#include "barrio/base/instruction_set.hpp"

namespace barrio::amr::detail {

/// The kernels that were compiled for an instruction set. Local. @pre it is one of instruction_sets()
[[nodiscard]] const EulerKernels& euler_kernels(InstructionSet set) noexcept;

}  // namespace barrio::amr::detail
