#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "barrio/delaunay/output/attributes.hpp"
#include "barrio/delaunay/segment_edges.hpp"
#include "barrio/delaunay/write.hpp"
#include "barrio/files/vtkhdf.hpp"
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

}  // namespace

void write_vtkhdf(mpi::Context& context, const Triangulation& mesh, const std::string& path) {
  const std::size_t n_rows = context.is_root() ? mesh.triangles.size() : 0;
  const std::vector<SegmentEdge> edges = n_rows > 0 ? segment_edges(mesh) : std::vector<SegmentEdge>{};
  std::vector<std::int32_t> places(n_rows > 0 ? mesh.points.size() : 0, -1);
  const auto for_each_piece = [&](auto&& visit) {
    for (std::size_t i = 0; i * triangles_a_piece < n_rows; ++i)
      visit(i, Piece(mesh, edges, places, i * triangles_a_piece, std::min((i + 1) * triangles_a_piece, n_rows)));
  };
  std::vector<std::int64_t> n_points;
  std::vector<std::int64_t> n_cells;
  std::vector<std::int64_t> n_nodes;
  for_each_piece([&](std::size_t, const Piece& piece) {
    n_points.push_back(piece.n_points());
    n_cells.push_back(piece.n_cells());
    n_nodes.push_back(piece.n_nodes());
  });
  constexpr std::uint64_t bytes_a_triangle = 60;
  VtkhdfFile file(context, path, mpi::max(context, n_rows) * bytes_a_triangle);
  file.make_grid({.n_points = n_points, .n_cells = n_cells, .n_nodes = n_nodes});
  const auto region = file.make_array<std::int32_t>(VtkhdfFile::Of::cells, "region", 1);
  const auto attribute = file.make_array<double>(VtkhdfFile::Of::cells, "attribute", 1);
  const auto marker = file.make_array<std::int32_t>(VtkhdfFile::Of::cells, "marker", 1);
  std::vector<VtkhdfFile::ArrayRows> of_points;
  const std::vector<Attribute> attributes = detail::share_attributes(context, mesh);
  for (const Attribute& one : attributes)
    of_points.push_back(file.make_array<double>(VtkhdfFile::Of::points, one.name, one.n_components));
  for_each_piece([&](std::size_t i, const Piece& piece) {
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
    std::size_t first = 0;
    for (std::size_t a = 0; a < attributes.size(); ++a) {
      const std::size_t n = attributes[a].n_components;
      file.put_array<double>(of_points[a], i, piece.attribute(mesh, first, n));
      first += n;
    }
  });
  file.close();
}

}  // namespace barrio::delaunay
