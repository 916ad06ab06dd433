#include "barrio/mobile/storage/scratch_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/mobile/store.hpp"

namespace barrio::mobile {
namespace {

[[noreturn]] void refuse_folder(const std::string& folder, int error) {
  refuse(ErrorCode::failed, folder,
         error == ENOENT ? "does not exist" : fmt::format("cannot hold a scratch file: {}", std::strerror(error)),
         "name a folder on a local disk that can be written");
}

}  // namespace

FolderKind folder_kind(const std::string& folder) {
  struct statfs found{};
  if (statfs(folder.c_str(), &found) != 0) refuse_folder(folder, errno);
  constexpr std::array<std::int64_t, 3> in_memory{0x01021994, 0x858458f6, 0x958458f6};  // tmpfs, ramfs, hugetlbfs
  // NFS, SMB (three versions), Ceph, Lustre, GPFS, AFS, FUSE (sshfs and the like)
  constexpr std::array<std::int64_t, 9> on_network{0x6969,     0x517b,     0xff534d42, 0xfe534d42, 0x00c36400,
                                                   0x0bd00bd0, 0x47504653, 0x5346414f, 0x65735546};
  const std::int64_t type = found.f_type & 0xffffffff;
  for (const std::int64_t one : in_memory)
    if (one == type) return FolderKind::memory;
  for (const std::int64_t one : on_network)
    if (one == type) return FolderKind::network;
  return FolderKind::disk;
}

namespace detail {
namespace {

/// Make a file without a name; where the file system cannot, one whose name is removed at once. @return -1 on failure
int open_unnamed(const std::string& folder, int flags) noexcept {
  int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600);
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
  try {
    std::string name = folder + "/barrio-scratch-XXXXXX";
    file = mkostemp(name.data(), O_CLOEXEC | flags);
    if (file >= 0) unlink(name.c_str());
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
  }
  return file;
}

/// Repeat a call until all bytes are done. @param call  takes the bytes done so far @param if_none  error for a call
/// that does nothing
template <class Call>
int transfer(std::size_t n, int if_none, Call&& call) noexcept {
  for (std::size_t done = 0; done < n;) {
    const ssize_t more = call(done);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return errno;
    if (more == 0) return if_none;
    done += more;
  }
  return 0;
}

/// Tell whether a page can be written past the cache: some file systems open such files and refuse only then.
bool can_write_direct(int file) {
  Block page(Block::alignment);
  std::memset(page.data(), 0, page.size());
  return pwrite(file, page.data(), page.size(), 0) >= 0 || errno != EINVAL;
}

}  // namespace

ScratchFile::ScratchFile(const std::string& folder, bool is_direct) {
  if (folder_kind(folder) == FolderKind::memory)
    refuse(ErrorCode::usage, folder, "is in memory, so a scratch file there saves none", "name a folder on a disk");
  if (is_direct) {
    file_ = open_unnamed(folder, O_DIRECT);
    is_direct_ = file_ >= 0 && can_write_direct(file_);
    if (file_ >= 0 && !is_direct_) {
      close(file_);
      file_ = -1;
    }
  }
  if (file_ < 0) file_ = open_unnamed(folder, 0);
  if (file_ < 0) refuse_folder(folder, errno);
}

ScratchFile::~ScratchFile() {
  if (file_ >= 0) close(file_);
}

int ScratchFile::write(const std::byte* bytes, std::size_t n, std::uint64_t offset) const noexcept {
  return transfer(n, ENOSPC, [&](std::size_t done) { return pwrite(file_, bytes + done, n - done, offset + done); });
}

int ScratchFile::read(std::byte* bytes, std::size_t n, std::uint64_t offset) const noexcept {
  return transfer(n, EIO, [&](std::size_t done) { return pread(file_, bytes + done, n - done, offset + done); });
}

}  // namespace detail
}  // namespace barrio::mobile
