#pragma once

#include <span>
#include <string_view>

namespace barrio {

/// Instruction sets for which kernels are compiled, one source for each (cmake/BarrioKernels.cmake). All give the same
/// bits.
enum class InstructionSet {
  scalar,    ///< one number at a time
  baseline,  ///< what every processor of this kind has: SSE2 on x86-64
  avx2,
  avx512,
};

/// As in BARRIO_ISA: "avx2".
std::string_view name_of(InstructionSet set) noexcept;

/// Those that this build has and this processor can run, ascending. Local.
std::span<const InstructionSet> instruction_sets() noexcept;

/// The one to use: what the variable BARRIO_ISA names, else the last of instruction_sets(). Local.
/// @throws Error{usage} if BARRIO_ISA names none of these
InstructionSet chosen_instruction_set();

}  // namespace barrio
