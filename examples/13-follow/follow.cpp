// A heat front moves through a block, and the mesh follows it: fine where the temperature changes, coarse elsewhere.
// follow FILM.vtkhdf STATE.h5m
#include <algorithm>
#include <barrio/adapt/adapt.hpp>
#include <barrio/adapt/size_fields.hpp>
#include <barrio/io/write.hpp>
#include <barrio/mesh/box.hpp>
#include <barrio/mesh/partition_cells.hpp>
#include <barrio/mpi/collectives.hpp>
#include <barrio/mpi/run.hpp>
#include <cmath>
#include <cstdio>

using barrio::Dim, barrio::Mesh;

namespace {

/// Return the temperature at a vertex, in place of a solver's result: 1 behind the front and 0 ahead of it.
double temperature(const Mesh& mesh, std::size_t v, double time) {
  const double* x = &mesh.vertices().coordinates[3 * v];
  const double front = std::hypot(x[0], x[1] - 0.5, x[2] - 0.5) - time;
  return 0.5 - 0.5 * std::tanh(front / 0.05);
}

/// Return the change of temperature within each cell.
std::vector<double> errors(const Mesh& mesh) {
  const auto heat = mesh.field<double>("temperature", Dim::vertex);
  std::vector<double> out;
  for (std::size_t c = 0; c < mesh.n_owned(Dim::volume); ++c) {
    double low = 1.0;
    double high = 0.0;
    for (const barrio::LocalId v : mesh.cells().nodes_of(c)) {
      low = std::min(low, heat[v]);
      high = std::max(high, heat[v]);
    }
    out.push_back(high - low);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](barrio::Context& context) {
    auto tables = barrio::mesh::make_box(context, {.n = {8, 4, 4}, .high = {2.0, 1.0, 1.0}, .tets = true});
    barrio::mesh::partition_cells(context, tables, context.size());
    Mesh mesh(context, tables, {.ghost_layers = 1});
    mesh.add_field<double>("temperature", Dim::vertex);
    mesh.add_field<double>("size", Dim::vertex);

    barrio::io::VtkhdfWriter film(mesh, argv[1], {.fields = {"temperature"}, .has_steps = true});
    // The first mesh is adapted to a formula.
    const auto size = [](const std::array<double, 3>& x) {
      return 0.06 + 0.4 * std::abs(std::hypot(x[0], x[1] - 0.5, x[2] - 0.5) - 0.2);
    };
    const barrio::adapt::AdaptReport report = barrio::adapt::adapt(mesh, size, {.limits = {.max_size = 0.25}});
    if (context.is_root()) std::printf("first mesh: mean ratio %.2f at least\n", report.min_quality);

    double off = 0.0;
    for (int step = 0; step <= 6; ++step) {
      const double time = 0.2 + 0.15 * step;
      {
        auto heat = mesh.field<double>("temperature", Dim::vertex);
        for (std::size_t v = 0; v < mesh.n_local(Dim::vertex); ++v) heat.values()[v] = temperature(mesh, v, time);
      }
      const auto sizes = barrio::adapt::sizes_from_errors(mesh, errors(mesh), {.error = 0.25});
      std::ranges::copy(sizes, mesh.field<double>("size", Dim::vertex).values().begin());
      barrio::adapt::adapt(mesh, "size", {.limits = {.min_size = 0.06, .max_size = 0.25, .growth = 0.4}});

      const auto heat = mesh.field<double>("temperature", Dim::vertex);  // transferred, not recomputed
      for (std::size_t v = 0; v < mesh.n_owned(Dim::vertex); ++v)
        off = std::max(off, std::abs(heat.values()[v] - temperature(mesh, v, time)));
      film.write_step(time);  // notices that the mesh changed
    }
    film.close();
    mesh.validate();
    auto error = mesh.add_field<double>("error", Dim::volume);
    std::ranges::copy(errors(mesh), error.values().begin());
    barrio::io::write_h5m(mesh, argv[2]);  // the last mesh with its fields, for a restart
    off = barrio::mpi::max(context, off);
    const auto checksum = static_cast<unsigned long long>(mesh.checksum());
    if (context.is_root())
      std::printf("%lld cells, %lld vertices, checksum %016llx; carried over to %.2f\n",
                  static_cast<long long>(mesh.n_global(Dim::volume)),
                  static_cast<long long>(mesh.n_global(Dim::vertex)), checksum, off);
  });
}
