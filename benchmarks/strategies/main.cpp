// Strategies of an exchange that is made again and again, all in one program, one after the other in every repetition,
// contents checked: what is left to wait for after computing, which strategy is fastest, what a communication thread
// hides. Saif 2004, chapters 3 to 5.
//
//   barrio --ranks 2 bench strategies
//   barrio --ranks 2 bench strategies --parts engine
//   OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self barrio --ranks 2 bench strategies
#include "benchmarks/strategies/result.hpp"

int main(int argc, char** argv) {
  using namespace barrio;
  // All threads may call MPI only where the engine is measured: the others would pay for it.
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
