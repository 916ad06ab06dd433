#include "barrio/delaunay/text/text_out.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "barrio/base/path.hpp"

namespace barrio::delaunay::detail {

TextOut::TextOut(const std::string& path) : path_(path) {
  if (const std::string reason = why_not_replaceable(path); !reason.empty()) throw cannot_write(path, reason);
  temporary_ = TemporaryFile(path);
  file_ = temporary_.descriptor();
  if (file_ < 0) fail(errno);
}

TextOut::~TextOut() {
  if (file_ >= 0) ::close(file_);
}

void TextOut::flush() {
  if (const int reason = write_at(file_, buffer_.data(), buffer_.size(), n_written_); reason != 0) fail(reason);
  n_written_ += buffer_.size();
  buffer_.clear();
}

void TextOut::end() {
  flush();
  // some file systems report a failed write only now
  if (::close(std::exchange(file_, -1)) != 0) fail(errno);
}

void TextOut::appear() {
  if (const int reason = temporary_.complete(); reason != 0) fail(reason);
}

void TextOut::fail(int reason) const { throw cannot_write(path_, std::strerror(reason)); }

}  // namespace barrio::delaunay::detail
