#pragma once

/// @file File to which all ranks append pieces, renamed to its final name when complete.

#include <cstdint>
#include <string>
#include <string_view>

#include "barrio/base/error.hpp"
#include "barrio/base/temporary_file.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::mpi {

/// File to which each rank appends pieces. A reader sees the old file or the whole new one. Nothing is gathered. The
/// file grows under a temporary name in the same folder, and `close()` renames it. All functions are collective.
class WrittenFile {
 public:
  /// Open the temporary file. @throws AgreedError{failed} if the path cannot be written, or another job is writing
  /// there
  WrittenFile(Context& context, std::string path);
  WrittenFile(const WrittenFile&) = delete;
  WrittenFile& operator=(const WrittenFile&) = delete;
  /// Remove the temporary file if `close()` was not called; the old file stays then.
  ~WrittenFile();

  /// Append one piece of each rank, in the order of ranks. `close()` throws if it fails.
  /// Cost: two sums over the ranks, and one write
  /// @return place of the piece of this rank in the file, bytes
  std::uint64_t append(std::string_view piece);
  /// Return the bytes appended so far, by all ranks.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// Close the file and rename it. @throws AgreedError{failed} if anything could not be written; the old file stays
  /// then
  void close();

 private:
  void drop() noexcept;

  Context& context_;
  std::string path_;
  TemporaryFile temporary_;  // on rank 0
  int file_ = -1;
  std::uint64_t size_ = 0;
  Status fault_;  // not agreed on yet
};

}  // namespace barrio::mpi
