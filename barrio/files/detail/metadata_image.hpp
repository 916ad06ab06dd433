#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "barrio/files/hdf5.hpp"

namespace barrio::files::detail {

/// What HDF5 writes of a new file, kept in memory until the file is complete: its structure, since rows go to the file
/// past HDF5. So no write of HDF5 can fail. It would not survive that: closing a file that it could not write, it
/// crashes, or says at the end of the program that it cannot end. Memory: as much as HDF5 wrote, to whole pages.
class MetadataImage {
 public:
  /// Create a file in this image, which must outlive it. Local.
  /// @param access  file access properties; gets the driver
  hid_t create_file(const std::string& name, hid_t access);

  /// Visit the pieces that were written, ascending and apart. @throws what `visit` throws, and std::bad_alloc if a
  /// piece could not be kept
  void for_each_piece(const std::function<void(std::uint64_t place, std::span<const std::byte>)>& visit) const;
  /// Where the file ends, rows included.
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }

 private:
  friend struct ImageDriver;
  static constexpr std::size_t page_bytes = 4096;
  struct Page {
    std::vector<std::byte> bytes = std::vector<std::byte>(page_bytes);
    std::bitset<page_bytes> is_written = {};
  };

  void write(std::uint64_t place, std::span<const std::byte> bytes);
  void read(std::uint64_t place, std::span<std::byte> bytes) const;

  std::map<std::uint64_t, Page> pages_;  ///< by place / page_bytes
  std::uint64_t end_ = 0;                ///< as far as HDF5 has set space aside
  bool is_short_ = false;                ///< memory ran out
  Handle driver_;
};

}  // namespace barrio::files::detail
