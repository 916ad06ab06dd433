#pragma once

#include <map>
#include <string>

#include "barrio/files/hdf5.hpp"

namespace barrio::files {

/// Write an HDF5 file on all ranks together so that a reader sees the old file or the whole new one.
/// The file grows under a temporary name beside its place and is renamed by `close()`. All verbs are collective.
class FileWriter {
 public:
  /// @param expected_bytes  about how large the file will be. Space is asked for before HDF5 writes, here and for what
  /// comes on top later: Open MPI's files do not report a full disk, and HDF5 then loses data and hangs in its close
  /// @throws AgreedError{failed} if the place cannot be written or has no room; nothing is left behind then
  FileWriter(mpi::Context& context, std::string path, std::uint64_t expected_bytes);
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  /// Without `close()` the temporary file is removed and the old one stays.
  ~FileWriter();

  [[nodiscard]] hid_t id() const noexcept { return file_.get(); }
  void make_group(const std::string& path);
  void commit_type(const std::string& path, hid_t type);
  /// Attributes are written alike on every rank.
  void write_attribute(const std::string& path, const std::string& name, hid_t type, const void* value);
  void write_attribute(const std::string& path, const std::string& name, std::span<const std::int64_t> values);
  void write_attribute(const std::string& path, const std::string& name, std::int64_t value);
  void write_attribute(const std::string& path, const std::string& name, const std::string& text);

  /// Make a dataset and write this rank's rows. @param row_size numbers per row; 0 makes a 1-D dataset
  /// @param type  type in the file; `memory_type` of what is given
  void write_rows(const std::string& path, hid_t type, hid_t memory_type, std::int64_t n_rows, std::int64_t row_size,
                  std::int64_t first, std::int64_t count, const void* values);
  template <class T>
  void write_rows(const std::string& path, std::int64_t n_rows, std::int64_t row_size, std::int64_t first,
                  std::span<const T> values) {
    const std::int64_t width = row_size > 0 ? row_size : 1;
    write_rows(path, native_type<T>(), native_type<T>(), n_rows, row_size, first,
               static_cast<std::int64_t>(values.size()) / width, values.data());
  }
  /// Write a small dataset that rank 0 holds whole; what other ranks give is not looked at but its size must agree.
  template <class T>
  void write_small(const std::string& path, std::span<const T> values, std::int64_t row_size = 0) {
    const std::int64_t width = row_size > 0 ? row_size : 1;
    const auto n = static_cast<std::int64_t>(values.size()) / width;
    write_rows(path, native_type<T>(), native_type<T>(), n, row_size, 0, context_.is_root() ? n : 0, values.data());
  }

  /// Make a dataset whose rows can grow, in chunks, and append rows to it later.
  void make_growing(const std::string& path, hid_t type, std::int64_t row_size, std::int64_t chunk_rows);
  /// Make a growing dataset longer and write this rank's rows. @param n_rows  new length
  void write_growing(const std::string& path, hid_t memory_type, std::int64_t n_rows, std::int64_t row_size,
                     std::int64_t first, std::int64_t count, const void* values);

  /// Close the file and give it its name. @throws AgreedError{failed}; the old file stays then
  void close();

  template <class T>
  static hid_t native_type();

 private:
  void fail(const std::string& reason) const;
  /// Ask for the space of a dataset unless it was expected. Collective. @throws AgreedError{failed}
  void claim(std::uint64_t bytes);

  /// What one chunk and one row of a growing dataset take, and what was claimed for it.
  struct Growth {
    std::int64_t chunk_rows;
    std::uint64_t row_bytes;
    std::uint64_t claimed_bytes;
  };
  mpi::Context& context_;
  std::string path_;
  std::string temporary_;
  std::uint64_t reserved_bytes_;
  std::uint64_t claimed_bytes_;
  std::map<std::string, Growth> growing_;
  Handle file_;
};

template <>
inline hid_t FileWriter::native_type<double>() {
  return H5T_NATIVE_DOUBLE;
}
template <>
inline hid_t FileWriter::native_type<float>() {
  return H5T_NATIVE_FLOAT;
}
template <>
inline hid_t FileWriter::native_type<std::int64_t>() {
  return H5T_NATIVE_INT64;
}
template <>
inline hid_t FileWriter::native_type<std::int32_t>() {
  return H5T_NATIVE_INT32;
}
template <>
inline hid_t FileWriter::native_type<std::uint8_t>() {
  return H5T_NATIVE_UINT8;
}

}  // namespace barrio::files
