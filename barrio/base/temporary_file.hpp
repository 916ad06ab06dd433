#pragma once

/// @file Locked temporary file that takes its final name when complete.

#include <string>
#include <utility>

#include "barrio/base/error.hpp"

namespace barrio {

/// Make the error for a result that cannot be written to its path.
Error cannot_write(const std::string& path, const std::string& reason);

/// Ways to write a result: a file that takes its place when it is complete, or also a device or pipe that stays.
enum class WrittenAs {
  file,           ///< regular file that replaces the old one when it is complete
  file_or_device  ///< also a device or pipe, written in place
};

/// Try whether a result can be written to its path, before the work that makes it: write a small file beside it, and
/// remove that. A device or pipe that stays is not tried. Local.
/// @throws Error{failed} naming the path, for a folder that does not exist, a path that is a folder or a device, and
/// whatever the file system reports
/// Cost: a file of 64 KiB
void check_writable(const std::string& path, WrittenAs as = WrittenAs::file);

/// The file `PATH.part`, in which a result is written until it is complete and takes the name PATH. Move-only.
///
/// Its writer holds a lock on it, which tells a file left by a killed job from that of a live job. A leftover is
/// replaced by a new file (not truncated: processes of the killed job may still write to it); the file of a live job is
/// refused. Some parallel file systems are mounted without locks. There every such file counts as a leftover, and a job
/// that lost its file to another one fails when it completes.
///
/// If PATH is a symbolic link, it stays one: its target is written.
class TemporaryFile {
 public:
  /// Number of jobs that may write a result at one time: one; or several, each process to its own file
  /// (`PATH.part4711`), of which the last to complete wins.
  enum class Writers {
    one,     ///< another job is refused meanwhile
    several  ///< each process has a file with its process id in the name
  };

  TemporaryFile() = default;
  /// Make and lock the file. Local. @throws Error{failed} naming the path if it cannot be made, or another job writes
  /// to it
  explicit TemporaryFile(const std::string& path, Writers writers = Writers::one);
  TemporaryFile(TemporaryFile&& other) noexcept
      : path_(std::move(other.path_)), name_(std::move(other.name_)), file_(std::exchange(other.file_, -1)) {}
  TemporaryFile& operator=(TemporaryFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(name_, other.name_);
    std::swap(file_, other.file_);
    return *this;
  }
  /// Remove the file, unless it is complete.
  ~TemporaryFile() { remove(); }

  /// Return the name of the file of a single writer.
  static std::string name_for(const std::string& path);
  /// Return the path of the temporary file itself; empty if there was none.
  [[nodiscard]] const std::string& name() const& noexcept { return name_; }
  /// Duplicate the descriptor for writing; the caller closes it and checks the result: some file systems report a
  /// failed write only then. @return -1, with errno, on failure
  [[nodiscard]] int descriptor() const noexcept;

  /// Complete the file: rename it to PATH. Local. @return 0, or the system's error number; ESTALE if another job
  /// replaced it
  [[nodiscard]] int complete() noexcept;
  /// Remove the file, unless it is complete or another job replaced it. Local.
  void remove() noexcept;

 private:
  [[nodiscard]] bool is_in_place() const noexcept;
  void close() noexcept;

  std::string path_;
  std::string name_;
  int file_ = -1;  // holds the lock
};

}  // namespace barrio
