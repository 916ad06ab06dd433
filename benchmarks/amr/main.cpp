// Structured AMR: cell updates per second, and time by phase.
//
//   barrio --ranks 1 bench amr
//   barrio --ranks 2 bench amr --parts rm3d --cells 64 --steps 100
//   barrio --ranks 1 bench amr --parts options
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "barrio/base/instruction_set.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mpi/collectives.hpp"
#include "benchmarks/amr/cases.hpp"
#include "benchmarks/goals.hpp"
#include "benchmarks/output.hpp"
#include "benchmarks/spread.hpp"

namespace {

using namespace barrio;

struct Options {
  std::vector<std::string> parts{"uniform", "rm3d"};
  std::int64_t cells = 32;
  int levels = 3;
  int block = 16;
  int wide = 1;
  int steps = 16;
  bool is_composite = false;
  bench::Output output;
};

/// Check the computed state. Collective. @throws AgreedError{internal}
void check_contents(const amr::Simulation<3>& simulation, const std::vector<double>& before, bool is_closed) {
  simulation.hierarchy().validate();
  const std::vector<double> after = simulation.totals();
  if (is_closed && std::abs(after[0] - before[0]) > 1e-13 * before[0])
    refuse_together(ErrorCode::internal, "bench amr", "does not conserve mass");
  mpi::agree_after(simulation.hierarchy().context(), [&] {
    const auto n_cells = static_cast<std::size_t>(simulation.hierarchy().space().block_size());
    for (int level = 0; level < simulation.hierarchy().n_levels(); ++level)
      for (std::size_t b = 0; b < simulation.hierarchy().blocks(level).size(); ++b)
        if (!std::ranges::all_of(simulation.state().values(level, b).first(n_cells),
                                 [](double density) { return density > 0.5 && density < 10.0; }))
          refuse(ErrorCode::internal, "bench amr", "has an unphysical density");
  });
}

Json measure(Context& context, const std::string& name, const bench::AmrCase& wanted, int n_steps,
             bench::Goals& goals) {
  const std::uint64_t idle = resident_bytes();
  amr::Simulation<3> simulation(context, wanted.system, wanted.options);
  const amr::SimulationSeconds before = simulation.seconds();
  const std::vector<double> totals = simulation.totals();
  mpi::barrier(context);
  const mpi::Counters counts_before = context.counters();
  for (int step = 0; step < n_steps; ++step) simulation.step();
  const mpi::Counters counts_after = context.counters();
  const amr::SimulationSeconds& seconds = simulation.seconds();
  check_contents(simulation, totals, name == "uniform");
  const double all = mpi::max(context, seconds.all - before.all);
  const auto n_updates = static_cast<double>(mpi::sum(context, simulation.n_updates()));
  Json row{{"part", name},
           {"steps", n_steps},
           {"time", simulation.time()},
           {"updates", n_updates},
           {"updates_per_second", n_updates / all},
           {"checksum", fmt::format("{:016x}", simulation.checksum())}};
  bench::add_counts(row, context, counts_before, counts_after);
  std::int64_t n_cells = 0;
  for (int level = 0; level < simulation.hierarchy().n_levels(); ++level) {
    const std::int64_t n = simulation.hierarchy().n_global(level) * simulation.hierarchy().space().block_size();
    row["cells_of_level"].push_back(n);
    row["blocks_of_rank"].push_back(
        bench::spread(context, static_cast<double>(simulation.hierarchy().blocks(level).size())));
    n_cells += n;
  }
  const auto share = [&](double one) { return mpi::sum(context, one) / (all * context.size()); };
  row["shares"] = {{"kernel", share(seconds.kernel)},       {"fill", share(seconds.fill)},
                   {"exchange", share(seconds.exchange)},   {"coarse_fine", share(seconds.coarse_fine)},
                   {"time_step", share(seconds.time_step)}, {"regrid", share(seconds.regrid)}};
  const auto grown = static_cast<double>(peak_resident_bytes() - idle);
  row["peak_bytes_per_cell"] = mpi::sum(context, grown) / static_cast<double>(n_cells);
  row["bytes_per_cell"] =
      static_cast<double>(mpi::sum(context, simulation.memory_bytes())) / static_cast<double>(n_cells);
  const double of_kernel = row["shares"]["kernel"].get<double>();
  goals.add(name + ".peak_bytes_per_cell", row["peak_bytes_per_cell"].get<double>(), " B", 140.0);
  goals.add(name + ".other_than_kernel", (1.0 - of_kernel) / of_kernel, "x", 0.5);
  if (simulation.hierarchy().n_levels() > 1)
    goals.add(name + ".share_of_regridding", row["shares"]["regrid"].get<double>(), "", 0.02);
  if (context.size() > 1) goals.add(name + ".share_of_exchange", row["shares"]["exchange"].get<double>(), "", 0.05);
  return row;
}

/// Measure what the options of the gas cost where there is nothing that they are for, in turns. @return seconds of the
/// kernel over those without any of them, the least of the turns
Json measure_options(Context& context, const Options& options) {
  using amr::EulerOptions;
  const std::vector<std::pair<std::string, EulerOptions>> kinds{
      {"none", {.falls_back = false}},
      {"first_order_fallback (default)", {}},
      {"riemann hybrid", {.falls_back = false, .riemann_solver = amr::RiemannSolver::hybrid}},
      {"riemann hlle", {.falls_back = false, .riemann_solver = amr::RiemannSolver::hlle}},
      {"flatten_shocks", {.flattens_shocks = true, .falls_back = false}},
      {"sharpen_contacts", {.falls_back = false, .sharpens_contacts = true}}};
  constexpr int n_turns = 5;
  std::vector<double> least(kinds.size(), 1e300);
  for (int turn = 0; turn < n_turns; ++turn) {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      bench::AmrCase wanted = bench::uniform_waves(options.cells, options.block);
      wanted.system = std::make_shared<const amr::Euler<3>>(kinds[i].second);
      amr::Simulation<3> simulation(context, wanted.system, wanted.options);
      for (int step = 0; step < options.steps; ++step) simulation.step();
      check_contents(simulation, simulation.totals(), true);
      if (simulation.n_fallbacks() > 0) refuse(ErrorCode::internal, "bench amr", "falls back in smooth gas");
      least[i] = std::min(least[i], mpi::sum(context, simulation.seconds().kernel));
    }
  }
  Json costs = Json::array();
  for (std::size_t i = 0; i < kinds.size(); ++i)
    costs.push_back({{"option", kinds[i].first}, {"cost", least[i] / least[0]}});
  return costs;
}

