#include "barrio/files/writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/base/path.hpp"
#include "barrio/base/text.hpp"
#include "barrio/files/hdf5/quiet.hpp"
#include "barrio/files/hdf5/without_times.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::files {

using detail::Quiet;

namespace {

/// Reserve space in the file system, so a full disk is noticed early.
void reserve(const std::string& path, int file, std::uint64_t first, std::uint64_t end) {
  const int reason = end > first ? ::posix_fallocate(file, first, end - first) : 0;
  if (reason == 0 || reason == EOPNOTSUPP || reason == EINVAL) return;
  throw cannot_write(path, fmt::format("{} for {}", std::strerror(reason), format_bytes(end)));
}

constexpr std::uint64_t metadata_bytes = 32768;        // for the file as a whole
constexpr std::uint64_t metadata_bytes_of_one = 1024;  // for each dataset or chunk

}  // namespace

FileWriter::FileWriter(mpi::Context& context, std::string path, std::uint64_t expected_bytes)
    : context_(context), path_(std::move(path)), reserved_bytes_(expected_bytes), claimed_bytes_(metadata_bytes) {
  // A rank that cannot open the file must neither keep others waiting nor leave anything behind.
  const auto attempt = [&](auto&& work) {
    const Status status = capture(work);
    try {
      agree(context_, status);
    } catch (const AgreedError&) {
      remove_temporary();
      throw;
    }
  };
  attempt([&] {
    if (!context_.is_root()) return;
    if (const std::string reason = why_not_replaceable(path_); !reason.empty()) throw cannot_write(path_, reason);
    temporary_ = TemporaryFile(path_);
    data_ = temporary_.descriptor();
    if (data_ < 0) throw cannot_write(path_, std::strerror(errno));
    image_ = std::make_unique<detail::MetadataImage>();
    reserve(path_, data_, 0, reserved_bytes_);
    const Quiet quiet;
    const Handle access = checked(H5Pcreate(H5P_FILE_ACCESS), &H5Pclose, path_, "creating");
    check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_LATEST), path_, "creating");
    file_ = checked(image_->create_file(temporary_.name(), access.get()), &H5Fclose, path_, "creating");
  });
  attempt([&] {
    if (context_.is_root()) return;
    data_ = ::open(TemporaryFile::name_for(path_).c_str(), O_WRONLY | O_CLOEXEC);
    if (data_ < 0) throw cannot_write(path_, std::strerror(errno));
  });
}

FileWriter::~FileWriter() { remove_temporary(); }

void FileWriter::remove_temporary() noexcept {
  if (data_ >= 0) ::close(std::exchange(data_, -1));
  temporary_.remove();
  file_.close();  // in memory
}

template <class Work>
void FileWriter::on_root(Work&& work) {
  if (!context_.is_root() || fault_) return;
  const Quiet quiet;
  fault_ = capture([&] {
    if (!work()) throw cannot_write(path_, detail::hdf5_says());
  });
}

void FileWriter::claim(std::uint64_t bytes) {
  claimed_bytes_ += bytes;
  if (claimed_bytes_ <= reserved_bytes_) return;
  reserve(path_, data_, reserved_bytes_, claimed_bytes_);
  reserved_bytes_ = claimed_bytes_;
}

void FileWriter::put(const void* bytes, std::uint64_t n, std::uint64_t place) const {
  if (const int reason = write_at(data_, bytes, n, place); reason != 0)
    throw cannot_write(path_, std::strerror(reason));
}

namespace {

bool make_one_group(hid_t file, const std::string& path) {
  const Handle created = detail::without_times(H5P_GROUP_CREATE);
  return bool(Handle(H5Gcreate2(file, path.c_str(), H5P_DEFAULT, created.get(), H5P_DEFAULT), &H5Gclose));
}

/// Make the missing groups above a path.
bool make_groups_above(hid_t file, const std::string& path) {
  for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
    const std::string group = path.substr(0, end);
    if (H5Lexists(file, group.c_str(), H5P_DEFAULT) <= 0 && !make_one_group(file, group)) return false;
  }
  return true;
}

}  // namespace

