#pragma once

#include "barrio/amr/kernel/euler_kernels.hpp"
#include "barrio/base/instruction_set.hpp"

namespace barrio::amr::detail {

/// Return the kernels compiled for an instruction set. Local. @pre it is one of instruction_sets()
[[nodiscard]] const EulerKernels& euler_kernels(InstructionSet set) noexcept;

}  // namespace barrio::amr::detail
