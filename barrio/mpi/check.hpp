#pragma once

#include <mpi.h>

namespace barrio::mpi {

namespace detail {
[[noreturn]] void throw_mpi_error(int code, const char* call);
}

/// Turn an MPI error code into an Error that names the call, the error class and MPI's own text.
inline void check(int code, const char* call) {
  if (code != MPI_SUCCESS) [[unlikely]]
    detail::throw_mpi_error(code, call);
}

}  // namespace barrio::mpi
