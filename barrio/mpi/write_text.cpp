#include "barrio/mpi/write_text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "barrio/base/path.hpp"
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

constexpr std::size_t max_bytes_per_call = std::size_t{1} << 30;  // MPI counts in int

/// Write the pieces of all ranks one after the other; as many calls as the longest piece needs. Collective.
int write_pieces(Context& context, MPI_File file, std::string_view piece) {
  auto offset = exclusive_sum(context, static_cast<std::int64_t>(piece.size()));
  int code = MPI_SUCCESS;
  for (auto n_calls = max(context, piece.size() / max_bytes_per_call + 1); n_calls > 0; --n_calls) {
    const std::string_view part = piece.substr(0, max_bytes_per_call);
    const int status =
        MPI_File_write_at_all(file, offset, part.data(), static_cast<int>(part.size()), MPI_BYTE, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) code = status;
    offset += static_cast<std::int64_t>(part.size());
    piece.remove_prefix(part.size());
  }
  return code;
}

}  // namespace

void write_text(Context& context, const std::string& path, std::string_view piece) {
  const std::string temporary = path + ".part";
  agree_after(context, [&] {
    if (!context.is_root()) return;
    if (const std::string reason = why_not_replaceable(path); !reason.empty()) throw cannot_write(path, reason);
    // The system says better than MPI why it cannot be made.
    const int made = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (made < 0) throw cannot_write(path, std::strerror(errno));
    ::close(made);
  });
  MPI_File file = MPI_FILE_NULL;
  const int opened =
      MPI_File_open(context.comm(), temporary.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  agree_after(context, [&] {
    if (opened != MPI_SUCCESS) throw cannot_write(path, reason_of(opened));
  });
  MPI_File_set_size(file, 0);
  const int written = write_pieces(context, file, piece);
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
