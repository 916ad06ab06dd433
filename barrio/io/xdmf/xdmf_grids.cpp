#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <optional>
#include <pugixml.hpp>

#include "barrio/io/common/structured_cells.hpp"
#include "barrio/io/text/letters.hpp"
#include "barrio/io/text/markup.hpp"
#include "barrio/io/xdmf/xdmf_file.hpp"
#include "barrio/io/xdmf/xdmf_items.hpp"

namespace barrio::io::detail {
namespace {

constexpr int deepest = 8;  // of references and collections

bool is_include(const pugi::xml_node& node) {
  const std::string_view name = node.name();
  return name == "include" || name.ends_with(":include");
}

/// Return the number of components of an array on as many rows.
int width_of(const XdmfArray& array, std::int64_t n_rows, const char* of, const std::string& path) {
  const std::int64_t n = array.values.n_numbers();
  if (n % n_rows != 0 || n / n_rows < 1 || n / n_rows > 1 << 14)
    throw Error(ErrorCode::bad_input,
                {.subject = path,
                 .cause = fmt::format("has {} values in the attribute '{}' of {} {}", n, array.name, n_rows, of),
                 .remedy = xdmf_remedy});
  return static_cast<int>(n / n_rows);
}

class XdmfParser {
 public:
  explicit XdmfParser(const std::string& path) : path_(path), items_(path) {}

  XdmfIndex run(const std::string& given) {
    const std::string markup = with_entities(given, path_);
    const pugi::xml_parse_result parsed = document_.load_buffer(markup.data(), markup.size());
    if (!parsed) fail(fmt::format("has markup that cannot be understood: {}", parsed.description()));
    std::vector<XdmfSeries> all;
    const pugi::xml_node domain = document_.child("Xdmf").child("Domain");
    for (const pugi::xml_node& node : nodes_in(domain))
      if (std::string_view(node.name()) == "Grid") all.push_back(series(node, 0));
    if (all.empty()) fail("has no grids");
    return combine_grids(all, std::move(left_out_));
  }

 private:
  [[noreturn]] void fail(const std::string& cause, const std::string& remedy = xdmf_remedy) const {
    fail_xdmf(path_, cause, remedy);
  }

  [[nodiscard]] pugi::xpath_node_set select(const std::string& words) const {
    if (words.size() > 1024) fail("has a reference that is longer than 1024 letters");
    try {
      return document_.select_nodes(words.c_str());
    } catch (const pugi::xpath_exception& error) {
      fail(fmt::format("has the reference '{}', which cannot be understood: {}", words, error.what()));
    }
  }

  /// Follow a node that refers to another one.
  [[nodiscard]] pugi::xml_node resolved(pugi::xml_node node) const {
    for (int depth = 0; node.attribute("Reference"); ++depth) {
      const std::string words = value_of(node, {"Reference"});
      const std::string target = words == "XML" ? plain_words(node.text().as_string()) : words;
      const pugi::xpath_node_set found = select(target);
      if (found.empty() || depth == deepest) fail(fmt::format("has a reference to '{}', which does not exist", target));
      node = found.first().node();
    }
    return node;
  }

  /// Follow a path of the numbers of elements among their siblings: "/1/1/2".
  [[nodiscard]] pugi::xml_node element_at(const std::string& path) const {
    pugi::xml_node node = document_;
    for (std::size_t begin = 1; begin <= path.size();) {
      const std::size_t end = std::min(path.find('/', begin), path.size());
      std::int64_t left = 0;
      const auto [next, error] = std::from_chars(path.data() + begin, path.data() + end, left);
      if (error != std::errc() || next != path.data() + end || left < 1)
        fail(fmt::format("includes the element '{}', which is not a path of numbers", path));
      node = node.first_child();
      while (node && (node.type() != pugi::node_element || --left > 0)) node = node.next_sibling();
      if (!node) fail(fmt::format("includes the element '{}', which does not exist", path));
      begin = end + 1;
    }
    return node;
  }

