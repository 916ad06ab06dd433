// Strategies of a repeated exchange, all in one program, interleaved in every repetition, with contents checked: the
// wait after computing, the fastest strategy, and the overlap with a communication thread. Saif 2004, chapters 3 to 5.
//
//   barrio --ranks 2 bench strategies
//   barrio --ranks 2 bench strategies --parts engine
//   OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self barrio --ranks 2 bench strategies
#include "benchmarks/strategies/result.hpp"

int main(int argc, char** argv) {
  using namespace barrio;
  // MPI_THREAD_MULTIPLE only for the engine, since it slows the others down.
  const int level = bench::wants_engine(argc, argv) ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
  const auto body = [&](Context& context) {
    const auto options = bench::parse_strategy_options(context, argc, argv);
    if (!options) return;
    bench::begin_output(context, options->output);
    const Json document = bench::make_document(context, *options);
    bench::print_output(context, options->output, document, bench::to_text);
  };
  return bench::run_benchmark(argc, argv, body, {.thread_level = level});
}
