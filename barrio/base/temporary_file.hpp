#pragma once

#include <string>
#include <utility>

#include "barrio/base/error.hpp"

namespace barrio {

/// The fault of a result that cannot be written to its place.
Error cannot_write(const std::string& path, const std::string& reason);

/// The file `PATH.part`, in which a result is written until it is complete and takes the name PATH. Move-only.
///
/// It is locked as long as its writer lives, so that a file left by a job that was killed is told from that of a live
/// one: the former is replaced by a new one (not emptied: processes of the killed job may still write to it), the
/// latter refused. Where the file system has no locks, which some parallel ones are mounted without, every such file is
/// taken for a left one; then the job that loses its file to another one fails when it would give it its name.
class TemporaryFile {
 public:
  /// Who may write a result at one time: one job; or several, each process into a file of its own (`PATH.part4711`), of
  /// which the last to complete wins.
  enum class Writers { one, several };

  TemporaryFile() = default;
  /// Local. @throws Error{failed} naming the path if it cannot be made, or another job writes to it
  explicit TemporaryFile(const std::string& path, Writers writers = Writers::one);
  TemporaryFile(TemporaryFile&& other) noexcept
      : path_(std::move(other.path_)), name_(std::move(other.name_)), file_(std::exchange(other.file_, -1)) {}
  TemporaryFile& operator=(TemporaryFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(name_, other.name_);
    std::swap(file_, other.file_);
    return *this;
  }
  /// Removes the file, unless it has its name.
  ~TemporaryFile() { remove(); }

  /// What the file of one writer is called.
  static std::string name_for(const std::string& path) { return path + ".part"; }
  [[nodiscard]] const std::string& name() const& noexcept { return name_; }
  /// A descriptor of its own to write with, which the caller closes; some file systems say only then that they could
  /// not write. @return -1, with errno, if there is none
  [[nodiscard]] int descriptor() const noexcept;

  /// Give the file its name. Local. @return 0, or the system's error number; ESTALE if another job took its place
  [[nodiscard]] int complete() noexcept;
  void remove() noexcept;

 private:
  [[nodiscard]] bool is_in_place() const noexcept;
  void close() noexcept;

  std::string path_;
  std::string name_;
  int file_ = -1;  // holds the lock
};

}  // namespace barrio
