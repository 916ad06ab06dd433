#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "barrio/delaunay/output/attributes.hpp"
#include "barrio/delaunay/parallel/part_edges.hpp"
#include "barrio/delaunay/segment_edges.hpp"
#include "barrio/delaunay/write.hpp"
#include "barrio/files/vtkhdf.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::delaunay {
namespace {

using files::VtkhdfFile;

constexpr std::uint8_t vtk_line = 3;
constexpr std::uint8_t vtk_triangle = 5;
constexpr std::size_t triangles_a_piece = std::size_t{1} << 20U;

/// Consecutive triangles, with the edges that belong to them and the points of both.
class Piece {
 public:
  Piece(const Triangulation& mesh, std::span<const SegmentEdge> edges, std::vector<std::int32_t>& places,
        std::int64_t first, std::int64_t last)
      : first_(first), last_(last) {
    const auto begin = std::ranges::lower_bound(edges, first, {}, &SegmentEdge::triangle);
    const auto end = std::ranges::lower_bound(edges, last, {}, &SegmentEdge::triangle);
    edges_ = std::span(begin, end);
    offsets_.push_back(0);
    for (std::int64_t row = first; row < last; ++row) add(mesh, places, mesh.triangles[row].vertices, vtk_triangle);
    for (const SegmentEdge& edge : edges_) add(mesh, places, edge.ends, vtk_line);
    for (const std::int32_t v : vertices_) places[v] = -1;
  }
  [[nodiscard]] std::int64_t n_points() const noexcept { return std::ssize(vertices_); }
  [[nodiscard]] std::int64_t n_cells() const noexcept { return std::ssize(types_); }
  [[nodiscard]] std::int64_t n_nodes() const noexcept { return std::ssize(connectivity_); }
  [[nodiscard]] files::VtkhdfArrays arrays() const noexcept {
    return {.points = points_, .connectivity = connectivity_, .offsets = offsets_, .types = types_};
  }
  /// Return n components of the attributes at its points, from `first` on.
  [[nodiscard]] std::vector<double> attribute(const Triangulation& mesh, std::size_t first, std::size_t n) const {
    const std::size_t width = mesh.attribute_width();
    std::vector<double> all;
    for (const std::int32_t v : vertices_) {
      const auto values = mesh.attribute_values.items().subspan(v * width + first, n);
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }
  /// Return a value of each cell: first of triangles, by their row, then of edges.
  template <class T, class OfTriangle, class OfEdge>
  [[nodiscard]] std::vector<T> values(OfTriangle&& of_triangle, OfEdge&& of_edge) const {
    std::vector<T> all;
    for (std::int64_t row = first_; row < last_; ++row) all.push_back(of_triangle(row));
    for (const SegmentEdge& edge : edges_) all.push_back(of_edge(edge));
    return all;
  }

 private:
  template <class Vertices>
  void add(const Triangulation& mesh, std::vector<std::int32_t>& places, const Vertices& vertices, std::uint8_t type) {
    for (const std::int32_t v : vertices) {
      std::int32_t& place = places[v];
      if (place < 0) {
        place = static_cast<std::int32_t>(vertices_.size());
        vertices_.push_back(v);
        points_.insert(points_.end(), {mesh.point(v)[0], mesh.point(v)[1], 0.0});
      }
      connectivity_.push_back(place);
    }
    offsets_.push_back(std::ssize(connectivity_));
    types_.push_back(type);
  }

  std::int64_t first_;
  std::int64_t last_;
  std::span<const SegmentEdge> edges_;
  std::vector<std::int32_t> vertices_;
  std::vector<double> points_;
  std::vector<std::int64_t> connectivity_;
  std::vector<std::int64_t> offsets_;
  std::vector<std::uint8_t> types_;
};

/// A mesh to write, with its edges on segments by ascending triangle.
struct Source {
  std::size_t place;  // among those of this rank
  const Triangulation* mesh;
  std::vector<SegmentEdge> edges;
  std::int32_t part;
};
/// Meshes of this rank: a function that calls another one with each of them, in any order.
struct Sources {
  std::size_t n;
  std::function<void(const std::function<void(const Source&)>&)> visit;
};

/// Write meshes of all ranks, in pieces. Collective. @param has_parts  whether cells get the number of their part
void write_sources(mpi::Context& context, const Sources& sources, const std::vector<Attribute>& attributes,
                   bool has_parts, const std::string& path) {
  struct Sizes {
    std::int64_t n_points;
    std::int64_t n_cells;
    std::int64_t n_nodes;
  };
  /// Visit the pieces of all meshes, each with its number in the mesh.
  const auto for_each_piece = [&](auto&& visit) {
    mpi::agree_after(context, [&] {
      sources.visit([&](const Source& source) {
        const std::size_t n_rows = source.mesh->triangles.size();
        std::vector<std::int32_t> places(source.mesh->points.size(), -1);
        for (std::size_t i = 0; i * triangles_a_piece < n_rows; ++i)
          visit(i, source,
                Piece(*source.mesh, source.edges, places, i * triangles_a_piece,
                      std::min((i + 1) * triangles_a_piece, n_rows)));
      });
    });
  };
  std::vector<std::vector<Sizes>> sizes(sources.n);  // of the pieces of each mesh
  for_each_piece([&](std::size_t, const Source& source, const Piece& piece) {
    sizes[source.place].push_back({piece.n_points(), piece.n_cells(), piece.n_nodes()});
  });
  std::vector<std::size_t> first_piece;  // of each mesh
  std::vector<std::int64_t> n_points;
  std::vector<std::int64_t> n_cells;
  std::vector<std::int64_t> n_nodes;
  std::uint64_t n_triangles = 0;
  for (const std::vector<Sizes>& of_mesh : sizes) {
    first_piece.push_back(n_points.size());
    for (const Sizes& one : of_mesh) {
      n_triangles += one.n_cells;
      n_points.push_back(one.n_points);
      n_cells.push_back(one.n_cells);
      n_nodes.push_back(one.n_nodes);
    }
  }
  constexpr std::uint64_t bytes_a_triangle = 60;
  VtkhdfFile file(context, path, mpi::sum(context, n_triangles) * bytes_a_triangle);
  file.make_grid({.n_points = n_points, .n_cells = n_cells, .n_nodes = n_nodes});
  const auto region = file.make_array<std::int32_t>(VtkhdfFile::Of::cells, "region", 1);
  const auto attribute = file.make_array<double>(VtkhdfFile::Of::cells, "attribute", 1);
  const auto marker = file.make_array<std::int32_t>(VtkhdfFile::Of::cells, "marker", 1);
  std::optional<VtkhdfFile::ArrayRows> part;
  if (has_parts) part = file.make_array<std::int32_t>(VtkhdfFile::Of::cells, "part", 1);
  std::vector<VtkhdfFile::ArrayRows> of_points;
  for (const Attribute& one : attributes)
    of_points.push_back(file.make_array<double>(VtkhdfFile::Of::points, one.name, one.n_components));
  for_each_piece([&](std::size_t k, const Source& source, const Piece& piece) {
    const std::size_t i = first_piece[source.place] + k;
    const Triangulation& mesh = *source.mesh;
    file.put_piece(i, piece.arrays());
    const auto region_of = [&](std::size_t row) { return mesh.triangles[row].region(); };
    file.put_array<std::int32_t>(
        region, i,
        piece.values<std::int32_t>([&](std::size_t row) { return mesh.regions[region_of(row)].number; },
                                   [](const SegmentEdge&) { return 0; }));
    file.put_array<double>(attribute, i,
                           piece.values<double>([&](std::size_t row) { return mesh.regions[region_of(row)].attribute; },
                                                [](const SegmentEdge&) { return 0.0; }));
    file.put_array<std::int32_t>(
        marker, i,
        piece.values<std::int32_t>([](std::size_t) { return 0; }, [](const SegmentEdge& edge) { return edge.marker; }));
    if (part)
      file.put_array<std::int32_t>(*part, i,
                                   piece.values<std::int32_t>([&](std::size_t) { return source.part; },
                                                              [&](const SegmentEdge&) { return source.part; }));
    std::size_t first = 0;
    for (std::size_t a = 0; a < attributes.size(); ++a) {
      const std::size_t n = attributes[a].n_components;
      file.put_array<double>(of_points[a], i, piece.attribute(mesh, first, n));
      first += n;
    }
  });
  file.close();
}

}  // namespace

void write_vtkhdf(mpi::Context& context, const Triangulation& mesh, const std::string& path) {
  const Sources sources{context.is_root() ? 1U : 0U, [&](const auto& visit) {
                          if (context.is_root()) visit({0, &mesh, segment_edges(mesh), 0});
                        }};
  write_sources(context, sources, detail::share_attributes(context, mesh), false, path);
}

void write_vtkhdf(mpi::Context& context, const PartedTriangulation& parted, const std::string& path) {
  const Sources sources{parted.n_local(), [&](const auto& visit) {
                          parted.visit([&](std::size_t i, const Part& part) {
                            visit({i, &part.mesh, detail::edges_of(part), part.number});
                          });
                        }};
  write_sources(context, sources, parted.attributes, true, path);
}

}  // namespace barrio::delaunay
