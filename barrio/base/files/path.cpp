#include "barrio/base/path.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <vector>

#include "barrio/base/text.hpp"

namespace barrio {

std::string why_not_replaceable(const std::string& path) {
  struct stat known{};
  if (::stat(path.c_str(), &known) != 0 || S_ISREG(known.st_mode)) return {};
  return S_ISDIR(known.st_mode) ? "it is a folder" : "it is a device or a pipe, not a file";
}

std::string did_you_mean_file(const std::string& path) {
  const std::filesystem::path wanted = path;
  const std::filesystem::path folder = wanted.parent_path().empty() ? "." : wanted.parent_path();
  std::error_code reason;
  if (!std::filesystem::is_directory(folder, reason))
    return fmt::format(" The folder {} does not exist.", folder.string());
  std::vector<std::string> names;
  constexpr std::size_t max_names = 10'000;
  for (std::filesystem::directory_iterator at(folder, reason), end; !reason && at != end && names.size() < max_names;
       at.increment(reason))
    names.push_back((wanted.parent_path() / at->path().filename()).string());
  return did_you_mean(path, names);
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
