#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "barrio/delaunay/segment_edges.hpp"
#include "barrio/delaunay/size_field.hpp"
#include "barrio/delaunay/text/text_out.hpp"
#include "barrio/delaunay/write.hpp"

namespace barrio::delaunay {
namespace {

using detail::TextOut;

/// Curves and surfaces of the model that Gmsh wants behind a mesh: a curve for each marker, a surface for each region.
/// Vertices belong to the curve of their first edge, or to a surface.
class GmshModel {
 public:
  explicit GmshModel(const Triangulation& mesh)
      : mesh_(mesh), edges_(segment_edges(mesh)), entities_(mesh.points.size()) {
    std::ranges::stable_sort(edges_, {}, &SegmentEdge::marker);
    for (const Triangle& t : mesh.triangles.items())
      for (const std::int32_t v : t.vertices) entities_[v] = {2, surface_of(t)};
    // from the last one on, so that the first one counts; marker 0 gives way to others
    for (const bool is_marked : {false, true})
      for (auto edge = edges_.rbegin(); edge != edges_.rend(); ++edge)
        if ((edge->marker != 0) == is_marked)
          for (const std::int32_t v : edge->ends) entities_[v] = {1, curve_of(edge->marker)};
  }
  void write(TextOut& out) {
    out.add("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n");
    write_names(out);
    write_entities(out);
    write_nodes(out);
    write_elements(out);
    write_attributes(out);
  }

 private:
  using Entity = std::pair<int, std::int32_t>;  // dimension and number
  static std::int32_t surface_of(const Triangle& t) noexcept { return static_cast<std::int32_t>(t.region()) + 1; }
  std::int32_t curve_of(std::int32_t marker) {
    return curves_.emplace(marker, static_cast<std::int32_t>(curves_.size()) + 1).first->second;
  }
  /// Return the number of the physical group of a region.
  [[nodiscard]] std::int32_t group_of(std::uint32_t region) const noexcept { return mesh_.regions[region].number; }

  void write_names(TextOut& out) const {
    std::map<std::pair<int, std::int32_t>, std::string> names;
    for (const MarkerName& one : mesh_.marker_names)
      if (one.marker > 0) names.emplace(std::pair(1, one.marker), one.name);
    for (const Region& region : mesh_.regions)
      if (region.number > 0 && !region.name.empty()) names.emplace(std::pair(2, region.number), region.name);
    if (names.empty()) return;
    out.add("$PhysicalNames\n{}\n", names.size());
    for (auto& [group, name] : names) {
      std::string plain = name;  // a quote or the end of the line would end the name
      std::ranges::replace_if(plain, [](char c) { return c == '"' || c == '\n' || c == '\r'; }, ' ');
      out.add("{} {} \"{}\"\n", group.first, group.second, plain);
    }
    out.add("$EndPhysicalNames\n");
  }

  void write_entities(TextOut& out) const {
    std::map<Entity, Rectangle> boxes;
    for (const Triangle& t : mesh_.triangles.items())
      for (const std::int32_t v : t.vertices) boxes[{2, surface_of(t)}].add(mesh_.point(v));
    for (const SegmentEdge& edge : edges_)
      for (const std::int32_t v : edge.ends) boxes[{1, curves_.at(edge.marker)}].add(mesh_.point(v));
    std::map<std::int32_t, std::int32_t> markers;
    for (const auto& [marker, curve] : curves_) markers[curve] = marker;
    out.add("$Entities\n0 {} {} 0\n", curves_.size(), boxes.size() - curves_.size());
    for (const auto& [entity, box] : boxes) {
      const std::int32_t group =
          entity.first == 1 ? markers.at(entity.second) : group_of(static_cast<std::uint32_t>(entity.second - 1));
      out.add("{} {} {} 0 {} {} 0 ", entity.second, box.low[0], box.low[1], box.high[0], box.high[1]);
      // a group below 0 would mean a curve that runs backwards
      if (group > 0)
        out.add("1 {} 0\n", group);
      else
        out.add("0 0\n");
    }
    out.add("$EndEntities\n");
  }

