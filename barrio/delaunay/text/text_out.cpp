#include "barrio/delaunay/text/text_out.hpp"

#include <cerrno>
#include <cstring>

#include "barrio/base/path.hpp"

namespace barrio::delaunay::detail {

TextOut::TextOut(const std::string& path) : path_(path), file_(nullptr, &std::fclose) {
  if (const std::string reason = why_not_replaceable(path); !reason.empty()) throw cannot_write(path, reason);
  temporary_ = TemporaryFile(path);
  file_.reset(::fdopen(temporary_.descriptor(), "w"));
  if (!file_) fail(errno);
}

void TextOut::flush() {
  if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_.get()) != buffer_.size()) fail(errno);
  buffer_.clear();
}

void TextOut::close() {
  flush();
  if (std::fflush(file_.get()) != 0) fail(errno);
  if (std::fclose(file_.release()) != 0) fail(errno);
  if (const int reason = temporary_.complete(); reason != 0) fail(reason);
}

void TextOut::fail(int reason) const { throw cannot_write(path_, std::strerror(reason)); }

}  // namespace barrio::delaunay::detail
