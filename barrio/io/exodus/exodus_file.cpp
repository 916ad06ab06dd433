#include "barrio/io/exodus/exodus_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>

#include "barrio/base/error.hpp"
#include "barrio/io/common/node_orders.hpp"
#include "barrio/io/common/share_catalog.hpp"

namespace barrio::io::detail {
namespace {

using files::NetcdfFile;
using mesh::CellType;

/// Name of an element type; the first three letters count. A shell is a triangle or quad.
struct TypeName {
  std::string_view name;
  CellType type;
};
constexpr std::array<TypeName, 12> type_names{{{"HEX", CellType::hex},
                                               {"TETRA", CellType::tet},
                                               {"PYRAMID", CellType::pyramid},
                                               {"WEDGE", CellType::prism},
                                               {"QUAD", CellType::quad},
                                               {"SHELL", CellType::quad},
                                               {"TRIANGLE", CellType::triangle},
                                               {"BAR", CellType::edge},
                                               {"BEAM", CellType::edge},
                                               {"TRUSS", CellType::edge},
                                               {"ROD", CellType::edge},
                                               {"EDGE", CellType::edge}}};

void recognise(const std::string& path, const std::string& type_name, int n_dims, ExodusBlock& block) {
  std::string word = type_name;
  std::ranges::transform(word, word.begin(), [](char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; });
  const std::string upper = word.substr(0, 3);
  const auto known = std::ranges::find_if(
      type_names, [&](const TypeName& other) { return upper.size() == 3 && other.name.starts_with(upper); });
  if (known != type_names.end()) {
    block.type = known->type;
    if (upper == "SHE" && (block.n_nodes == 3 || block.n_nodes == 6)) block.type = CellType::triangle;
    if (upper == "SHE" && block.n_nodes == 2) block.type = CellType::edge;
    block.is_shell = upper == "SHE" || word.starts_with("TRISHELL") || (upper == "TRI" && n_dims == 3);
  }
  if (known != type_names.end() && is_known_kind(block.type, block.n_nodes)) return;
  refuse(ErrorCode::bad_input, path,
         fmt::format("{} has elements of type '{}' with {} nodes, which are not supported", name_of(block), type_name,
                     block.n_nodes),
         "barrio reads bars, triangles, quads, shells, tets, pyramids, wedges and hexes of first or second order");
}

std::int32_t checked_id(const std::string& path, std::int64_t id, std::string_view what) {
  if (id < std::numeric_limits<std::int32_t>::min() || id > std::numeric_limits<std::int32_t>::max())
    refuse(ErrorCode::bad_input, path, fmt::format("has {} {}; barrio's ids have 32 bits", what, id), "renumber it");
  return static_cast<std::int32_t>(id);
}

/// Ids, names and properties of all blocks, node sets or side sets.
struct Objects {
  std::string_view prefix;  // "eb", "ns", "ss"
  std::string_view what;    // "element block"
  std::vector<std::int32_t> ids;
  std::vector<std::string> names;
  std::vector<ExodusProperty> properties;

