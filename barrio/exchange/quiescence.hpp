#pragma once

/// @file Find out that no rank has anything left to do.

#include <mpi.h>

#include <cstdint>

#include "barrio/exchange/detail/quiescence_state.hpp"
#include "barrio/mpi/comm.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::exchange {

/// Search for the time when all ranks are idle and no message is under way, while messages travel and handlers send
/// more. Ranks that are idle take part in one non-blocking reduction of three words at a time; nothing is added to
/// messages.
/// Cost: two or three reductions after the last message; one if there was none since the last search.
/// Source: Mattern 1987, "Algorithms for distributed termination detection".
class Quiescence {
 public:
  /// Duplicate the communicator. Collective.
  explicit Quiescence(mpi::Context& context);

  /// Begin a search. Local, but all ranks begin as many.
  /// @throws Error{usage} if one is under way
  void begin();
  /// Advance the search, while this rank is idle: it has read all that has arrived, whatever it has to send has left
  /// its hands, and it will send nothing unless a message arrives. Never waits.
  /// @param n_created, n_processed  messages of this rank since the beginning; they only grow
  /// @param has_failed  tells the other ranks
  /// @return true once all ranks are idle and no message is under way. The search is then over
  bool advance(std::uint64_t n_created, std::uint64_t n_processed, bool has_failed = false);

  /// Tell whether some rank has reported a failure, by what is known so far in this search.
  [[nodiscard]] bool has_failed() const noexcept { return state_.n_failed() > 0; }
  /// Return the number of reductions so far, of all searches.
  [[nodiscard]] std::uint64_t n_waves() const noexcept { return state_.n_waves(); }

 private:
  mpi::Context& context_;
  mpi::Comm comm_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  detail::QuiescenceState state_;
  detail::QuiescenceState::Counts sums_{};
};

}  // namespace barrio::exchange
