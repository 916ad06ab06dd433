#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/files/detail/cdf.hpp"
#include "barrio/files/hdf5.hpp"

namespace barrio::files {

/// Whether a file is classic netCDF, by its first four bytes.
bool is_classic_netcdf(std::string_view head) noexcept;

/// The variables and dimensions of a netCDF file.
struct NetcdfListing {
  struct Variable {
    std::string name;
    std::vector<std::int64_t> shape = {};
    std::vector<std::int32_t> dimensions = {};  ///< places in the list of dimensions; -1: it has no name
    NativeValues::Kind kind = NativeValues::Kind::other;
    bool is_signed = true;
    std::size_t number_bytes = 1;
  };
  std::vector<std::string> dimensions;  ///< their names
  std::vector<Variable> variables;
};

/// A netCDF file of any format, open to read: classic (CDF-1, CDF-2, CDF-5), or netCDF-4, which is HDF5. Each rank
/// reads its own rows: of classic files by plain reads of contiguous bytes, of netCDF-4 files by parallel HDF5.
class NetcdfFile {
 public:
  /// Open on this process alone. Works before MPI_Init. Local.
  /// @throws Error{failed} if it cannot be read; {bad_input} if it is damaged
  explicit NetcdfFile(const std::string& path);
  /// Open on all ranks together. Collective. @throws AgreedError as the other one
  NetcdfFile(mpi::Context& context, const std::string& path);

  /// Close the file. Collective if it is open on all ranks.
  void close();
  /// "netCDF CDF-2" or "netCDF-4".
  [[nodiscard]] std::string format() const;
  /// As integers: on a shared file all ranks get the same answer.
  [[nodiscard]] bool has(const std::string& variable) const;
  /// List all variables; of netCDF-4 files those of the root group, by name. Local, for a file open on this process
  /// alone.
  [[nodiscard]] NetcdfListing list() const;
  /// Extents of a variable; empty if there is none or it is a single value. As `has`.
  [[nodiscard]] std::vector<std::int64_t> shape(const std::string& variable) const;

  // Collective if the file is open on all ranks: then every rank takes part, even without rows, and a fault of one is
  // an AgreedError of all.

  /// Read integers of any width. @throws Error{bad_input} if the variable is absent, holds no integers, or lacks the
  /// rows
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& variable, Rows rows = all_rows) const;
  /// Read floating-point numbers of any width. As integers.
  [[nodiscard]] std::vector<double> reals(const std::string& variable, Rows rows = all_rows) const;
  /// Read text: one string for each row of characters, without the blanks and NULs at its end. As integers.
  [[nodiscard]] std::vector<std::string> texts(const std::string& variable, Rows rows = all_rows) const;
  /// A text attribute of a variable, or with an empty name of the file. @return nothing if it is absent or no text
  [[nodiscard]] std::optional<std::string> attribute(const std::string& variable, const std::string& name) const;
  /// The first number of an attribute of a variable. @return nothing if it is absent or no number
  [[nodiscard]] std::optional<double> number(const std::string& variable, const std::string& name) const;

 private:
  std::string path_;
  std::optional<detail::CdfFile> classic_;
  /// The netCDF-4 file. @pre it is no classic one
  [[nodiscard]] Place hdf5() const noexcept { return shared_ ? shared_->get() : Place(alone_.get()); }

  /// Read from a classic file, whose reads communicate with nobody, and agree on the outcome if it is shared.
  template <class Read>
  void read_classic(Read&& read) const;

  mpi::Context* context_ = nullptr;  ///< of a shared file
  Handle alone_;
  std::optional<SharedFile> shared_;
};

}  // namespace barrio::files
