#pragma once

/// @file Reading HDF5 files, on one process or in parallel: handles, datasets and attributes.

#include <hdf5.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/base/ids.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::files {

/// Owner of an HDF5 identifier of any kind that can be closed without other ranks. Move-only.
class Handle {
 public:
  Handle() = default;
  /// Take over an identifier, to be closed by `closer`. A negative one makes an empty handle.
  Handle(hid_t id, herr_t (*closer)(hid_t)) : id_(id), close_(closer) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle();
  /// Close now. @return false if HDF5 reports a failure, as it does when buffered data cannot be written
  bool close();
  /// Return the identifier, which stays owned; negative if there is none.
  [[nodiscard]] hid_t get() const noexcept { return id_; }
  /// Tell whether there is an identifier.
  explicit operator bool() const noexcept { return id_ >= 0; }
  /// Forget the identifier without closing it.
  void release() noexcept { id_ = -1; }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

/// Take an identifier from an HDF5 call, or throw HDF5's own message. @throws Error{bad_input} naming `subject`
Handle checked(hid_t id, herr_t (*close)(hid_t), const std::string& subject, std::string_view doing);
/// Check the status of an HDF5 call, and throw as `checked` does.
void check(herr_t status, const std::string& subject, std::string_view doing);

/// Open a file to read it on this process alone. Works before MPI_Init. Local.
/// @throws Error{failed} if it does not exist or may not be read; {bad_input} if it is not HDF5 or is truncated
Handle open_to_read(const std::string& path);

/// A file or group to read from, open on this process alone or on all ranks of a context.
struct Place {
  hid_t id;                         ///< of the file or group; borrowed
  mpi::Context* context = nullptr;  ///< null: open on this process alone; else its counters count the reads
  /// Name a place that is open on this process alone; implicit.
  Place(hid_t local_id) : id(local_id) {}  // NOLINT(google-explicit-constructor): the usual case
  /// Name a place that is open on all ranks of a context, which must outlive it.
  Place(hid_t shared_id, mpi::Context& all_ranks) : id(shared_id), context(&all_ranks) {}
};

/// A file that is open on all ranks together. Move-only. Closing it is collective. The destructor closes it normally,
/// but leaves it open during stack unwinding, because other ranks may not get there. `or_close` closes it on an error
/// that all ranks have agreed on.
class SharedFile {
 public:
  /// Take over a file that all ranks of a context have opened. The context must outlive it. Local.
  SharedFile(Handle file, mpi::Context& context) : file_(std::move(file)), context_(&context) {}
  SharedFile(SharedFile&&) = default;
  SharedFile& operator=(SharedFile&&) = default;
  ~SharedFile();
  /// Return the place to read from, valid while the file is open.
  [[nodiscard]] Place get() const noexcept { return {file_.get(), *context_}; }
  /// Close the file. Collective.
  void close() { file_.close(); }

 private:
  Handle file_;
  mpi::Context* context_;
};

/// Read from a file that all ranks have open, and close it on all of them if they agree on an error. A program may
/// continue with other files, and files left open use up MPI's resources.
template <class Shared, class Read>
auto or_close(Shared& file, Read&& read) {
  try {
    return read();
  } catch (const AgreedError&) {
    file.close();
    throw;
  }
}

/// Open a file to read it on all ranks together. Collective. Rank 0 checks the file first, so a faulty one is refused
/// without parallel I/O.
/// @throws AgreedError as open_to_read
SharedFile open_to_read(mpi::Context& context, const std::string& path);

/// Tell whether a link exists at a path below `where`. Collective or local as read_integers: on a shared file rank 0
/// looks for all, so all ranks get the same answer.
bool has(Place where, const std::string& path);
/// List the names of the links in a group, ascending. Local.
std::vector<std::string> names_in(Place where, const std::string& path);
/// Return the extents of a dataset; empty if there is no such dataset. Collective or local as `has`.
std::vector<std::int64_t> extents(Place where, const std::string& path);

/// Return the content of a fixed-length text: up to the first NUL, without trailing blanks. Local.
std::string trimmed(std::string_view text);

/// Check that a dataset announces no more values than its storage can hold, which guards against damaged sizes. Local.
/// @throws Error{bad_input} naming the dataset
void check_size(Place where, const std::string& path);

/// A run of places along a dimension.
struct Run {
  std::int64_t first = 0;  ///< from 0
  std::int64_t count = 0;  ///< number of places
};
/// Rows of a dataset that this rank reads. The dimensions after them are read completely, or in runs.
struct Rows {
  std::int64_t first = 0;  ///< from 0
  std::int64_t count = 0;  ///< number of rows; below 0: all, whatever `first` is
  /// Places in the leading dimensions, such as a time step; rows are then those of the next dimension. Borrowed.
  std::span<const std::int64_t> within = {};
  /// Runs along the dimensions after the rows; the dimensions after those are read completely. Borrowed.
  std::span<const Run> of_each = {};
};
/// All rows.
inline constexpr Rows all_rows{0, -1};

/// Read integers of any width, sign and byte order. Collective if the file is open on all ranks, local otherwise.
/// Bytes are read unconverted, and barrio converts them: a conversion inside parallel HDF5 would make every rank read
/// independently. If HDF5 does so anyway, the counters of the context and the log show it.
/// @throws Error{bad_input} if the dataset is absent, does not hold single integers, or lacks the rows; with a context
/// AgreedError on all ranks, even if only one found the fault, so a collective read needs no further agreement
/// Cost: with a context, two mpi::agree in addition to the read.
std::vector<std::int64_t> read_integers(Place where, const std::string& path, Rows rows = all_rows);
/// Read ids and subtract `first`, which turns the ids of a file into 0-based rows. As read_integers.
std::vector<GlobalId> read_ids(Place where, const std::string& path, std::int64_t first, Rows rows = all_rows);
/// Read floating-point numbers of any width and byte order. As read_integers.
std::vector<double> read_reals(Place where, const std::string& path, Rows rows = all_rows);
/// Values of any fixed-length type, numbers in native byte order.
struct NativeValues {
  /// Kind of the values.
  enum class Kind {
    integer,  ///< enumerations included
    real,     ///< floating-point
    other,    ///< text, opaque values, bits and the rest
  };
  Kind kind = Kind::other;       ///< of one number
  bool is_signed = true;         ///< false: an unsigned integer
  std::size_t number_bytes = 1;  ///< size of one number, or of one value of another kind
  std::size_t n_numbers = 1;     ///< numbers in one value: more than one for array types
  std::vector<std::byte> bytes;  ///< values one after the other; empty where only their shape was asked for
};
/// Read values without a change of type. As read_integers.
NativeValues read_native(Place where, const std::string& path, Rows rows = all_rows);
/// Read an attribute without a change of type. Local. @return no bytes if it is absent or implausibly large
NativeValues read_native_attribute(Place where, const std::string& path, const std::string& name);
/// Return the shape of values of a committed type or of a dataset, without bytes. Local.
NativeValues shape_of_type(Place where, const std::string& path);
/// Read fixed-length opaque or text values as bytes. @return one string per value, without trailing NULs
std::vector<std::string> read_texts(Place where, const std::string& path, Rows rows = all_rows);
/// Read a scalar or short integer attribute; empty if it is absent or of another kind.
std::vector<std::int64_t> read_attribute(Place where, const std::string& path, const std::string& name);

}  // namespace barrio::files
