// Write a few states of a flow with three levels, for test_simulation_file.py, and print the totals of each:
//
//   write_flow FILE DIMENSION
#include <cstdio>
#include <string>

#include "barrio/amr/simulation_file.hpp"
#include "barrio/mpi/run.hpp"
#include "tests/amr/moving_blob.hpp"

namespace {

template <std::size_t D>
void write_flow(barrio::mpi::Context& context, const std::string& path) {
  using namespace barrio::amr;
  const auto euler = std::make_shared<const Euler<D>>();
  Simulation<D> simulation(context, euler, test::moving_blob<D>(euler));
  SimulationFile<D> file(path, simulation, euler->quantities());
  for (int n = 0; n < 3; ++n) {
    file.write(simulation);
    const std::vector<double> totals = simulation.totals();
    if (context.is_root()) std::printf("%.17g %.17g\n", simulation.time(), totals[0]);
    for (int step = 0; step < 3; ++step) simulation.step();
  }
  file.close();
}

}  // namespace

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](barrio::Context& context) {
    if (std::string(argv[2]) == "2")
      write_flow<2>(context, argv[1]);
    else
      write_flow<3>(context, argv[1]);
  });
}