  /// Return the nodes that an include names, by a query or a path of numbers.
  [[nodiscard]] std::vector<pugi::xml_node> included_by(const pugi::xml_node& node, int depth) const {
    if (depth == deepest) fail("includes itself");
    const std::string pointer = value_of(node, {"xpointer"});
    const auto query = pointer.find("xpointer(");
    const bool is_path = pointer.starts_with("element(/");
    if (!value_of(node, {"href"}).empty() || (query == std::string::npos && !is_path) || !pointer.ends_with(")"))
      fail("includes another file, or names what it includes in a way that barrio does not know",
           "write the mesh into the file itself");
    std::vector<pugi::xml_node> found;
    if (is_path)
      found.push_back(element_at(pointer.substr(8, pointer.size() - 9)));
    else
      for (const pugi::xpath_node& one : select(pointer.substr(query + 9, pointer.size() - query - 10)))
        found.push_back(one.node());
    std::vector<pugi::xml_node> all;
    for (const pugi::xml_node& one : found) append_resolved(one, depth + 1, all);
    return all;
  }
  void append_resolved(const pugi::xml_node& node, int depth, std::vector<pugi::xml_node>& all) const {
    if (!is_include(node)) return all.push_back(resolved(node));
    const std::vector<pugi::xml_node> included = included_by(node, depth);
    all.insert(all.end(), included.begin(), included.end());
  }

  /// Return the time that a child of a grid states, if it does.
  [[nodiscard]] static std::optional<double> time_of(const pugi::xml_node& node) {
    if (std::string_view(node.name()) != "Time") return std::nullopt;
    const char* const text = node.attribute("Value").value();
    char* end = nullptr;
    const double time = std::strtod(text, &end);
    return end == text ? std::nullopt : std::optional(time);
  }

  /// Return the children of a node, with those that it includes from elsewhere in the file.
  [[nodiscard]] std::vector<pugi::xml_node> nodes_in(const pugi::xml_node& parent) const {
    std::vector<pugi::xml_node> all;
    for (const pugi::xml_node& node : parent.children()) append_resolved(node, 0, all);
    return all;
  }

  [[nodiscard]] std::vector<XdmfItem> items_of(const pugi::xml_node& parent) const {
    std::vector<XdmfItem> all;
    for (const pugi::xml_node& node : nodes_in(parent))
      if (std::string_view(node.name()) == "DataItem") all.push_back(items_.item(node));
    return all;
  }

  /// @param depth  of collections
  XdmfSeries series(const pugi::xml_node& node, int depth) {
    if (depth > deepest) fail("has collections in each other, too deep");
    const std::string type = lower(value_of(node, {"GridType", "Type"}, "uniform"));
    XdmfSeries found{.name = value_of(node, {"Name"}), .steps = {}};
    if (type == "uniform") {
      found.steps = {{grid(node)}};
      return found;
    }
    if (type != "collection" && type != "tree")
      fail(fmt::format("has a grid of the type '{}', which barrio does not read", type));
    found.has_steps = type == "collection" && lower(value_of(node, {"CollectionType"}, "spatial")) == "temporal";
    if (!found.has_steps) found.steps.emplace_back();
    for (const pugi::xml_node& child : nodes_in(node)) {
      if (std::string_view(child.name()) != "Grid") continue;
      XdmfSeries of_child = series(child, depth + 1);
      if (of_child.has_steps) fail("has a series of steps within a collection", "write one series of the whole mesh");
      if (found.has_steps) {
        found.steps.push_back(std::move(of_child.steps[0]));
        for (const pugi::xml_node& part : nodes_in(child))
          if (const auto time = time_of(part)) found.times.push_back(*time);
      } else {
        found.steps[0].insert(found.steps[0].end(), of_child.steps[0].begin(), of_child.steps[0].end());
      }
    }
    if (found.steps.empty() || found.steps[0].empty())
      fail(fmt::format("has a collection '{}' without grids", found.name));
    return found;
  }

  XdmfGrid grid(const pugi::xml_node& node) {
    XdmfGrid found{.name = value_of(node, {"Name"})};
    const std::vector<pugi::xml_node> parts = nodes_in(node);
    const auto part = [&](std::string_view name) {
      const auto one = std::ranges::find_if(parts, [&](const pugi::xml_node& p) { return p.name() == name; });
      if (one == parts.end()) fail(fmt::format("has a grid '{}' without {}", found.name, name));
      return *one;
    };
    add_topology(part("Topology"), found);
    add_geometry(part("Geometry"), found);
    for (const pugi::xml_node& one : parts)
      if (std::string_view(one.name()) == "Attribute") add_attribute(one, found);
    return found;
  }

