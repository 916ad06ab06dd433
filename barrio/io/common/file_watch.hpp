#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "barrio/base/error.hpp"

namespace barrio::io::detail {

/// A watch on a file: it detects that the file is written, truncated or replaced between the first look at it and the
/// read of its last byte. HDF5 reads zeros where a file was truncated after opening, and readers open a file more than
/// once: neither shows by itself. Local.
class FileWatch {
 public:
  /// Start watching. A path that is not a regular file, or cannot be opened, is not watched: its reader reports the
  /// fault.
  explicit FileWatch(std::string path);
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;
  ~FileWatch();

  /// Describe how the file has changed since then; nothing if it has not.
  [[nodiscard]] std::optional<std::string> change() const;
  /// Check that the file is unchanged. @throws Error{bad_input} if it has changed
  void check() const;
  /// Return the change that explains a reader's error; nothing if the file has not changed.
  [[nodiscard]] Status explain(const Error& error) const;

 private:
  std::string path_;
  int file_ = -1;  // stays open, so that no other file can get its inode number
  struct ::stat begin_{};
};

}  // namespace barrio::io::detail
