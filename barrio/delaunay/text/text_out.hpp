#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <iterator>
#include <memory>
#include <string>

#include "barrio/base/temporary_file.hpp"

namespace barrio::delaunay::detail {

/// A text file that appears when it is complete. Local.
class TextOut {
 public:
  /// @throws Error{failed}
  explicit TextOut(const std::string& path);

  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Values>(values)...);
    if (buffer_.size() > most_bytes) flush();
  }
  /// Give the file its name. @throws Error{failed}
  void close();

 private:
  static constexpr std::size_t most_bytes = std::size_t{1} << 20U;
  void flush();
  [[noreturn]] void fail(int reason) const;

  std::string path_;
  TemporaryFile temporary_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  fmt::memory_buffer buffer_;
};

}  // namespace barrio::delaunay::detail