  void write_nodes(TextOut& out) const {
    std::map<Entity, std::vector<std::int32_t>> blocks;
    for (std::int32_t v = 0; v < std::ssize(entities_); ++v) blocks[entities_[v]].push_back(v);
    out.add("$Nodes\n{} {} 1 {}\n", blocks.size(), mesh_.points.size(), mesh_.points.size());
    for (const auto& [entity, vertices] : blocks) {
      out.add("{} {} 0 {}\n", entity.first, entity.second, vertices.size());
      for (const std::int32_t v : vertices) out.add("{}\n", v + 1);
      for (const std::int32_t v : vertices) out.add("{} {} 0\n", mesh_.point(v)[0], mesh_.point(v)[1]);
    }
    out.add("$EndNodes\n");
  }

  void write_elements(TextOut& out) const {
    constexpr int line = 1;
    constexpr int triangle = 2;
    std::map<std::int32_t, std::int64_t> n_of_curve;
    for (const SegmentEdge& edge : edges_) ++n_of_curve[curves_.at(edge.marker)];
    std::map<std::int32_t, std::int64_t> n_of_surface;  // regions follow each other in a compact triangulation
    for (const Triangle& t : mesh_.triangles.items()) ++n_of_surface[surface_of(t)];
    const std::size_t n = edges_.size() + mesh_.triangles.size();
    out.add("$Elements\n{} {} 1 {}\n", curves_.size() + n_of_surface.size(), n, n);
    std::int64_t number = 0;
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      const std::int32_t marker = edges_[e].marker;
      if (e == 0 || edges_[e - 1].marker != marker)
        out.add("1 {} {} {}\n", curves_.at(marker), line, n_of_curve.at(curves_.at(marker)));
      out.add("{} {} {}\n", ++number, edges_[e].ends[0] + 1, edges_[e].ends[1] + 1);
    }
    std::int32_t last = 0;
    for (const Triangle& t : mesh_.triangles.items()) {
      if (const std::int32_t surface = surface_of(t); std::exchange(last, surface) != surface)
        out.add("2 {} {} {}\n", surface, triangle, n_of_surface.at(surface));
      out.add("{} {} {} {}\n", ++number, t.vertices[0] + 1, t.vertices[1] + 1, t.vertices[2] + 1);
    }
    out.add("$EndElements\n");
  }

  void write_attributes(TextOut& out) const {
    const std::size_t width = mesh_.attribute_width();
    std::size_t first = 0;
    for (const Attribute& attribute : mesh_.attributes) {
      const auto n = static_cast<std::size_t>(attribute.n_components);
      const std::size_t n_written = n == 1 ? 1 : n <= 3 ? 3 : std::max<std::size_t>(n, 9);
      write_head(out, "NodeData", attribute.name, n_written, mesh_.points.size());
      for (std::size_t v = 0; v < mesh_.points.size(); ++v) {
        out.add("{}", v + 1);
        for (std::size_t k = 0; k < n_written; ++k)
          out.add(" {}", k < n ? mesh_.attribute_values[v * width + first + k] : 0.0);
        out.add("\n");
      }
      out.add("$EndNodeData\n");
      first += n;
    }
    if (mesh_.regions.size() < 2) return;
    write_head(out, "ElementData", "attribute", 1, mesh_.triangles.size());
    std::size_t number = edges_.size();
    for (const Triangle& t : mesh_.triangles.items()) out.add("{} {}\n", ++number, mesh_.regions[t.region()].attribute);
    out.add("$EndElementData\n");
  }
  static void write_head(TextOut& out, const char* section, const std::string& name, std::size_t n_components,
                         std::size_t n) {
    out.add("${}\n1\n\"{}\"\n1\n0\n3\n0\n{}\n{}\n", section, name, n_components, n);
  }

  const Triangulation& mesh_;
  std::vector<SegmentEdge> edges_;
  std::vector<Entity> entities_;                 // of each vertex
  std::map<std::int32_t, std::int32_t> curves_;  // by marker
};

}  // namespace

void write_gmsh(const Triangulation& mesh, const std::string& path) {
  TextOut out(path);
  GmshModel(mesh).write(out);
  out.end();
  out.appear();
}

}  // namespace barrio::delaunay
