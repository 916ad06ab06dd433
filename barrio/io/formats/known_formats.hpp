#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "barrio/base/json.hpp"
#include "barrio/files/hdf5.hpp"
#include "barrio/files/netcdf.hpp"
#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"

namespace barrio::io::detail {

/// A file whose format is still unknown. Local.
class UnknownFile {
 public:
  /// @throws Error{failed} if it cannot be read, {bad_input} if it is a truncated HDF5 file
  explicit UnknownFile(const std::string& path);
  [[nodiscard]] std::string_view head() const& noexcept { return head_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Return the size of the file; 0 if it is unknown.
  [[nodiscard]] std::uint64_t bytes() const;
  /// Tell whether it has an HDF5 group; false for other files.
  [[nodiscard]] bool has_group(const char* group) const;
  [[nodiscard]] bool is_hdf5() const noexcept { return hdf5_.has_value(); }
  /// Open it as HDF5 although it does not begin so. @throws Error{bad_input} if it is not HDF5
  void open_as_hdf5();
  [[nodiscard]] hid_t hdf5() const noexcept { return hdf5_->get(); }
  /// Return it as netCDF, on HDF5 or classic; nullptr for other files. Opened on first use.
  [[nodiscard]] const files::NetcdfFile* netcdf();
  [[nodiscard]] bool is_classic_netcdf() const noexcept;

 private:
  std::string path_;
  std::string head_;
  std::optional<files::Handle> hdf5_;
  std::optional<files::NetcdfFile> netcdf_;
};

/// A format: how to recognise, read and describe it.
struct KnownFormat {
  Format format;
  bool (*is)(UnknownFile& file);
  mesh::MeshTables (*read)(mpi::Context& context, const std::string& path, const TableOptions& options);
  Json (*inspect)(const std::string& path, const InspectOptions& options);
};

/// Find the format of a file by its contents; nothing if it is unknown.
/// @throws Error{bad_input} for the format of another program, with one that converts it
std::optional<Format> find_format(UnknownFile& file);
const KnownFormat& known_format(Format format);

}  // namespace barrio::io::detail
