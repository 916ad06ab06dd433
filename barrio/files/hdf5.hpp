#pragma once

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

/// Own an HDF5 identifier of any kind that can be closed without other ranks. Move-only.
class Handle {
 public:
  Handle() = default;
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
  [[nodiscard]] hid_t get() const noexcept { return id_; }
  explicit operator bool() const noexcept { return id_ >= 0; }
  /// Forget the identifier without closing it.
  void release() noexcept { id_ = -1; }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

/// Take an identifier from an HDF5 call or throw what HDF5 has to say. @throws Error{bad_input} naming `subject`
Handle checked(hid_t id, herr_t (*close)(hid_t), const std::string& subject, std::string_view doing);
/// The same for calls that return a status.
void check(herr_t status, const std::string& subject, std::string_view doing);

/// Open a file to read it on this process alone. Works before MPI_Init. Local.
/// @throws Error{failed} if it does not exist or may not be read; {bad_input} if it is no HDF5 file or is truncated
Handle open_to_read(const std::string& path);

/// Where to read: a file or group that is open on this process alone, or on all ranks of a context.
struct Place {
  hid_t id;
  mpi::Context* context = nullptr;         ///< null: open on this process alone; else reads are counted in its counters
  Place(hid_t local_id) : id(local_id) {}  // NOLINT(google-explicit-constructor): the usual case
  Place(hid_t shared_id, mpi::Context& all_ranks) : id(shared_id), context(&all_ranks) {}
};

/// A file that is open on all ranks together. Move-only. Closing it is collective: its destructor closes it normally,
/// but leaves it open while an exception is on its way, since other ranks may not be there. `or_close` closes it on an
/// error that all ranks have agreed on.
class SharedFile {
 public:
  SharedFile(Handle file, mpi::Context& context) : file_(std::move(file)), context_(&context) {}
  SharedFile(SharedFile&&) = default;
  SharedFile& operator=(SharedFile&&) = default;
  ~SharedFile();
  [[nodiscard]] Place get() const noexcept { return {file_.get(), *context_}; }
  /// Collective.
  void close() { file_.close(); }

 private:
  Handle file_;
  mpi::Context* context_;
};

/// Read from something that all ranks have open, and close it on all of them if they agree on an error: a program may
/// go on with other files, and files left open use up MPI's resources.
template <class Shared, class Read>
auto or_close(Shared& file, Read&& read) {
  try {
    return read();
  } catch (const AgreedError&) {
    file.close();
    throw;
  }
}

/// Open a file to read it on all ranks together. Collective; rank 0 looks first, so a faulty file fails without
/// parallel I/O.
/// @throws AgreedError as open_to_read
SharedFile open_to_read(mpi::Context& context, const std::string& path);

/// Whether a link exists along a path below `where`. As read_integers: on a shared file rank 0 looks for all, so that
/// all ranks get the same answer.
bool has(Place where, const std::string& path);
/// Names of the links in a group, ascending. Local.
std::vector<std::string> names_in(Place where, const std::string& path);
/// Extents of a dataset; empty if there is no such dataset. As `has`.
std::vector<std::int64_t> extents(Place where, const std::string& path);

/// The meaning of a fixed-length text: up to the first NUL, without trailing blanks. Local.
std::string trimmed(std::string_view text);

/// Check that a dataset announces no more values than its storage can hold, so that a damaged size is not believed.
/// Local.
/// @throws Error{bad_input} naming the dataset
void check_size(Place where, const std::string& path);

/// A run of places along a dimension.
struct Run {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
/// Rows of a dataset that this rank reads; the dimensions after them are read whole, or in runs.
struct Rows {
  std::int64_t first = 0;
  std::int64_t count = 0;
  /// Places in the leading dimensions, such as a time step; rows then count in the dimension after them. Borrowed.
  std::span<const std::int64_t> within = {};
  /// Runs along the dimensions right after that of the rows; those behind them are read whole. Borrowed.
  std::span<const Run> of_each = {};
};
/// All rows.
inline constexpr Rows all_rows{0, -1};

/// Read integers of any width, sign and byte order. Collective if the file is open on all ranks, local otherwise.
/// Bytes are read as they are in the file and converted here: a conversion inside parallel HDF5 would make every rank
/// read alone. If one did so all the same, the counters of the context and the log show it.
/// @throws Error{bad_input} if the dataset is absent, holds no integers or arrays of them, or lacks the rows; with a
/// context AgreedError, whichever rank met the fault, so a phase that reads together needs no agreement of its own
/// Cost: with a context, two mpi::agree besides the read.
std::vector<std::int64_t> read_integers(Place where, const std::string& path, Rows rows = all_rows);
/// The same, minus `first`: the ids of a file as 0-based rows.
std::vector<GlobalId> read_ids(Place where, const std::string& path, std::int64_t first, Rows rows = all_rows);
/// Read floating-point numbers of any width and byte order. As read_integers.
std::vector<double> read_reals(Place where, const std::string& path, Rows rows = all_rows);
/// Values of any fixed-length type, numbers in native byte order.
struct NativeValues {
  enum class Kind { integer, real, other };
  Kind kind = Kind::other;
  bool is_signed = true;
  std::size_t number_bytes = 1;  ///< of one number, or of one value of other kinds
  std::size_t n_numbers = 1;     ///< in one value: more than one for array types
  std::vector<std::byte> bytes;
};
/// Read values as they are. As read_integers.
NativeValues read_native(Place where, const std::string& path, Rows rows = all_rows);
/// Read an attribute as it is. Local. @return no bytes if there is none, or it is too large to be one
NativeValues read_native_attribute(Place where, const std::string& path, const std::string& name);
/// The shape of values of a committed type or of a dataset, without bytes. Local.
NativeValues shape_of_type(Place where, const std::string& path);
/// Read fixed-length opaque or text values as bytes. @return one string per value, trailing NULs cut
std::vector<std::string> read_texts(Place where, const std::string& path, Rows rows = all_rows);
/// Read a scalar or short integer attribute; empty if it is absent or of another kind.
std::vector<std::int64_t> read_attribute(Place where, const std::string& path, const std::string& name);

}  // namespace barrio::files
