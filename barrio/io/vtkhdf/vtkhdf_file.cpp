#include "barrio/io/vtkhdf/vtkhdf_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "barrio/base/error.hpp"
#include "barrio/io/vtk/vtk_pieces.hpp"

namespace barrio::io::detail {
namespace {

constexpr const char* steps_path = "/VTKHDF/Steps";

[[noreturn]] void refuse_vtkhdf(const std::string& path, const std::string& cause,
                                const std::string& remedy = damaged_remedy) {
  throw Error(ErrorCode::bad_input, {.subject = path, .cause = cause, .remedy = remedy});
}

std::string text_attribute(hid_t file, const std::string& object, const std::string& name) {
  const files::NativeValues text = files::read_native_attribute(file, object, name);
  return files::trimmed({reinterpret_cast<const char*>(text.bytes.data()), text.bytes.size()});
}

/// Advise on data that are no mesh of pieces.
std::string remedy_for(const std::string& type) {
  if (type == "ImageData") return "save it as an unstructured grid, for instance by VTK's vtkAppendFilter";
  if (type == "OverlappingAMR" || type == "HyperTreeGrid")
    return "open it in ParaView, or save its cells there as an unstructured grid";
  if (type == "MultiBlockDataSet" || type == "PartitionedDataSetCollection")
    return "save one of its blocks, or the blocks merged by ParaView's filter Merge Blocks";
  return "save it as an unstructured grid or polygonal data";
}

class CatalogReader {
 public:
  CatalogReader(hid_t file, const std::string& path, std::int64_t step) : file_(file), path_(path), step_(step) {}

  VtkhdfCatalog run() {
    find_lists();
    find_pieces();
    add_arrays("PointData", catalog_.on_points, catalog_.n_points(), catalog_.first_point);
    add_arrays("CellData", catalog_.on_cells, catalog_.n_cells(), first_of_step("CellOffsets"));
    catalog_.left_out.field_data = files::names_in(file_, "/VTKHDF/FieldData");
    return std::move(catalog_);
  }

 private:
  void find_lists() {
    const std::string type = text_attribute(file_, "/VTKHDF", "Type");
    const auto version = files::read_attribute(file_, "/VTKHDF", "Version");
    if (type.empty())
      refuse_vtkhdf(path_, "is a VTKHDF file that does not state its type",
                    "add the attribute Type to its group VTKHDF, with the text UnstructuredGrid or PolyData");
    if (type == "UnstructuredGrid") {
      catalog_.cells = {{.path = "/VTKHDF"}};
    } else if (type == "PolyData") {
      catalog_.cells = {{.path = "/VTKHDF/Vertices", .type = vtk_poly_vertex},
                        {.path = "/VTKHDF/Lines", .type = vtk_poly_line},
                        {.path = "/VTKHDF/Polygons", .type = vtk_polygon},
                        {.path = "/VTKHDF/Strips", .type = vtk_strip}};
    } else {
      refuse_vtkhdf(path_,
                    fmt::format("is a VTKHDF file of the type '{}'; barrio reads UnstructuredGrid and PolyData", type),
                    remedy_for(type));
    }
    catalog_.format = fmt::format("VTKHDF {} {}", fmt::join(version, "."), type);
  }

  /// Return a number of the step; 0 if the file has no steps or does not state it.
  [[nodiscard]] std::int64_t of_step(const std::string& name, std::int64_t place = -1) const {
    const std::string dataset = fmt::format("{}/{}", steps_path, name);
    if (step_ < 0 || !files::has(file_, dataset)) return 0;
    const bool has_places = files::extents(file_, dataset).size() > 1;
    const std::array<std::int64_t, 1> within{step_};
    const files::Rows rows =
        has_places ? files::Rows{std::max<std::int64_t>(place, 0), 1, within} : files::Rows{step_, 1};
    const std::int64_t n = files::read_integers(file_, dataset, rows)[0];
    if (n < 0) refuse_vtkhdf(path_, fmt::format("has {} in '{}'", n, dataset));
    return n;
  }
  /// Return the sum of a number of the step over all lists of cells.
  [[nodiscard]] std::int64_t first_of_step(const std::string& name) const {
    std::int64_t first = 0;
    for (std::size_t k = 0; k < catalog_.cells.size(); ++k) first += of_step(name, k);
    return first;
  }

  /// Read numbers of the pieces of the step.
  [[nodiscard]] std::vector<std::int64_t> of_pieces(const std::string& dataset, std::int64_t n) const {
    std::vector<std::int64_t> numbers = files::read_integers(file_, dataset, {catalog_.first_piece, n});
    if (std::ssize(numbers) != n)
      refuse_vtkhdf(path_, fmt::format("has {} numbers for {} pieces in '{}'", numbers.size(), n, dataset));
    std::int64_t sum = 0;
    for (const std::int64_t one : numbers)
      if (one < 0 || __builtin_add_overflow(sum, one, &sum))
        refuse_vtkhdf(path_, fmt::format("has {} in '{}', which makes no sense", one, dataset));
    return numbers;
  }

  /// Count the pieces whose cells precede those of the step. Polygonal data that do not change repeat the sizes of
  /// their pieces in each step, but not the cells.
  [[nodiscard]] std::int64_t n_pieces_before(const VtkhdfCells& list) const {
    if (list.type == 0 || catalog_.first_piece == 0) return catalog_.first_piece;
    const auto before = files::read_integers(file_, list.path + "/NumberOfCells", {0, catalog_.first_piece});
    std::int64_t n = 0;
    for (std::int64_t sum = 0; n < std::ssize(before) && sum < list.first_cell; ++n) sum += before[n];
    return n;
  }

