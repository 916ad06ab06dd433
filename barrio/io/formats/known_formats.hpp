#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "barrio/base/json.hpp"
#include "barrio/files/hdf5.hpp"
#include "barrio/files/netcdf.hpp"
#include "barrio/io/inspect.hpp"
#include "barrio/io/read.hpp"

namespace barrio::io::detail {

/// A file whose format is not known yet. Local.
class UnknownFile {
 public:
  /// @throws Error{failed} if it cannot be read, {bad_input} if it is a torn file of HDF5
  explicit UnknownFile(const std::string& path);
  [[nodiscard]] std::string_view head() const& noexcept { return head_; }
  /// Whether it has a group of HDF5; no other file has any.
  [[nodiscard]] bool has_group(const char* group) const;
  [[nodiscard]] bool is_hdf5() const noexcept { return hdf5_.has_value(); }
  /// Take it for HDF5 although it does not begin so. @throws Error{bad_input} if it is none
  void open_as_hdf5();
  [[nodiscard]] hid_t hdf5() const noexcept { return hdf5_->get(); }
  /// As netCDF, on HDF5 or classic; nullptr for other files. Opened when first asked for.
  [[nodiscard]] const files::NetcdfFile* netcdf();
  [[nodiscard]] bool is_classic_netcdf() const noexcept;

 private:
  std::string path_;
  std::string head_;
  std::optional<files::Handle> hdf5_;
  std::optional<files::NetcdfFile> netcdf_;
};

/// One format: how it is recognised, read and described.
struct KnownFormat {
  Format format;
  bool (*is)(UnknownFile& file);
  mesh::MeshTables (*read)(mpi::Context& context, const std::string& path, const TableOptions& options);
  Json (*inspect)(const std::string& path, const InspectOptions& options);
};

/// The format of a file, by its contents; nothing if it is none of those known.
std::optional<Format> find_format(UnknownFile& file);
const KnownFormat& known_format(Format format);

}  // namespace barrio::io::detail
