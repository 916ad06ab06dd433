#include "barrio/mpi/check.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "barrio/base/error.hpp"

namespace barrio::mpi::detail {

void throw_mpi_error(int code, const char* call) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) length = 0;
  throw Error(
      ErrorCode::failed,
      {.subject = call, .cause = length > 0 ? std::string(text.data(), length) : fmt::format("MPI error {}", code)});
}

void throw_too_many(std::size_t n) {
  throw Error(
      ErrorCode::internal,
      {.subject = "MPI call", .cause = fmt::format("{} items do not fit one call, which takes at most 2^31 - 1", n)});
}

}  // namespace barrio::mpi::detail
