#include "barrio/io/cgns/cgns_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "barrio/base/error.hpp"
#include "barrio/io/cgns/cgns_nodes.hpp"
#include "barrio/io/cgns/mixed_section.hpp"
#include "barrio/io/common/node_orders.hpp"

namespace barrio::io::detail {
namespace {

using mesh::CellType;

std::string type_name(std::int64_t number) {
  if (number == 22) return " (NGON_n)";
  return number == 23 ? " (NFACE_n)" : "";
}

/// Tell whether a section states the cells of its sides, and has zeros in place of their nodes.
bool lists_only_parents(hid_t file, const std::string& section) {
  if (!files::has(file, data_of(section + "/ParentElements"))) return false;
  const std::string nodes = data_of(section + "/ElementConnectivity");
  const auto sizes = files::extents(file, nodes);
  if (sizes.size() != 1 || sizes[0] < 1) return false;
  const auto first = files::read_integers(file, nodes, {0, std::min<std::int64_t>(sizes[0], max_cell_nodes)});
  return std::ranges::all_of(first, [](std::int64_t node) { return node == 0; });
}

/// Add a section to its zone; of one of mixed types an entry for each type.
void add_section(hid_t file, const std::string& path, CgnsZone& zone, const std::string& name, CgnsCatalog& catalog) {
  CgnsSection section{.path = zone.path + "/" + name, .name = name};
  const auto type = files::read_integers(file, data_of(section.path));
  const auto range = files::read_integers(file, data_of(section.path + "/ElementRange"));
  const auto sizes = files::extents(file, data_of(section.path + "/ElementConnectivity"));
  const bool is_mixed = !type.empty() && type[0] == 20 && !zone.is_structured;
  const CellKind* const known = type.empty() ? nullptr : cgns_kind(static_cast<int>(type[0]));
  if (!is_mixed && (known == nullptr || known->type == CellType::vertex))
    refuse(ErrorCode::bad_input, path,
           fmt::format("section '{}' of zone '{}' has elements of CGNS type {}{}, which are not supported", name,
                       zone.name, type.empty() ? 0 : type[0], type.empty() ? "" : type_name(type[0])),
           "save sections of bars, triangles, quads, tets, pyramids, prisms, hexes of first or second order");
  if (range.size() == 2 && lists_only_parents(file, section.path)) {
    zone.without_nodes.push_back({range[0], range[1]});
    catalog.left_out.push_back(
        fmt::format("section '{}' of zone '{}': it has the cells of its sides (ParentElements), but not their nodes",
                    name, zone.name));
    return;
  }
  constexpr std::int64_t most = std::int64_t{1} << 62;  // leaves room for additions to an element's number
  if (range.size() == 2 && range[0] >= 1 && range[1] >= range[0] && range[1] < most && sizes.size() == 1) {
    section.first = range[0];
    if (is_mixed) {
      const CgnsMixed mixed = scan_cgns_mixed(file, path, zone, name, range[0], range[1] - range[0] + 1);
      section.mixed = static_cast<int>(zone.mixed.size());
      for (section.kind = 0; section.kind < std::ssize(mixed.kinds); ++section.kind) {
        const CellKind& kind = *cgns_kind(mixed.kinds[section.kind]);
        section.type = kind.type;
        section.n_nodes = kind.n_nodes;
        section.n = *(mixed.counts.end() - std::ssize(mixed.kinds) + section.kind);
        zone.sections.push_back(section);
      }
      zone.mixed.push_back(mixed);
      return;
    }
    section.type = known->type;
    section.n_nodes = known->n_nodes;
    section.n = sizes[0] / section.n_nodes;
    if (section.n * section.n_nodes == sizes[0] && section.n == range[1] - range[0] + 1) {
      files::check_size(file, data_of(section.path + "/ElementConnectivity"));
      zone.sections.push_back(section);
      return;
    }
  }
  refuse(
      ErrorCode::bad_input, path,
      fmt::format("section '{}' of zone '{}' must have as many nodes as its range of elements needs", name, zone.name),
      damaged_remedy);
}

/// @return nothing if the boundary condition has no location
std::optional<CgnsBoundary> boundary_of(hid_t file, const std::string& path, const CgnsZone& zone,
                                        const std::string& node, const std::string& name) {
  const std::string family = text_of(file, node + "/FamilyName");
  CgnsBoundary boundary{.name = family.empty() ? name : family, .has_family = !family.empty()};
  const std::string location = text_of(file, node + "/GridLocation");
  boundary.on_vertices = location.empty() || location == "Vertex";
  for (const char* list : {"PointRange", "ElementRange", "PointList", "ElementList"}) {
    const std::string data = data_of(node + "/" + list);
    if (!files::has(file, data)) continue;
    if (list[0] == 'E') boundary.on_vertices = false;
    const auto sizes = files::extents(file, data);
    if (!std::string_view(list).ends_with("Range")) {
      boundary.path = data;
      boundary.n = sizes.empty() ? 0 : sizes[0];
      if (!zone.is_structured) return boundary;
      refuse(ErrorCode::bad_input, path,
             fmt::format("boundary condition '{}' of the structured zone '{}' is a list of points", name, zone.name),
             "give it as a range");
    }
    const auto ends = files::read_integers(file, data);
    const std::size_t n_indices = zone.n_indices;
    if (ends.size() != 2 * n_indices)
      refuse(ErrorCode::bad_input, path,
             fmt::format("boundary condition '{}' of zone '{}' must have two ends", name, zone.name), damaged_remedy);
    boundary.low.fill(1);
    boundary.high.fill(1);
    int n_faces = 0;
    for (int d = 0; d < zone.n_indices; ++d) {
      boundary.low[d] = std::min(ends[d], ends[n_indices + d]);
      boundary.high[d] = std::max(ends[d], ends[n_indices + d]);
      const bool may_be_face = boundary.low[d] == boundary.high[d] &&
                               (boundary.on_vertices || boundary.low[d] == 1 || boundary.low[d] == zone.n[d]);
      const std::int64_t n = zone.n[d] - (boundary.on_vertices || may_be_face ? 0 : 1);
      if (zone.is_structured && (boundary.low[d] < 1 || boundary.high[d] > n))
        refuse(ErrorCode::bad_input, path,
               fmt::format("boundary condition '{}' of zone '{}' lies outside of the zone", boundary.name, zone.name),
               damaged_remedy);
      n_faces += may_be_face ? 1 : 0;
      if (may_be_face) boundary.normal = d;
    }
    if (const auto letter = location.substr(0, 1); letter >= "I" && letter <= "K" && location.ends_with("FaceCenter")) {
      boundary.normal = location[0] - 'I';
      n_faces = 1;
    }
    if (zone.is_structured && n_faces == 1 && boundary.normal < zone.n_indices) {
      const std::size_t normal = boundary.normal;
      if (boundary.low[normal] != boundary.high[normal])
        refuse(
            ErrorCode::bad_input, path,
            fmt::format("boundary condition '{}' of zone '{}' is on faces of {}, but reaches from {} = {} to {}",
                        boundary.name, zone.name, location, "ijk"[normal], boundary.low[normal], boundary.high[normal]),
            "give a boundary condition for each plane of faces");
    }
    if (zone.is_structured && (n_faces != 1 || boundary.normal >= zone.n_indices))
      refuse(
          ErrorCode::bad_input, path,
          fmt::format("boundary condition '{}' of zone '{}' is not on one face of the zone", boundary.name, zone.name),
          "give each boundary condition a range of points on one face");
    if (zone.is_structured && zone.n_indices == 1) boundary.on_vertices = true;
    return boundary;
  }
  return {};
}

/// Tell whether a boundary condition is on elements of a section that is left out.
bool is_without_nodes(hid_t file, const CgnsZone& zone, const CgnsBoundary& boundary) {
  if (boundary.on_vertices || zone.without_nodes.empty()) return false;
  std::int64_t first = boundary.low[0];
  if (!boundary.path.empty()) {
    const auto numbers =
        boundary.n > 0 ? files::read_integers(file, boundary.path, {0, 1}) : std::vector<std::int64_t>();
    if (numbers.empty()) return false;
    first = numbers[0];
  }
  return std::ranges::any_of(zone.without_nodes,
                             [&](const auto& ends) { return first >= ends[0] && first <= ends[1]; });
}

/// Order names with numbers as people do: "step 9" is before "step 10".
bool is_before(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto number_at = [&](std::string_view text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && is_digit(text[end])) ++end;
    while (at + 1 < end && text[at] == '0') ++at;
    return text.substr(at, end - at);
  };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::string_view m = number_at(a, i);
      const std::string_view n = number_at(b, j);
      if (m.size() != n.size()) return m.size() < n.size();
      if (m != n) return m < n;
      i = m.data() + m.size() - a.data();
      j = n.data() + n.size() - b.data();
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

/// List the values of the solutions of a zone; what does not fit is named.
void add_solutions(hid_t file, CgnsZone& zone, int cell_dim, CgnsCatalog& catalog) {
  std::int64_t n_cells = 0;
  for (const CgnsSection& section : zone.sections)
    if (value(mesh::topology(section.type).dim) == cell_dim) n_cells += section.n;
  std::vector<std::string> solutions = children(file, zone.path, "FlowSolution_t");
  std::ranges::sort(solutions, is_before);
  // data that are no solutions are kept the same way
  const std::vector<std::string> discrete = children(file, zone.path, "DiscreteData_t");
  solutions.insert(solutions.end(), discrete.begin(), discrete.end());
  for (const std::string& solution : solutions) {
    const std::string node = zone.path + "/" + solution;
    const auto leave_out = [&](const std::string& what, std::string_view why) {
      catalog.left_out.push_back(fmt::format("{} of zone '{}': {}", what, zone.name, why));
    };
    const std::string location = text_of(file, node + "/GridLocation");
    const bool on_cells = location == "CellCenter";
    if (!on_cells && !location.empty() && location != "Vertex") {
      leave_out(fmt::format("solution '{}'", solution), fmt::format("it is on {}", location));
      continue;
    }
    for (const std::string& name : children(file, node, "DataArray_t")) {
      CgnsArray array{.path = data_of(node + "/" + name), .name = name, .on_cells = on_cells};
      std::vector<std::int64_t> expected{zone.n.begin(), zone.n.begin() + zone.n_indices};
      if (on_cells && zone.is_structured)
        for (std::int64_t& n : expected) n -= 1;
      if (on_cells && !zone.is_structured) expected[0] = n_cells;
      auto shape = files::extents(file, array.path);
      std::ranges::reverse(shape);
      const auto kind =
          files::has(file, array.path) ? files::shape_of_type(file, array.path).kind : files::NativeValues::Kind::other;
      array.is_integer = kind == files::NativeValues::Kind::integer;
      if (kind == files::NativeValues::Kind::other) {
        leave_out(fmt::format("'{}' of solution '{}'", name, solution), "it holds no numbers");
      } else if (shape != expected) {
        leave_out(fmt::format("'{}' of solution '{}'", name, solution),
                  files::has(file, data_of(node + "/Rind")) ? "it has rind" : "its size is another one");
      } else {
        for (const CgnsArray& other : zone.arrays)
          array.step += other.name == array.name && other.on_cells == array.on_cells ? 1 : 0;
        catalog.n_steps = std::max<std::int64_t>(catalog.n_steps, array.step + 1);
        zone.arrays.push_back(std::move(array));
      }
    }
  }
}

std::string coordinate_of(const CgnsZone& zone, int d) {
  constexpr std::array<char, 3> axes{'X', 'Y', 'Z'};
  return data_of(fmt::format("{}/GridCoordinates/Coordinate{}", zone.path, axes[d]));
}

/// Refuse a zone whose type or number of sizes barrio does not know.
void check_zone(const std::string& path, const std::string& name, const std::string& kind, std::int64_t n_sizes,
                const CgnsCatalog& catalog) {
  if (kind != "Structured" && kind != "Unstructured")
    refuse(ErrorCode::bad_input, path,
           fmt::format("zone '{}' has the ZoneType '{}', but it must be Structured or Unstructured", name, kind),
           "write the whole word into the node ZoneType");
  const std::int64_t n_indices = kind == "Structured" ? catalog.cell_dim : 1;
  if (n_sizes == 3 * n_indices) return;
  if (kind == "Structured" && n_sizes % 3 == 0 && n_sizes > 0 && n_sizes <= 9)
    refuse(ErrorCode::bad_input, path,
           fmt::format("zone '{}' has cells of dimension {} in a base of dimension {}", name, n_sizes / 3, n_indices),
           "put the zones of each dimension into a base of their own, in a file of its own");
  refuse(ErrorCode::bad_input, path,
         fmt::format("zone '{}' has {} sizes, but must have {}", name, n_sizes, 3 * n_indices), damaged_remedy);
}

CgnsZone zone_of(hid_t file, const std::string& path, const std::string& base, const std::string& name,
                 CgnsCatalog& catalog) {
  const int cell_dim = catalog.cell_dim;
  CgnsZone zone{.path = base + "/" + name, .name = name};
  const std::string kind = text_of(file, zone.path + "/ZoneType");
  zone.is_structured = kind != "Unstructured";
  zone.n_indices = zone.is_structured ? cell_dim : 1;
  const auto sizes = files::read_integers(file, data_of(zone.path));
  check_zone(path, name, kind, std::ssize(sizes), catalog);
  for (int d = 0; d < zone.n_indices; ++d) {
    zone.n[d] = sizes[d];
    if (zone.n[d] < (zone.is_structured ? 2 : 1) || zone.n[d] > std::int64_t{1} << 40)
      refuse(ErrorCode::bad_input, path, fmt::format("zone '{}' has {} vertices along an index", name, zone.n[d]),
             damaged_remedy);
  }
  // Check the sizes against the coordinates that HDF5 stores, before any table is made. Check all axes: only the ranks
  // that read the missing rows would notice a short one.
  for (int d = 0; d < catalog.n_dims; ++d) {
    const auto shape = files::extents(file, coordinate_of(zone, d));
    if (!std::ranges::equal(shape.rbegin(), shape.rend(), zone.n.begin(), zone.n.begin() + zone.n_indices))
      refuse(ErrorCode::bad_input, path,
             fmt::format("zone '{}' must have as many coordinates as vertices, along {}", name, "xyz"[d]),
             damaged_remedy);
    files::check_size(file, coordinate_of(zone, d));
  }
  zone.is_single = files::shape_of_type(file, coordinate_of(zone, 0)).number_bytes == sizeof(float);
  std::int64_t n_vertices = 0;
  if (__builtin_mul_overflow(zone.n[0], zone.n[1], &n_vertices) ||
      __builtin_mul_overflow(n_vertices, zone.n[2], &n_vertices))
    refuse(ErrorCode::bad_input, path,
           fmt::format("zone '{}' has {} x {} x {} vertices", name, zone.n[0], zone.n[1], zone.n[2]), damaged_remedy);
  if (zone.is_structured) {
    constexpr std::array types{CellType::vertex, CellType::edge, CellType::quad, CellType::hex};
    std::int64_t n_cells = 1;
    for (int d = 0; d < cell_dim; ++d) n_cells *= zone.n[d] - 1;
    zone.sections.push_back(
        {.path = "", .name = name, .type = types[cell_dim], .n_nodes = 1 << cell_dim, .n = n_cells});
  }
  for (const std::string& section : children(file, zone.path, "Elements_t"))
    add_section(file, path, zone, section, catalog);
  std::ranges::stable_sort(zone.sections, {}, &CgnsSection::first);
  for (const std::string& conditions : children(file, zone.path, "ZoneBC_t")) {
    const std::string group = zone.path + "/" + conditions;
    for (const std::string& condition : children(file, group, "BC_t"))
      if (auto boundary = boundary_of(file, path, zone, group + "/" + condition, condition)) {
        if (is_without_nodes(file, zone, *boundary))
          catalog.left_out.push_back(
              fmt::format("boundary condition '{}' of zone '{}': its sides have no nodes", boundary->name, name));
        else
          zone.boundaries.push_back(*std::move(boundary));
      }
  }
  return zone;
}

}  // namespace

bool is_cgns(hid_t file) { return files::has(file, "/ hdf5version") || files::has(file, "/CGNSLibraryVersion"); }

CgnsCatalog read_cgns_catalog(hid_t file, const std::string& path) {
  const auto bases = children(file, "", "CGNSBase_t");
  if (bases.size() != 1)
    refuse(ErrorCode::bad_input, path, fmt::format("has {} CGNS bases; barrio reads files with one", bases.size()),
           "save a single base");
  const std::string base = "/" + bases[0];
  const auto dims = files::read_integers(file, data_of(base));
  if (dims.size() != 2 || dims[0] < 1 || dims[0] > 3 || dims[1] < dims[0] || dims[1] > 3)
    refuse(ErrorCode::bad_input, path, fmt::format("base '{}' has impossible dimensions", bases[0]), damaged_remedy);
  CgnsCatalog catalog{.cell_dim = static_cast<int>(dims[0]), .n_dims = static_cast<int>(dims[1])};
  std::map<std::pair<CellType, int>, std::int64_t> n_alike;
  for (const std::string& name : children(file, base, "Zone_t")) {
    CgnsZone zone = zone_of(file, path, base, name, catalog);
    zone.first_vertex = catalog.n_vertices;
    catalog.n_vertices += zone.n_vertices();
    add_solutions(file, zone, catalog.cell_dim, catalog);
    for (CgnsSection& section : zone.sections) {
      std::int64_t& n_before = n_alike[{section.type, section.n_nodes}];
      section.row = n_before;
      n_before += section.n;
    }
    catalog.zones.push_back(std::move(zone));
  }
  for (const std::string& name : children(file, base, "BaseIterativeData_t"))
    if (const std::string times = data_of(base + "/" + name + "/TimeValues");
        files::has(file, times) && files::shape_of_type(file, times).kind == files::NativeValues::Kind::real)
      catalog.times = files::read_reals(file, times);
  if (n_alike.empty()) refuse(ErrorCode::bad_input, path, "has no elements", damaged_remedy);
  add_cgns_interfaces(file, path, catalog);
  return catalog;
}

namespace {

/// Rows of a structured zone are whole lines or planes of vertices or cells.
struct Planes {
  files::Rows rows;
  std::size_t n_skipped;  ///< values before the first one wanted
};

Planes planes_around(std::int64_t n_in_plane, const files::Rows& rows) {
  const std::int64_t first = rows.first / n_in_plane;
  const std::int64_t end = rows.count == 0 ? first : (rows.first + rows.count - 1) / n_in_plane + 1;
  return {{first, end - first}, static_cast<std::size_t>(rows.first - first * n_in_plane)};
}

}  // namespace

std::vector<double> read_cgns_coordinates(files::Place file, const CgnsCatalog& catalog, const CgnsZone& zone,
                                          files::Rows rows) {
  std::vector<double> coordinates;
  const Planes planes = planes_around(zone.n_vertices() / zone.n[zone.n_indices - 1], rows);
  for (int d = 0; d < catalog.n_dims; ++d) {
    const std::vector<double> x = files::read_reals(file, coordinate_of(zone, d), planes.rows);
    coordinates.resize(3 * rows.count);  // only now: the file has shown that it has them
    for (std::int64_t i = 0; i < rows.count; ++i) coordinates[3 * i + d] = x.at(planes.n_skipped + i);
  }
  return coordinates;
}

std::vector<double> read_cgns_array(files::Place file, const CgnsZone& zone, const CgnsArray& array, files::Rows rows) {
  std::int64_t n_in_plane = 1;
  for (int d = 0; d + 1 < zone.n_indices; ++d) n_in_plane *= zone.n[d] - (array.on_cells ? 1 : 0);
  const Planes planes = planes_around(n_in_plane, rows);
  std::vector<double> values;
  if (array.is_integer) {
    const auto integers = files::read_integers(file, array.path, planes.rows);
    values.assign(integers.begin(), integers.end());
  } else {
    values = files::read_reals(file, array.path, planes.rows);
  }
  values.erase(values.begin(), values.begin() + std::min(planes.n_skipped, values.size()));
  values.resize(rows.count);
  return values;
}

std::vector<GlobalId> read_cgns_nodes(files::Place file, const std::string& path, const CgnsZone& zone,
                                      const CgnsSection& section, files::Rows rows, Status& fault) {
  std::vector<GlobalId> nodes;
  if (zone.is_structured && section.type == CellType::edge) {
    for (std::int64_t cell = rows.first; cell < rows.first + rows.count; ++cell)
      for (const std::int64_t place : {0, 1}) nodes.push_back(GlobalId{zone.first_vertex + cell + place});
    return nodes;
  }
  if (zone.is_structured) {
    const std::int64_t di = 1;
    const std::int64_t dj = zone.n[0];
    const std::int64_t dk = zone.n[0] * zone.n[1];
    for (std::int64_t cell = rows.first; cell < rows.first + rows.count; ++cell) {
      const std::int64_t i = cell % (zone.n[0] - 1);
      const std::int64_t j = cell / (zone.n[0] - 1) % (zone.n[1] - 1);
      const std::int64_t k = cell / (zone.n[0] - 1) / (zone.n[1] - 1);
      const std::int64_t low = zone.first_vertex + i + j * dj + k * dk;
      for (const std::int64_t place : {std::int64_t{0}, di, di + dj, dj}) nodes.push_back(GlobalId{low + place});
      for (const std::int64_t place : {dk, di + dk, di + dj + dk, dj + dk})
        if (section.n_nodes == 8) nodes.push_back(GlobalId{low + place});
    }
    return nodes;
  }
  const files::Rows words{rows.first * section.n_nodes, rows.count * section.n_nodes};
  nodes = files::read_ids(file, data_of(section.path + "/ElementConnectivity"), 1, words);
  for (std::int64_t i = 0; i < std::ssize(nodes); ++i) {
    if ((value(nodes[i]) < 0 || value(nodes[i]) >= zone.n[0]) && !fault) {
      fault = Error(
          ErrorCode::bad_input,
          {.subject = path,
           .cause = fmt::format("element {} of zone '{}', in section '{}', has node {}, but the nodes are 1 to {}",
                                section.first + rows.first + i / section.n_nodes, zone.name, section.name,
                                value(nodes[i]) + 1, zone.n[0]),
           .remedy = damaged_remedy});
    }
    nodes[i] = GlobalId{value(nodes[i]) + zone.first_vertex};
  }
  CellKind{section.type, section.n_nodes, cgns_order(section.type, section.n_nodes)}.put_in_order<GlobalId>(nodes);
  return nodes;
}

}  // namespace barrio::io::detail
