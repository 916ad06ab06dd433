// A block of N x N x N hexes with a density in each cell, written layer by layer: a rank has one layer at a time.
// stream N OUT.h5m|OUT.vtkhdf
#include <barrio/base/memory.hpp>
#include <barrio/base/slabs.hpp>
#include <barrio/files/h5m_file.hpp>
#include <barrio/files/vtkhdf.hpp>
#include <barrio/mpi/collectives.hpp>
#include <barrio/mpi/run.hpp>
#include <cstdio>
#include <cstdlib>
#include <string_view>

using barrio::Slabs, barrio::files::H5mFile, barrio::files::VtkhdfFile;

namespace {

/// Layer k of the block, in place of a solver's result.
struct Layer {
  std::vector<double> points;       // of n_planes planes from the bottom, (n + 1)^2 each
  std::vector<std::int64_t> nodes;  // indices of points
  std::vector<double> density;      // of the n^2 cells
  Layer(std::int64_t n, std::int64_t k, std::int64_t n_planes) : density(n * n) {
    const double h = 1.0 / static_cast<double>(n);
    for (std::int64_t plane = k; plane < k + n_planes; ++plane)
      for (std::int64_t j = 0; j <= n; ++j)
        for (std::int64_t i = 0; i <= n; ++i)
          points.insert(points.end(),
                        {h * static_cast<double>(i), h * static_cast<double>(j), h * static_cast<double>(plane)});
    const std::int64_t up = (n + 1) * (n + 1);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t a = i + (n + 1) * j;
        const std::int64_t d = a + n + 1;
        nodes.insert(nodes.end(), {a, a + 1, d + 1, d, a + up, a + 1 + up, d + 1 + up, d + up});
        density[static_cast<std::size_t>(i + n * j)] = static_cast<double>(i + n * (j + n * k));
      }
  }
};

/// Write an .h5m file. It has each vertex once: a rank writes the bottom plane of each layer, and the top of the last.
void write_h5m(barrio::Context& context, std::int64_t n, const char* path) {
  const std::int64_t plane = (n + 1) * (n + 1);
  const Slabs layers{n, context.size()};
  H5mFile file(context, path,
               {.n_vertices = plane * (n + 1), .elements = {{.type = "Hex", .n_nodes = 8, .n = n * n * n}}});
  const auto tag = file.make_tag({.name = "density", .values = {barrio::files::H5mValues::Of::float64}});
  const auto density = file.make_dense(tag, 0);
  for (std::int64_t k = layers.first(context.rank()); k < layers.first(context.rank() + 1); ++k) {
    Layer layer(n, k, k == n - 1 ? 2 : 1);
    for (std::int64_t& node : layer.nodes) node += file.first_id(H5mFile::vertices) + plane * k;  // ids in the file
    file.put_vertices(plane * k, layer.points);
    file.put_elements(0, n * n * k, layer.nodes);
    file.put_values(density, n * n * k, n * n, std::as_bytes(std::span(layer.density)));
  }
  file.close();
}

/// Write a .vtkhdf file. Each layer is a piece with both of its planes.
void write_vtkhdf(barrio::Context& context, std::int64_t n, const char* path) {
  const Slabs layers{n, context.size()};
  const std::size_t n_pieces = layers.size(context.rank());
  const std::vector<std::int64_t> n_points(n_pieces, 2 * (n + 1) * (n + 1));
  const std::vector<std::int64_t> n_cells(n_pieces, n * n);
  const std::vector<std::int64_t> n_nodes(n_pieces, 8 * n * n);
  std::vector<std::int64_t> offsets;
  for (std::int64_t c = 0; c <= n * n; ++c) offsets.push_back(8 * c);
  const std::vector<std::uint8_t> types(n * n, 12);  // VTK's hexahedra

  VtkhdfFile file(context, path, 0);
  file.make_grid({.n_points = n_points, .n_cells = n_cells, .n_nodes = n_nodes});
  const auto density = file.make_array<double>(VtkhdfFile::Of::cells, "density", 1);
  for (std::size_t piece = 0; piece < n_pieces; ++piece) {
    const Layer layer(n, layers.first(context.rank()) + static_cast<std::int64_t>(piece), 2);
    file.put_piece(piece, {.points = layer.points, .connectivity = layer.nodes, .offsets = offsets, .types = types});
    file.put_array<double>(density, piece, layer.density);
  }
  file.close();
}

}  // namespace

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](barrio::Context& context) {
    const std::int64_t n = argc == 3 ? std::atoll(argv[1]) : 0;
    if (n < 1) barrio::refuse_together(barrio::ErrorCode::usage, "stream", "needs a number of cells and a file");
    const bool is_vtkhdf = std::string_view(argv[2]).ends_with(".vtkhdf");
    is_vtkhdf ? write_vtkhdf(context, n, argv[2]) : write_h5m(context, n, argv[2]);
    const double peak = static_cast<double>(barrio::peak_resident_bytes()) / 1048576.0;
    const double highest = barrio::mpi::max(context, peak);
    if (context.is_root()) std::printf("at most %.0f MiB on a rank\n", highest);
  });
}
