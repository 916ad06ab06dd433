#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "barrio/base/error.hpp"
#include "barrio/base/temporary_file.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::mpi {

/// Write a file of which each rank has pieces, so that a reader sees the old file or the whole new one. Nothing is
/// gathered. The file grows under a temporary name beside its place and is renamed by `close()`. All verbs are
/// collective.
class WrittenFile {
 public:
  /// @throws AgreedError{failed} if the place cannot be written, or another job is writing there
  WrittenFile(Context& context, std::string path);
  WrittenFile(const WrittenFile&) = delete;
  WrittenFile& operator=(const WrittenFile&) = delete;
  /// Without `close()` the temporary file is removed and the old one stays.
  ~WrittenFile();

  /// Write one piece of each rank behind what is there, in the order of ranks. A fault is thrown by `close()`.
  /// Cost: two sums over the ranks, and one write
  void append(std::string_view piece);
  /// Bytes of what was appended, of all ranks.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// Close the file and give it its name. @throws AgreedError{failed} if anything could not be written; the old file
  /// stays then
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