std::string to_text(const Json& document) {
  std::string text = fmt::format("{}\n", document["instruction_set"].get<std::string>());
  for (const Json& row : document.value("costs", Json::array()))
    text += fmt::format("{}: {:.3f} of the kernel's time without options\n", row["option"].get<std::string>(),
                        row["cost"].get<double>());
  for (const Json& row : document.value("parts", Json::array())) {
    text += fmt::format("{}: {:.3f} M updates/s, {:.1f} B a cell ({:.1f} at the peak), checksum {}\n ",
                        row["part"].get<std::string>(), row["updates_per_second"].get<double>() / 1e6,
                        row["bytes_per_cell"].get<double>(), row["peak_bytes_per_cell"].get<double>(),
                        row["checksum"].get<std::string>());
    for (const auto& [name, share] : row["shares"].items())
      text += fmt::format(" {} {:.3f}", name, share.get<double>());
    text += "\n  cells:";
    for (const Json& n : row["cells_of_level"]) text += fmt::format(" {}", format_count(n.get<std::int64_t>()));
    text += "\n";
  }
  for (const Json& one : document["goals"])
    text += fmt::format("{} {:<28} {:.3g}{} (goal <= {:.3g})\n", one["met"].get<bool>() ? "met    " : "NOT MET",
                        one["id"].get<std::string>(), one["value"].get<double>(), one["unit"].get<std::string>(),
                        one["goal"].get<double>());
  return text;
}

void run(Context& context, int argc, char** argv) {
  Options options;
  CLI::App app("Measure structured AMR");
  app.add_option("--parts", options.parts, "uniform, rm3d, options");
  app.add_option("--cells", options.cells, "Cells across the coarsest level");
  app.add_option("--levels", options.levels, "Levels");
  app.add_option("--block", options.block, "Cells of a block along each axis");
  app.add_option("--wide", options.wide, "rm3d: number of domains next to each other");
  app.add_option("--steps", options.steps, "Steps of the coarsest level");
  app.add_flag("--composite", options.is_composite, "Balance all levels together");
  bench::add_output_options(app, options.output);
  if (!bench::parse(app, "bench amr", context, argc, argv)) return;
  bench::begin_output(context, options.output);
  Json document = json_document("barrio.bench.amr", 1);
  document["ranks"] = context.size();
  document["instruction_set"] = std::string(name_of(chosen_instruction_set()));
  bench::Goals goals;
  for (const std::string& part : options.parts) {
    if (part == "rm3d") {
      bench::AmrCase wanted = bench::richtmyer_meshkov(options.cells, options.levels, options.block, options.wide);
      if (options.is_composite) wanted.options.partition = amr::Partition::composite;
      document["parts"].push_back(measure(context, part, wanted, options.steps, goals));
    } else if (part == "uniform") {
      document["parts"].push_back(
          measure(context, part, bench::uniform_waves(2 * options.cells, options.block), options.steps, goals));
    } else if (part == "options") {
      document["costs"] = measure_options(context, options);
    } else {
      refuse_together(ErrorCode::usage, fmt::format("part '{}'", part), "is not known", "use uniform, rm3d or options");
    }
  }
  document["goals"] = goals.list();
  bench::print_output(context, options.output, document, to_text);
}

}  // namespace

int main(int argc, char** argv) {
  return barrio::bench::run_benchmark(argc, argv, [&](Context& context) { run(context, argc, argv); });
}
