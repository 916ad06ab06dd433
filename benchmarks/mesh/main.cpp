// Read a mesh file, resolve what ranks share, add ghosts, exchange a field: what a solver does before its first step.
// Counts are compared with the closed form, exchanged values with their owners', the mesh is validated. Other programs
// load the same files in the same repetitions, and must find the same ghosts.
//
//   barrio --ranks 2 bench mesh --folder /tmp
//   barrio --ranks 2 bench mesh --meshes tets hexes --millions 4 --peers none
//   barrio --ranks 2 bench mesh --meshes tets hexes --millions 0.1 --peers all
#include <cstdio>

#include "barrio/mpi/run.hpp"
#include "benchmarks/mesh/result.hpp"

namespace {

using namespace barrio;

void run(Context& context, const bench::MeshOptions& options) {
  bench::MeshFigures figures;
  for (const std::string& name : options.meshes)
    figures.loads.push_back(bench::measure_load(context, options, bench::provide_mesh(context, options, name)));
  if (options.has_join) figures.join = bench::measure_join(context, options);
  if (options.has_structured) figures.structured = bench::measure_structured(context, options);
  const Json document = bench::make_document(context, options, figures);
  if (context.is_root())
    std::fputs((options.is_json ? document.dump(2) + "\n" : bench::to_text(document)).c_str(), stdout);
}

}  // namespace

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](Context& context) {
    if (const auto options = bench::parse_mesh_options(context, argc, argv)) run(context, *options);
  });
}
