#include "benchmarks/petsc.hpp"

#include <fmt/format.h>

#include "barrio/base/error.hpp"
// Included last: PETSc defines macros with MPI's names.
#include <petscsys.h>

namespace barrio::bench {

void check_petsc(int code, const char* call) {
  if (code != 0)
    throw Error(ErrorCode::failed, {.subject = call, .cause = fmt::format("PETSc returned the code {}", code)});
}

std::shared_ptr<void> use_petsc() {
  static std::weak_ptr<void> in_use;
  std::shared_ptr<void> use = in_use.lock();
  if (!use) {
    check_petsc(PetscOptionsSetValue(nullptr, "-no_signal_handler", "true"), "PetscOptionsSetValue");
    check_petsc(PetscInitializeNoArguments(), "PetscInitialize");
    use = std::shared_ptr<void>(nullptr, [](void*) { PetscFinalize(); });
    in_use = use;
  }
  return use;
}

}  // namespace barrio::bench
