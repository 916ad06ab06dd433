#include "barrio/files/writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "barrio/base/error.hpp"
#include "barrio/base/path.hpp"
#include "barrio/base/text.hpp"
#include "barrio/files/detail/quiet.hpp"
#include "barrio/mpi/agree.hpp"

namespace barrio::files {

using detail::Quiet;

namespace {

Error cannot_write(const std::string& path, const std::string& reason) {
  return {ErrorCode::failed,
          {.subject = path,
           .cause = fmt::format("cannot be written: {}", reason),
           .remedy = "choose another place, or make room and rights for it"}};
}

/// Ask the file system for the space, so that a full disk is noticed before HDF5 writes.
void reserve(const std::string& path, const std::string& temporary, std::uint64_t bytes) {
  if (const std::string reason = why_not_replaceable(path); !reason.empty()) throw cannot_write(path, reason);
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) throw cannot_write(path, std::strerror(errno));
  const int reason = bytes > 0 ? ::posix_fallocate(file, 0, static_cast<off_t>(bytes)) : 0;
  ::close(file);
  if (reason == 0 || reason == EOPNOTSUPP || reason == EINVAL) return;
  ::unlink(temporary.c_str());
  throw cannot_write(path, fmt::format("{} for {}", std::strerror(reason), format_bytes(bytes)));
}

/// Hold space for a file that HDF5 has open, without changing its size.
void hold(const std::string& path, const std::string& temporary, std::uint64_t bytes) {
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) throw cannot_write(path, std::strerror(errno));
  const bool is_held = ::fallocate(file, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) == 0;
  const int reason = errno;
  ::close(file);
  if (!is_held && reason != EOPNOTSUPP && reason != EINVAL && reason != ENOSYS)
    throw cannot_write(path, fmt::format("{} for {}", std::strerror(reason), format_bytes(bytes)));
}

constexpr std::uint64_t metadata_bytes = 32768;        // of the file as a whole
constexpr std::uint64_t metadata_bytes_of_one = 1024;  // of a dataset, or of a chunk

}  // namespace

FileWriter::FileWriter(mpi::Context& context, std::string path, std::uint64_t expected_bytes)
    : context_(context),
      path_(std::move(path)),
      temporary_(path_ + ".part"),
      reserved_bytes_(expected_bytes),
      claimed_bytes_(metadata_bytes) {
  agree_after(context_, [&] {
    if (context_.is_root()) reserve(path_, temporary_, expected_bytes);
  });
  const Quiet quiet;
  const Status status = capture([&] {
    const Handle access = checked(H5Pcreate(H5P_FILE_ACCESS), &H5Pclose, path_, "creating");
    check(H5Pset_fapl_mpio(access.get(), context_.comm(), MPI_INFO_NULL), path_, "creating");
    check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_LATEST), path_, "creating");
    const hid_t id = H5Fcreate(temporary_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get());
    if (id < 0) throw cannot_write(path_, detail::hdf5_says());
    file_ = Handle(id, &H5Fclose);
    if (context_.is_root() && reserved_bytes_ > 0)
      hold(path_, temporary_, reserved_bytes_);  // creating the file gave it back
  });
  if (status && context_.is_root()) ::unlink(temporary_.c_str());
  agree(context_, status);
}

FileWriter::~FileWriter() {
  if (!file_) return;
  // Closing is collective: while unwinding it could wait for ranks that do not come, so only the name is removed.
  if (std::uncaught_exceptions() == 0) file_.close();
  if (context_.is_root()) ::unlink(temporary_.c_str());
}

void FileWriter::fail(const std::string& reason) const { throw AgreedError(cannot_write(path_, reason)); }

void FileWriter::claim(std::uint64_t bytes) {
  claimed_bytes_ += bytes;
  if (claimed_bytes_ <= reserved_bytes_) return;
  reserved_bytes_ = claimed_bytes_;
  agree_after(context_, [&] {
    if (context_.is_root()) hold(path_, temporary_, reserved_bytes_);
  });
}

