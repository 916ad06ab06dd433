#pragma once

#include <memory>

namespace barrio::bench {

/// @param code  what a call of PETSc returned
/// @throws Error{failed} naming the call unless it is 0
void check_petsc(int code, const char* call);

/// Initialise PETSc, unless it is; it is finalised when no copy of what comes back is left. Collective.
std::shared_ptr<void> use_petsc();

}  // namespace barrio::bench
