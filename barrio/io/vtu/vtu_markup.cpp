#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <pugixml.hpp>

#include "barrio/base/error.hpp"
#include "barrio/io/text/markup.hpp"
#include "barrio/io/vtu/vtu_file.hpp"

namespace barrio::io::detail {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& cause, const char* what_to_do = vtu_remedy) {
  throw Error(ErrorCode::bad_input, {.subject = path, .cause = cause, .remedy = what_to_do});
}

std::int64_t count_of(const pugi::xml_node& node, const char* attribute, const std::string& path) {
  const std::string text = node.attribute(attribute).as_string("0");
  std::int64_t n = -1;
  std::from_chars(text.data(), text.data() + text.size(), n);
  if (n < 0 || n > std::int64_t{1} << 48)
    refuse(path, fmt::format("has {} '{}', which makes no sense", attribute, text));
  return n;
}

class Parser {
 public:
  explicit Parser(const std::string& path) : path_(path) {}

  VtuIndex run(const std::string& markup) {
    pugi::xml_document document;
    const pugi::xml_parse_result parsed = document.load_buffer(markup.data(), markup.size());
    if (!parsed) refuse(path_, fmt::format("has markup that cannot be understood: {}", parsed.description()));
    const pugi::xml_node root = document.child("VTKFile");
    const std::string type = root.attribute("type").as_string();
    if (type == "PolyData")
      refuse(path_, "is an XML file of type 'PolyData' (.vtp); barrio reads poly data as .vtk and .vtkhdf",
             "convert it, for instance with pyvista: pyvista.read('IN.vtp').save('OUT.vtk')");
    if (type != "UnstructuredGrid")
      refuse(path_, fmt::format("is an XML file of type '{}'; barrio reads VTK's UnstructuredGrid", type),
             "save it as an unstructured grid");
    encoding(root);
    const pugi::xml_node appended = root.child("AppendedData");
    appended_ = appended.text().as_llong(-1);
    appended_form_ =
        appended.attribute("encoding").as_string() == std::string("raw") ? VtuArray::Form::raw : VtuArray::Form::base64;
    for (const pugi::xml_node& data : root.child("UnstructuredGrid").children("FieldData"))
      for (const pugi::xml_node& node : data.children())
        index_.left_out.field_data.emplace_back(node.attribute("Name").as_string());
    for (const pugi::xml_node& node : root.child("UnstructuredGrid").children("Piece")) piece(node);
    if (index_.pieces.empty()) refuse(path_, "has no pieces");
    return std::move(index_);
  }

 private:
  void encoding(const pugi::xml_node& root) {
    const std::string compressor = root.attribute("compressor").as_string();
    if (!compressor.empty() && compressor != "vtkZLibDataCompressor")
      refuse(path_, fmt::format("is compressed by {}; barrio knows vtkZLibDataCompressor", compressor),
             "save it with zlib or without compression");
    index_.encoding = {.order = root.attribute("byte_order").as_string() == std::string("BigEndian")
                                    ? std::endian::big
                                    : std::endian::little,
                       .size_bytes = root.attribute("header_type").as_string() == std::string("UInt64") ? 8 : 4,
                       .is_compressed = !compressor.empty()};
  }

  VtuArray array(const pugi::xml_node& node) {
    VtuArray found;
    found.name = node.attribute("Name").as_string();
    const std::string format = node.attribute("format").as_string();
    const std::string type = node.attribute("type").as_string();
    const auto number = vtu_number(type);
    if (!number) refuse(path_, fmt::format("has an array '{}' of the unknown type '{}'", found.name, type));
    found.number = *number;
    found.n_components = node.attribute("NumberOfComponents").as_int(1);
    if (found.n_components < 1 || found.n_components > 1 << 14)
      refuse(path_,
             fmt::format("has an array '{}' of {} components, which makes no sense", found.name, found.n_components));
    if (format == "appended") {
      if (appended_ < 0) refuse(path_, fmt::format("has no appended data for the array '{}'", found.name));
      found.form = appended_form_;
      found.offset = appended_ + count_of(node, "offset", path_);
    } else if (format == "ascii" || format == "binary") {
      found.form = format == "ascii" ? VtuArray::Form::text : VtuArray::Form::base64;
      found.offset = node.text().as_llong();
    } else {
      refuse(path_, fmt::format("has an array '{}' of the unknown format '{}'", found.name, format));
    }
    return found;
  }

  VtuArray named(const pugi::xml_node& parent, const char* name) {
    const pugi::xml_node node = parent.find_child_by_attribute("DataArray", "Name", name);
    if (!node) refuse(path_, fmt::format("has a piece without '{}' of its cells", name));
    VtuArray found = array(node);
    if (!is_integer(found.number)) refuse(path_, fmt::format("has '{}' of cells that are not integers", name));
    return found;
  }

