#pragma once

/// @file Convert MPI error codes to errors, and sizes to MPI counts.

#include <mpi.h>

#include <cstddef>
#include <limits>

namespace barrio::mpi {

namespace detail {
[[noreturn]] void throw_mpi_error(int code, const char* call);
[[noreturn]] void throw_too_many(std::size_t n);
}  // namespace detail

/// Throw an Error if an MPI call failed; it names the call and has MPI's own text.
inline void check(int code, const char* call) {
  if (code != MPI_SUCCESS) [[unlikely]]
    detail::throw_mpi_error(code, call);
}

/// Convert a number of bytes, items or requests to an MPI count. @throws Error{internal} above 2^31 - 1
[[nodiscard]] inline int as_count(std::size_t n) {
  if (n > std::size_t{std::numeric_limits<int>::max()}) [[unlikely]]
    detail::throw_too_many(n);
  return static_cast<int>(n);
}

}  // namespace barrio::mpi
