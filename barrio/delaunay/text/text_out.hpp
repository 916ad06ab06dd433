#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "barrio/base/temporary_file.hpp"

namespace barrio::delaunay::detail {

/// A text file that appears only when it is complete. Local.
class TextOut {
 public:
  /// Open a temporary file beside the path. @throws Error{failed}
  explicit TextOut(const std::string& path);
  TextOut(const TextOut&) = delete;
  TextOut& operator=(const TextOut&) = delete;
  /// Close the file; without `appear()` it is discarded.
  ~TextOut();

  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Values>(values)...);
    if (buffer_.size() > max_bytes) flush();
  }
  /// Write the remainder; after that only a rename can fail. @throws Error{failed}
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
