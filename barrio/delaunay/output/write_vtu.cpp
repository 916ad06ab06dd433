#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/delaunay/segment_edges.hpp"
#include "barrio/delaunay/text/text_out.hpp"
#include "barrio/delaunay/write.hpp"

namespace barrio::delaunay {
namespace {

using detail::TextOut;

/// Arrays of a .vtu file: declared first, in XML, and then written one after the other.
class VtuArrays {
 public:
  /// Declare an array. @param make  appends row i to a vector
  template <class T, class Make>
  void add(TextOut& out, std::string_view name, std::size_t n_components, std::size_t n_rows, Make make) {
    out.add("<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" offset=\"{}\"/>\n",
            type_name(T{}), escaped(name), n_components, offset_);
    const std::uint64_t n_bytes = n_rows * n_components * sizeof(T);
    offset_ += sizeof(n_bytes) + n_bytes;
    writers_.push_back([n_bytes, n_rows, make](TextOut& to) {
      put(to, &n_bytes, 1);
      std::vector<T> rows;
      constexpr std::size_t max_values = std::size_t{1} << 16U;
      for (std::size_t i = 0; i < n_rows; ++i) {
        make(i, rows);
        if (rows.size() < max_values && i + 1 < n_rows) continue;
        put(to, rows.data(), rows.size());
        rows.clear();
      }
    });
  }
  void write(TextOut& out) const {
    for (const auto& writer : writers_) writer(out);
  }

 private:
  template <class T>
  static void put(TextOut& out, const T* values, std::size_t n) {
    out.add("{}", std::string_view(reinterpret_cast<const char*>(values), n * sizeof(T)));  // NOLINT
  }
  static const char* type_name(double) noexcept { return "Float64"; }
  static const char* type_name(std::int64_t) noexcept { return "Int64"; }
  static const char* type_name(std::int32_t) noexcept { return "Int32"; }
  static const char* type_name(std::uint8_t) noexcept { return "UInt8"; }
  static std::string escaped(std::string_view text) {
    std::string plain;
    for (const char c : text) {
      if (c == '&')
        plain += "&amp;";
      else if (c == '<')
        plain += "&lt;";
      else if (c == '"')
        plain += "&quot;";
      else
        plain += c;
    }
    return plain;
  }

  std::uint64_t offset_ = 0;
  std::vector<std::function<void(TextOut&)>> writers_;
};

/// Declare the points and their attributes.
void add_points(VtuArrays& arrays, TextOut& out, const Triangulation& mesh) {
  out.add("<PointData>\n");
  const std::size_t width = mesh.attribute_width();
  std::size_t first = 0;
  for (const Attribute& attribute : mesh.attributes) {
    const auto n = static_cast<std::size_t>(attribute.n_components);
    arrays.add<double>(out, attribute.name, n, mesh.points.size(), [=, &mesh](std::size_t v, std::vector<double>& row) {
      const auto values = mesh.attribute_values.items().subspan(v * width + first, n);
      row.insert(row.end(), values.begin(), values.end());
    });
    first += n;
  }
  out.add("</PointData>\n<Points>\n");
  arrays.add<double>(out, "Points", 3, mesh.points.size(), [&mesh](std::size_t v, std::vector<double>& row) {
    row.insert(row.end(), {mesh.points[v][0], mesh.points[v][1], 0.0});
  });
  out.add("</Points>\n");
}

/// Declare the cells, triangles first, and their values.
void add_cells(VtuArrays& arrays, TextOut& out, const Triangulation& mesh, const std::vector<SegmentEdge>& edges) {
  const std::size_t n_triangles = mesh.triangles.size();
  const std::size_t n = n_triangles + edges.size();
  const auto region_of = [&mesh](std::size_t t) -> const Region& { return mesh.regions[mesh.triangles[t].region()]; };
  out.add("<CellData>\n");
  arrays.add<std::int32_t>(out, "region", 1, n, [=](std::size_t c, std::vector<std::int32_t>& row) {
    row.push_back(c < n_triangles ? region_of(c).number : 0);
  });
  arrays.add<double>(out, "attribute", 1, n, [=](std::size_t c, std::vector<double>& row) {
    row.push_back(c < n_triangles ? region_of(c).attribute : 0.0);
  });
  arrays.add<std::int32_t>(out, "marker", 1, n, [=, &edges](std::size_t c, std::vector<std::int32_t>& row) {
    row.push_back(c < n_triangles ? 0 : edges[c - n_triangles].marker);
  });
  out.add("</CellData>\n<Cells>\n");
  // the rows have three or two numbers; as an array of single numbers they follow each other
  const std::size_t n_nodes = 3 * n_triangles + 2 * edges.size();
  arrays.add<std::int64_t>(out, "connectivity", 1, n_nodes,
                           [=, &mesh, &edges](std::size_t i, std::vector<std::int64_t>& row) {
                             const std::size_t of_edges = i - 3 * n_triangles;
                             row.push_back(i < 3 * n_triangles ? mesh.triangles[i / 3].vertices[i % 3]
                                                               : edges[of_edges / 2].ends[of_edges % 2]);
                           });
  arrays.add<std::int64_t>(out, "offsets", 1, n, [=](std::size_t c, std::vector<std::int64_t>& row) {
    const std::size_t end = c < n_triangles ? 3 * (c + 1) : 3 * n_triangles + 2 * (c + 1 - n_triangles);
    row.push_back(end);
  });
  arrays.add<std::uint8_t>(out, "types", 1, n, [=](std::size_t c, std::vector<std::uint8_t>& row) {
    constexpr std::uint8_t line = 3;
    constexpr std::uint8_t triangle = 5;
    row.push_back(c < n_triangles ? triangle : line);
  });
  out.add("</Cells>\n");
}

}  // namespace

void write_vtu(const Triangulation& mesh, const std::string& path) {
  static_assert(std::endian::native == std::endian::little);
  TextOut out(path);
  const std::vector<SegmentEdge> edges = segment_edges(mesh);
  out.add(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" "
      "header_type=\"UInt64\">\n<UnstructuredGrid>\n<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n",
      mesh.points.size(), mesh.triangles.size() + edges.size());
  VtuArrays arrays;
  add_points(arrays, out, mesh);
  add_cells(arrays, out, mesh, edges);
  out.add("</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_");
  arrays.write(out);
  out.add("\n</AppendedData>\n</VTKFile>\n");
  out.end();
  out.appear();
}

}  // namespace barrio::delaunay
