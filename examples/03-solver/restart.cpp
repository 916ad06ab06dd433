// Restart from a checkpoint and write another, on any number of ranks: every run makes all vertices a year older.
// restart IN OUT.h5m
#include <barrio/base/error.hpp>
#include <barrio/io/read.hpp>
#include <barrio/io/write.hpp>
#include <barrio/mesh/tag_field.hpp>
#include <barrio/mpi/collectives.hpp>
#include <barrio/mpi/run.hpp>
#include <cstdio>

using barrio::mesh::Dim;

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](barrio::Context& context) {
    if (argc != 3)
      throw barrio::AgreedError(barrio::ErrorCode::usage, {"restart", "needs two arguments", "restart IN OUT.h5m"});
    barrio::Mesh mesh = barrio::io::read(context, argv[1], {.ghost_layers = 1});
    auto age = mesh.has_tag("age") ? barrio::mesh::tag_as_field<double>(mesh, "age", Dim::vertex)  // on copies too
                                   : mesh.add_field<double>("age", Dim::vertex);                   // zero everywhere
    for (double& years : age.values()) years += 1.0;
    barrio::io::write(mesh, argv[2]);  // the mesh with sets, tags, parts and fields

    const std::size_t n_owned = mesh.n_owned(Dim::vertex);
    double sum = 0.0;
    for (const double years : age.values().first(n_owned)) sum += years;
    const double mean = barrio::mpi::sum(context, sum) / static_cast<double>(mesh.n_global(Dim::vertex));
    if (context.is_root())
      std::printf("%ld vertices, %.3f years old\n", static_cast<long>(mesh.n_global(Dim::vertex)), mean);
  });
}
