#include "barrio/mpi/write_text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "barrio/base/path.hpp"
#include "barrio/base/temporary_file.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mpi {

// Not by MPI's files: those of Open MPI do not report a full disk.
void write_text(Context& context, const std::string& path, std::string_view piece) {
  TemporaryFile temporary;  // on rank 0
  int file = -1;
  const auto attempt = [&](auto&& work) {
    const Status status = capture(work);
    try {
      agree(context, status);
    } catch (const AgreedError&) {
      if (file >= 0) ::close(std::exchange(file, -1));
      temporary.remove();
      throw;
    }
  };
  agree_after(context, [&] {
    if (!context.is_root()) return;
    if (const std::string reason = why_not_replaceable(path); !reason.empty()) throw cannot_write(path, reason);
    temporary = TemporaryFile(path);
    file = temporary.descriptor();
    if (file < 0) throw cannot_write(path, std::strerror(errno));
  });
  attempt([&] {
    if (!context.is_root()) file = ::open(TemporaryFile::name_for(path).c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) throw cannot_write(path, std::strerror(errno));
  });
  const std::uint64_t place = exclusive_sum(context, std::ssize(piece));
  attempt([&] {
    int reason = write_at(file, piece.data(), piece.size(), place);
    if (::close(std::exchange(file, -1)) != 0 && reason == 0) reason = errno;
    if (reason != 0) throw cannot_write(path, std::strerror(reason));
  });
  attempt([&] {
    const int reason = context.is_root() ? temporary.complete() : 0;
    if (reason == ESTALE) throw cannot_write(path, temporary.name() + " was removed, or replaced by another job");
    if (reason != 0) throw cannot_write(path, std::strerror(reason));
  });
}

}  // namespace barrio::mpi
