#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "barrio/base/error.hpp"

namespace barrio::io::detail {

/// Notice that a file is written, cut or replaced between the first look at it and the read of its last byte. HDF5
/// reads zeros where a file was cut after it was opened, and readers open a file more than once: neither shows by
/// itself. Local.
class FileWatch {
 public:
  /// Begin. What is no file, or cannot be opened, is not watched: its reader says what is wrong.
  explicit FileWatch(std::string path);
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;
  ~FileWatch();

  /// How the file has changed since; nothing if it has not.
  [[nodiscard]] std::optional<std::string> change() const;
  /// @throws Error{bad_input} if the file has changed
  void check() const;
  /// The change that explains the error of a reader; nothing if the file has not changed.
  [[nodiscard]] Status explain(const Error& error) const;

 private:
  std::string path_;
  int file_ = -1;  // keeps the file that was looked at, so that another one cannot get its number
  struct ::stat begin_{};
};

}  // namespace barrio::io::detail