void FileWriter::make_group(const std::string& path) {
  on_root([&] { return make_one_group(file_.get(), path); });
}

void FileWriter::commit_type(const std::string& path, hid_t type) {
  on_root([&] {
    const Handle copy(H5Tcopy(type), &H5Tclose);
    const Handle created = detail::without_times(H5P_DATATYPE_CREATE);
    return H5Tcommit2(file_.get(), path.c_str(), copy.get(), H5P_DEFAULT, created.get(), H5P_DEFAULT) >= 0;
  });
}

namespace {

bool put_attribute(hid_t file, const std::string& path, const std::string& name, hid_t type, hid_t space,
                   const void* value) {
  const Handle attribute(
      H5Acreate_by_name(file, path.c_str(), name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      &H5Aclose);
  return attribute && H5Awrite(attribute.get(), type, value) >= 0;
}

}  // namespace

void FileWriter::write_attribute(const std::string& path, const std::string& name, hid_t type, const void* value) {
  on_root([&] {
    const Handle space(H5Screate(H5S_SCALAR), &H5Sclose);
    return put_attribute(file_.get(), path, name, type, space.get(), value);
  });
}

void FileWriter::write_attribute(const std::string& path, const std::string& name, std::int64_t value) {
  write_attribute(path, name, H5T_NATIVE_INT64, &value);
}

void FileWriter::write_attribute(const std::string& path, const std::string& name,
                                 std::span<const std::int64_t> values) {
  on_root([&] {
    const auto n = static_cast<hsize_t>(values.size());
    const Handle space(H5Screate_simple(1, &n, nullptr), &H5Sclose);
    return put_attribute(file_.get(), path, name, H5T_NATIVE_INT64, space.get(), values.data());
  });
}

void FileWriter::write_attribute(const std::string& path, const std::string& name, std::span<const double> values) {
  on_root([&] {
    const auto n = static_cast<hsize_t>(values.size());
    const Handle space(H5Screate_simple(1, &n, nullptr), &H5Sclose);
    return put_attribute(file_.get(), path, name, H5T_NATIVE_DOUBLE, space.get(), values.data());
  });
}

void FileWriter::write_attribute(const std::string& path, const std::string& name, const std::string& text) {
  const Handle type(H5Tcopy(H5T_C_S1), &H5Tclose);
  H5Tset_size(type.get(), std::max<std::size_t>(text.size(), 1));
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  write_attribute(path, name, type.get(), text.data());
}

namespace {

/// Make HDF5 allocate the space of a dataset when it makes or extends it, without writing there.
void set_aside(hid_t layout) {
  H5Pset_alloc_time(layout, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(layout, H5D_FILL_TIME_NEVER);
}

}  // namespace

FileWriter::Dataset FileWriter::describe(const std::string& path, hid_t type, std::int64_t n_rows,
                                         std::int64_t row_size) {
  Dataset made{.path = path, .n_rows = n_rows, .row_size = row_size, .width = std::max<std::int64_t>(row_size, 1)};
  made.kind = H5Tget_class(type);
  made.row_bytes = static_cast<std::uint64_t>(made.width) * H5Tget_size(type);
  return made;
}

Handle FileWriter::create(const Dataset& made, hid_t type, hsize_t limit) {
  const int rank = made.row_size > 0 ? 2 : 1;
  const auto width = static_cast<hsize_t>(made.row_size);
  const std::array<hsize_t, 2> size{static_cast<hsize_t>(made.n_rows), width};
  const std::array<hsize_t, 2> limits{limit, width};
  const Handle space(H5Screate_simple(rank, size.data(), limits.data()), &H5Sclose);
  const Handle layout = detail::without_times(H5P_DATASET_CREATE);
  set_aside(layout.get());
  if (made.chunk_rows > 0) {
    const std::array<hsize_t, 2> chunk{static_cast<hsize_t>(made.chunk_rows), width};
    H5Pset_chunk(layout.get(), rank, chunk.data());
  }
  if (!make_groups_above(file_.get(), made.path)) return {};
  return {H5Dcreate2(file_.get(), made.path.c_str(), type, space.get(), H5P_DEFAULT, layout.get(), H5P_DEFAULT),
          &H5Dclose};
}

FileWriter::Rows FileWriter::make_rows(const std::string& path, hid_t type, std::int64_t n_rows,
                                       std::int64_t row_size) {
  Dataset made = describe(path, type, n_rows, row_size);
  std::uint64_t place = 0;
  on_root([&] {
    claim(static_cast<std::uint64_t>(n_rows) * made.row_bytes + metadata_bytes_of_one);
    const Handle dataset = create(made, type, n_rows);
    if (!dataset) return false;
    if (n_rows == 0) return true;
    place = H5Dget_offset(dataset.get());
    return place != HADDR_UNDEF;
  });
  agree(context_, fault_);
  mpi::broadcast(context_, std::span(&place, 1));
  made.places = {place};
  datasets_.push_back(std::move(made));
  return Rows(datasets_.size() - 1);
}

FileWriter::Rows FileWriter::make_growing(const std::string& path, hid_t type, std::int64_t row_size,
                                          std::int64_t chunk_rows) {
  Dataset made = describe(path, type, 0, row_size);
  made.chunk_rows = std::max<std::int64_t>(chunk_rows, 1);
  on_root([&] { return bool(create(made, type, H5S_UNLIMITED)); });
  datasets_.push_back(std::move(made));
  return Rows(datasets_.size() - 1);
}

void FileWriter::grow(const Rows& rows, std::int64_t n_rows) {
  Dataset& into = datasets_.at(rows.number_);
  const std::uint64_t chunk_bytes = static_cast<std::uint64_t>(into.chunk_rows) * into.row_bytes;
  std::vector<std::uint64_t> more;  // offsets of the added chunks
  on_root([&] {
    const std::uint64_t n_chunks = (n_rows + into.chunk_rows - 1) / into.chunk_rows;
    const std::uint64_t n_before = into.places.size();
    if (n_chunks > n_before) claim((n_chunks - n_before) * (chunk_bytes + metadata_bytes_of_one));
    const Handle dataset(H5Dopen2(file_.get(), into.path.c_str(), H5P_DEFAULT), &H5Dclose);
    const std::array<hsize_t, 2> size{static_cast<hsize_t>(n_rows), static_cast<hsize_t>(into.row_size)};
    if (!dataset || H5Dset_extent(dataset.get(), size.data()) < 0) return false;
    for (std::uint64_t c = n_before; c < n_chunks; ++c) {
      const std::array<hsize_t, 2> corner{c * static_cast<hsize_t>(into.chunk_rows), 0};
      unsigned filters = 0;
      haddr_t place = HADDR_UNDEF;
      hsize_t bytes = 0;
      if (H5Dget_chunk_info_by_coord(dataset.get(), corner.data(), &filters, &place, &bytes) < 0) return false;
      if (place == HADDR_UNDEF) return false;
      more.push_back(place);
    }
    return true;
  });
  agree(context_, fault_);
  mpi::broadcast(context_, more);
  into.places.insert(into.places.end(), more.begin(), more.end());
  into.n_rows = n_rows;
}

void FileWriter::keep_fault(Status fault) {
  if (!fault_) fault_ = std::move(fault);
}

namespace {

/// Compute the hash that represents a row in sums over runs.
std::uint64_t mark_of(std::int64_t row) { return Hash64(0).add(row).value(); }

}  // namespace

void FileWriter::put_numbers(const Rows& rows, std::int64_t first, hid_t type, std::int64_t n, const void* values) {
  if (!fault_ && rows.number_ < datasets_.size()) {
    const Dataset& into = datasets_[rows.number_];
    const std::uint64_t row_bytes = static_cast<std::uint64_t>(into.width) * H5Tget_size(type);
    if (H5Tget_class(type) != into.kind || row_bytes != into.row_bytes || n % into.width != 0) {
      fault_ = capture([&] {
        refuse(ErrorCode::usage, fmt::format("{}: {}", path_, into.path),
               fmt::format("{} numbers are put that are not rows of {} of the dataset's type", n, into.width));
      });
      return;
    }
    n /= into.width;
  }
  put_rows(rows, first, n, values);
}

void FileWriter::put_rows(const Rows& rows, std::int64_t first, std::int64_t count, const void* values) {
  if (fault_ || count == 0) return;
  fault_ = capture([&] {
    if (rows.number_ >= datasets_.size())
      refuse(ErrorCode::usage, path_, "rows are put into a dataset that was not made",
             "call put_rows with the result of make_rows");
    Dataset& into = datasets_[rows.number_];
    if (first < 0 || count < 0 || count > into.n_rows || first > into.n_rows - count)
      refuse(ErrorCode::usage, fmt::format("{}: {}", path_, into.path),
             fmt::format("rows {} to {} are put, but there are {}", first, first + count - 1, into.n_rows));
    into.n_put += count;
    into.ends += mark_of(first) - mark_of(first + count);
    const std::int64_t stretch = into.chunk_rows > 0 ? into.chunk_rows : into.n_rows;  // contiguous rows
    const auto* from = static_cast<const std::byte*>(values);
    for (std::int64_t row = first; row < first + count;) {
      const std::int64_t end = std::min((row / stretch + 1) * stretch, first + count);
      const std::uint64_t bytes = static_cast<std::uint64_t>(end - row) * into.row_bytes;
      put(from, bytes, into.places[row / stretch] + static_cast<std::uint64_t>(row % stretch) * into.row_bytes);
      from += bytes;
      row = end;
    }
  });
}

// Runs cover each row exactly once if the number of rows put is that of the dataset, and if every run except one starts
// where another ends. Then all rows are covered by the same number of runs.
void FileWriter::check_filled() {
  std::vector<std::uint64_t> sums;
  for (const Dataset& one : datasets_) {
    sums.push_back(one.n_put);
    sums.push_back(one.ends);
  }
  mpi::all_reduce(context_, std::span<std::uint64_t>(sums), MPI_SUM);
  for (std::size_t i = 0; i < datasets_.size(); ++i) {
    const Dataset& one = datasets_[i];
    const auto n_put = static_cast<std::int64_t>(sums[2 * i]);
    if (n_put == one.n_rows && sums[2 * i + 1] == mark_of(0) - mark_of(one.n_rows)) continue;
    refuse_together(ErrorCode::usage, fmt::format("{}: {}", path_, one.path),
                    n_put == one.n_rows ? "some rows were put twice and others never"
                                        : fmt::format("{} rows were put, but there are {}", n_put, one.n_rows),
                    "all ranks together put each row once");
  }
}

void FileWriter::put_structure() {
  if (!file_.close()) throw cannot_write(path_, "HDF5 could not complete it");
  image_->for_each_piece(
      [&](std::uint64_t place, std::span<const std::byte> bytes) { put(bytes.data(), bytes.size(), place); });
  // Give back excess space: HDF5 checks the size of a file.
  if (::ftruncate(data_, image_->end()) != 0) throw cannot_write(path_, std::strerror(errno));
}

void FileWriter::close() {
  const Status status = capture([&] {
    if (fault_) throw *fault_;
    if (context_.is_root()) put_structure();
  });
  // Some file systems report a failed write only here.
  const bool is_closed = ::close(std::exchange(data_, -1)) == 0;
  const int reason = errno;
  try {
    agree(context_, status);
    if (!datasets_.empty()) check_filled();
    agree_after(context_, [&] {
      if (!is_closed) throw cannot_write(path_, std::strerror(reason));
    });
    agree_after(context_, [&] {
      const int reason_of_name = context_.is_root() ? temporary_.complete() : 0;
      if (reason_of_name == ESTALE)
        throw cannot_write(path_, temporary_.name() + " was removed, or replaced by another job");
      if (reason_of_name != 0) throw cannot_write(path_, std::strerror(reason_of_name));
    });
  } catch (const AgreedError&) {
    temporary_.remove();
    throw;
  }
}

}  // namespace barrio::files