  Objects(const NetcdfFile& file, const std::string& path, std::string_view prefix_, std::string_view what_)
      : prefix(prefix_), what(what_) {
    for (int p = 1; file.has(fmt::format("{}_prop{}", prefix, p)); ++p) {
      const std::string variable = fmt::format("{}_prop{}", prefix, p);
      std::vector<std::int32_t> values;
      for (const std::int64_t id : file.integers(variable)) values.push_back(checked_id(path, id, what));
      if (p == 1) {
        ids = std::move(values);
      } else {
        properties.push_back({file.attribute(variable, "name").value_or(variable), std::move(values)});
        properties.back().values.resize(ids.size());
      }
    }
    const std::string variable = fmt::format("{}_names", prefix);
    if (file.has(variable)) names = file.texts(variable);
    names.resize(ids.size());
  }
};

std::vector<ExodusSet> sets_of(const NetcdfFile& file, const std::string& path, const Objects& objects,
                               const char* list) {
  std::vector<ExodusSet> sets;
  for (std::size_t i = 0; i < objects.ids.size(); ++i) {
    const auto number = static_cast<int>(i + 1);
    const auto shape = file.shape(numbered(list, number));
    sets.push_back({number, objects.ids[i], objects.names[i], shape.empty() ? 0 : shape[0]});
    if (objects.prefix != "ss" || shape.empty()) continue;
    if (file.shape(numbered("side_ss", number)) != shape)
      refuse(ErrorCode::bad_input, path,
             fmt::format("{} must have as many sides as elements", name_of(objects.what, sets.back())), damaged_remedy);
  }
  return sets;
}

/// Refuse a variable whose last dimension is not of length `n`: only the ranks that read the missing rows would notice.
/// A missing variable passes.
void check_length(const NetcdfFile& file, const std::string& path, const std::string& variable, std::size_t n_dims,
                  std::int64_t n, std::string_view what) {
  if (!file.has(variable)) return;
  const auto shape = file.shape(variable);
  if (shape.size() != n_dims || shape.back() != n)
    refuse(ErrorCode::bad_input, path,
           fmt::format("variable '{}' must have as many numbers as there are {}", variable, what), damaged_remedy);
}

/// Check the variables that the ranks read in slabs and that gave no count.
void check_lengths(const NetcdfFile& file, const std::string& path, const ExodusCatalog& catalog) {
  check_length(file, path, "node_num_map", 1, catalog.n_vertices, "nodes");
  check_length(file, path, "elem_num_map", 1, catalog.n_elements, "elements");
  if (!catalog.node_variables.empty()) check_length(file, path, "vals_nod_var", 3, catalog.n_vertices, "nodes");
  for (std::size_t v = 1; v <= catalog.node_variables.size(); ++v)
    check_length(file, path, fmt::format("vals_nod_var{}", v), 2, catalog.n_vertices, "nodes");
  for (std::size_t v = 1; v <= catalog.element_variables.size(); ++v)
    for (const ExodusBlock& block : catalog.blocks)
      check_length(file, path, fmt::format("vals_elem_var{}eb{}", v, block.number), 2, block.n,
                   "elements in " + name_of(block));
}

/// Return the names of the attributes of a block's elements; a file may leave them blank. A single attribute may be a
/// list. Attributes of another shape are left out.
std::vector<std::string> attributes_of(const NetcdfFile& file, const ExodusBlock& block,
                                       std::vector<std::string>& left_out) {
  const std::string variable = numbered("attrib", block.number);
  if (!file.has(variable)) return {};
  auto shape = file.shape(variable);
  if (shape.size() == 1) shape.push_back(1);
  constexpr std::int64_t most = 1000;
  if (shape.size() != 2 || shape[0] != block.n || shape[1] > most) {
    left_out.push_back(fmt::format("attributes of {}, which have not a row for each element", name_of(block)));
    return {};
  }
  const std::string list = numbered("attrib_name", block.number);
  std::vector<std::string> names;
  if (file.has(list)) names = file.texts(list);
  names.resize(shape[1]);
  for (std::size_t a = 0; a < names.size(); ++a)
    if (names[a].empty()) names[a] = fmt::format("attribute_{}", a + 1);
  return names;
}

/// List what a file has and a mesh has no place for.
void find_left_out(const NetcdfFile& file, const ExodusCatalog& catalog, std::vector<std::string>& all) {
  const auto count = [&](const char* what, auto&& variable, std::size_t n) {
    std::size_t n_found = 0;
    for (std::size_t i = 1; i <= n; ++i) n_found += file.has(variable(i)) ? 1 : 0;
    if (n_found > 0) all.push_back(fmt::format("{} of {} set(s)", what, n_found));
  };
  const auto with = [](const char* name) { return [name](std::size_t i) { return fmt::format("{}{}", name, i); }; };
  count("distribution factors on nodes", with("dist_fact_ns"), catalog.node_sets.size());
  count("distribution factors on sides", with("dist_fact_ss"), catalog.side_sets.size());
  const auto variables = [&](const char* list, const char* what) {
    if (!file.has(list)) return;
    std::string names;
    for (const std::string& name : file.texts(list)) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", name);
    all.push_back(fmt::format("{} {}", what, names));
  };
  if (catalog.n_steps > 0) {
    variables("name_nset_var", "variables on node sets");
    variables("name_sset_var", "variables on side sets");
    variables("name_elset_var", "variables on element sets");
    variables("name_edge_var", "variables on edges");
    variables("name_face_var", "variables on faces");
  }
  if (file.has("nattrb")) all.emplace_back("attributes of nodes");
  const auto maps = [&](const char* what, const char* list, const char* map) {
    const std::vector<std::string> names = file.has(list) ? file.texts(list) : std::vector<std::string>();
    for (std::size_t i = 0; file.has(numbered(map, static_cast<int>(i + 1))); ++i)
      all.push_back(fmt::format("{} '{}'", what, i < names.size() ? names[i] : numbered(map, static_cast<int>(i + 1))));
  };
  maps("map of nodes", "nmap_names", "node_map");
  maps("map of elements", "emap_names", "elem_map");
  for (std::size_t b = 1; b < catalog.blocks.size(); ++b) {
    const auto before = std::ranges::find(catalog.blocks, catalog.blocks[b].id, &ExodusBlock::id);
    if (before - catalog.blocks.begin() < static_cast<std::ptrdiff_t>(b))
      all.push_back(fmt::format("the difference between {} and an earlier one of this id", name_of(catalog.blocks[b])));
  }
  constexpr std::array<std::pair<const char*, const char*>, 5> others{{{"els_prop1", "sets of elements"},
                                                                       {"ed_prop1", "blocks of edges"},
                                                                       {"fa_prop1", "blocks of faces"},
                                                                       {"es_prop1", "sets of edges"},
                                                                       {"fs_prop1", "sets of faces"}}};
  for (const auto& [variable, what] : others)
    if (file.has(variable)) all.emplace_back(what);
}

}  // namespace

std::string numbered(std::string_view name, int number) { return fmt::format("{}{}", name, number); }

std::string name_of(const ExodusBlock& block) {
  return name_of("element block", ExodusSet{block.number, block.id, block.name, block.n});
}

std::string name_of(std::string_view what, const ExodusSet& set) {
  return set.name.empty() ? fmt::format("{} {}", what, set.id) : fmt::format("{} {} '{}'", what, set.id, set.name);
}

bool is_exodus(const NetcdfFile& file) {
  return file.has("eb_prop1") || file.has("connect1") || file.has("coordx") || file.has("coord");
}

ExodusCatalog read_exodus_catalog(const NetcdfFile& file, const std::string& path) {
  ExodusCatalog catalog;
  const auto together = file.shape("coord");
  if (together.size() == 2) {
    catalog.n_dims = static_cast<int>(std::min<std::int64_t>(together[0], 4));
    catalog.n_vertices = together[1];
  } else if (file.has("coordx")) {
    catalog.n_dims = file.has("coordz") ? 3 : (file.has("coordy") ? 2 : 1);
    catalog.n_vertices = file.shape("coordx").size() == 1 ? file.shape("coordx")[0] : 0;
    for (const char* name : {"coordy", "coordz"})
      if (file.has(name) && file.shape(name) != file.shape("coordx"))
        refuse(ErrorCode::bad_input, path, fmt::format("variable '{}' must have as many numbers as coordx", name),
               damaged_remedy);
  }
  if (catalog.n_vertices == 0 || catalog.n_dims < 1 || catalog.n_dims > 3)
    refuse(ErrorCode::bad_input, path, "has no coordinates", damaged_remedy);

  const Objects blocks(file, path, "eb", "element block");
  if (blocks.ids.empty()) refuse(ErrorCode::bad_input, path, "has no element blocks", damaged_remedy);
  for (const ExodusProperty& property : blocks.properties) catalog.block_properties.push_back({property.name, {}});
  const std::vector<std::int64_t> status =
      file.has("eb_status") ? file.integers("eb_status") : std::vector<std::int64_t>{};
  std::map<std::pair<CellType, int>, std::int64_t> n_alike;
  for (std::size_t i = 0; i < blocks.ids.size(); ++i) {
    ExodusBlock block{.number = static_cast<int>(i + 1), .id = blocks.ids[i], .name = blocks.names[i]};
    const std::string connect = numbered("connect", block.number);
    const auto shape = file.shape(connect);
    if (!file.has(connect)) {
      if (i < status.size() && status[i] == 0) continue;  // an empty block
      refuse(ErrorCode::bad_input, path,
             fmt::format("{} has no elements: variable '{}' is missing", name_of(block), connect), damaged_remedy);
    }
    const std::string type = file.attribute(connect, "elem_type").value_or("");
    const bool is_polygonal = std::ranges::any_of(std::array{"nsided", "NSIDED", "nfaced", "NFACED"},
                                                  [&](const char* name) { return type.starts_with(name); });
    if (shape.size() != 2 && is_polygonal)
      refuse(ErrorCode::bad_input, path,
             fmt::format("{} has elements of type '{}', polygons or polyhedra, which are not supported", name_of(block),
                         type),
             "write them as VTU or VTKHDF");
    if (shape.size() != 2)
      refuse(ErrorCode::bad_input, path, fmt::format("{} is not a table of elements", name_of(block)), damaged_remedy);
    if (shape[0] == 0) continue;
    block.n = shape[0];
    block.n_nodes = static_cast<int>(std::min<std::int64_t>(shape[1], 1000));
    recognise(path, file.attribute(connect, "elem_type").value_or(""), catalog.n_dims, block);
    block.attributes = attributes_of(file, block, catalog.left_out);
    block.first = catalog.n_elements;
    std::int64_t& n_before = n_alike[{block.type, block.n_nodes}];
    block.row = n_before;
    n_before += block.n;
    catalog.n_elements += block.n;
    for (std::size_t p = 0; p < blocks.properties.size(); ++p)
      catalog.block_properties[p].values.push_back(blocks.properties[p].values[i]);
    catalog.blocks.push_back(std::move(block));
  }
  if (catalog.blocks.empty()) refuse(ErrorCode::bad_input, path, "has no elements", damaged_remedy);
  const Objects node_sets(file, path, "ns", "node set");
  const Objects side_sets(file, path, "ss", "side set");
  catalog.node_sets = sets_of(file, path, node_sets, "node_ns");
  catalog.side_sets = sets_of(file, path, side_sets, "elem_ss");
  catalog.node_set_properties = node_sets.properties;
  catalog.side_set_properties = side_sets.properties;

  const auto steps = file.shape("time_whole");
  catalog.n_steps = steps.size() == 1 ? steps[0] : 0;
  if (catalog.n_steps > 0) {
    if (file.has("name_nod_var")) catalog.node_variables = file.texts("name_nod_var");
    if (file.has("name_elem_var")) catalog.element_variables = file.texts("name_elem_var");
    if (file.has("name_glo_var") && file.has("vals_glo_var")) catalog.global_variables = file.texts("name_glo_var");
  }
  check_lengths(file, path, catalog);
  find_left_out(file, catalog, catalog.left_out);
  return catalog;
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ExodusBlock, number, id, name, type, n_nodes, is_shell, n, first, row, attributes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ExodusSet, number, id, name, n)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ExodusProperty, name, values)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ExodusCatalog, n_vertices, n_dims, n_elements, blocks, node_sets, side_sets,
                                   block_properties, node_set_properties, side_set_properties, n_steps, node_variables,
                                   element_variables, global_variables, left_out)

