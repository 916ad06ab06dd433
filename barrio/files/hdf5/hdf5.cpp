#include "barrio/files/hdf5.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>

#include "barrio/base/error.hpp"
#include "barrio/files/hdf5/hdf5.hpp"
#include "barrio/files/hdf5/quiet.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::files {

using detail::has_link;
using detail::Quiet;

Handle::~Handle() { close(); }

SharedFile::~SharedFile() {
  if (std::uncaught_exceptions() > 0) file_.release();
}

bool Handle::close() {
  if (id_ < 0) return true;
  const Quiet quiet;
  return close_(std::exchange(id_, -1)) >= 0;
}

std::string trimmed(std::string_view text) {
  text = text.substr(0, text.find('\0'));
  return std::string(text.substr(0, text.find_last_not_of(' ') + 1));
}

std::string detail::hdf5_says() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned n, const H5E_error2_t* error, void* data) -> herr_t {
        auto& out = *static_cast<std::string*>(data);
        if (n == 0 && error->desc != nullptr) out = error->desc;
        return 0;
      },
      &text);
  return text.empty() ? "HDF5 gives no reason" : text;
}

Handle checked(hid_t id, herr_t (*close)(hid_t), const std::string& subject, std::string_view doing) {
  if (id < 0) check(-1, subject, doing);
  return {id, close};
}

void check(herr_t status, const std::string& subject, std::string_view doing) {
  if (status >= 0) return;
  throw Error(ErrorCode::bad_input, {.subject = subject, .cause = fmt::format("{}: {}", doing, detail::hdf5_says())});
}

namespace {

Error cannot_read(const std::string& path) {
  return {ErrorCode::failed,
          {.subject = path,
           .cause = fmt::format("cannot be read: {}", std::strerror(errno)),
           .remedy = "check the name and its permissions"}};
}

void look_at(const std::string& path) {
  struct ::stat facts{};
  if (::stat(path.c_str(), &facts) != 0 || ::access(path.c_str(), R_OK) != 0) throw cannot_read(path);
  const Quiet quiet;
  const htri_t is_hdf5 = H5Fis_hdf5(path.c_str());
  if (is_hdf5 > 0) return;
  throw Error(ErrorCode::bad_input,
              {.subject = path,
               .cause = facts.st_size == 0 ? "is empty" : "is not an HDF5 file: it lacks the signature",
               .remedy = "check that the file is what its name says and was copied completely"});
}

Handle open_serial(const std::string& path) {
  const Quiet quiet;
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (id >= 0) return {id, &H5Fclose};
  const std::string reason = detail::hdf5_says();
  if (reason.find("lock file") != std::string::npos)  // "sblock" is a superblock
    throw Error(ErrorCode::failed, {.subject = path,
                                    .cause = fmt::format("cannot be opened: {}", reason),
                                    .remedy = "wait until no program writes it; on a file system without locks, set "
                                              "HDF5_USE_FILE_LOCKING=FALSE"});
  throw Error(
      ErrorCode::bad_input,
      {.subject = path, .cause = fmt::format("is damaged: {}", reason), .remedy = "copy or write the file again"});
}

}  // namespace

Handle open_to_read(const std::string& path) {
  look_at(path);
  return open_serial(path);
}

SharedFile open_to_read(mpi::Context& context, const std::string& path) {
  agree_after(context, [&] {
    if (context.is_root()) static_cast<void>(open_to_read(path));
  });
  // Open MPI's MPI_File_open hangs if it fails on some ranks only, so agree first that all can open the file.
  agree_after(context, [&] {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw cannot_read(path);
    ::close(file);
  });
  const Quiet quiet;
  Handle access = checked(H5Pcreate(H5P_FILE_ACCESS), &H5Pclose, path, "opening");
  Handle file;
  const Status status = capture([&] {
    check(H5Pset_fapl_mpio(access.get(), context.comm(), MPI_INFO_NULL), path, "opening on all ranks");
    file = checked(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), &H5Fclose, path, "opening on all ranks");
  });
  try {
    agree(context, status);
  } catch (const AgreedError&) {
    file.release();  // some ranks may not have opened it, so a collective close would hang
    throw;
  }
  return {std::move(file), context};
}

bool detail::has_link(hid_t where, const std::string& path) {
  const Quiet quiet;
  // H5Lexists fails unless every step before the last one of the path exists.
  for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string step = path.substr(0, at);
    if (step != "/" && !step.empty() && H5Lexists(where, step.c_str(), H5P_DEFAULT) <= 0) return false;
    if (at == std::string::npos) return true;
  }
}

