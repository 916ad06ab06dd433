#pragma once

/// @file Instruction sets with compiled kernels, and the choice of one at run time.

#include <span>
#include <string_view>

namespace barrio {

/// Instruction sets for which kernels are compiled, one source for each (cmake/BarrioKernels.cmake). All produce
/// identical bits.
enum class InstructionSet {
  scalar,    ///< one number at a time
  baseline,  ///< common to all processors of the architecture: SSE2 on x86-64
  avx2,      ///< 256-bit vectors of x86-64
  avx512,    ///< 512-bit vectors of x86-64: its parts F, DQ and VL
};

/// Return the name as in BARRIO_ISA: "avx2".
std::string_view name_of(InstructionSet set) noexcept;

/// List the sets that this build has and this processor can run, ascending. Local.
std::span<const InstructionSet> instruction_sets() noexcept;

/// Choose the set to use: the one that BARRIO_ISA names, else the last of instruction_sets(). Local.
/// @throws Error{usage} if BARRIO_ISA names none of these
InstructionSet chosen_instruction_set();

}  // namespace barrio
