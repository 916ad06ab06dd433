#include "barrio/files/h5m.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "barrio/base/error.hpp"
#include "barrio/files/hdf5/quiet.hpp"

namespace barrio::files {
namespace {

constexpr const char* root = "/tstt";

[[noreturn]] void refuse(const std::string& path, std::string cause) {
  throw Error(ErrorCode::bad_input,
              {.subject = path, .cause = std::move(cause), .remedy = "check that the file is a complete .h5m mesh"});
}

std::int64_t start_id(hid_t file, const std::string& path, const std::string& table) {
  const auto value = read_attribute(file, table, "start_id");
  if (value.size() != 1) refuse(path, fmt::format("table {} has no start_id", table));
  // Ids count up from here; the last one must be representable too.
  if (value[0] < 0 || value[0] > std::int64_t{1} << 62)
    refuse(path, fmt::format("table {} begins with the id {}, which makes no sense", table, value[0]));
  return value[0];
}

/// Read the value of an enumeration attribute, as the name stored in the file.
std::string enum_name(hid_t file, const std::string& where, const std::string& attribute_name) {
  const detail::Quiet quiet;
  const Handle attribute(H5Aopen_by_name(file, where.c_str(), attribute_name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
                         &H5Aclose);
  if (!attribute) return {};
  const Handle type(H5Aget_type(attribute.get()), &H5Tclose);
  const Handle space(H5Aget_space(attribute.get()), &H5Sclose);
  if (H5Sget_simple_extent_npoints(space.get()) != 1) return {};
  std::array<unsigned char, 16> value{};
  std::array<char, 64> text{};
  if (H5Tget_class(type.get()) != H5T_ENUM || H5Tget_size(type.get()) > value.size() ||
      H5Aread(attribute.get(), type.get(), value.data()) < 0 ||
      H5Tenum_nameof(type.get(), value.data(), text.data(), text.size()) < 0)
    return {};
  return text.data();
}

std::string describe(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER: return fmt::format("int{}", 8 * H5Tget_size(type));
    case H5T_FLOAT: return H5Tget_size(type) == 8 ? "double" : "float";
    case H5T_BITFIELD: return fmt::format("bit[{}]", H5Tget_precision(type));
    case H5T_OPAQUE: return fmt::format("opaque[{}]", H5Tget_size(type));
    case H5T_ARRAY: {
      const Handle base(H5Tget_super(type), &H5Tclose);
      return fmt::format("{}[{}]", describe(base.get()), H5Tget_size(type) / H5Tget_size(base.get()));
    }
    default: return "other";
  }
}

H5mTag read_tag(hid_t file, const std::string& name, const H5mCatalog& catalog) {
  const detail::Quiet quiet;
  H5mTag tag;
  const std::string where = fmt::format("{}/tags/{}", root, name);
  tag.name = name;
  if (has(file, where + "/type")) {
    const Handle type(H5Topen2(file, (where + "/type").c_str(), H5P_DEFAULT), &H5Tclose);
    if (type) tag.type = describe(type.get());
  }
  if (H5Aexists_by_name(file, where.c_str(), "is_handle", H5P_DEFAULT) > 0) tag.type = "id";
  static constexpr std::array<const char*, 4> storages{"bit", "sparse", "dense", "mesh"};
  const auto storage = read_attribute(file, where, "class");
  tag.storage = storage.size() == 1 && storage[0] >= 0 && storage[0] < 4 ? storages[storage[0]] : "unknown";
  tag.is_variable = H5Aexists_by_name(file, where.c_str(), "variable_length", H5P_DEFAULT) > 0;
  const auto sparse = extents(file, where + "/id_list");
  if (!sparse.empty()) tag.n_sparse = sparse[0];
  const auto look = [&](const std::string& table, const std::string& called) {
    if (has(file, fmt::format("{}/{}/tags/{}", root, table, name))) tag.dense_on.push_back(called);
  };
  look("nodes", "nodes");
  for (const H5mGroup& group : catalog.groups) look("elements/" + group.name, group.name);
  look("sets", "sets");
  return tag;
}

}  // namespace

H5mCatalog read_h5m_catalog(hid_t file, const std::string& path) {
  if (!has(file, root))
    throw Error(ErrorCode::bad_input,
                {.subject = path,
                 .cause = "is an HDF5 file, but no mesh that barrio reads: neither .h5m (it has no group /tstt) nor "
                          "VTKHDF, CGNS, Exodus II or a grid of longitudes and latitudes",
                 .remedy = "if an .xdmf file lies beside it, give that one"});
  H5mCatalog catalog;
  const auto coordinates = extents(file, "/tstt/nodes/coordinates");
  if (coordinates.size() != 2 || coordinates[1] < 1 || coordinates[1] > 3)
    refuse(path, "has no vertex coordinates (dataset /tstt/nodes/coordinates)");
  check_size(file, "/tstt/nodes/coordinates");
  catalog.n_vertices = coordinates[0];
  catalog.n_coordinates = coordinates[1];
  catalog.first_vertex = start_id(file, path, "/tstt/nodes/coordinates");
  for (const std::string& name : names_in(file, "/tstt/elements")) {
    H5mGroup group;
    group.name = name;
    const std::string where = "/tstt/elements/" + name;
    group.type = enum_name(file, where, "element_type");
    if (group.type.empty()) refuse(path, fmt::format("element table {} has no element type", name));
    const auto table = extents(file, where + "/connectivity");
    if (table.empty() || table.size() > 2) refuse(path, fmt::format("element table {} has no connectivity", name));
    check_size(file, where + "/connectivity");
    if (table.size() == 2) {
      group.n = table[0];
      group.n_nodes = table[1];
    } else {
      const auto ends = extents(file, where + "/poly_indices");
      if (ends.size() != 1) refuse(path, fmt::format("element table {} has no list of lengths (poly_indices)", name));
      check_size(file, where + "/poly_indices");
      group.n = ends[0];
    }
    group.start_id = start_id(file, path, where + "/connectivity");
    catalog.groups.push_back(std::move(group));
  }
  std::sort(catalog.groups.begin(), catalog.groups.end(),
            [](const H5mGroup& a, const H5mGroup& b) { return a.start_id < b.start_id; });
  const auto list = extents(file, "/tstt/sets/list");
  if (!list.empty()) {
    if (list.size() != 2 || list[1] != 4) refuse(path, "has a set table that does not have 4 columns");
    check_size(file, "/tstt/sets/list");
    catalog.n_sets = list[0];
    catalog.first_set = start_id(file, path, "/tstt/sets/list");
  }
  const auto contents = extents(file, "/tstt/sets/contents");
  if (!contents.empty()) {
    check_size(file, "/tstt/sets/contents");
    catalog.n_contents = contents[0];
  }
  for (const std::string& name : names_in(file, "/tstt/tags")) catalog.tags.push_back(read_tag(file, name, catalog));
  return catalog;
}

std::optional<std::int64_t> H5mCatalog::row_of_set(std::int64_t id) const noexcept {
  if (id < first_set || id - first_set >= n_sets) return {};
  return id - first_set;
}

Json to_json(const H5mCatalog& catalog) {
  Json groups = Json::array();
  for (const H5mGroup& g : catalog.groups)
    groups.push_back(
        {{"name", g.name}, {"type", g.type}, {"n", g.n}, {"n_nodes", g.n_nodes}, {"start_id", g.start_id}});
  Json tags = Json::array();
  for (const H5mTag& t : catalog.tags) {
    tags.push_back({{"name", t.name},
                    {"type", t.type},
                    {"storage", t.storage},
                    {"is_variable", t.is_variable},
                    {"n_sparse", t.n_sparse},
                    {"dense_on", t.dense_on}});
  }
  return Json{{"n_vertices", catalog.n_vertices},
              {"n_coordinates", catalog.n_coordinates},
              {"first_vertex", catalog.first_vertex},
              {"groups", groups},
              {"n_sets", catalog.n_sets},
              {"first_set", catalog.first_set},
              {"n_contents", catalog.n_contents},
              {"tags", tags}};
}

H5mCatalog h5m_catalog_from_json(const Json& json) {
  H5mCatalog catalog;
  json.at("n_vertices").get_to(catalog.n_vertices);
  json.at("n_coordinates").get_to(catalog.n_coordinates);
  json.at("first_vertex").get_to(catalog.first_vertex);
  for (const Json& g : json.at("groups"))
    catalog.groups.push_back({g.at("name"), g.at("type"), g.at("n"), g.at("n_nodes"), g.at("start_id")});
  json.at("n_sets").get_to(catalog.n_sets);
  json.at("first_set").get_to(catalog.first_set);
  json.at("n_contents").get_to(catalog.n_contents);
  for (const Json& t : json.at("tags")) {
    catalog.tags.push_back({t.at("name"), t.at("type"), t.at("storage"), t.at("is_variable"), t.at("n_sparse"),
                            t.at("dense_on").get<std::vector<std::string>>()});
  }
  return catalog;
}

std::vector<H5mSetValue> read_h5m_set_tag(hid_t file, const H5mCatalog& catalog, const std::string& name) {
  const auto tag =
      std::find_if(catalog.tags.begin(), catalog.tags.end(), [&](const H5mTag& t) { return t.name == name; });
  if (tag == catalog.tags.end()) return {};
  const std::string where = fmt::format("{}/tags/{}", root, name);
  std::map<std::int64_t, std::int64_t> values;
  if (std::find(tag->dense_on.begin(), tag->dense_on.end(), "sets") != tag->dense_on.end()) {
    const auto default_value = read_attribute(file, where, "default");
    const auto dense = read_integers(file, fmt::format("{}/sets/tags/{}", root, name));
    if (std::ssize(dense) != catalog.n_sets)
      throw Error(ErrorCode::bad_input,
                  {.subject = fmt::format("{}/sets/tags/{}", root, name),
                   .cause = fmt::format("has {} values for {} sets", dense.size(), catalog.n_sets),
                   .remedy = damaged_remedy});
    for (std::size_t i = 0; i < dense.size(); ++i)
      if (default_value.size() != 1 || dense[i] != default_value[0]) values[i] = dense[i];
  }
  if (tag->n_sparse > 0) {
    const auto ids = read_integers(file, where + "/id_list");
    const auto sparse = read_integers(file, where + "/values");
    if (sparse.size() != ids.size())
      throw Error(ErrorCode::bad_input, {.subject = where, .cause = "does not have one integer per entity"});
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (const auto set = catalog.row_of_set(ids[i])) values[*set] = sparse[i];
    }
  }
  std::vector<H5mSetValue> all;
  for (const auto& [set, value] : values) all.push_back({set, value});
  return all;
}