void FileWriter::make_group(const std::string& path) {
  const Quiet quiet;
  const Handle group(H5Gcreate2(id(), path.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), &H5Gclose);
  if (!group) fail(detail::hdf5_says());
}

void FileWriter::commit_type(const std::string& path, hid_t type) {
  const Quiet quiet;
  const Handle copy(H5Tcopy(type), &H5Tclose);
  if (H5Tcommit2(id(), path.c_str(), copy.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) < 0) fail(detail::hdf5_says());
}

void FileWriter::write_attribute(const std::string& path, const std::string& name, hid_t type, const void* value) {
  const Quiet quiet;
  const Handle space(H5Screate(H5S_SCALAR), &H5Sclose);
  const Handle attribute(
      H5Acreate_by_name(id(), path.c_str(), name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      &H5Aclose);
  if (!attribute || H5Awrite(attribute.get(), type, value) < 0) fail(detail::hdf5_says());
}

void FileWriter::write_attribute(const std::string& path, const std::string& name, std::int64_t value) {
  write_attribute(path, name, H5T_NATIVE_INT64, &value);
}

void FileWriter::write_attribute(const std::string& path, const std::string& name,
                                 std::span<const std::int64_t> values) {
  const Quiet quiet;
  const auto n = static_cast<hsize_t>(values.size());
  const Handle space(H5Screate_simple(1, &n, nullptr), &H5Sclose);
  const Handle attribute(H5Acreate_by_name(id(), path.c_str(), name.c_str(), H5T_NATIVE_INT64, space.get(), H5P_DEFAULT,
                                           H5P_DEFAULT, H5P_DEFAULT),
                         &H5Aclose);
  if (!attribute || H5Awrite(attribute.get(), H5T_NATIVE_INT64, values.data()) < 0) fail(detail::hdf5_says());
}

void FileWriter::write_attribute(const std::string& path, const std::string& name, const std::string& text) {
  const Handle type(H5Tcopy(H5T_C_S1), &H5Tclose);
  H5Tset_size(type.get(), std::max<std::size_t>(text.size(), 1));
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  write_attribute(path, name, type.get(), text.data());
}

namespace {

/// Select rows in a dataset of one or two dimensions and write them on all ranks.
bool write_slab(hid_t dataset, hid_t memory_type, std::int64_t row_size, std::int64_t first, std::int64_t count,
                const void* values) {
  const Handle space(H5Dget_space(dataset), &H5Sclose);
  const int rank = row_size > 0 ? 2 : 1;
  const std::array<hsize_t, 2> start{static_cast<hsize_t>(first), 0};
  const std::array<hsize_t, 2> size{static_cast<hsize_t>(count), static_cast<hsize_t>(row_size)};
  const Handle memory(H5Screate_simple(rank, size.data(), nullptr), &H5Sclose);
  if (count == 0) {
    H5Sselect_none(space.get());
    H5Sselect_none(memory.get());
  } else if (H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr) < 0) {
    return false;
  }
  const Handle transfer(H5Pcreate(H5P_DATASET_XFER), &H5Pclose);
  H5Pset_dxpl_mpio(transfer.get(), H5FD_MPIO_COLLECTIVE);
  return H5Dwrite(dataset, memory_type, memory.get(), space.get(), transfer.get(), values) >= 0;
}

}  // namespace

void FileWriter::write_rows(const std::string& path, hid_t type, hid_t memory_type, std::int64_t n_rows,
                            std::int64_t row_size, std::int64_t first, std::int64_t count, const void* values) {
  const Quiet quiet;
  claim(static_cast<std::uint64_t>(n_rows) * static_cast<std::uint64_t>(std::max<std::int64_t>(row_size, 1)) *
            H5Tget_size(type) +
        metadata_bytes_of_one);
  const std::array<hsize_t, 2> size{static_cast<hsize_t>(n_rows), static_cast<hsize_t>(row_size)};
  const Handle space(H5Screate_simple(row_size > 0 ? 2 : 1, size.data(), nullptr), &H5Sclose);
  const Handle links(H5Pcreate(H5P_LINK_CREATE), &H5Pclose);
  H5Pset_create_intermediate_group(links.get(), 1);
  const Handle dataset(H5Dcreate2(id(), path.c_str(), type, space.get(), links.get(), H5P_DEFAULT, H5P_DEFAULT),
                       &H5Dclose);
  const bool written =
      dataset && (n_rows == 0 || write_slab(dataset.get(), memory_type, row_size, first, count, values));
  agree_after(context_, [&] {
    if (!written) throw cannot_write(path_, detail::hdf5_says());
  });
}

