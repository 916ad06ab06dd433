// Placements of ranks on cores: the paper's methods, Scotch, SharedMap and barrio on the same traffic in one run.
// Meshes are in closed form, and are partitioned here. Brandfass, Alrutz, Gerhold 2012, tables 4 and 5.
//
//   barrio bench rankmap
//   barrio bench rankmap --parts goals --best-seconds 60
//   barrio bench rankmap --parts qaplib --qaplib FOLDER
//   barrio --ranks 4 bench rankmap --parts zoltan
#include "benchmarks/rankmap/result.hpp"

int main(int argc, char** argv) {
  using namespace barrio;
  return bench::run_benchmark(argc, argv, [&](Context& context) {
    const auto options = bench::parse_rankmap_options(context, argc, argv);
    if (!options) return;
    bench::begin_output(context, options->output);
    const Json document = bench::make_rankmap_document(context, *options);
    bench::print_output(context, options->output, document, bench::rankmap_text);
  });
}
