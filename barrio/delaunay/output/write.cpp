#include "barrio/delaunay/write.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/poly_file.hpp"
#include "barrio/mpi/agree.hpp"

namespace barrio::delaunay {

TriangulationFormat triangulation_format(const std::string& path) {
  if (path.ends_with(".h5m")) return TriangulationFormat::h5m;
  if (path.ends_with(".vtkhdf")) return TriangulationFormat::vtkhdf;
  if (path.ends_with(".vtu")) return TriangulationFormat::vtu;
  if (path.ends_with(".msh")) return TriangulationFormat::gmsh;
  if (path.ends_with(".ele")) return TriangulationFormat::triangle;
  refuse(ErrorCode::usage, path, "has a suffix that is not a format of triangulations",
         fmt::format("use {}", triangulation_suffixes));
}

std::vector<std::string> written_files(const std::string& path) {
  if (triangulation_format(path) != TriangulationFormat::triangle) return {path};
  const std::string stem = path.substr(0, path.rfind('.'));
  return {stem + ".ele", stem + ".node", stem + ".poly"};
}

void write(mpi::Context& context, const Triangulation& mesh, const std::string& path) {
  TriangulationFormat format{};
  mpi::agree_after(context, [&] { format = triangulation_format(path); });
  if (format == TriangulationFormat::h5m) return write_h5m(context, mesh, path);
  if (format == TriangulationFormat::vtkhdf) return write_vtkhdf(context, mesh, path);
  mpi::agree_after(context, [&] {
    if (context.is_root()) write_local(mesh, path);
  });
}

void write(mpi::Context& context, const PartedTriangulation& parted, const std::string& path) {
  TriangulationFormat format{};
  mpi::agree_after(context, [&] {
    format = triangulation_format(path);
    if (format != TriangulationFormat::h5m && format != TriangulationFormat::vtkhdf)
      refuse(ErrorCode::usage, path, "is in a format that several ranks cannot write together",
             "write .h5m or .vtkhdf, and convert it");
  });
  if (format == TriangulationFormat::h5m)
    write_h5m(context, parted, path);
  else
    write_vtkhdf(context, parted, path);
}

void write_local(const Triangulation& mesh, const std::string& path) {
  const TriangulationFormat format = triangulation_format(path);
  if (format == TriangulationFormat::vtu) return write_vtu(mesh, path);
  if (format == TriangulationFormat::gmsh) return write_gmsh(mesh, path);
  if (format == TriangulationFormat::triangle) return write_triangle_files(mesh, path.substr(0, path.rfind('.')));
  refuse(ErrorCode::usage, path, "is in a format that needs MPI", "write it with a context, or use .vtu, .msh or .ele");
}

std::int64_t n_names_lost(const Triangulation& mesh, TriangulationFormat format) noexcept {
  if (format == TriangulationFormat::h5m || format == TriangulationFormat::gmsh) return 0;
  return std::ssize(mesh.marker_names) +
         std::ranges::count_if(mesh.regions, [](const Region& region) { return !region.name.empty(); });
}

}  // namespace barrio::delaunay
