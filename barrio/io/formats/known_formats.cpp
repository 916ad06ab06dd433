#include "barrio/io/formats/known_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "barrio/base/assert.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/path.hpp"
#include "barrio/io/cgns/cgns_file.hpp"
#include "barrio/io/climate/climate_file.hpp"
#include "barrio/io/common/description.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/io/exodus/exodus_file.hpp"
#include "barrio/io/formats/foreign_formats.hpp"
#include "barrio/io/medit/medit_file.hpp"
#include "barrio/io/su2/su2_file.hpp"
#include "barrio/io/vtk/inspect_vtk.hpp"
#include "barrio/io/xdmf/xdmf_file.hpp"

// Each row is a format; its reader and its description are in its folder.

namespace barrio::io {
namespace detail {
namespace {

/// Read the first bytes of a file.
std::string head_of(const std::string& path) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) {
    if (const std::optional<ForeignFormat> foreign = find_foreign_folder(path))
      throw Error(ErrorCode::bad_input,
                  {.subject = path, .cause = fmt::format("is {}", foreign->name), .remedy = foreign->remedy});
    throw Error(
        ErrorCode::failed,
        {.subject = path, .cause = "is a folder, not a mesh file", .remedy = "give the file of a mesh in the folder"});
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const int reason = errno;
    throw Error(ErrorCode::failed,
                {.subject = path,
                 .cause = fmt::format("cannot be read: {}{}", std::strerror(reason),
                                      reason == ENOENT ? "." + did_you_mean_file(path) : std::string()),
                 .remedy = "check the name and its permissions"});
  }
  std::string head(4096, '\0');  // comments may precede the first word of a text
  file.read(head.data(), std::ssize(head));
  if (file.bad()) {
    throw Error(ErrorCode::failed, {.subject = path,
                                    .cause = fmt::format("cannot be read: {}", std::strerror(errno)),
                                    .remedy = "check the file system"});
  }
  head.resize(file.gcount());
  return head;
}

bool is_gmsh(std::string_view head) {
  return head.starts_with("$MeshFormat") || head.starts_with("$Comments") || head.starts_with("$NOD");
}

bool is_pvtu(std::string_view head) { return head.find("\"PUnstructuredGrid\"") != std::string_view::npos; }

bool is_vtu(std::string_view head) { return head.starts_with("<?xml") || head.starts_with("<VTKFile"); }

constexpr std::array formats{
    KnownFormat{Format::gmsh, [](UnknownFile& file) { return is_gmsh(file.head()); },
                [](mpi::Context& context, const std::string& path, const TableOptions& /*options*/) {
                  return read_gmsh(context, path);
                },
                &inspect_gmsh},
    KnownFormat{Format::medit, [](UnknownFile& file) { return is_medit(file.head()); },
                [](mpi::Context& context, const std::string& path, const TableOptions& /*options*/) {
                  return read_medit(context, path);
                },
                &inspect_medit},
    KnownFormat{Format::vtk, [](UnknownFile& file) { return is_vtk(file.head()); },
                [](mpi::Context& context, const std::string& path, const TableOptions& /*options*/) {
                  return read_vtk(context, path);
                },
                &inspect_vtk},
    KnownFormat{Format::xdmf, [](UnknownFile& file) { return is_xdmf(file.head()); }, &read_xdmf, &inspect_xdmf},
    KnownFormat{Format::pvtu, [](UnknownFile& file) { return is_vtu(file.head()) && is_pvtu(file.head()); },
                [](mpi::Context& context, const std::string& path, const TableOptions& /*options*/) {
                  return read_pvtu(context, path);
                },
                &inspect_pvtu},
    KnownFormat{Format::vtu, [](UnknownFile& file) { return is_vtu(file.head()); },
                [](mpi::Context& context, const std::string& path, const TableOptions& /*options*/) {
                  return read_vtu(context, path);
                },
                &inspect_vtu},
    KnownFormat{Format::su2, [](UnknownFile& file) { return is_su2(file.head()); },
                [](mpi::Context& context, const std::string& path, const TableOptions& /*options*/) {
                  return read_su2(context, path);
                },
                &inspect_su2},
    KnownFormat{Format::vtkhdf, [](UnknownFile& file) { return file.has_group("/VTKHDF"); }, &read_vtkhdf,
                &inspect_vtkhdf},
    KnownFormat{Format::cgns, [](UnknownFile& file) { return file.is_hdf5() && is_cgns(file.hdf5()); }, &read_cgns,
                &inspect_cgns},
    KnownFormat{Format::h5m, [](UnknownFile& file) { return file.has_group("/tstt"); }, &read_h5m, &inspect_h5m},
    KnownFormat{Format::exodus, [](UnknownFile& file) { return file.netcdf() != nullptr && is_exodus(*file.netcdf()); },
                &read_exodus, &inspect_exodus},
    KnownFormat{Format::climate,
                [](UnknownFile& file) { return file.netcdf() != nullptr && is_climate(*file.netcdf()); }, &read_climate,
                &inspect_climate},
};

}  // namespace

