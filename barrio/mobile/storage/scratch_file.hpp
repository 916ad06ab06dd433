#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace barrio::mobile::detail {

/// A file without a name in a folder. Any number of threads may read and write at different offsets. Move-only.
class ScratchFile {
 public:
  ScratchFile() = default;
  /// Make it. @throws Error as `Store`
  ScratchFile(const std::string& folder, bool is_direct);
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile();

  [[nodiscard]] bool is_direct() const noexcept { return is_direct_; }
  /// Write, or read, whole pages. @return 0, or the system's error number; EIO for a file that ends too early
  [[nodiscard]] int write(const std::byte* bytes, std::size_t n, std::uint64_t offset) const noexcept;
  [[nodiscard]] int read(std::byte* bytes, std::size_t n, std::uint64_t offset) const noexcept;

 private:
  int file_ = -1;
  bool is_direct_ = false;
};

}  // namespace barrio::mobile::detail