bool has(Place where, const std::string& path) {
  if (where.context == nullptr) return has_link(where.id, path);
  std::uint8_t found = where.context->is_root() && has_link(where.id, path) ? 1 : 0;
  mpi::broadcast(*where.context, std::span(&found, 1));
  return found == 1;
}

std::vector<std::string> names_in(Place where, const std::string& path) {
  std::vector<std::string> names;
  if (!has_link(where.id, path)) return names;
  const Quiet quiet;
  const Handle group = checked(H5Gopen2(where.id, path.c_str(), H5P_DEFAULT), &H5Gclose, path, "opening the group");
  // Sort here, not in HDF5: if the list of a group is damaged, HDF5 1.10 frees invalid memory while it sorts.
  const herr_t status = H5Literate(
      group.get(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr,
      [](hid_t, const char* name, const H5L_info_t*, void* data) -> herr_t {
        static_cast<std::vector<std::string>*>(data)->emplace_back(name);
        return 0;
      },
      &names);
  check(status, path, "listing the group");
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

std::vector<std::int64_t> extents_of(hid_t where, const std::string& path) {
  if (!has_link(where, path)) return {};
  const Quiet quiet;
  const Handle dataset(H5Dopen2(where, path.c_str(), H5P_DEFAULT), &H5Dclose);
  if (!dataset) return {};
  const Handle space(H5Dget_space(dataset.get()), &H5Sclose);
  std::array<hsize_t, H5S_MAX_RANK> sizes{};
  const int rank = H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr);
  std::vector<std::int64_t> all;
  for (int d = 0; d < rank; ++d) all.push_back(sizes[d]);
  return all;
}

}  // namespace

std::vector<std::int64_t> extents(Place where, const std::string& path) {
  if (where.context == nullptr) return extents_of(where.id, path);
  std::vector<std::int64_t> sizes;
  if (where.context->is_root()) sizes = extents_of(where.id, path);
  mpi::broadcast(*where.context, sizes);
  return sizes;
}

namespace {

/// A compressed dataset, or one of fill values, may be larger than its storage by this factor; 64 KiB are always
/// accepted.
constexpr std::uint64_t highest_compression = 4096;
constexpr std::uint64_t always_believed_bytes = 1U << 16U;

}  // namespace

void detail::check_size_of(hid_t dataset, hid_t type, hid_t space, const std::string& path) {
  std::array<hsize_t, H5S_MAX_RANK> sizes{};
  const int rank = H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
  std::uint64_t bytes = H5Tget_size(type);
  bool is_absurd = false;
  for (int d = 0; d < rank; ++d) {
    is_absurd = is_absurd || __builtin_mul_overflow(bytes, std::uint64_t{sizes[d]}, &bytes);
    if (sizes[d] == 0) return;
  }
  const Handle layout(H5Dget_create_plist(dataset), &H5Pclose);
  const std::uint64_t stored = H5Dget_storage_size(dataset);
  // netCDF-4 gives each variable a fill value. Data that were never written are read as this value and take no space.
  auto fill = H5D_FILL_VALUE_UNDEFINED;
  H5Pfill_value_defined(layout.get(), &fill);
  const bool is_all_fill = stored == 0 && fill == H5D_FILL_VALUE_USER_DEFINED;
  const bool is_compact = is_all_fill || H5Pget_layout(layout.get()) == H5D_CHUNKED;
  is_absurd = is_absurd ||
              (is_compact ? bytes / highest_compression > std::max(stored, always_believed_bytes) : bytes > stored);
  if (!is_absurd) return;
  throw Error(ErrorCode::bad_input,
              {.subject = path,
               .cause = fmt::format("announces {} rows, but the file holds only {} bytes of it", sizes[0], stored),
               .remedy = "copy or write the file again"});
}

void check_size(Place where, const std::string& path) {
  const Quiet quiet;
  const Handle dataset = checked(H5Dopen2(where.id, path.c_str(), H5P_DEFAULT), &H5Dclose, path, "opening");
  const Handle type = checked(H5Dget_type(dataset.get()), &H5Tclose, path, "asking for the type");
  const Handle space = checked(H5Dget_space(dataset.get()), &H5Sclose, path, "asking for the extents");
  detail::check_size_of(dataset.get(), type.get(), space.get(), path);
}

}  // namespace barrio::files
