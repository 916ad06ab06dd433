#pragma once

/// @file Reading netCDF files of all formats: variables, dimensions and attributes.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/files/detail/cdf.hpp"
#include "barrio/files/hdf5.hpp"

namespace barrio::files {

/// Tell whether a file is classic netCDF, by its first four bytes.
bool is_classic_netcdf(std::string_view head) noexcept;

/// The variables and dimensions of a netCDF file.
struct NetcdfListing {
  /// A variable, without its values.
  struct Variable {
    std::string name;                                     ///< in the root group
    std::vector<std::int64_t> shape = {};                 ///< extents; empty for a single value
    std::vector<std::int32_t> dimensions = {};            ///< places in the list of dimensions; -1: unnamed
    NativeValues::Kind kind = NativeValues::Kind::other;  ///< of its numbers; other: text or a type that is not read
    bool is_signed = true;                                ///< false: unsigned integers
    std::size_t number_bytes = 1;                         ///< size of one number in the file
  };
  std::vector<std::string> dimensions;  ///< their names
  std::vector<Variable> variables;      ///< in the file's order, for netCDF-4 by name
};

/// A netCDF file of any format, open to read: classic (CDF-1, CDF-2, CDF-5), or netCDF-4, which is HDF5. Each rank
/// reads its own rows: from classic files by plain reads of contiguous bytes, from netCDF-4 files by parallel HDF5.
class NetcdfFile {
 public:
  /// Open on this process alone. Works before MPI_Init. Local.
  /// @throws Error{failed} if it cannot be read; {bad_input} if it is damaged
  explicit NetcdfFile(const std::string& path);
  /// Open on all ranks together. Collective. @throws AgreedError with the same codes
  NetcdfFile(mpi::Context& context, const std::string& path);

  /// Close the file. Collective if it is open on all ranks.
  void close();
  /// Return the name of the format, such as "netCDF CDF-2" or "netCDF-4".
  [[nodiscard]] std::string format() const;
  /// Tell whether a variable exists. Collective or local as `integers`: on a shared file all ranks get the same answer.
  [[nodiscard]] bool has(const std::string& variable) const;
  /// List all variables; for netCDF-4 files those of the root group, by name. Local, for a file open on this process
  /// alone.
  [[nodiscard]] NetcdfListing list() const;
  /// Return the extents of a variable; empty if it is absent or a single value. As `has`.
  [[nodiscard]] std::vector<std::int64_t> shape(const std::string& variable) const;

  // Collective if the file is open on all ranks. Then every rank takes part, even without rows, and a fault on one rank
  // is an AgreedError on all.

  /// Read integers of any width. @throws Error{bad_input} if the variable is absent, holds no integers, or lacks the
  /// rows
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& variable, Rows rows = all_rows) const;
  /// Read floating-point numbers of any width. As integers.
  [[nodiscard]] std::vector<double> reals(const std::string& variable, Rows rows = all_rows) const;
  /// Read text: one string for each row of characters, without trailing blanks and NULs. As integers.
  [[nodiscard]] std::vector<std::string> texts(const std::string& variable, Rows rows = all_rows) const;
  /// Read a text attribute of a variable or, if that name is empty, of the file. @return nothing if it is absent or not
  /// text
  [[nodiscard]] std::optional<std::string> attribute(const std::string& variable, const std::string& name) const;
  /// Read the first number of an attribute of a variable. @return nothing if it is absent or not numeric
  [[nodiscard]] std::optional<double> number(const std::string& variable, const std::string& name) const;

 private:
  std::string path_;
  std::optional<detail::CdfFile> classic_;
  /// Return the netCDF-4 file. @pre the file is not classic
  [[nodiscard]] Place hdf5() const noexcept { return shared_ ? shared_->get() : Place(alone_.get()); }

  /// Read from a classic file, and agree on the outcome if it is shared: the reads themselves do not communicate.
  template <class Read>
  void read_classic(Read&& read) const;

  mpi::Context* context_ = nullptr;  ///< null unless the file is shared
  Handle alone_;
  std::optional<SharedFile> shared_;
};

}  // namespace barrio::files
