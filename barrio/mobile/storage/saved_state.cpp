#include "barrio/mobile/storage/saved_state.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "barrio/base/error.hpp"
#include "barrio/base/path.hpp"

// inlined, as in the store
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace barrio::mobile::detail {

std::uint64_t checksum_of(std::span<const std::byte> bytes) noexcept { return XXH3_64bits(bytes.data(), bytes.size()); }

SavedState::SavedState(const std::string& path) : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (file_ < 0 && errno == ENOENT)
    throw Error(ErrorCode::bad_input,
                {.subject = path, .cause = "does not exist", .remedy = "check the name." + did_you_mean_file(path)});
  struct stat found{};
  if (file_ < 0 || ::fstat(file_, &found) != 0)
    throw Error(ErrorCode::bad_input,
                {.subject = path, .cause = fmt::format("cannot be read: {}", std::strerror(errno))});
  try {
    n_bytes_ = static_cast<std::uint64_t>(found.st_size);
    if (!S_ISREG(found.st_mode) || n_bytes_ < sizeof head_)
      throw Error(ErrorCode::bad_input, {.subject = path, .cause = "is not a file of saved objects"});
    read(n_bytes_ - sizeof head_, std::as_writable_bytes(std::span(&head_, 1)));
    if (head_.magic != SavedHead::right_magic)
      throw Error(ErrorCode::bad_input, {.subject = path, .cause = "is not a file of saved objects, or incomplete"});
    if (head_.version > SavedHead::newest_version)
      throw Error(ErrorCode::bad_input,
                  {.subject = path,
                   .cause = fmt::format("has version {} of its format, this barrio reads up to {}", head_.version,
                                        SavedHead::newest_version),
                   .remedy = "use a newer barrio"});
    SavedHead zeroed = head_;
    zeroed.checksum = 0;
    if (checksum_of(std::as_bytes(std::span(&zeroed, 1))) != head_.checksum) refuse("its head is damaged");
  } catch (...) {
    ::close(file_);
    throw;
  }
}

SavedState::~SavedState() { ::close(file_); }

void SavedState::refuse(const std::string& cause) const {
  throw Error(ErrorCode::bad_input,
              {.subject = path_, .cause = cause, .remedy = "use an older file, or save it again"});
}

void SavedState::read(std::uint64_t place, std::span<std::byte> bytes) const {
  if (place > n_bytes_ || bytes.size() > n_bytes_ - place) refuse("ends before what its head tells of");
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t more = ::pread(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(place + done));
    if (more < 0 && errno == EINTR) continue;
    if (more < 0)
      throw Error(ErrorCode::failed,
                  {.subject = path_, .cause = fmt::format("cannot be read: {}", std::strerror(errno))});
    if (more == 0) refuse("has become shorter while it was read");
    done += static_cast<std::size_t>(more);
  }
}

std::uint64_t SavedState::first_of_share(std::uint64_t share, std::uint64_t n_shares) const {
  if (share >= n_shares) return head_.n_entries;
  const std::uint64_t all = head_.n_object_bytes;
  const std::uint64_t wanted = all / n_shares * share + all % n_shares * share / n_shares;
  std::uint64_t low = 0;
  std::uint64_t high = head_.n_entries;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (read_list<SavedEntry>(head_.entries, middle, 1).front().before < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace barrio::mobile::detail
