#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/exchange/measure.hpp"

namespace barrio::bench {

/// One way to do a work that is more than rounds of messages, on data that it makes and checks itself.
class Worker {
 public:
  virtual ~Worker() = default;
  /// Make ready for the cases of n; not timed. Collective.
  virtual void prepare(std::uint64_t n) = 0;
  /// Make the data that comes in. @param salt  other in each repetition. Local, not timed
  virtual void fill(std::uint64_t salt) = 0;
  /// The work, timed. Collective.
  virtual void run() = 0;
  /// How often it is done between two barriers: short works several times, on what the one before has left.
  [[nodiscard]] virtual int n_in_a_row() const { return 1; }
  /// Whether what is there now is right, after so many runs. Local, not timed.
  virtual bool is_right(std::uint64_t salt) = 0;
};

struct WorkerKind {
  std::string name;
  std::string about;                                                ///< in a few words, for --help
  std::function<std::unique_ptr<Worker>(mpi::Context&)> make = {};  ///< collective; empty if this build lacks it
  std::string lacking = {};                                         ///< what this build lacks it for
};

template <class W>
std::unique_ptr<Worker> make_worker(mpi::Context& context) {
  return std::make_unique<W>(context);
}

/// A work, those that do it, and what its cases are numbers of.
struct WorkTraits {
  std::string name;
  std::string about;
  std::string unit;                    ///< "values at each vertex"
  std::vector<std::uint64_t> numbers;  ///< of the cases, by default
  std::string reference;               ///< the worker that the others are compared with
  std::vector<WorkerKind> workers;
};

/// Vertices of a box of 64^3 cells in blocks, summed over the blocks that share them, n values at each.
WorkTraits gather_work();
/// Rows of 32 bytes for random ranks, n on each rank.
WorkTraits transfer_work();
std::vector<WorkTraits> all_works();

std::vector<WorkerKind> gslib_gatherers();    ///< of gather; defined only with BARRIO_BENCH_GSLIB
std::vector<WorkerKind> gslib_transferers();  ///< of transfer; the same

/// Run those that the options name, one after the other in every repetition. Collective. Numbers of a row are those of
/// the case. @throws AgreedError{differs} naming one that brought anything wrong
Case compare_work(mpi::Context& context, const Options& options, const WorkTraits& work, std::uint64_t n);

}  // namespace barrio::bench
