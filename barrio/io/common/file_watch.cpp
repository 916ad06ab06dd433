#include "barrio/io/common/file_watch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <utility>

namespace barrio::io::detail {
namespace {

constexpr const char* remedy = "read it while no program writes it";

bool is_same_time(const struct ::stat& a, const struct ::stat& b) {
  return a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace

FileWatch::FileWatch(std::string path) : path_(std::move(path)) {
  // Opening a pipe would block until its other end is open.
  if (::stat(path_.c_str(), &begin_) != 0 || !S_ISREG(begin_.st_mode)) return;
  file_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file_ >= 0 && ::fstat(file_, &begin_) == 0) return;
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

FileWatch::~FileWatch() {
  if (file_ >= 0) ::close(file_);
}

std::optional<std::string> FileWatch::change() const {
  struct ::stat now{};
  if (file_ < 0 || ::fstat(file_, &now) != 0) return {};
  if (now.st_size != begin_.st_size)
    return fmt::format("changed while it was read, from {} to {} bytes", begin_.st_size, now.st_size);
  if (!is_same_time(now, begin_)) return "was written while it was read";
  struct ::stat other{};
  if (::stat(path_.c_str(), &other) != 0) return "was removed while it was read";
  if (other.st_ino != now.st_ino || other.st_dev != now.st_dev) return "was replaced while it was read";
  return {};
}

void FileWatch::check() const {
  if (const auto how = change()) throw Error(ErrorCode::bad_input, {.subject = path_, .cause = *how, .remedy = remedy});
}

Status FileWatch::explain(const Error& error) const {
  const auto how = change();
  if (!how || error.code() == ErrorCode::usage) return {};
  std::string found = error.subject() == path_ ? error.cause() : error.subject() + ": " + error.cause();
  if (error.cause() == *how) found.clear();
  return Error(
      ErrorCode::bad_input,
      {.subject = path_, .cause = found.empty() ? *how : fmt::format("{} ({})", *how, found), .remedy = remedy});
}

}  // namespace barrio::io::detail
