#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/flat_mesh.hpp"
#include "barrio/files/h5m.hpp"
#include "barrio/files/hdf5.hpp"

namespace barrio::delaunay {
namespace {

/// Reader of the parts of a .h5m file that an audit needs. Tables are read in blocks of rows, so that no second copy of
/// the mesh is in memory.
class H5mReader {
 public:
  explicit H5mReader(const std::string& path)
      : path_(path), file_(files::open_to_read(path)), catalog_(files::read_h5m_catalog(file_.get(), path)) {}

  AuditedMesh read() {
    read_points();
    for (const files::H5mGroup& group : catalog_.groups) read_elements(group);
    read_sets();
    read_attributes();
    return std::move(mesh_);
  }

 private:
  static constexpr std::int64_t block = std::int64_t{1} << 16;

  /// Call `visit(first, count)` for blocks of rows.
  template <class Visit>
  static void in_blocks(std::int64_t n, Visit&& visit) {
    for (std::int64_t first = 0; first < n; first += block) visit(first, std::min(block, n - first));
  }

  void read_points() {
    constexpr std::int64_t max_points = std::numeric_limits<std::int32_t>::max();
    if (catalog_.n_vertices > max_points)
      refuse(ErrorCode::bad_input, path_, fmt::format("has {} vertices", catalog_.n_vertices),
             "give a mesh of at most 2^31 - 1 vertices");
    mesh_.points.reserve(catalog_.n_vertices);
    const std::size_t width = catalog_.n_coordinates;
    in_blocks(catalog_.n_vertices, [&](std::int64_t first, std::int64_t count) {
      const std::vector<double> x = files::read_reals(file_.get(), "tstt/nodes/coordinates", {first, count});
      for (std::int64_t i = 0; i < count; ++i) {
        if (width > 2 && x[width * i + 2] != 0.0)
          refuse(ErrorCode::bad_input, path_, fmt::format("vertex {} does not lie in the plane z = 0", first + i),
                 "give a triangulation of the plane");
        mesh_.points.push_back({x[width * i], x[width * i + 1]});
      }
    });
  }

  /// Return the row of a vertex, or -1 where an id is that of none.
  [[nodiscard]] std::int32_t row_of(std::int64_t id) const noexcept {
    const std::int64_t row = id - catalog_.first_vertex;
    return row >= 0 && row < catalog_.n_vertices ? static_cast<std::int32_t>(row) : -1;
  }

  void read_elements(const files::H5mGroup& group) {
    const bool is_triangles = group.type == "Tri" && group.n_nodes == 3;
    const bool is_edges = group.type == "Edge" && group.n_nodes == 2;
    if (!is_triangles && !is_edges)
      refuse(ErrorCode::bad_input, path_, fmt::format("has {}", group.name),
             "give triangles of three nodes, and edges");
    if (is_triangles)
      triangle_ids_.push_back({group.start_id, group.n, std::ssize(mesh_.triangles)});
    else
      edge_ids_.push_back({group.start_id, group.n, std::ssize(mesh_.edges)});
    if (is_triangles) mesh_.triangles.reserve(mesh_.triangles.size() + group.n);
    if (is_edges) mesh_.edges.reserve(mesh_.edges.size() + group.n);
    const std::string table = fmt::format("tstt/elements/{}/connectivity", group.name);
    in_blocks(group.n, [&](std::int64_t first, std::int64_t count) {
      const std::vector<std::int64_t> ids = files::read_integers(file_.get(), table, {first, count});
      for (std::size_t i = 0; is_triangles && i + 2 < ids.size(); i += 3)
        mesh_.triangles.push_back({row_of(ids[i]), row_of(ids[i + 1]), row_of(ids[i + 2])});
      for (std::size_t i = 0; is_edges && i + 1 < ids.size(); i += 2)
        mesh_.edges.push_back({row_of(ids[i]), row_of(ids[i + 1])});
    });
  }

  /// Consecutive ids of elements, and the row of the first one.
  struct Ids {
    std::int64_t first;
    std::int64_t count;
    std::int64_t row;
  };

  /// Call `visit` with the row of each of some consecutive ids that belongs to a list.
  template <class Visit>
  static void for_each_row(const std::vector<Ids>& lists, std::int64_t first, std::int64_t count, Visit&& visit) {
    for (const Ids& list : lists) {
      const std::int64_t begin = std::max(first, list.first);
      const std::int64_t end = std::min(first + count, list.first + list.count);
      for (std::int64_t id = begin; id < end; ++id) visit(static_cast<std::size_t>(list.row + id - list.first));
    }
  }

  /// Call `visit` with the runs of ids of a set.
  template <class Visit>
  void for_each_run(const files::H5mSetList& sets, std::int64_t set, Visit&& visit) const {
    const std::int64_t begin = set == 0 ? 0 : sets.contents_end[set - 1];
    const std::vector<std::int64_t> words =
        files::read_integers(file_.get(), "tstt/sets/contents", {begin, sets.contents_end[set] - begin});
    const bool is_ranged = (sets.flags[set] & files::H5mSetList::ranged) != 0;
    for (std::size_t i = 0; i < words.size(); i += is_ranged ? 2 : 1)
      visit(words[i], is_ranged && i + 1 < words.size() ? words[i + 1] : std::int64_t{1});
  }