  void add_topology(const pugi::xml_node& node, XdmfGrid& grid) const {
    const std::string type = lower(value_of(node, {"TopologyType", "Type"}));
    std::vector<std::int64_t> sizes = items_.counts(value_of(node, {"NumberOfElements", "Dimensions"}));
    if (type.ends_with("smesh") || type.ends_with("rectmesh")) {
      if (sizes.empty() || sizes.size() > 3 || std::ranges::count(sizes, 0) > 0)
        fail(fmt::format("has a grid '{}' of {} dimensions", grid.name, sizes.size()));
      grid.is_structured = true;
      std::ranges::copy(sizes.rbegin(), sizes.rend(), grid.dimensions.begin());  // the file has the slowest first
      grid.n_cells = PointGrid{grid.dimensions}.n_cells();
      return;
    }
    const XdmfKind* const kind = xdmf_kind(type);
    if ((kind == nullptr || kind->code == xdmf_polyhedron) && type != "mixed")
      fail(fmt::format("has a grid '{}' of cells '{}', which barrio does not read", grid.name, type),
           "write tets, hexes, prisms, pyramids, triangles, quads, polygons or lines");
    grid.nodes = items_of(node);
    if (grid.nodes.size() != 1) fail(fmt::format("has a grid '{}' of cells without one list of nodes", grid.name));
    if (value_of(node, {"BaseOffset"}, "0") != "0")
      fail(fmt::format("has a grid '{}' whose points are not counted from 0", grid.name), "count them from 0");
    const XdmfItem& nodes = grid.nodes[0];
    grid.n_cells = 1;
    for (const std::int64_t n : sizes) grid.n_cells *= n;
    if (sizes.empty()) grid.n_cells = nodes.dimensions.empty() ? 0 : nodes.dimensions[0];
    const bool is_length = grid.n_cells == nodes.n_numbers();  // writers of version 3 give that of the list
    if (kind == nullptr) {
      if (grid.n_cells > 0 && (is_length || sizes.empty())) grid.n_cells = XdmfGrid::uncounted;
      return;
    }
    if (is_length && kind->n_nodes > 1 && grid.n_cells % kind->n_nodes == 0) grid.n_cells /= kind->n_nodes;
    grid.vtk_type = kind->vtk_type;
    grid.n_nodes = kind->n_nodes;
    if (grid.n_nodes == 0 && grid.n_cells > 0) {
      const std::vector<std::int64_t> stated = items_.counts(value_of(node, {"NodesPerElement"}));
      grid.n_nodes = stated.empty() ? nodes.n_numbers() / grid.n_cells : stated[0];
    }
    if (grid.n_cells > XdmfItems::max_count || grid.n_nodes > 1 << 20 ||
        grid.n_cells * grid.n_nodes != nodes.n_numbers())
      fail(fmt::format("has {} numbers in the list of {} cells of {} nodes", nodes.n_numbers(), grid.n_cells,
                       grid.n_nodes));
  }

  void add_geometry(const pugi::xml_node& node, XdmfGrid& grid) const {
    const std::string type = lower(value_of(node, {"GeometryType", "Type"}, "xyz"));
    grid.coordinates = items_of(node);
    const std::size_t n = grid.coordinates.size();
    using Points = XdmfGrid::Points;
    std::size_t wanted = 1;
    if (type == "xyz" || type == "xy") {
      grid.points = type == "xyz" ? Points::xyz : Points::xy;
    } else if (type == "x_y_z" || type == "x_y") {
      grid.points = Points::apart;
      wanted = type == "x_y" ? 2 : 3;
    } else if (type == "vxvyvz" || type == "vxvy") {
      grid.points = Points::axes;
      wanted = type == "vxvy" ? 2 : 3;
    } else if (type.starts_with("origin_dxdy")) {
      grid.points = Points::even;
      wanted = 2;
    } else {
      fail(fmt::format("has a grid '{}' with a geometry '{}', which barrio does not read", grid.name, type));
    }
    if (n != wanted) fail(fmt::format("has a geometry '{}' of {} arrays, but must have {}", type, n, wanted));
    const bool is_implicit = grid.points == Points::axes || grid.points == Points::even;
    if (is_implicit && !grid.is_structured) fail(fmt::format("has cells with a geometry '{}'", type));
    const std::int64_t width = grid.points == Points::xyz ? 3 : grid.points == Points::xy ? 2 : 1;
    grid.n_points = is_implicit ? PointGrid{grid.dimensions}.n_points() : grid.coordinates[0].n_numbers() / width;
    for (const XdmfItem& one : grid.coordinates)
      if (!is_implicit && one.n_numbers() != grid.n_points * width)
        fail(fmt::format("has {} coordinates for {} points", one.n_numbers(), grid.n_points));
    if (grid.is_structured && grid.n_points != PointGrid{grid.dimensions}.n_points())
      fail(fmt::format("has {} points for a grid of {}", grid.n_points, PointGrid{grid.dimensions}.n_points()));
  }

