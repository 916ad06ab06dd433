// The five lines of the README, and a check of their result.
#include <cstdio>

#include "barrio/io/read.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/run.hpp"

int main(int argc, char** argv) {
  const char* path = argv[1];
  return barrio::run(argc, argv, [&](barrio::Context& context) {
    auto mesh = barrio::io::read(context, path, {.ghost_layers = 1});
    auto heat = mesh.add_field<double>("temperature", barrio::Dim::vertex);
    auto halo = mesh.plan(heat);
    for (double& value : heat.values().first(mesh.n_owned(barrio::Dim::vertex))) value = 300.0;
    halo.exchange();
    double sum = 0.0;
    for (const double value : heat.values()) sum += value;
    const bool is_right = sum == 300.0 * static_cast<double>(mesh.n_local(barrio::Dim::vertex));
    if (barrio::mpi::min(context, is_right ? 1 : 0) == 0)
      throw barrio::AgreedError(barrio::ErrorCode::differs, {.subject = "temperature", .cause = "did not arrive"});
    if (context.is_root()) std::printf("ok %lld\n", static_cast<long long>(mesh.n_global(barrio::Dim::volume)));
  });
}
