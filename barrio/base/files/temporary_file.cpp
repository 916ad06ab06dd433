#include "barrio/base/temporary_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <vector>

#include "barrio/base/path.hpp"

namespace barrio {
namespace {

/// Lock an open file. The lock belongs to the open file, not to the process: it lasts until the last copy of the
/// descriptor is closed. @return false if another process holds the lock
bool lock(int file) noexcept {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return ::fcntl(file, F_OFD_SETLK, &whole) == 0 || (errno != EAGAIN && errno != EACCES);  // others: no locks here
}

bool is_same(int file, const std::string& name) noexcept {
  struct stat open{};
  struct stat named{};
  return ::fstat(file, &open) == 0 && ::stat(name.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

/// Remove a leftover file. @return an error number; EAGAIN if its job is alive
int remove_left(const std::string& name) noexcept {
  const int file = ::open(name.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT ? 0 : errno;
  int reason = 0;
  if (!lock(file)) {
    reason = EAGAIN;
  } else if (is_same(file, name) && ::unlink(name.c_str()) != 0) {  // else it was completed or replaced
    reason = errno;
  }
  ::close(file);
  return reason;
}

/// Follow a symbolic link to the file that it names, which need not exist.
std::string target_of(const std::string& path) {
  std::filesystem::path target = path;
  std::error_code reason;
  constexpr int max_links = 40;  // as the system's limit: the rest is a circle, and opening it fails
  for (int i = 0; i < max_links && std::filesystem::is_symlink(target, reason); ++i) {
    const std::filesystem::path next = std::filesystem::read_symlink(target, reason);
    if (reason) break;
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  return target.string();
}

}  // namespace

std::string TemporaryFile::name_for(const std::string& path) { return target_of(path) + ".part"; }

Error cannot_write(const std::string& path, const std::string& reason) {
  return {ErrorCode::failed,
          {.subject = path,
           .cause = fmt::format("cannot be written: {}", reason),
           .remedy = "choose another path, or free space and check permissions"}};
}

void check_writable(const std::string& path, WrittenAs as) {
  struct stat known{};
  if (as == WrittenAs::file_or_device && ::stat(path.c_str(), &known) == 0 && !S_ISREG(known.st_mode) &&
      !S_ISDIR(known.st_mode))
    return;
  if (const std::string reason = why_not_replaceable(path); !reason.empty()) throw cannot_write(path, reason);
  const std::filesystem::path parent = std::filesystem::path(target_of(path)).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (::stat(folder.c_str(), &known) == 0 && !S_ISDIR(known.st_mode))
    throw cannot_write(path, fmt::format("{} is not a folder", folder));
  if (::stat(folder.c_str(), &known) != 0 && errno == ENOENT)
    throw Error(ErrorCode::failed, {.subject = path,
                                    .cause = fmt::format("cannot be written: the folder {} does not exist", folder),
                                    .remedy = "make the folder, or choose another path"});
  const std::string name = fmt::format("{}/.barrio-try-{}", folder, ::getpid());
  const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) throw cannot_write(path, std::strerror(errno));
  const std::vector<char> some(std::size_t{1} << 16U);
  int reason = write_at(file, some.data(), some.size(), 0);
  if (::close(file) != 0 && reason == 0) reason = errno;
  ::unlink(name.c_str());
  if (reason != 0) throw cannot_write(path, std::strerror(reason));
}

TemporaryFile::TemporaryFile(const std::string& path, Writers writers)
    : path_(target_of(path)), name_(name_for(path) + (writers == Writers::one ? "" : std::to_string(::getpid()))) {
  constexpr int max_tries = 100;  // a failed try means that another job intervened
  for (int i = 0; i < max_tries; ++i) {
    file_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file_ >= 0) {
      // Before it is locked, another job may take it for a leftover.
      if (lock(file_) && is_in_place()) return;
      close();
      continue;
    }
    if (errno != EEXIST) throw cannot_write(path, std::strerror(errno));
    const int reason = remove_left(name_);
    if (reason == EAGAIN) break;
    if (reason != 0) throw cannot_write(path, fmt::format("{} is in the way: {}", name_, std::strerror(reason)));
  }
  throw Error(ErrorCode::failed, {.subject = path,
                                  .cause = fmt::format("cannot be written: another job is writing to {}", name_),
                                  .remedy = "wait until it ends, or choose another name"});
}

int TemporaryFile::descriptor() const noexcept { return ::fcntl(file_, F_DUPFD_CLOEXEC, 0); }

int TemporaryFile::complete() noexcept {
  if (!is_in_place()) {
    close();
    return ESTALE;
  }
  const int reason = std::rename(name_.c_str(), path_.c_str()) == 0 ? 0 : errno;
  if (reason != 0) remove();
  close();
  return reason;
}

void TemporaryFile::remove() noexcept {
  if (file_ >= 0 && is_in_place()) ::unlink(name_.c_str());
  close();
}

bool TemporaryFile::is_in_place() const noexcept { return is_same(file_, name_); }

void TemporaryFile::close() noexcept {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

}  // namespace barrio
