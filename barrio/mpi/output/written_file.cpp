#include "barrio/mpi/written_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "barrio/base/path.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

// Not with MPI-IO: Open MPI's does not report a full disk.

namespace barrio::mpi {

WrittenFile::WrittenFile(Context& context, std::string path) : context_(context), path_(std::move(path)) {
  agree_after(context_, [&] {
    if (!context_.is_root()) return;
    if (const std::string reason = why_not_replaceable(path_); !reason.empty()) throw cannot_write(path_, reason);
    temporary_ = TemporaryFile(path_);
    file_ = temporary_.descriptor();
    if (file_ < 0) throw cannot_write(path_, std::strerror(errno));
  });
  const Status status = capture([&] {
    if (!context_.is_root()) file_ = ::open(TemporaryFile::name_for(path_).c_str(), O_WRONLY | O_CLOEXEC);
    if (file_ < 0) throw cannot_write(path_, std::strerror(errno));
  });
  try {
    agree(context_, status);
  } catch (const AgreedError&) {
    drop();
    throw;
  }
}

WrittenFile::~WrittenFile() { drop(); }

void WrittenFile::drop() noexcept {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
  temporary_.remove();
}

std::uint64_t WrittenFile::append(std::string_view piece) {
  const auto bytes = static_cast<std::uint64_t>(piece.size());
  const std::uint64_t place = size_ + exclusive_sum(context_, bytes);
  size_ += sum(context_, bytes);
  if (fault_ || piece.empty()) return place;
  if (const int reason = write_at(file_, piece.data(), bytes, place); reason != 0)
    fault_ = cannot_write(path_, std::strerror(reason));
  return place;
}

void WrittenFile::close() {
  // Some file systems report a failed write only here.
  if (::close(std::exchange(file_, -1)) != 0 && !fault_) fault_ = cannot_write(path_, std::strerror(errno));
  try {
    agree(context_, fault_);
    agree_after(context_, [&] {
      const int reason = context_.is_root() ? temporary_.complete() : 0;
      if (reason == ESTALE) throw cannot_write(path_, temporary_.name() + " was removed, or replaced by another job");
      if (reason != 0) throw cannot_write(path_, std::strerror(reason));
    });
  } catch (const AgreedError&) {
    drop();
    throw;
  }
}

}  // namespace barrio::mpi
