#include "benchmarks/mesh/files.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "barrio/base/hash.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::bench {
namespace {

/// A permutation of 0 .. n - 1 that each rank can compute alone: four Feistel rounds over the next even power of two,
/// repeated until the result is below n.
class Shuffle {
 public:
  Shuffle(std::int64_t n, std::uint64_t seed) : n_(n), seed_(seed) {
    while ((std::uint64_t{1} << (2 * half_)) < n_) ++half_;
  }
  [[nodiscard]] std::int64_t operator()(std::int64_t i) const {
    auto x = static_cast<std::uint64_t>(i);
    do {
      std::uint64_t left = x >> half_;
      std::uint64_t right = x & mask();
      for (std::uint64_t round = 0; round < 4; ++round) {
        const std::uint64_t mixed = mix64(right ^ (seed_ + round) << 40U) & mask();
        left ^= mixed;
        std::swap(left, right);
      }
      x = left << half_ | right;
    } while (x >= n_);
    return x;
  }

 private:
  [[nodiscard]] std::uint64_t mask() const { return (std::uint64_t{1} << half_) - 1; }
  std::uint64_t n_;
  std::uint64_t seed_;
  unsigned half_ = 1;
};

/// Renumber elements and vertices at random, with their parts. Listed sides and sets keep their order.
mesh::MeshTables shuffled(mpi::Context& context, mesh::MeshTables tables) {
  const Shuffle new_vertex(tables.vertices.n_rows, 1);
  struct Vertex {
    std::int64_t row;
    double x[3];
  };
  std::vector<Rank> to;
  std::vector<Vertex> vertices;
  const std::int64_t first = tables.vertices.first(context.rank());
  for (std::size_t i = 0; i < tables.vertices.size(context.rank()); ++i) {
    const double* x = &tables.coordinates[3 * i];
    vertices.push_back({new_vertex(first + static_cast<std::int64_t>(i)), {x[0], x[1], x[2]}});
    to.push_back(tables.vertices.rank_of(vertices.back().row));
  }
  for (const Vertex& v : exchange::route(context, exchange::pack_by_rank<Vertex>(to, vertices)).items)
    for (std::size_t k = 0; k < 3; ++k) tables.coordinates[3 * static_cast<std::size_t>(v.row - first) + k] = v.x[k];
  for (mesh::CellBlock& block : tables.blocks)
    for (GlobalId& node : block.nodes) node = GlobalId{new_vertex(value(node))};

  struct Cell {
    std::int64_t row;
    std::int64_t part;
    std::array<GlobalId, 8> nodes;
  };
  mesh::CellBlock& block = tables.blocks[0];
  const Shuffle new_cell(block.rows.n_rows, 2);
  const std::int64_t first_cell = block.rows.first(context.rank());
  std::vector<Cell> cells;
  to.clear();
  for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i) {
    Cell cell{new_cell(first_cell + static_cast<std::int64_t>(i)), tables.parts[i], {}};
    std::ranges::copy(block.cell(i), cell.nodes.begin());
    cells.push_back(cell);
    to.push_back(block.rows.rank_of(cell.row));
  }
  for (const Cell& cell : exchange::route(context, exchange::pack_by_rank<Cell>(to, cells)).items) {
    const auto i = static_cast<std::size_t>(cell.row - first_cell);
    tables.parts[i] = static_cast<std::int32_t>(cell.part);
    const auto n = static_cast<std::size_t>(block.nodes_per_cell);
    std::copy_n(cell.nodes.begin(), n, block.nodes.begin() + static_cast<std::ptrdiff_t>(i * n));
  }
  return tables;
}

/// Factor a power of two into three factors, the largest first.
std::array<int, 3> factors(int n) {
  std::array<int, 3> all{1, 1, 1};
  for (std::size_t k = 0; n > 1; n /= 2, k = (k + 1) % 3) all[k] *= 2;
  return all;
}

}  // namespace

MeshFile provide_mesh(mpi::Context& context, const MeshOptions& options, const std::string& name) {
  mesh::BoxOptions box;
  box.tets = name.find("tets") != std::string::npos;
  const auto n = static_cast<std::int64_t>(std::lround(std::cbrt(options.millions * 1e6 / (box.tets ? 6.0 : 1.0))));
  box.n = {n, n, n};
  const bool has_volumes = name.starts_with("brick");
  if (has_volumes) box.volumes = {4, 4, 4};
  box.parts = factors(options.n_parts);
  const std::int64_t planes = has_volumes ? 5 : 2;
  const std::int64_t n_faces = 3 * planes * n * n * (box.tets ? 2 : 1);
  const std::int64_t n_edges = has_volumes ? 3 * planes * planes * n : 0;
  MeshFile file{
      .name = name,
      .path = (std::filesystem::path(options.folder) /
               fmt::format("bench-{}{}-{}-{}.h5m", options.is_unordered ? "unordered-" : "", name, n, options.n_parts))
                  .string(),
      .n_cells = n * n * n * (box.tets ? 6 : 1),
      .n_vertices = (n + 1) * (n + 1) * (n + 1),
      .n_sides = n_faces + n_edges,
      .n_sets = options.n_parts + (has_volumes ? 64 + 6 + 729 : 7),
      .is_tets = box.tets,
      .is_in_order_of_parts = name != "random-tets" && !options.is_unordered};
  int is_there = context.is_root() && !options.remakes && std::filesystem::exists(file.path) ? 1 : 0;
  mpi::broadcast(context, std::span(&is_there, 1));
  if (is_there == 0) {
    context.log().notice(fmt::format("making {}", file.path));
    mesh::MeshTables tables = mesh::make_box(context, box);
    if (file.is_in_order_of_parts) tables = mesh::reorder_by_part(context, std::move(tables));
    if (name == "random-tets") tables = shuffled(context, std::move(tables));
    io::write_h5m(context, tables, file.path);
  }
  file.n_bytes = std::filesystem::file_size(file.path);
  return file;
}

}  // namespace barrio::bench
