#include "barrio/io/formats/foreign_formats.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

// Each row is a format, how its files begin, and a program that converts them. A row says only what was tried, or what
// the documentation of that program says.

namespace barrio::io::detail {
namespace {

constexpr const char* by_meshio = "convert it, for instance with meshio: meshio convert IN OUT.vtu";
constexpr const char* by_meshio_or_gmsh =
    "convert it, for instance with meshio (meshio convert IN OUT.vtu) or gmsh (gmsh IN -save -o OUT.msh)";
constexpr const char* by_gmsh = "convert it, for instance with gmsh: gmsh IN -save -o OUT.msh";
constexpr const char* by_mesher = "mesh it first, for instance with gmsh: gmsh -3 IN -o OUT.msh";
constexpr const char* by_uxarray = "convert it to Exodus II, for instance with uxarray of Python";
constexpr const char* by_paraview = "open it in ParaView, and save the data as .vtu";

std::string upper(std::string_view text) {
  std::string copy(text);
  std::ranges::transform(copy, copy.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return copy;
}

/// The beginning of a file by lines, without blanks around them and without empty lines.
class Lines {
 public:
  explicit Lines(std::string_view head) {
    for (std::size_t begin = 0; begin < head.size();) {
      const std::size_t end = std::min(head.find_first_of("\r\n", begin), head.size());
      std::string_view line = head.substr(begin, end - begin);
      begin = end + 1;
      const std::size_t first = line.find_first_not_of(" \t");
      if (first == std::string_view::npos) continue;
      line = line.substr(first, line.find_last_not_of(" \t") - first + 1);
      all_.push_back(line);
    }
  }
  [[nodiscard]] std::string_view operator[](std::size_t i) const { return i < all_.size() ? all_[i] : ""; }
  /// Return the lines that are no comments.
  [[nodiscard]] std::vector<std::string_view> without(char comment) const {
    std::vector<std::string_view> lines;
    for (const std::string_view line : all_)
      if (line.front() != comment) lines.push_back(line);
    return lines;
  }
  /// Tell whether a line begins so, in capitals or not.
  [[nodiscard]] bool have(std::string_view beginning) const {
    return std::ranges::any_of(all_, [&](std::string_view line) { return upper(line).starts_with(upper(beginning)); });
  }

 private:
  std::vector<std::string_view> all_;
};

/// Return the numbers of a line that has nothing else; empty for another line.
std::vector<double> numbers_in(std::string_view line) {
  std::vector<double> numbers;
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    double number = 0.0;
    const auto [rest, error] = std::from_chars(line.data() + begin, line.data() + end, number);
    if (error != std::errc() || rest != line.data() + end) return {};
    numbers.push_back(number);
    begin = std::min(line.find_first_not_of(" \t", end), line.size());
  }
  return numbers;
}

bool is_count(double number) {
  constexpr double max_count = 9e15;  // as far as doubles hold every integer
  return number >= 0.0 && number < max_count && number == static_cast<double>(static_cast<std::int64_t>(number));
}

/// Tell whether a line consists of that many counts.
bool are_counts(std::string_view line, std::size_t n) {
  const std::vector<double> numbers = numbers_in(line);
  return numbers.size() == n && std::ranges::all_of(numbers, is_count);
}

bool is_abaqus(const Lines& lines) {
  const bool begins = lines[0].starts_with("*");
  return begins && (lines.have("*NODE") || lines.have("*HEADING") || lines.have("*PART")) && !lines.have("*KEYWORD");
}

bool is_ucd(const Lines& lines) {
  const std::vector<std::string_view> data = lines.without('#');
  if (data.size() < 2 || !are_counts(data[0], 5) || numbers_in(data[0])[0] < 1) return false;
  const std::vector<double> first = numbers_in(data[1]);
  return first.size() == 4 && is_count(first[0]);
}

/// Counts of vertices, cells and sides; then a vertex in two dimensions with its label.
bool is_freefem(const Lines& lines) {
  const std::vector<double> vertex = numbers_in(lines[1]);
  return are_counts(lines[0], 3) && numbers_in(lines[0])[0] >= 3 && vertex.size() == 3 && is_count(vertex[2]);
}

bool is_unv(const Lines& lines) {
  return lines[0] == "-1" && are_counts(lines[1], 1) && lines[1].size() >= 2 && lines[1].size() <= 5;
}

bool is_nastran(const Lines& lines) {
  return lines.have("BEGIN BULK") || lines.have("GRID,") || lines.have("GRID  ") || lines.have("GRID*");
}

/// Comments, or sections "(number ...".
bool is_fluent(const Lines& lines) {
  const std::string_view line = lines[0];
  if (!line.starts_with('(') || line.size() < 3) return false;
  const std::size_t end = line.find_first_of(" \t(\")", 1);
  return end != std::string_view::npos && end > 1 && are_counts(line.substr(1, end - 1), 1);
}

bool is_obj(const Lines& lines) {
  const std::vector<std::string_view> data = lines.without('#');
  const auto is_vertex = [](std::string_view line) {
    return line.starts_with("v ") && numbers_in(line.substr(2)).size() >= 3;
  };
  return std::ranges::any_of(data, is_vertex) &&
         std::ranges::all_of(std::span(data).first(data.size() - 1), [](std::string_view line) {
           const std::string_view word = line.substr(0, line.find_first_of(" \t"));
           return word.size() <= 2 || word == "mtllib" || word == "usemtl";
         });
}

bool is_stl(std::string_view head, const Lines& lines, std::uint64_t file_bytes) {
  if (lines[0].starts_with("solid") && (lines.have("facet") || lines.have("endsolid"))) return true;
  constexpr std::size_t n_head = 84;
  constexpr std::uint64_t n_facet = 50;
  if (head.size() < n_head) return false;
  std::uint32_t n = 0;
  std::memcpy(&n, head.data() + n_head - sizeof n, sizeof n);
  return n > 0 && file_bytes == n_head + n_facet * n;
}

/// Counts of vertices, triangles, quads, tets, pyramids, prisms and hexes, as text or in front of binary numbers.
bool is_aflr3(std::string_view head, const Lines& lines, std::uint64_t file_bytes) {
  if (are_counts(lines[0], 7) && numbers_in(lines[1]).size() == 3) return true;
  std::array<std::uint32_t, 7> n{};
  if (head.size() < sizeof n) return false;
  std::memcpy(n.data(), head.data(), sizeof n);
  constexpr std::array<std::uint64_t, 7> n_nodes{0, 3, 4, 4, 5, 6, 8};
  for (const bool is_swapped : {false, true}) {
    if (is_swapped)
      for (std::uint32_t& one : n) one = __builtin_bswap32(one);
    // Vertices, the nodes of all elements, and a number for each triangle and quad.
    for (const std::uint64_t real_bytes : {sizeof(double), sizeof(float)}) {
      std::uint64_t n_bytes = sizeof n + 3 * real_bytes * n[0] + 4 * (std::uint64_t{n[1]} + n[2]);
      for (std::size_t k = 1; k < n.size(); ++k) n_bytes += 4 * n_nodes[k] * n[k];
      if (n[0] > 0 && n_bytes == file_bytes) return true;
    }
  }
  return false;
}

/// The dimension, a type of elements of GiD with its number of nodes, two numbers, then 1, 0, 0.
bool is_gid(std::string_view head) {
  if (head.substr(0, 64).find("GID_MESHSET") != head.npos) return true;
  std::array<std::uint32_t, 8> words{};
  if (head.size() < 64) return false;
  std::memcpy(words.data(), head.data(), sizeof words);
  constexpr std::array<std::array<std::uint32_t, 3>, 10> n_nodes{{{2, 3, 0},
                                                                  {3, 6, 0},
                                                                  {4, 8, 9},
                                                                  {4, 10, 0},
                                                                  {8, 20, 27},
                                                                  {6, 15, 18},
                                                                  {1, 0, 0},
                                                                  {5, 13, 14},
                                                                  {1, 0, 0},
                                                                  {1, 0, 0}}};
  if (words[5] != 1 || words[6] != 0 || words[7] != 0) return false;
  const auto [dimension, type, n] = std::array{words[0], words[1], words[2]};
  return (dimension == 2 || dimension == 3) && type >= 1 && type <= n_nodes.size() && n > 0 &&
         std::ranges::find(n_nodes[type - 1], n) != n_nodes[type - 1].end();
}

/// Counts of parts, vertices, polygons and edges; then the first and the last polygon of each part.
bool is_byu(const Lines& lines) {
  if (!are_counts(lines[0], 4)) return false;
  const std::vector<double> counts = numbers_in(lines[0]);
  const std::vector<double> ranges = numbers_in(lines[1]);
  return counts[0] >= 1 && counts[1] >= 3 && counts[2] >= 1 && counts[3] >= counts[2] && ranges.size() >= 2 &&
         static_cast<double>(ranges.size()) <= 2.0 * counts[0] && ranges.size() % 2 == 0 && ranges[0] == 1 &&
         ranges[1] >= 1 && ranges[1] <= counts[2];
}

bool is_ensight(std::string_view head, const Lines& lines) {
  return head.starts_with("C Binary") || head.starts_with("Fortran Binary") ||
         (lines[0].starts_with("FORMAT") && lines.have("type:") && lines.have("GEOMETRY"));
}

bool is_tecplot(const Lines& lines) {
  return (lines.have("VARIABLES") && lines.have("ZONE")) || (lines.have("TITLE") && lines.have("VARIABLES"));
}

struct TextRow {
  bool (*is)(std::string_view head, const Lines& lines, std::uint64_t file_bytes);
  ForeignFormat format;
};

template <std::size_t N>
bool begins(std::string_view head, const char (&text)[N]) {
  return head.starts_with(std::string_view(text, N - 1));
}

constexpr std::array text_rows{
    TextRow{[](auto head, const auto&, auto) { return begins(head, "\x1f\x8b"); },
            {"compressed by gzip", "gunzip it first"}},
    TextRow{[](auto head, const auto&, auto) { return begins(head, "PK\x03\x04"); },
            {"a zip archive", "unzip it first"}},
    TextRow{[](auto head, const auto&, auto) {
              return begins(head, "BZh") || begins(head,
                                                   "\xfd"
                                                   "7zXZ");
            },
            {"compressed by bzip2 or xz", "uncompress it first"}},
    TextRow{[](auto head, const auto&, auto) { return head.find("FoamFile") != head.npos; },
            {"a file of OpenFOAM", "convert the case with OpenFOAM's foamToVTK, and give its .vtu or .vtk file"}},
    TextRow{[](auto, const auto& lines, auto) { return lines[0].starts_with("MFEM "); },
            {"a mesh of MFEM", "let MFEM write it for VTK: Mesh::PrintVTK or Mesh::PrintVTU"}},
    TextRow{[](auto, const auto& lines, auto) {
              return lines.have("# Created by COMSOL") || lines.have("# Major & minor version");
            },
            {"a mesh of COMSOL (.mphtxt)", "export it from COMSOL as NASTRAN, which meshio and gmsh convert"}},
    TextRow{[](auto, const auto& lines, auto) {
              return lines.have("mesh3d") && (lines.have("dimension") || lines.have("geomtype"));
            },
            {"a mesh of Netgen (.vol)", by_meshio}},
    TextRow{[](auto head, const auto&, auto) { return begins(head, "ply\n") || begins(head, "ply\r"); },
            {"a surface in PLY", by_meshio}},
    TextRow{[](auto, const auto& lines, auto) {
              return lines[0] == "OFF" || lines[0] == "COFF" || lines[0] == "NOFF" || lines[0].starts_with("OFF ");
            },
            {"a surface in OFF", by_meshio}},
    TextRow{[](auto head, const auto&, auto) { return begins(head, "#!TDV"); },
            {"a binary file of Tecplot", "export it as ASCII (.dat), which meshio converts"}},
    TextRow{[](auto head, const auto& lines, auto) { return is_ensight(head, lines); },
            {"a file of EnSight", by_paraview}},
    TextRow{[](auto head, const auto&, auto) { return head.find("vtkMultiBlockDataSet") != head.npos; },
            {"a list of blocks of VTK (.vtm)",
             "give one of the .vtu files that it names, or save one of them with ParaView"}},
    TextRow{[](auto head, const auto&, auto) { return head.find("<dolfin") != head.npos; },
            {"a mesh of DOLFIN", by_meshio}},
    TextRow{[](auto, const auto& lines, auto) { return lines[0].starts_with("version https://git-lfs"); },
            {"a pointer of Git LFS, in place of the file itself", "get the file: git lfs pull"}},
    TextRow{[](auto, const auto& lines, auto) { return lines[0].starts_with("ISO-10303-21"); },
            {"a geometry in STEP, not a mesh", by_mesher}},
    TextRow{[](auto, const auto& lines, auto) { return lines.have("DBRep_DrawableShape"); },
            {"a geometry of OpenCASCADE (.brep), not a mesh", by_mesher}},
    TextRow{[](auto, const auto& lines, auto) { return lines[0].starts_with("* FLAC3D"); },
            {"a grid of FLAC3D", by_meshio}},
    TextRow{
        [](auto, const auto& lines, auto) { return lines.have("Begin ModelPartData") || lines.have("Begin Nodes"); },
        {"a model of Kratos (.mdpa)", by_meshio}},
    TextRow{[](auto, const auto& lines, auto) { return lines.have("mesh = {"); },
            {"a mesh of PyLith as text", "give the Gmsh or Exodus II file from which it was made"}},
    TextRow{[](auto, const auto& lines, auto) { return is_abaqus(lines); },
            {"an input file of Abaqus or CalculiX (.inp)", by_meshio}},
    TextRow{[](auto, const auto& lines, auto) { return is_unv(lines); },
            {"a universal file of I-deas (.unv)", by_gmsh}},
    TextRow{[](auto, const auto& lines, auto) { return is_nastran(lines); },
            {"a bulk data file of Nastran (.bdf, .nas)", by_meshio_or_gmsh}},
    TextRow{[](auto, const auto& lines, auto) { return is_fluent(lines); },
            {"a mesh or case of Fluent (.msh, .cas)",
             "open it in ParaView, and save the data as .vtu; or convert a .msh with meshio"}},
    TextRow{[](auto, const auto& lines, auto) { return is_tecplot(lines); }, {"a file of Tecplot", by_meshio}},
    TextRow{[](auto head, const auto& lines, auto n) { return is_stl(head, lines, n); },
            {"a surface in STL", by_meshio_or_gmsh}},
    TextRow{[](auto, const auto& lines, auto) { return is_obj(lines); }, {"a surface of Wavefront (.obj)", by_meshio}},
    TextRow{[](auto, const auto& lines, auto) { return lines.have("mshid="); },
            {"a mesh or geometry of JIGSAW (.msh)", "let jigsawpy write a mesh for VTK: jigsawpy.savevtk"}},
    TextRow{[](auto head, const auto& lines, auto n) { return is_aflr3(head, lines, n); },
            {"a mesh of AFLR3 (.ugrid)", by_meshio}},
    TextRow{[](auto head, const auto&, auto) { return is_gid(head); },
            {"a binary mesh of GiD (.msh)", "open it in GiD, and export it in another format"}},
    TextRow{[](auto, const auto& lines, auto) { return is_byu(lines); },
            {"a surface of MOVIE.BYU (.g)", "open it in ParaView, and save the data as .vtk"}},
    TextRow{[](auto, const auto& lines, auto) { return is_ucd(lines); }, {"a mesh of AVS (UCD, .inp)", by_meshio}},
    TextRow{[](auto, const auto& lines, auto) { return is_freefem(lines); },
            {"a mesh of FreeFem (.msh)", "let FreeFem write it for Medit: savemesh(Th, \"OUT.mesh\")"}},
};

struct NetcdfRow {
  bool (*is)(const files::NetcdfFile& file, const files::NetcdfListing& list);
  ForeignFormat format;
};

bool is_ugrid(const files::NetcdfFile& file, const files::NetcdfListing& list) {
  return std::ranges::any_of(list.variables, [&](const auto& variable) {
    return file.attribute(variable.name, "cf_role").value_or("") == "mesh_topology";
  });
}

constexpr std::array netcdf_rows{
    NetcdfRow{&is_ugrid, {"an unstructured grid of UGRID in netCDF", by_uxarray}},
    NetcdfRow{[](const auto& file, const auto&) { return file.has("grid_corner_lat") && file.has("grid_corner_lon"); },
              {"a grid of SCRIP in netCDF", by_uxarray}},
    NetcdfRow{[](const auto& file, const auto&) { return file.has("verticesOnCell") && file.has("cellsOnVertex"); },
              {"a mesh of MPAS in netCDF", by_uxarray}},
    NetcdfRow{[](const auto& file, const auto&) { return file.has("elementConn") && file.has("nodeCoords"); },
              {"an unstructured grid of ESMF in netCDF", by_uxarray}},
};

}  // namespace

std::optional<ForeignFormat> find_foreign_format(std::string_view head, std::uint64_t file_bytes) {
  const Lines lines(head);
  for (const TextRow& row : text_rows)
    if (row.is(head, lines, file_bytes)) return row.format;
  return std::nullopt;
}

std::optional<ForeignFormat> find_foreign_format(UnknownFile& file) {
  if (file.has_group("/ENS_MAA") || file.has_group("/INFOS_GENERALES"))
    return ForeignFormat{"a file of MED (Salome)", by_meshio_or_gmsh};
  if (file.has_group("/meshes") && file.has_group("/settings"))
    return ForeignFormat{"a case of Fluent on HDF5 (.cas.h5)", by_paraview};
  if (file.has_group("/element_vertices") && file.has_group("/vertex_coordinates") && file.has_group("/boundary_size"))
    return ForeignFormat{"a partitioned mesh of SeisSol in netCDF", "give the mesh from which it was made"};
  if (const files::NetcdfFile* const netcdf = file.netcdf(); netcdf != nullptr) {
    const files::NetcdfListing list = netcdf->list();
    for (const NetcdfRow& row : netcdf_rows)
      if (row.is(*netcdf, list)) return row.format;
    return std::nullopt;
  }
  return find_foreign_format(file.head(), file.bytes());
}

std::optional<ForeignFormat> find_foreign_folder(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  for (const char* place : {"points", "polyMesh", "constant/polyMesh"})
    if (fs::exists(fs::path(path) / place, ignored) &&
        (std::strcmp(place, "points") != 0 || fs::exists(fs::path(path) / "owner", ignored)))
      return ForeignFormat{"a mesh of OpenFOAM",
                           "convert the case with OpenFOAM's foamToVTK, and give its .vtu or .vtk file"};
  return std::nullopt;
}

}  // namespace barrio::io::detail
