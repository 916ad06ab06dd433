#include "barrio/mpi/write_text.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/point_to_point.hpp"

namespace barrio::mpi {
namespace {

Error cannot_write(const std::string& path, const std::string& reason) {
  return {ErrorCode::failed,
          {.subject = path,
           .cause = fmt::format("cannot be written: {}", reason),
           .remedy = "choose another place, or make room and rights for it"}};
}

std::string reason_of(int mpi_code) {
  try {
    check(mpi_code, "MPI_File");
  } catch (const Error& error) {
    return error.cause();
  }
  return "the file system refused";
}

}  // namespace

void write_text(Context& context, const std::string& path, std::string_view piece) {
  const auto offset = exclusive_sum(context, static_cast<std::int64_t>(piece.size()));
  const std::string temporary = path + ".part";
  MPI_File file = MPI_FILE_NULL;
  const int opened =
      MPI_File_open(context.comm(), temporary.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  agree_after(context, [&] {
    if (opened != MPI_SUCCESS) throw cannot_write(path, reason_of(opened));
  });
  MPI_File_set_size(file, 0);
  const int written = MPI_File_write_at_all(file, offset, piece.data(), detail::checked_bytes(piece.size()), MPI_BYTE,
                                            MPI_STATUS_IGNORE);
  const int closed = MPI_File_close(&file);
  Status status = capture([&] {
    if (written != MPI_SUCCESS) throw cannot_write(path, reason_of(written));
    if (closed != MPI_SUCCESS) throw cannot_write(path, reason_of(closed));
  });
  const bool is_whole = min(context, status ? 0 : 1) == 1;
  if (context.is_root() && is_whole && std::rename(temporary.c_str(), path.c_str()) != 0)
    status = cannot_write(path, std::strerror(errno));
  if (context.is_root() && (status || !is_whole)) ::unlink(temporary.c_str());
  agree(context, status);
}

}  // namespace barrio::mpi
