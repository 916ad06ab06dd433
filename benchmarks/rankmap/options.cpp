#include "benchmarks/rankmap/options.hpp"

namespace barrio::bench {

std::optional<RankmapOptions> parse_rankmap_options(mpi::Context& context, int argc, char** argv) {
  RankmapOptions options;
  CLI::App app{
      "Placements of ranks by barrio, by the paper's methods, by Scotch and SharedMap: cost and processor time"};
  app.add_option(
         "--parts", options.parts,
         "paper: cases like its tables 4 and 5; goals: 256 and 360 ranks; more: 64 to 4 096; large: 32 768; huge: "
         "131 072; qaplib: instances with known values; zoltan: numberings by Zoltan, on several ranks also from "
         "distributed input (figure 4)")
      ->check(CLI::IsMember({"paper", "goals", "more", "large", "huge", "qaplib", "zoltan"}))
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--best-seconds", options.best_seconds, "Also search this long, to compare with one second")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--qaplib", options.qaplib_folder, "Folder of QAPLIB files and their best known values, bks.csv");
  app.add_option("--qaplib-seconds", options.qaplib_seconds, "Seconds for each QAPLIB instance")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--python", options.python, "A Python that has chszlablib, for SharedMap")->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of barrio's search")->capture_default_str();
  add_output_options(app, options.output);
  if (!parse(app, "bench rankmap", context, argc, argv)) return {};
  if (context.size() > 1 && options.parts != std::vector<std::string>{"zoltan"})
    throw AgreedError(ErrorCode::usage, {.subject = "bench rankmap",
                                         .cause = "must run on one rank, except --parts zoltan",
                                         .remedy = "barrio bench rankmap"});
  return options;
}

}  // namespace barrio::bench
