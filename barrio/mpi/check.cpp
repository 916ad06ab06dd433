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
  throw Error(ErrorCode::failed, {.subject = call,
                                  .cause = length > 0 ? std::string(text.data(), static_cast<std::size_t>(length))
                                                      : fmt::format("MPI error {}", code)});
}

}  // namespace barrio::mpi::detail
