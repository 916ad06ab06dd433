#include "barrio/exchange/rounds/agreement.hpp"

#include "barrio/mpi/check.hpp"

namespace barrio::exchange::detail {

void Agreement::prepare(MPI_Comm comm) { comm_ = mpi::Comm::duplicate(comm); }

bool Agreement::advance(std::span<MPI_Request> sends, std::size_t n_sent, std::size_t n_received, bool blocks) {
  int done = 0;
  const bool is_consensus = mode_ == Mode::consensus;
  if (state_ == State::not_begun) {
    mpi::check(MPI_Testall(mpi::as_count(sends.size()), sends.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    if (done == 0 && is_consensus) return false;
#ifndef BARRIO_MPI_SMPI  // the simulator's MPI_Ibarrier releases ranks before the last has arrived
    const bool is_barrier = is_consensus;
#else
    const bool is_barrier = false;
#endif
    if (is_barrier) {
      mpi::check(MPI_Ibarrier(comm_.get(), &request_), "MPI_Ibarrier");
    } else {
      parcels_ = {n_sent, n_received};
      mpi::check(MPI_Iallreduce(MPI_IN_PLACE, parcels_.data(), 2, MPI_UINT64_T, MPI_SUM, comm_.get(), &request_),
                 "MPI_Iallreduce");
    }
    state_ = State::under_way;
    n_calls_ += 1;
    return true;
  }
  if (blocks && !is_consensus) {
    mpi::check(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
  } else {
    mpi::check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0) return false;
  }
  state_ = is_consensus || parcels_[0] == parcels_[1] ? State::reached : State::not_begun;
  return true;
}

}  // namespace barrio::exchange::detail
