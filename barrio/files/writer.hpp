#pragma once

/// @file Parallel writing of HDF5 files that appear only when they are complete.

#include <memory>
#include <string>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/base/temporary_file.hpp"
#include "barrio/files/detail/metadata_image.hpp"
#include "barrio/files/hdf5.hpp"

namespace barrio::files {

/// A writer of an HDF5 file on all ranks together. A reader sees either the old file or the complete new one.
/// The file grows under a temporary name in the same folder and is renamed by `close()`. All functions are collective
/// unless said. HDF5 runs on rank 0 alone, in memory, where it builds the structure of the file. Each rank writes its
/// rows to the space that HDF5 has allocated for them. So a failed write is a system error on one rank, on which all
/// agree; HDF5 itself would hang or crash (docs/decisions/0011).
class FileWriter {
 public:
  /// Make a file under a temporary name.
  /// @param expected_bytes  approximate size of the file. This space is reserved here, and any excess when a dataset
  /// needs it, so a full disk is noticed early
  /// @throws AgreedError{failed} if the folder is not writable, the disk is full, or another job is writing this file;
  /// nothing is left behind then. The remains of a killed job are replaced.
  FileWriter(mpi::Context& context, std::string path, std::uint64_t expected_bytes);
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  /// Destroy the writer. Without `close()` the temporary file is removed and the old file stays.
  ~FileWriter();

  // Faults of the following functions are thrown by the next call that makes rows, or by close().

  /// Make a group. The group above it must be there.
  void make_group(const std::string& path);
  /// Store a copy of a type under a path. The group above it must be there.
  void commit_type(const std::string& path, hid_t type);
  /// Write an attribute of one value of any type, the same on every rank; `path` is its group, dataset or type.
  void write_attribute(const std::string& path, const std::string& name, hid_t type, const void* value);
  /// Write an attribute of several integers, as a 1-D array. As above.
  void write_attribute(const std::string& path, const std::string& name, std::span<const std::int64_t> values);
  /// Write an attribute of several reals, as a 1-D array. As above.
  void write_attribute(const std::string& path, const std::string& name, std::span<const double> values);
  /// Write an attribute of one integer. As above.
  void write_attribute(const std::string& path, const std::string& name, std::int64_t value);
  /// Write an attribute of text, of fixed length and padded by NUL. As above.
  void write_attribute(const std::string& path, const std::string& name, const std::string& text);

  /// A dataset whose rows can be put.
  class Rows {
   public:
    Rows() = default;
    /// Tell whether a dataset was made.
    [[nodiscard]] explicit operator bool() const noexcept { return number_ != SIZE_MAX; }

   private:
    friend class FileWriter;
    explicit Rows(std::size_t number) : number_(number) {}
    std::size_t number_ = SIZE_MAX;
  };
  /// Make a dataset, to be filled by `put_rows`. @param row_size numbers per row; 0 makes a 1-D dataset
  /// @param type  of the values, both in memory and in the file
  /// @throws AgreedError{failed} if the disk has no space for it
  /// Cost: one agreement and one broadcast
  [[nodiscard]] Rows make_rows(const std::string& path, hid_t type, std::int64_t n_rows, std::int64_t row_size);
  /// Make a dataset of numbers of type T, one of those of `native_type`. As above.
  template <class T>
  [[nodiscard]] Rows make_rows(const std::string& path, std::int64_t n_rows, std::int64_t row_size = 0) {
    return make_rows(path, native_type<T>(), n_rows, row_size);
  }
  /// Make a dataset that can grow in chunks. It has no rows yet.
  [[nodiscard]] Rows make_growing(const std::string& path, hid_t type, std::int64_t row_size, std::int64_t chunk_rows);
  /// Extend a growing dataset. @param n_rows  new length, not less than before. @throws as make_rows. Cost: as
  /// make_rows
  void grow(const Rows& rows, std::int64_t n_rows);
  /// Write rows first .. first + count - 1 directly to their place in the file. Local: any rank puts any rows, any
  /// number of times, and all ranks together put each row once. A fault (rows put twice or never, beyond the end or of
  /// another type than the dataset's, or a full disk) is thrown on all ranks by the next call that makes rows, or by
  /// close(), which checks that all rows were put. Cost: one write to the file, for a growing dataset one per chunk; no
  /// copy of the rows is kept.
  void put_rows(const Rows& rows, std::int64_t first, std::int64_t count, const void* values);
  /// Write whole rows of numbers of the dataset's type. As above.
  template <class T>
  void put_rows(const Rows& rows, std::int64_t first, std::span<const T> values) {
    put_numbers(rows, first, native_type<T>(), std::ssize(values), values.data());
  }
  /// Keep a fault of this rank, such as rows that do not fit. The next call that makes rows or closes the file throws
  /// it on all ranks. Only the first fault is kept. Local.
  void keep_fault(Status fault);

