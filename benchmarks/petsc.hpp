#pragma once

#include <memory>

namespace barrio::bench {

/// Check the return code of a PETSc call.
/// @throws Error{failed} with the call unless the code is 0
void check_petsc(int code, const char* call);

/// Initialise PETSc, unless it is initialised. The last copy of the returned pointer finalises it. Collective.
std::shared_ptr<void> use_petsc();

}  // namespace barrio::bench
