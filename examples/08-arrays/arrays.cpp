// A mesh from a program's own arrays: a ring of quads, of which each rank makes a sector.
// arrays OUT.h5m|OUT.vtkhdf
#include <barrio/base/error.hpp>
#include <barrio/exchange/halo.hpp>
#include <barrio/io/write.hpp>
#include <barrio/mesh/from_arrays.hpp>
#include <barrio/mesh/reduce_field.hpp>
#include <barrio/mpi/collectives.hpp>
#include <barrio/mpi/run.hpp>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numbers>

using barrio::mesh::CellType, barrio::mesh::Dim, barrio::mesh::MeshArrays, barrio::mesh::SetKind, barrio::mesh::TagType;

constexpr std::int64_t n_around = 48;
constexpr std::int64_t n_out = 8;

/// Arrays of a rank: vertices with global ids, including those shared with neighbours, and cells that refer to them.
struct Sector {
  std::vector<double> x = {};                // (n, 3)
  std::vector<std::int64_t> ids = {};        // of each vertex
  std::vector<std::int64_t> quads = {};      // (n, 4)
  std::vector<std::int64_t> inner = {};      // edges of the inner border, (n, 2)
  std::vector<std::int32_t> parts = {};      // of each quad
  std::vector<std::int64_t> edge_rows = {};  // members of a set: positions in the edges given here
  std::vector<double> areas = {};            // of each quad
};

Sector make_sector(int rank, int n_ranks) {
  Sector sector;
  const std::int64_t first = n_around * rank / n_ranks;
  const std::int64_t end = n_around * (rank + 1) / n_ranks;
  const auto id = [](std::int64_t a, std::int64_t r) { return a % n_around * (n_out + 1) + r; };
  const double step = 2.0 * std::numbers::pi / n_around;
  for (std::int64_t a = first; a <= end && first < end; ++a)
    for (std::int64_t r = 0; r <= n_out; ++r) {
      const double radius = 1.0 + static_cast<double>(r) / n_out;
      const double angle = step * static_cast<double>(a % n_around);  // the same bits on every rank
      sector.x.insert(sector.x.end(), {radius * std::cos(angle), radius * std::sin(angle), 0.0});
      sector.ids.push_back(id(a, r));
    }
  for (std::int64_t a = first; a < end; ++a) {
    sector.inner.insert(sector.inner.end(), {id(a, 0), id(a + 1, 0)});
    sector.edge_rows.push_back(a - first);
    for (std::int64_t r = 0; r < n_out; ++r) {
      sector.quads.insert(sector.quads.end(), {id(a, r), id(a, r + 1), id(a + 1, r + 1), id(a + 1, r)});
      const double low = 1.0 + static_cast<double>(r) / n_out;
      const double high = low + 1.0 / n_out;
      sector.areas.push_back(0.5 * (high * high - low * low) * std::sin(step));
      sector.parts.push_back(rank);
    }
  }
  return sector;
}

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](barrio::Context& context) {
    if (argc != 2) throw barrio::AgreedError(barrio::ErrorCode::usage, {"arrays", "needs a file", "arrays OUT.h5m"});
    const Sector mine = make_sector(context.rank(), context.size());

    MeshArrays arrays;
    arrays.coordinates = mine.x;
    arrays.vertex_ids = mine.ids;  // default: vertices are numbered 0, 1, 2, ... rank by rank
    arrays.cells.push_back({.type = CellType::quad, .nodes_per_cell = 4, .nodes = mine.quads, .parts = mine.parts});
    arrays.cells.push_back({.type = CellType::edge, .nodes_per_cell = 2, .nodes = mine.inner});
    arrays.n_parts = context.size();  // a cell's part is its rank, so all stay. Without parts barrio cuts the mesh
    arrays.add_set(SetKind::neumann, 1, "inner").members.push_back({CellType::edge, mine.edge_rows});
    arrays.add_tag("area", TagType::float64).values.push_back({CellType::quad, std::as_bytes(std::span(mine.areas))});
    barrio::Mesh mesh = barrio::mesh::mesh_from_arrays(context, arrays, {.build = {.ghost_layers = 1}});

    // Each cell gives a quarter of its area to each of its corners; on interfaces the contributions of sharers add up.
    auto share = mesh.add_field<double>("share", Dim::vertex);
    const auto& area = mesh.tag("area").on[2].items;
    for (std::size_t c = 0; c < mesh.cells().n_owned; ++c) {
      double value = 0.0;
      std::memcpy(&value, area.value(c, sizeof value).data(), sizeof value);
      for (const barrio::LocalId v : mesh.cells().nodes_of(c)) share[v] += value / 4.0;
    }
    auto halo = mesh.plan(share);
    barrio::mesh::reduce_over_sharers(mesh, share, halo, barrio::exchange::Reduction::sum);
    barrio::io::write(mesh, argv[1]);

    double sum = 0.0;
    for (const double one : share.values().first(mesh.n_owned(Dim::vertex))) sum += one;
    sum = barrio::mpi::sum(context, sum);
    if (context.is_root())
      std::printf("%ld vertices, %ld cells, area %.9f\n", static_cast<long>(mesh.n_global(Dim::vertex)),
                  static_cast<long>(mesh.n_global(Dim::face)), sum);
  });
}
