#pragma once

#include <cstdint>

namespace barrio::test {

/// This rank's MPI calls so far, counted by the profiling interface below barrio.
struct MpiCalls {
  std::uint64_t collectives = 0;  ///< reductions, scans, gathers, broadcasts, barriers, blocking or not
  std::uint64_t sends = 0;        ///< MPI_Send and MPI_Isend
};

/// Return the counts. Always zero under SMPI, which has no profiling interface.
MpiCalls mpi_calls();

/// Counts of the calls since its construction.
class CallsSince {
 public:
  CallsSince() : before_(mpi_calls()) {}
  [[nodiscard]] std::uint64_t collectives() const { return mpi_calls().collectives - before_.collectives; }
  [[nodiscard]] std::uint64_t sends() const { return mpi_calls().sends - before_.sends; }

 private:
  MpiCalls before_;
};

}  // namespace barrio::test