  void find_pieces() {
    const auto all = files::extents(file_, "/VTKHDF/NumberOfPoints");
    if (all.size() != 1) refuse_vtkhdf(path_, "lacks a list 'NumberOfPoints'");
    catalog_.first_piece = of_step("PartOffsets");
    catalog_.first_point = of_step("PointOffsets");
    const bool states_n = step_ >= 0 && files::has(file_, fmt::format("{}/NumberOfParts", steps_path));
    const std::int64_t n = states_n ? of_step("NumberOfParts") : all[0] - catalog_.first_piece;
    if (n < 1 || catalog_.first_piece + n > all[0])
      refuse_vtkhdf(path_, fmt::format("has {} pieces from {} on in a list of {}", n, catalog_.first_piece, all[0]));
    for (const std::int64_t one : of_pieces("/VTKHDF/NumberOfPoints", n))
      catalog_.first_points.push_back(catalog_.first_points.back() + one);
    std::vector<std::int64_t> n_cells(n, 0);
    for (std::size_t k = 0; k < catalog_.cells.size(); ++k) {
      VtkhdfCells& list = catalog_.cells[k];
      if (list.type != 0 && !files::has(file_, list.path + "/NumberOfCells")) {
        list.n_cells.assign(n, 0);
        list.n_nodes.assign(n, 0);
        continue;
      }
      list.n_cells = of_pieces(list.path + "/NumberOfCells", n);
      list.n_nodes = of_pieces(list.path + "/NumberOfConnectivityIds", n);
      list.first_cell = of_step("CellOffsets", k);
      list.first_node = of_step("ConnectivityIdOffsets", k);
      list.n_pieces_before = n_pieces_before(list);
      for (std::size_t p = 0; p < n_cells.size(); ++p) n_cells[p] += list.n_cells[p];
    }
    for (const std::int64_t one : n_cells) catalog_.first_cells.push_back(catalog_.first_cells.back() + one);
    check_rows("/VTKHDF/Points", catalog_.first_point, catalog_.n_points());
    find_faces(n);
  }

  /// Read the sizes of the lists of faces. Steps do not state where these begin, so a mesh of polyhedra cannot change.
  void find_faces(std::int64_t n) {
    if (!files::has(file_, "/VTKHDF/FaceConnectivity")) return;
    if (catalog_.first_piece > 0)
      refuse_vtkhdf(path_, "has polyhedra that change from step to step", "write a file for each step");
    catalog_.faces = {of_pieces("/VTKHDF/NumberOfFaces", n), of_pieces("/VTKHDF/NumberOfFaceConnectivityIds", n),
                      of_pieces("/VTKHDF/NumberOfPolyhedronToFaceIds", n)};
  }

  void check_rows(const std::string& dataset, std::int64_t first, std::int64_t n) const {
    const auto sizes = files::extents(file_, dataset);
    if (n > 0 && (sizes.empty() || n > sizes[0] || first > sizes[0] - n))
      refuse_vtkhdf(path_, fmt::format("has {} rows in '{}', but rows {} to {} are announced",
                                       sizes.empty() ? 0 : sizes[0], dataset, first, first + n));
  }

  /// @param first  row of the step, unless the file states one for the array
  void add_arrays(const std::string& folder, std::vector<VtkhdfArray>& arrays, std::int64_t n, std::int64_t first) {
    for (const std::string& name : files::names_in(file_, "/VTKHDF/" + folder)) {
      VtkhdfArray array{.path = fmt::format("/VTKHDF/{}/{}", folder, name), .name = name};
      const auto sizes = files::extents(file_, array.path);
      std::int64_t n_components = 1;
      for (std::size_t d = 1; d < sizes.size(); ++d)
        if (__builtin_mul_overflow(n_components, sizes[d], &n_components)) n_components = 0;
      const files::NativeValues shape = sizes.empty() ? files::NativeValues() : files::shape_of_type(file_, array.path);
      using Kind = files::NativeValues::Kind;
      const bool is_number = shape.n_numbers == 1 && (shape.kind == Kind::integer || shape.kind == Kind::real) &&
                             (shape.kind == Kind::integer || shape.number_bytes == 4 || shape.number_bytes == 8);
      if (!is_number || n_components < 1 || n_components > 1 << 14) {
        catalog_.left_out.arrays.push_back(name);
        continue;
      }
      array.n_components = static_cast<int>(n_components);
      array.is_integer = shape.kind == Kind::integer;
      array.is_id = text_attribute(file_, array.path, "Attribute") == "GlobalIds";
      const std::string offsets = fmt::format("{}Offsets/{}", folder, name);
      array.first_row = files::has(file_, fmt::format("{}/{}", steps_path, offsets)) ? of_step(offsets) : first;
      check_rows(array.path, array.first_row, n);
      arrays.push_back(std::move(array));
    }
  }

  hid_t file_;
  const std::string& path_;
  std::int64_t step_;
  VtkhdfCatalog catalog_;
};

}  // namespace

std::int64_t n_vtkhdf_steps(hid_t file, const std::string& path) {
  if (!files::has(file, steps_path)) return 0;
  const auto n = files::read_attribute(file, steps_path, "NSteps");
  if (n.size() != 1 || n[0] < 1) refuse_vtkhdf(path, "has a group of time steps without their number");
  return n[0];
}

VtkhdfCatalog read_vtkhdf_catalog(hid_t file, const std::string& path, std::int64_t step) {
  return CatalogReader(file, path, step).run();
}

}  // namespace barrio::io::detail