UnknownFile::UnknownFile(const std::string& path) : path_(path), head_(head_of(path)) {
  if (head_.starts_with("\x89HDF\r\n\x1a\n")) open_as_hdf5();
}

void UnknownFile::open_as_hdf5() { hdf5_ = files::open_to_read(path_); }

bool UnknownFile::has_group(const char* group) const { return is_hdf5() && files::has(hdf5(), group); }

bool UnknownFile::is_classic_netcdf() const noexcept { return files::is_classic_netcdf(head_); }

const files::NetcdfFile* UnknownFile::netcdf() {
  if (!netcdf_ && (is_hdf5() || is_classic_netcdf())) netcdf_.emplace(path_);
  return netcdf_ ? &*netcdf_ : nullptr;
}

std::uint64_t UnknownFile::bytes() const {
  std::error_code code;
  const std::uintmax_t n = std::filesystem::file_size(path_, code);
  return code ? 0 : n;
}

std::optional<Format> find_format(UnknownFile& file) {
  const auto known = std::ranges::find_if(formats, [&](const KnownFormat& one) { return one.is(file); });
  // Other XML and other grids of longitudes and latitudes may look like a format that is known by little.
  if (known != formats.end() && known->format != Format::vtu && known->format != Format::climate) return known->format;
  if (const std::optional<ForeignFormat> foreign = find_foreign_format(file))
    throw Error(ErrorCode::bad_input, {.subject = file.path(),
                                       .cause = fmt::format("is {}, which barrio does not read", foreign->name),
                                       .remedy = foreign->remedy});
  if (known != formats.end()) return known->format;
  // The reader of .h5m reports what an HDF5 file lacks.
  return file.is_hdf5() ? std::optional(Format::h5m) : std::nullopt;
}

const KnownFormat& known_format(Format format) {
  const auto found = std::ranges::find(formats, format, &KnownFormat::format);
  BARRIO_ASSERT(cheap, found != formats.end(), static_cast<int>(format));
  return *found;
}

}  // namespace detail

Format detect_format(const std::string& path) {
  detail::UnknownFile file(path);
  if (const std::optional<Format> known = detail::find_format(file)) return *known;
  const std::string formats_read = fmt::format("barrio reads {}", readable_formats);
  if (file.is_classic_netcdf())
    throw Error(
        ErrorCode::bad_input,
        {.subject = path,
         .cause = "is a netCDF file, but holds neither an Exodus II mesh nor a grid of longitudes and latitudes",
         .remedy = formats_read});
  if (file.head().substr(0, 32).find("ADF Database") != std::string_view::npos)  // of any version
    throw Error(ErrorCode::bad_input, {.subject = path,
                                       .cause = "is a CGNS file in the old ADF format",
                                       .remedy = "convert it to HDF5, with adf2hdf of the CGNS tools"});
  if (path.ends_with(".h5m")) {
    file.open_as_hdf5();  // reports the fault if it is not HDF5; a user block may precede its signature
    return detail::find_format(file).value_or(Format::h5m);
  }
  throw Error(ErrorCode::bad_input, {.subject = path,
                                     .cause = file.head().empty() ? "is empty" : "is not in a format that barrio reads",
                                     .remedy = formats_read});
}

}  // namespace barrio::io
