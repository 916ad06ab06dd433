#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/exchange/measure.hpp"

namespace barrio::bench {

/// A method to do a work other than rounds of messages, on data that it makes and checks itself.
class Worker {
 public:
  virtual ~Worker() = default;
  /// Prepare for cases of n; not timed. Collective.
  virtual void prepare(std::uint64_t n) = 0;
  /// Make the input. @param salt  differs in each repetition. Local, not timed
  virtual void fill(std::uint64_t salt) = 0;
  /// Do the work; timed. Collective.
  virtual void run() = 0;
  /// Return the number of runs between two barriers: short works run several times, each on the result before.
  [[nodiscard]] virtual int n_in_a_row() const { return 1; }
  /// Tell whether the result after these runs is right. Local, not timed.
  virtual bool is_right(std::uint64_t salt) = 0;
};

struct WorkerKind {
  std::string name;
  std::string about;                                                ///< short description for --help
  std::function<std::unique_ptr<Worker>(mpi::Context&)> make = {};  ///< collective; empty if this build lacks it
  std::string lacking = {};                                         ///< why this build lacks it
};

template <class W>
std::unique_ptr<Worker> make_worker(mpi::Context& context) {
  return std::make_unique<W>(context);
}

/// A work, its workers, and the unit of its cases.
struct WorkTraits {
  std::string name;
  std::string about;
  std::string unit;                    ///< "values at each vertex"
  std::vector<std::uint64_t> numbers;  ///< default cases
  std::string reference;               ///< the worker that all others are compared with
  std::vector<WorkerKind> workers;
};

/// Make the work gather: sums over the blocks that share the vertices of a box of 64^3 cells, n values at each.
WorkTraits gather_work();
/// Make the work transfer: rows of 32 bytes for random ranks, n on each rank.
WorkTraits transfer_work();
std::vector<WorkTraits> all_works();

std::vector<WorkerKind> gslib_gatherers();    ///< of gather; defined only with BARRIO_BENCH_GSLIB
std::vector<WorkerKind> gslib_transferers();  ///< of transfer; defined only with BARRIO_BENCH_GSLIB

/// Run the workers of the options, interleaved in every repetition. Collective. Rows have the numbers of the case.
/// @throws AgreedError{differs} with the worker whose result is wrong
Case compare_work(mpi::Context& context, const Options& options, const WorkTraits& work, std::uint64_t n);

}  // namespace barrio::bench
