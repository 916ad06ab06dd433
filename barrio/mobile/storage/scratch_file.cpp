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
  const auto type = static_cast<std::int64_t>(static_cast<std::uint32_t>(found.f_type));
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

/// Tell whether a page can be written past the cache: some file systems open such files and refuse only then.
bool can_write_direct(int file) {
  const Block page(Block::alignment);
  std::memset(const_cast<std::byte*>(page.data()), 0, page.size());
  return pwrite(file, page.data(), page.size(), 0) == static_cast<ssize_t>(page.size()) || errno != EINVAL;
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
  while (n > 0) {
    const ssize_t done = pwrite(file_, bytes, n, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    if (done == 0) return ENOSPC;
    bytes += done;
    n -= static_cast<std::size_t>(done);
    offset += static_cast<std::uint64_t>(done);
  }
  return 0;
}

int ScratchFile::read(std::byte* bytes, std::size_t n, std::uint64_t offset) const noexcept {
  while (n > 0) {
    const ssize_t done = pread(file_, bytes, n, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    if (done == 0) return EIO;
    bytes += done;
    n -= static_cast<std::size_t>(done);
    offset += static_cast<std::uint64_t>(done);
  }
  return 0;
}

}  // namespace detail
}  // namespace barrio::mobile
