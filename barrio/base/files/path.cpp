#include "barrio/base/path.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace barrio {

std::string why_not_replaceable(const std::string& path) {
  struct stat known{};
  if (::stat(path.c_str(), &known) != 0 || S_ISREG(known.st_mode)) return {};
  return S_ISDIR(known.st_mode) ? "it is a folder" : "it is a device or a pipe, not a file";
}

int write_at(int file, const void* bytes, std::uint64_t n, std::uint64_t place) noexcept {
  const auto* from = static_cast<const std::byte*>(bytes);
  while (n > 0) {
    const ssize_t written = ::pwrite(file, from, n, place);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    from += written;
    n -= written;
    place += written;
  }
  return 0;
}

}  // namespace barrio
