// Read a mesh file, resolve shared entities, add ghosts, exchange a field: the start of a solver. Counts are compared
// with the closed form, exchanged values with their owners', and the mesh is validated. Other programs load the same
// files in the same repetitions, and must find the same ghosts.
//
//   barrio --ranks 2 bench mesh --folder /tmp
//   barrio --ranks 2 bench mesh --meshes tets hexes --millions 4 --peers none
//   barrio --ranks 2 bench mesh --meshes tets hexes --millions 0.1 --peers all
#include "benchmarks/mesh/result.hpp"

namespace {

using namespace barrio;

void run(Context& context, const bench::MeshOptions& options) {
  bench::begin_output(context, options.output);
  bench::MeshFigures figures;
  for (const std::string& name : options.meshes)
    figures.loads.push_back(bench::measure_load(context, options, bench::provide_mesh(context, options, name)));
  if (options.has_join) figures.join = bench::measure_join(context, options);
  if (options.has_structured) figures.structured = bench::measure_structured(context, options);
  if (options.has_structured) figures.boxes = bench::measure_boxes(context, options);
  const Json document = bench::make_document(context, options, figures);
  bench::print_output(context, options.output, document, bench::to_text);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark(argc, argv, [&](Context& context) {
    if (const auto options = bench::parse_mesh_options(context, argc, argv)) run(context, *options);
  });
}
