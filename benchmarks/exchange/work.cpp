#include "benchmarks/exchange/work.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/hash.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::bench {
namespace {

struct WorkRunner {
  Row row;
  std::unique_ptr<Worker> worker;
  MpiCalls calls = {};
  int n_runs = 0;
};

/// Time `n_in_a_row()` runs. @return seconds of one, on the slowest rank
double time_runs(mpi::Context& context, Worker& worker) {
  mpi::barrier(context);
  const double begin = MPI_Wtime();
  for (int i = 0; i < worker.n_in_a_row(); ++i) worker.run();
  mpi::barrier(context);
  return mpi::max(context, MPI_Wtime() - begin) / worker.n_in_a_row();
}

}  // namespace

std::vector<WorkTraits> all_works() { return {gather_work(), transfer_work()}; }

Case compare_work(mpi::Context& context, const Options& options, const WorkTraits& work, std::uint64_t n) {
  std::vector<WorkRunner> runners;
  for (const std::string& name : options.contenders) {
    WorkRunner& runner = runners.emplace_back();
    runner.row.name = name;
    runner.worker = std::ranges::find(work.workers, name, &WorkerKind::name)->make(context);
    runner.worker->prepare(n);
  }
  for (int repeat = 0; repeat <= options.n_repeats; ++repeat) {  // the first one is a warm-up
    const std::uint64_t salt = mix64(static_cast<std::uint64_t>(repeat)) % 4096;
    for (WorkRunner& runner : runners) {
      runner.worker->fill(salt);
      const MpiCalls before = mpi_calls();
      const double seconds = time_runs(context, *runner.worker);
      if (repeat > 0) {
        runner.row.seconds = std::min(runner.row.seconds, seconds);
        runner.calls += mpi_calls() - before;
        runner.n_runs += runner.worker->n_in_a_row();
      }
      agree_after(context, [&] {
        if (!runner.worker->is_right(salt))
          throw Error(ErrorCode::differs, {.subject = runner.row.name, .cause = "delivered wrong contents"});
      });
    }
  }
  Case result{.n = n};
  for (WorkRunner& runner : runners) {
    const double n_of_all = static_cast<double>(runner.n_runs) * context.size();
    runner.row.numbers = static_cast<double>(n);
    runner.row.messages = static_cast<double>(mpi::sum(context, runner.calls.messages)) / n_of_all;
    runner.row.collectives = static_cast<double>(mpi::max(context, runner.calls.collectives)) / runner.n_runs;
    result.rows.push_back(runner.row);
  }
  return result;
}

}  // namespace barrio::bench