  VtuFaces faces(const pugi::xml_node& cells) {
    VtuFaces found;
    const auto has = [&](const char* name) { return !!cells.find_child_by_attribute("DataArray", "Name", name); };
    if (has("polyhedron_to_faces")) {
      found.layout = VtuFaces::Layout::apart;
      found.cell_ends = named(cells, "polyhedron_offsets");
      found.cell_faces = named(cells, "polyhedron_to_faces");
      found.face_ends = named(cells, "face_offsets");
      found.face_points = named(cells, "face_connectivity");
    } else if (has("faces")) {
      found.layout = VtuFaces::Layout::streams;
      found.cell_ends = named(cells, "faceoffsets");
      found.streams = named(cells, "faces");
    }
    return found;
  }

  /// Parse the arrays of all elements of a name, "PointData" or "CellData".
  std::vector<VtuArray> data(const pugi::xml_node& piece, const char* name) {
    std::vector<VtuArray> arrays;
    for (const pugi::xml_node& parent : piece.children(name))
      for (const pugi::xml_node& node : parent.children()) {
        const std::string type = node.attribute("type").as_string();
        if (type == "String" || type == "Bit") {
          if (index_.pieces.empty()) index_.left_out.arrays.emplace_back(node.attribute("Name").as_string());
          continue;
        }
        arrays.push_back(array(node));
        arrays.back().is_id = arrays.back().name == parent.attribute("GlobalIds").as_string();
      }
    return arrays;
  }

  static bool are_alike(const std::vector<VtuArray>& a, const std::vector<VtuArray>& b) {
    return std::ranges::equal(a, b, [](const VtuArray& x, const VtuArray& y) {
      return x.name == y.name && x.n_components == y.n_components && is_integer(x.number) == is_integer(y.number);
    });
  }

  void piece(const pugi::xml_node& node) {
    VtuPiece found;
    found.n_points = count_of(node, "NumberOfPoints", path_);
    found.n_cells = count_of(node, "NumberOfCells", path_);
    if (found.n_points > 0) {
      const pugi::xml_node points = node.child("Points").child("DataArray");
      if (!points) refuse(path_, "has a piece without points");
      found.points = array(points);
      if (found.points.n_components != 3)
        refuse(path_, fmt::format("has points of {} coordinates, but must have 3", found.points.n_components));
    }
    if (found.n_cells > 0) {
      found.nodes = named(node.child("Cells"), "connectivity");
      found.ends = named(node.child("Cells"), "offsets");
      found.types = named(node.child("Cells"), "types");
      found.faces = faces(node.child("Cells"));
    }
    found.on_points = data(node, "PointData");
    found.on_cells = data(node, "CellData");
    // Pieces without rows may lack the arrays.
    if (index_.n_points == 0) index_.on_points = found.on_points;
    if (index_.n_cells == 0) index_.on_cells = found.on_cells;
    if ((found.n_points > 0 && !are_alike(found.on_points, index_.on_points)) ||
        (found.n_cells > 0 && !are_alike(found.on_cells, index_.on_cells)))
      refuse(path_, "has pieces with other data than the first one");
    index_.n_points += found.n_points;
    index_.n_cells += found.n_cells;
    index_.pieces.push_back(std::move(found));
  }

  const std::string& path_;
  VtuIndex index_;
  std::int64_t appended_ = -1;
  VtuArray::Form appended_form_ = VtuArray::Form::raw;
};

}  // namespace

std::optional<VtkNumber> vtu_number(std::string_view type) {
  constexpr std::array<std::string_view, 10> names{"Int8",   "UInt8", "Int16",  "UInt16",  "Int32",
                                                   "UInt32", "Int64", "UInt64", "Float32", "Float64"};
  const auto* const known = std::ranges::find(names, type);
  return known == names.end() ? std::nullopt : std::optional(static_cast<VtkNumber>(known - names.begin()));
}

std::string read_vtu_markup(const std::string& path) {
  std::string markup = read_markup(path, vtu_remedy, [](const std::string& tag) {
    if (tag.starts_with("<AppendedData")) return MarkupText::rest;
    return tag.starts_with("<DataArray") || tag.starts_with("<Array") ? MarkupText::place : MarkupText::left_out;
  });
  if (markup.rfind("<AppendedData") != std::string::npos && !markup.ends_with(">"))
    markup += "</AppendedData></VTKFile>";
  return markup;
}

VtuIndex parse_vtu(const std::string& markup, const std::string& path) { return Parser(path).run(markup); }

}  // namespace barrio::io::detail
