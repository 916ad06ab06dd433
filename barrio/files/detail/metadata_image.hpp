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

/// In-memory image of the metadata that HDF5 writes for a new file, kept until the file is complete. Rows bypass HDF5
/// and go to the file directly. So no write of HDF5 can fail. HDF5 does not survive a failed write: it crashes when it
/// closes the file, or cannot shut down at the end of the program. Memory: the bytes that HDF5 wrote, in whole pages.
class MetadataImage {
 public:
  /// Create a file in this image, which must outlive it. Local.
  /// @param access  file access properties; gets the driver
  hid_t create_file(const std::string& name, hid_t access);

  /// Visit the pieces that were written, ascending and disjoint. @throws any exception of `visit`; std::bad_alloc if
  /// there was no memory for a piece
  void for_each_piece(const std::function<void(std::uint64_t place, std::span<const std::byte>)>& visit) const;
  /// Return the size of the file, rows included.
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
  std::uint64_t end_ = 0;                ///< end of the space that HDF5 has allocated
  bool is_short_ = false;                ///< memory ran out
  Handle driver_;
};

}  // namespace barrio::files::detail
