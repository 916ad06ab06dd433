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

/// A netCDF file of any format, open to read: classic (CDF-1, CDF-2, CDF-5), or netCDF-4, which is HDF5. Each rank
/// reads its own rows: of classic files by plain reads of contiguous bytes, of netCDF-4 files by parallel HDF5.
class NetcdfFile {
 public:
  /// Open on this process alone. Works before MPI_Init. Local.
  /// @throws Error{failed} if it cannot be read; {bad_input} if it is damaged
  explicit NetcdfFile(const std::string& path);
  /// Open on all ranks together. Collective. @throws AgreedError as the other one
  NetcdfFile(mpi::Context& context, const std::string& path);

  /// "netCDF CDF-2" or "netCDF-4".
  [[nodiscard]] std::string format() const;
  [[nodiscard]] bool has(const std::string& variable) const;
  /// Names of all variables, in no order that means anything.
  [[nodiscard]] std::vector<std::string> variables() const;
  /// Extents of a variable; empty if there is none or it is a single value.
  [[nodiscard]] std::vector<std::int64_t> shape(const std::string& variable) const;

  // Collective if the file is open on all ranks and is netCDF-4: then every rank takes part, if with no rows.

  /// Read integers of any width. @throws Error{bad_input} if the variable is absent, holds no integers, or lacks the
  /// rows
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& variable, Rows rows = all_rows) const;
  /// Read floating-point numbers of any width. As integers.
  [[nodiscard]] std::vector<double> reals(const std::string& variable, Rows rows = all_rows) const;
  /// Read text: one string for each row of characters, without the blanks and NULs at its end. As integers.
  [[nodiscard]] std::vector<std::string> texts(const std::string& variable, Rows rows = all_rows) const;
  /// A text attribute of a variable, or with an empty name of the file. @return nothing if it is absent or no text
  [[nodiscard]] std::optional<std::string> attribute(const std::string& variable, const std::string& name) const;

 private:
  std::string path_;
  std::optional<detail::CdfFile> classic_;
  /// The netCDF-4 file. @pre it is no classic one
  [[nodiscard]] Place hdf5() const noexcept { return shared_ ? shared_->get() : Place(alone_.get()); }

  Handle alone_;
  std::optional<SharedFile> shared_;
};

}  // namespace barrio::files