  /// Make a dataset and put this rank's rows. @param row_size numbers per row; 0 makes a 1-D dataset
  /// @param type  of the values, both in memory and in the file. @throws as make_rows and put_rows
  void write_rows(const std::string& path, hid_t type, std::int64_t n_rows, std::int64_t row_size, std::int64_t first,
                  std::int64_t count, const void* values) {
    put_rows(make_rows(path, type, n_rows, row_size), first, count, values);
  }
  /// Make a dataset of numbers of type T and put this rank's rows. As above.
  template <class T>
  void write_rows(const std::string& path, std::int64_t n_rows, std::int64_t row_size, std::int64_t first,
                  std::span<const T> values) {
    put_rows(make_rows<T>(path, n_rows, row_size), first, values);
  }
  /// Write a small dataset that rank 0 holds completely. Other ranks' values are ignored, but their size must agree.
  template <class T>
  void write_small(const std::string& path, std::span<const T> values, std::int64_t row_size = 0) {
    const std::int64_t width = row_size > 0 ? row_size : 1;
    write_rows(path, std::ssize(values) / width, row_size, 0, context_.is_root() ? values : std::span<const T>{});
  }

  /// Close the file and rename it to its final name. @throws AgreedError{failed}; the old file stays then
  void close();

  /// Return HDF5's type of numbers of type T in memory: double, float, int64, int32 or uint8.
  template <class T>
  static hid_t native_type();

 private:
  /// Call HDF5 on rank 0, unless there was a fault before.
  template <class Work>
  void on_root(Work&& work);
  /// Reserve the space of a dataset unless `expected_bytes` covers it. Local, on rank 0.
  void claim(std::uint64_t bytes);
  /// Write the structure of the file. Local, on rank 0.
  void put_structure();
  /// A dataset, and a summary of the rows that this rank has put.
  struct Dataset {
    std::string path;
    std::int64_t n_rows = 0;
    std::int64_t row_size = 0;
    std::int64_t width = 1;  // numbers per row
    std::uint64_t row_bytes = 0;
    H5T_class_t kind = H5T_NO_CLASS;
    std::int64_t chunk_rows = 0;             // 0: all rows are contiguous
    std::vector<std::uint64_t> places = {};  // offset in the file of the rows, or of each chunk
    std::int64_t n_put = 0;
    std::uint64_t ends = 0;  // sum over runs: hash of the first row minus hash of the end
  };
  static Dataset describe(const std::string& path, hid_t type, std::int64_t n_rows, std::int64_t row_size);
  /// Make a dataset with HDF5. Local, on rank 0. @param limit  maximum number of its rows
  [[nodiscard]] Handle create(const Dataset& made, hid_t type, hsize_t limit);
  void put_numbers(const Rows& rows, std::int64_t first, hid_t type, std::int64_t n, const void* values);
  /// Check that each row was put once. Collective. @throws AgreedError{usage} naming the dataset
  void check_filled();
  /// Write bytes to a place in the file. Local. @throws Error{failed}
  void put(const void* bytes, std::uint64_t n, std::uint64_t place) const;
  void remove_temporary() noexcept;

  mpi::Context& context_;
  std::string path_;
  TemporaryFile temporary_;  ///< on rank 0
  std::uint64_t reserved_bytes_;
  std::uint64_t claimed_bytes_;
  std::unique_ptr<detail::MetadataImage> image_;  ///< on rank 0, as long as the temporary file is there
  Handle file_;                                   ///< in the image
  std::vector<Dataset> datasets_;
  Status fault_;   ///< not agreed on yet
  int data_ = -1;  ///< file descriptor
};

/// Return HDF5's type of a double.
template <>
inline hid_t FileWriter::native_type<double>() {
  return H5T_NATIVE_DOUBLE;
}
/// Return HDF5's type of a float.
template <>
inline hid_t FileWriter::native_type<float>() {
  return H5T_NATIVE_FLOAT;
}
/// Return HDF5's type of a signed integer of 8 bytes.
template <>
inline hid_t FileWriter::native_type<std::int64_t>() {
  return H5T_NATIVE_INT64;
}
/// Return HDF5's type of a signed integer of 4 bytes.
template <>
inline hid_t FileWriter::native_type<std::int32_t>() {
  return H5T_NATIVE_INT32;
}
/// Return HDF5's type of a byte, unsigned.
template <>
inline hid_t FileWriter::native_type<std::uint8_t>() {
  return H5T_NATIVE_UINT8;
}

}  // namespace barrio::files