void FileWriter::make_growing(const std::string& path, hid_t type, std::int64_t row_size, std::int64_t chunk_rows) {
  const Quiet quiet;
  const int rank = row_size > 0 ? 2 : 1;
  const std::array<hsize_t, 2> size{0, static_cast<hsize_t>(row_size)};
  const std::array<hsize_t, 2> limit{H5S_UNLIMITED, static_cast<hsize_t>(row_size)};
  const std::array<hsize_t, 2> chunk{static_cast<hsize_t>(std::max<std::int64_t>(chunk_rows, 1)),
                                     static_cast<hsize_t>(row_size)};
  const Handle space(H5Screate_simple(rank, size.data(), limit.data()), &H5Sclose);
  const Handle layout(H5Pcreate(H5P_DATASET_CREATE), &H5Pclose);
  H5Pset_chunk(layout.get(), rank, chunk.data());
  const Handle links(H5Pcreate(H5P_LINK_CREATE), &H5Pclose);
  H5Pset_create_intermediate_group(links.get(), 1);
  const Handle dataset(H5Dcreate2(id(), path.c_str(), type, space.get(), links.get(), layout.get(), H5P_DEFAULT),
                       &H5Dclose);
  if (!dataset) fail(detail::hdf5_says());
  growing_[path] = {static_cast<std::int64_t>(chunk[0]),
                    H5Tget_size(type) * static_cast<std::uint64_t>(std::max<std::int64_t>(row_size, 1)), 0};
}

void FileWriter::write_growing(const std::string& path, hid_t memory_type, std::int64_t n_rows, std::int64_t row_size,
                               std::int64_t first, std::int64_t count, const void* values) {
  const Quiet quiet;
  Growth& growth = growing_.at(path);
  const auto n_chunks = static_cast<std::uint64_t>((n_rows + growth.chunk_rows - 1) / growth.chunk_rows);
  const std::uint64_t bytes =
      n_chunks * (static_cast<std::uint64_t>(growth.chunk_rows) * growth.row_bytes + metadata_bytes_of_one);
  claim(bytes - std::min(bytes, growth.claimed_bytes));
  growth.claimed_bytes = std::max(bytes, growth.claimed_bytes);
  const Handle dataset(H5Dopen2(id(), path.c_str(), H5P_DEFAULT), &H5Dclose);
  const std::array<hsize_t, 2> size{static_cast<hsize_t>(n_rows), static_cast<hsize_t>(row_size)};
  const bool written = dataset && H5Dset_extent(dataset.get(), size.data()) >= 0 &&
                       (n_rows == 0 || write_slab(dataset.get(), memory_type, row_size, first, count, values));
  agree_after(context_, [&] {
    if (!written) throw cannot_write(path_, detail::hdf5_says());
  });
}

void FileWriter::close() {
  const bool closed = file_.close();
  Status status = capture([&] {
    if (!closed) throw cannot_write(path_, "HDF5 could not write its buffers");
  });
  try {
    agree(context_, status);
  } catch (const AgreedError&) {
    if (context_.is_root()) ::unlink(temporary_.c_str());
    throw;
  }
  agree_after(context_, [&] {
    if (!context_.is_root() || std::rename(temporary_.c_str(), path_.c_str()) == 0) return;
    const std::string reason = std::strerror(errno);
    ::unlink(temporary_.c_str());
    throw cannot_write(path_, reason);
  });
}

}  // namespace barrio::files
