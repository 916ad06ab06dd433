// A mill cuts a groove into a block: cells within its radius are removed, and the rest is balanced again.
// change FILM.vtkhdf
#include <barrio/io/write.hpp>
#include <barrio/mesh/balance.hpp>
#include <barrio/mesh/box.hpp>
#include <barrio/mesh/local_mesh.hpp>
#include <barrio/mesh/partition_cells.hpp>
#include <barrio/mpi/collectives.hpp>
#include <barrio/mpi/run.hpp>
#include <cstdio>

using barrio::Dim, barrio::index, barrio::LocalId, barrio::mesh::LocalMesh;

namespace {

/// Return the cells whose centre is farther than `radius` from the tool, as positions in the arrays of this rank.
barrio::mesh::Range left_by_tool(const LocalMesh& local, const std::array<double, 3>& tool, double radius) {
  barrio::mesh::Range kept;
  const barrio::mesh::LocalEntities& cells = local.entities[3];
  for (std::size_t c = 0; c < cells.size(); ++c) {
    double square = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
      double centre = 0.0;
      for (const LocalId v : cells.nodes_of(c)) centre += local.coordinates[3 * index(v) + k] / 8.0;
      square += (centre - tool[k]) * (centre - tool[k]);
    }
    if (square > radius * radius) kept.insert(barrio::local_id(c));
  }
  return kept;
}

}  // namespace

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](barrio::Context& context) {
    auto tables = barrio::mesh::make_box(context, {.n = {40, 20, 20}, .high = {2.0, 1.0, 1.0}});
    barrio::mesh::partition_cells(context, tables, context.size());
    barrio::Mesh mesh(context, tables, {.ghost_layers = 1});
    auto heat = mesh.add_field<double>("heat", Dim::volume);
    for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c)
      heat.values()[c] = static_cast<double>(value(mesh.cells().global_ids[c]));

    barrio::io::VtkhdfWriter film(mesh, argv[1], {.fields = {"heat"}, .has_steps = true});
    for (int step = 0; step <= 20; ++step) {
      LocalMesh local = std::move(mesh).release();
      keep_cells(local, left_by_tool(local, {0.1 * step, 0.5, 1.0}, 0.26));
      mesh = adopt(context, std::move(local));  // rebuilds sharers, ghosts and plans
      mesh.migrate(barrio::mesh::balanced_ranks(mesh));
      film.write_step(0.1 * step);  // notices that the mesh changed
    }
    film.close();
    mesh.validate();

    double left = 0.0;
    for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c)
      left += mesh.field<double>("heat", Dim::volume).values()[c];
    left = barrio::mpi::sum(context, left);
    if (context.is_root())
      std::printf("%lld of 16000 cells left, %lld vertices, heat %.0f\n",
                  static_cast<long long>(mesh.n_global(Dim::volume)),
                  static_cast<long long>(mesh.n_global(Dim::vertex)), left);
  });
}