  void add_attribute(const pugi::xml_node& node, XdmfGrid& grid) {
    const std::string name = value_of(node, {"Name"});
    const std::string centre = lower(value_of(node, {"Center"}, "node"));
    const std::int64_t rows = centre == "node" ? grid.n_points : grid.n_cells;
    std::optional<XdmfArray> array;
    if (centre == "node" || centre == "cell") {
      // A selection or function of other arrays cannot be a tag.
      const Status fault = capture([&] {
        const std::vector<XdmfItem> values = items_of(node);
        if (values.size() != 1) fail("has an attribute without one array");
        array = XdmfArray{.name = name, .values = values[0]};
      });
      if (!fault && rows > 0)
        array->n_components = width_of(*array, rows, centre == "node" ? "points" : "cells", path_);
      if (!fault && rows == XdmfGrid::uncounted) array->n_components = 0;
      if (fault) array.reset();
    }
    if (!array) {
      leave_out(left_out_, fmt::format("attribute '{}', which is not an array of points or cells", name));
      return;
    }
    // A grid that includes those of another step lists its own ones behind them.
    std::vector<XdmfArray>& arrays = centre == "node" ? grid.on_points : grid.on_cells;
    if (const auto before = std::ranges::find(arrays, name, &XdmfArray::name); before != arrays.end()) {
      leave_out(left_out_, fmt::format("an earlier attribute '{}' of the same grid", name));
      *before = *std::move(array);
    } else {
      arrays.push_back(*std::move(array));
    }
  }

  const std::string& path_;
  XdmfItems items_;
  pugi::xml_document document_;
  VtkLeftOut left_out_;
};

}  // namespace

std::int64_t XdmfItem::n_numbers() const noexcept {
  std::int64_t n = 1;
  for (const std::int64_t one : dimensions) n *= one;
  return n;
}

void fit_cell_arrays(std::vector<XdmfGrid>& pieces, const std::string& path) {
  for (XdmfGrid& piece : pieces)
    for (XdmfArray& array : piece.on_cells)
      if (array.n_components == 0)
        array.n_components = piece.n_cells == 0 ? 1 : width_of(array, piece.n_cells, "cells", path);
  for (const XdmfGrid& piece : pieces)
    for (std::size_t i = 0; i < piece.on_cells.size(); ++i)
      if (piece.on_cells[i].n_components != pieces[0].on_cells[i].n_components)
        throw Error(ErrorCode::bad_input,
                    {.subject = path,
                     .cause = fmt::format(
                         "has an attribute '{}' of {} values for a cell of one piece, of {} in another",
                         piece.on_cells[i].name, pieces[0].on_cells[i].n_components, piece.on_cells[i].n_components),
                     .remedy = xdmf_remedy});
}

bool is_xdmf(std::string_view head) {
  return (head.starts_with("<") || head.starts_with("\xef\xbb\xbf<")) && head.find("<Xdmf") != std::string_view::npos;
}

std::string read_xdmf_markup(const std::string& path) {
  return read_markup(path, xdmf_remedy, [](const std::string& tag) {
    std::string letters = lower(tag);
    std::ranges::replace(letters, '\'', '"');
    const auto says = [&](std::string_view words) { return letters.find(words) != std::string::npos; };
    if (says("reference=") || says("format=\"hdf\"") || says("format=\"binary\"")) return MarkupText::words;
    return tag.starts_with("<DataItem") ? MarkupText::place : MarkupText::left_out;
  });
}

XdmfIndex parse_xdmf(const std::string& markup, const std::string& path) { return XdmfParser(path).run(markup); }

}  // namespace barrio::io::detail
