// Messages of 8 bytes to neighbours, by barrio and by its alternatives: all in one program, interleaved in every
// repetition, with contents checked, keeping the min time. Figures 7, 8 and 10 of Ovcharenko et al. 2012 are runs with
// other options; benchmarks/exchange/figures draws them.
//
//   barrio --ranks 2 bench exchange --pattern ring --iterations 1024 61440
//   barrio --ranks 64 bench exchange --pattern tile --iterations 64 2048
//   barrio --ranks 64 bench exchange --pattern meet --iterations 64
//   barrio --ranks 2 bench exchange --sweep
//   barrio --ranks 8 bench exchange --work gather
//   barrio --ranks 16 bench exchange --work transfer
#include <algorithm>

#include "benchmarks/exchange/result.hpp"

namespace {

using namespace barrio;

void run_work(Context& context, const bench::Options& options) {
  const std::vector<bench::WorkTraits> works = bench::all_works();
  const bench::WorkTraits& work = *std::ranges::find(works, options.work, &bench::WorkTraits::name);
  std::vector<bench::Case> cases;
  for (const std::uint64_t n : options.iterations) cases.push_back(bench::compare_work(context, options, work, n));
  bench::print_output(context, options.output, bench::make_document(context, options, work, cases), bench::to_text);
}

void run(Context& context, const bench::Options& options) {
  bench::begin_output(context, options.output);
  if (options.work != "rounds") return run_work(context, options);
  const bench::Pattern pattern(options.pattern, context.rank(), context.size(), options.seed);
  std::vector<bench::Case> cases;
  for (const std::uint64_t n : options.iterations)
    cases.push_back(
        (options.n_back_to_back > 0 ? bench::compare_back_to_back : bench::compare)(context, options, pattern, n));
  const Json document = bench::make_document(context, options, pattern, cases);
  bench::print_output(context, options.output, document, bench::to_text);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_benchmark(argc, argv, [&](Context& context) {
    if (const auto options = bench::parse_options(context, argc, argv)) run(context, *options);
  });
}
