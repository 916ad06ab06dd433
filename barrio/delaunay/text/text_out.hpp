#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "barrio/base/temporary_file.hpp"

namespace barrio::delaunay::detail {

/// A text file that appears when it is complete. Local.
class TextOut {
 public:
  /// @throws Error{failed}
  explicit TextOut(const std::string& path);
  TextOut(const TextOut&) = delete;
  TextOut& operator=(const TextOut&) = delete;
  /// Without `appear()` there is no file.
  ~TextOut();

  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Values>(values)...);
    if (buffer_.size() > max_bytes) flush();
  }
  /// Write all that is left: what may still fail then is a rename. @throws Error{failed}
  void end();
  /// Give the file its name. @throws Error{failed}
  void appear();

 private:
  static constexpr std::size_t max_bytes = std::size_t{1} << 20U;
  void flush();
  [[noreturn]] void fail(int reason) const;

  std::string path_;
  TemporaryFile temporary_;
  int file_ = -1;
  std::uint64_t n_written_ = 0;
  fmt::memory_buffer buffer_;
};

}  // namespace barrio::delaunay::detail