std::vector<std::pair<std::int64_t, std::string>> read_h5m_set_names(hid_t file, const H5mCatalog& catalog) {
  std::vector<std::pair<std::int64_t, std::string>> names;
  for (const H5mTag& tag : catalog.tags) {
    if (tag.name != "NAME" || tag.n_sparse == 0 || tag.is_variable) continue;
    const auto ids = read_integers(file, "/tstt/tags/NAME/id_list");
    const auto texts = read_texts(file, "/tstt/tags/NAME/values");
    for (std::size_t i = 0; i < std::min(ids.size(), texts.size()); ++i) {
      if (const auto set = catalog.row_of_set(ids[i])) names.emplace_back(*set, texts[i]);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

H5mSetList read_h5m_set_list(hid_t file, const H5mCatalog& catalog, const std::string& path) {
  H5mSetList list;
  if (catalog.n_sets == 0) return list;
  const auto table = read_integers(file, "/tstt/sets/list");
  const auto read_list = [&](const char* name) {
    return has(file, name) ? read_integers(file, name) : std::vector<std::int64_t>();
  };
  list.children = read_list("/tstt/sets/children");
  list.parents = read_list("/tstt/sets/parents");
  const auto take = [&](std::size_t column, std::int64_t n, const char* what, std::vector<std::int64_t>& ends) {
    std::int64_t before = -1;
    for (std::size_t i = column; i < table.size(); i += 4) {
      const std::int64_t last = table[i];
      if (last < before || last >= n) refuse(path, fmt::format("set {} points outside the {} of sets", i / 4, what));
      ends.push_back(last + 1);
      before = last;
    }
  };
  take(0, catalog.n_contents, "contents", list.contents_end);
  take(1, std::ssize(list.children), "children", list.children_end);
  take(2, std::ssize(list.parents), "parents", list.parents_end);
  for (std::size_t i = 3; i < table.size(); i += 4) list.flags.push_back(table[i]);
  return list;
}

}  // namespace barrio::files
