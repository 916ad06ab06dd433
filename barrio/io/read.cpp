#include "barrio/io/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "barrio/base/error.hpp"
#include "barrio/files/hdf5.hpp"
#include "barrio/io/detail/cgns_file.hpp"
#include "barrio/io/detail/exodus_file.hpp"
#include "barrio/io/detail/readers.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io {
namespace {

constexpr RegionName read_region{"io.read"};
constexpr RegionName partition_region{"io.partition"};
std::string formats_read() { return fmt::format("barrio reads {}", readable_formats); }

/// Remove tags by name; "*" names all.
void leave_out(mesh::MeshTables& tables, const std::vector<std::string>& names) {
  std::erase_if(tables.tags, [&](const mesh::TagTable& tag) {
    return std::ranges::any_of(names, [&](const std::string& name) { return name == "*" || name == tag.info.name; });
  });
}

}  // namespace

Format detect_format(const std::string& path) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) {
    throw Error(ErrorCode::failed, {.subject = path, .cause = "is a folder, not a mesh file"});
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw Error(ErrorCode::failed, {.subject = path,
                                    .cause = fmt::format("cannot be read: {}", std::strerror(errno)),
                                    .remedy = "check the name and its rights"});
  }
  std::string head(32, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (file.bad()) {
    throw Error(ErrorCode::failed, {.subject = path,
                                    .cause = fmt::format("cannot be read: {}", std::strerror(errno)),
                                    .remedy = "check the file system"});
  }
  head.resize(static_cast<std::size_t>(file.gcount()));
  if (head.starts_with("$MeshFormat") || head.starts_with("$Comments")) return Format::gmsh;
  if (detail::is_vtk(head)) return Format::vtk;
  if (head.starts_with("<?xml") || head.starts_with("<VTKFile")) return Format::vtu;
  if (files::is_classic_netcdf(head)) {
    if (detail::is_exodus(files::NetcdfFile(path))) return Format::exodus;
    throw Error(ErrorCode::bad_input,
                {.subject = path, .cause = "is a netCDF file, but holds no Exodus II mesh", .remedy = formats_read()});
  }
  if (head.starts_with("@(#)ADF Database"))
    throw Error(ErrorCode::bad_input, {.subject = path,
                                       .cause = "is a CGNS file in the old ADF format",
                                       .remedy = "convert it to HDF5, with adf2hdf of the CGNS tools"});
  const bool is_hdf5 = head.starts_with("\x89HDF\r\n\x1a\n");
  if (is_hdf5 || path.ends_with(".h5m")) {
    const files::Handle open = files::open_to_read(path);  // says what is wrong if it is no HDF5 file, or a torn one
    if (files::has(open.get(), "/VTKHDF")) return Format::vtkhdf;
    if (detail::is_cgns(open.get())) return Format::cgns;
    const bool is_h5m = files::has(open.get(), "/tstt") || !detail::is_exodus(files::NetcdfFile(path));
    return is_h5m ? Format::h5m : Format::exodus;
  }
  throw Error(ErrorCode::bad_input, {.subject = path,
                                     .cause = head.empty() ? "is empty" : "is of no format that barrio reads",
                                     .remedy = formats_read()});
}

mesh::MeshTables read_tables(mpi::Context& context, const std::string& path, const TableOptions& options) {
  const Region region(context.trace(), read_region);
  auto format = Format::h5m;
  agree_after(context, [&] {
    if (context.is_root()) format = detect_format(path);
  });
  mpi::broadcast(context, std::span(&format, 1));
  if (format != Format::h5m && options.partition_tag != default_partition_tag && !options.may_lack_partition_tag) {
    throw AgreedError(ErrorCode::usage,
                      {.subject = path,
                       .cause = fmt::format("has no partition '{}': only .h5m files have partitions with names",
                                            options.partition_tag),
                       .remedy = "partition it first: barrio partition IN -n P --tag NAME -o OUT"});
  }
  mesh::MeshTables tables;
  switch (format) {
    case Format::h5m: tables = detail::read_h5m(context, path, options); break;
    case Format::gmsh: tables = detail::read_gmsh(context, path); break;
    case Format::vtk: tables = detail::read_vtk(context, path); break;
    case Format::vtu: tables = detail::read_vtu(context, path); break;
    case Format::exodus: tables = detail::read_exodus(context, path, options.without_tags); break;
    case Format::cgns: tables = detail::read_cgns(context, path); break;
    case Format::vtkhdf:
      throw AgreedError(ErrorCode::bad_input, {.subject = path,
                                               .cause = "is a VTKHDF file, which barrio writes but does not read",
                                               .remedy = "give the mesh it was made from"});
  }
  if (format != Format::h5m) leave_out(tables, options.without_tags);
  mesh::validate(context, tables, path);
  return tables;
}

mesh::Mesh read(mpi::Context& context, const std::string& path, ReadOptions options) {
  mesh::MeshTables tables =
      read_tables(context, path, {.without_tags = options.without_tags, .partition_tag = options.partition_tag});
  if (tables.n_parts == 0) {
    const Region region(context.trace(), partition_region);
    context.log().info(
        fmt::format("{} has no partition: cutting it into {} parts by {}", path, context.size(), options.partitioner));
    mesh::partition_cells(context, tables, context.size(), options.partitioner);
  } else if (tables.n_parts < context.size()) {
    context.log().notice(fmt::format("{} has {} parts for {} ranks: {} ranks stay empty", path, tables.n_parts,
                                     context.size(), context.size() - tables.n_parts));
  }
  return {context,
          tables,
          {.ghost_layers = options.ghost_layers, .bridge = options.bridge, .ghost_sides = options.ghost_sides}};
}

}  // namespace barrio::io
