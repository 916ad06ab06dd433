// Read a mesh file, resolve what ranks share, add ghosts, exchange a field: what a solver does before its first step.
// Counts are compared with the closed form, exchanged values with their owners', the mesh is validated.
//
//   barrio --ranks 2 bench mesh --folder /tmp
//   barrio --ranks 2 bench mesh --meshes tets hexes --millions 4
#include <cstdio>

#include "barrio/mpi/run.hpp"
#include "benchmarks/mesh/result.hpp"

namespace {

using namespace barrio;

void run(Context& context, const bench::MeshOptions& options) {
  std::vector<bench::LoadFigures> all;
  for (const std::string& name : options.meshes)
    all.push_back(bench::measure_load(context, options, bench::provide_mesh(context, options, name)));
  std::optional<bench::JoinFigures> join;
  if (options.has_join) join = bench::measure_join(context, options);
  const Json document = bench::make_document(context, options, all, join);
  if (context.is_root())
    std::fputs((options.is_json ? document.dump(2) + "\n" : bench::to_text(document)).c_str(), stdout);
}

}  // namespace

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](Context& context) {
    if (const auto options = bench::parse_mesh_options(context, argc, argv)) run(context, *options);
  });
}
