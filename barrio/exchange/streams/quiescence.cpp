#include "barrio/exchange/quiescence.hpp"

#include "barrio/base/error.hpp"
#include "barrio/mpi/check.hpp"

namespace barrio::exchange {

Quiescence::Quiescence(mpi::Context& context) : context_(context), comm_(mpi::Comm::duplicate(context.comm())) {}

void Quiescence::begin() {
  context_.check_thread("begins to search for the end");
  if (!state_.is_over())
    throw Error(ErrorCode::usage, {.subject = "a search for the end",
                                   .cause = "begins before the previous one is over",
                                   .remedy = "call advance() until it returns true"});
  state_.begin();
}

bool Quiescence::advance(std::uint64_t n_created, std::uint64_t n_processed, bool has_failed) {
  if (state_.is_over()) return true;
  if (!state_.is_under_way()) {
    sums_ = state_.contribute(n_created, n_processed, has_failed);
    mpi::check(MPI_Iallreduce(MPI_IN_PLACE, sums_.data(), static_cast<int>(sums_.size()), MPI_UINT64_T, MPI_SUM,
                              comm_.get(), &request_),
               "MPI_Iallreduce");
    context_.counters().collectives += 1;
  }
  int done = 0;
  mpi::check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (done != 0) state_.take(sums_);
  return state_.is_over();
}

}  // namespace barrio::exchange