void share(mpi::Context& context, ExodusCatalog& catalog) { share_catalog(context, catalog); }

std::vector<double> read_exodus_coordinates(const NetcdfFile& file, const ExodusCatalog& catalog, files::Rows rows) {
  constexpr std::array<const char*, 3> apart{"coordx", "coordy", "coordz"};
  const bool are_together = file.shape("coord").size() == 2;
  std::vector<double> coordinates;
  for (int d = 0; d < catalog.n_dims; ++d) {
    const std::size_t axis = d;
    const std::int64_t place = d;
    if (are_together) rows.within = std::span(&place, 1);
    const std::vector<double> x = file.reals(are_together ? "coord" : apart[axis], rows);
    coordinates.resize(3 * rows.count);  // only now: the file has shown that it has them
    for (std::size_t i = 0; i < x.size(); ++i) coordinates[3 * i + axis] = x[i];
  }
  return coordinates;
}

std::vector<GlobalId> read_exodus_nodes(const NetcdfFile& file, const std::string& path, const ExodusCatalog& catalog,
                                        const ExodusBlock& block, files::Rows rows, Status& fault) {
  std::vector<GlobalId> nodes;
  for (const std::int64_t node : file.integers(numbered("connect", block.number), rows)) {
    if ((node < 1 || node > catalog.n_vertices) && !fault) {
      const auto place = std::ssize(nodes) / block.n_nodes;
      fault = Error(ErrorCode::bad_input,
                    {.subject = path,
                     .cause = fmt::format("element {} of {} has node {}, but the nodes are 1 to {}",
                                          rows.first + place + 1, name_of(block), node, catalog.n_vertices),
                     .remedy = damaged_remedy});
    }
    nodes.push_back(GlobalId{node - 1});
  }
  if (std::ssize(nodes) != rows.count * block.n_nodes) {
    fault = Error(ErrorCode::bad_input, {.subject = path,
                                         .cause = fmt::format("{} changed its shape during the read", name_of(block)),
                                         .remedy = "read it while no program writes it"});
  } else {
    CellKind{block.type, block.n_nodes, exodus_order(block.type, block.n_nodes)}.put_in_order<GlobalId>(nodes);
  }
  return nodes;
}

}  // namespace barrio::io::detail
