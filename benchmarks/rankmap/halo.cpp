// Halo exchanges of a solver on a simulated cluster, with ranks in the order of the launcher's host file. `plan`, on
// one rank, writes the host files and the traffic between ranks; `run`, on as many ranks as were planned, measures the
// time. For SimGrid SMPI, where computing takes simulated time and the launcher keeps the order of a host file.
//
//   python3 benchmarks/rankmap/simulate.py
#include <array>
#include <cstdio>

#include "barrio/mpi/run.hpp"
#include "benchmarks/command_line.hpp"
#include "benchmarks/rankmap/halo_plan.hpp"
#include "benchmarks/rankmap/halo_run.hpp"

int main(int argc, char** argv) {
  using namespace barrio;
  return barrio::run(argc, argv, [&](Context& context) {
    CLI::App app{"Halo exchanges on a simulated cluster, in the order of a host file"};
    app.require_subcommand(1);
    bench::HaloPlanOptions plan;
    bench::HaloRunOptions run;
    std::string cut(name_of(plan.cut)), cycle(name_of(plan.cycle)), folder(".");
    double compute_milliseconds = 1e3 * run.compute_seconds;

    CLI::App* const to_plan = app.add_subcommand("plan", "On one rank: partition, place, and write the files for runs");
    to_plan->add_flag("--structured", plan.is_structured,
                      "Use the structured mesh around a wing instead of the cloud of points");
    to_plan->add_option("--cut", cut, "Partitioner of the points")
        ->check(CLI::IsMember({"scattered", "rcb", "metis"}))
        ->capture_default_str();
    to_plan->add_option("--ranks", plan.n_ranks, "Parts")->check(CLI::PositiveNumber)->capture_default_str();
    to_plan->add_option("--machine", plan.machine, "Machine, as in barrio map")->capture_default_str();
    to_plan->add_option("--bottleneck", plan.bottleneck, "Weight of the busiest node, as in barrio map")
        ->capture_default_str();
    CLI::App* const to_run = app.add_subcommand("run", "On all ranks: iterate, and print the time of an iteration");
    to_run
        ->add_option("--compute-ms", compute_milliseconds,
                     "Computing time of a rank on the finest level, in milliseconds")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    to_run->add_option("--in-step", run.n_in_step, "Iterations that all ranks start together")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    to_run->add_option("--free", run.n_free, "Consecutive iterations")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    for (CLI::App* const each : {to_plan, to_run}) {
      each->add_option("--cycle", cycle, "Multigrid cycle: none, 3v or 4w")->capture_default_str();
      each->add_option("--folder", folder, "Folder of the plan")->capture_default_str();
    }
    if (!bench::parse(app, "bench rankmap halo", context, argc, argv)) return;

    plan.cycle = run.cycle = bench::parse_cycle(cycle);
    plan.folder = run.folder = folder;
    run.compute_seconds = 1e-3 * compute_milliseconds;
    for (const bench::Cut one : {bench::Cut::scattered, bench::Cut::rcb, bench::Cut::metis})
      if (name_of(one) == cut) plan.cut = one;
    if (to_plan->parsed() && context.size() > 1) {
      throw AgreedError(ErrorCode::usage, {.subject = "bench rankmap halo plan",
                                           .cause = "must run on one rank",
                                           .remedy = "start it with one process"});
    }
    const Json document = to_plan->parsed() ? bench::make_halo_plan(context, plan) : bench::run_halo(context, run);
    if (context.is_root()) std::fputs((document.dump() + "\n").c_str(), stdout);
  });
}