  void read_sets() {
    const auto markers = files::read_h5m_set_tag(file_.get(), catalog_, "NEUMANN_SET");
    const auto materials = files::read_h5m_set_tag(file_.get(), catalog_, "MATERIAL_SET");
    const auto parts = files::read_h5m_set_tag(file_.get(), catalog_, "PARALLEL_PARTITION");
    if (markers.empty() && materials.empty() && parts.empty()) return;
    const files::H5mSetList sets = files::read_h5m_set_list(file_.get(), catalog_, path_);
    read_parts(sets, parts);
    if (!markers.empty()) mesh_.edge_markers.assign(mesh_.edges.size(), 0);
    for (const files::H5mSetValue& marker : markers)
      for_each_run(sets, marker.set, [&](std::int64_t first, std::int64_t count) {
        for_each_row(edge_ids_, first, count,
                     [&](std::size_t row) { mesh_.edge_markers[row] = static_cast<std::int32_t>(marker.value); });
      });
    if (!materials.empty()) mesh_.triangle_regions.assign(mesh_.triangles.size(), 0);
    const std::vector<std::pair<std::int64_t, double>> attributes = region_attributes();
    for (const files::H5mSetValue& material : materials) {
      Region region{.number = static_cast<std::int32_t>(material.value)};
      for (const auto& [set, attribute] : attributes)
        if (set == material.set) region.attribute = attribute;
      mesh_.regions.push_back(region);
      const auto number = static_cast<std::int32_t>(mesh_.regions.size());
      for_each_run(sets, material.set, [&](std::int64_t first, std::int64_t count) {
        for_each_row(triangle_ids_, first, count, [&](std::size_t row) { mesh_.triangle_regions[row] = number; });
      });
    }
  }

  void read_parts(const files::H5mSetList& sets, const std::vector<files::H5mSetValue>& parts) {
    if (!parts.empty()) mesh_.triangle_parts.assign(mesh_.triangles.size(), -1);
    for (const files::H5mSetValue& part : parts)
      for_each_run(sets, part.set, [&](std::int64_t first, std::int64_t count) {
        for_each_row(triangle_ids_, first, count,
                     [&](std::size_t row) { mesh_.triangle_parts[row] = static_cast<std::int32_t>(part.value); });
      });
  }

  /// Read the attributes of regions: rows of sets, and values.
  [[nodiscard]] std::vector<std::pair<std::int64_t, double>> region_attributes() const {
    std::vector<std::pair<std::int64_t, double>> found;
    const std::string where = "tstt/tags/REGION_ATTRIBUTE/";
    if (!files::has(file_.get(), "tstt/tags/REGION_ATTRIBUTE") || !files::has(file_.get(), where + "id_list"))
      return found;
    const std::vector<std::int64_t> ids = files::read_integers(file_.get(), where + "id_list");
    const std::vector<double> values = files::read_reals(file_.get(), where + "values");
    for (std::size_t i = 0; i < std::min(ids.size(), values.size()); ++i)
      if (const auto set = catalog_.row_of_set(ids[i])) found.emplace_back(*set, values[i]);
    return found;
  }

  /// Read tags of one or more doubles that all vertices have.
  void read_attributes() {
    std::vector<files::NativeValues> columns;
    for (const files::H5mTag& tag : catalog_.tags) {
      if (tag.is_variable || !tag.type.starts_with("double") ||
          std::ranges::find(tag.dense_on, "nodes") == tag.dense_on.end())
        continue;
      files::NativeValues values = files::read_native(file_.get(), "tstt/nodes/tags/" + tag.name);
      const std::size_t n_bytes = values.n_numbers * sizeof(double);
      if (values.kind != files::NativeValues::Kind::real || values.number_bytes != sizeof(double) ||
          values.bytes.size() != n_bytes * mesh_.points.size())
        continue;
      mesh_.attributes.push_back({.name = tag.name, .n_components = static_cast<int>(values.n_numbers)});
      columns.push_back(std::move(values));
    }
    const std::size_t width = width_of(mesh_.attributes);
    mesh_.attribute_values.resize(width * mesh_.points.size());
    std::size_t first = 0;
    for (const files::NativeValues& column : columns) {
      const std::size_t n_bytes = column.n_numbers * sizeof(double);
      for (std::size_t v = 0; v < mesh_.points.size(); ++v)
        std::memcpy(&mesh_.attribute_values[v * width + first], &column.bytes[v * n_bytes], n_bytes);
      first += column.n_numbers;
    }
  }

  std::string path_;
  files::Handle file_;
  files::H5mCatalog catalog_;
  AuditedMesh mesh_;
  std::vector<Ids> triangle_ids_;
  std::vector<Ids> edge_ids_;
};

AuditedMesh read_from_ele(const std::string& path) {
  std::vector<std::string> left_out;
  FlatMesh flat = read_ele(path, left_out);
  AuditedMesh mesh{.points = std::move(flat.points),
                   .triangles = std::move(flat.triangles),
                   .point_markers = std::move(flat.point_markers),
                   .regions = std::move(flat.regions),
                   .triangle_regions = std::move(flat.triangle_regions),
                   .attributes = std::move(flat.attributes),
                   .attribute_values = std::move(flat.attribute_values)};
  for (Region& region : mesh.regions) region.number = 0;  // the format has none
  mesh.edges.reserve(flat.edges.size());
  mesh.edge_markers.reserve(flat.edges.size());
  for (const PlanarGraph::Edge& edge : flat.edges) {
    mesh.edges.push_back(edge.ends);
    mesh.edge_markers.push_back(edge.marker);
  }
  return mesh;
}

}  // namespace

AuditedMesh read_audited(const std::string& path) {
  return path.ends_with(".ele") ? read_from_ele(path) : H5mReader(path).read();
}

}  // namespace barrio::delaunay
