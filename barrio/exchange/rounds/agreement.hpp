#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "barrio/mpi/comm.hpp"

namespace barrio::exchange::detail {

/// Agreement of all ranks, by non-blocking collectives, that all parcels have arrived. `Termination::consensus`: a
/// barrier that each rank enters when its synchronous sends are done. `Termination::allreduce`: sums of the parcels
/// sent and received, repeated until they are equal.
class Agreement {
 public:
  [[nodiscard]] bool is_prepared() const noexcept { return bool(comm_); }
  /// Duplicate the communicator. Collective.
  void prepare(MPI_Comm comm);

  /// Tell whether this round needs it.
  [[nodiscard]] bool is_needed() const noexcept { return mode_ != Mode::none; }
  [[nodiscard]] bool is_reached() const noexcept { return state_ == State::reached; }
  [[nodiscard]] std::uint64_t n_calls() const noexcept { return n_calls_; }
  enum class Mode { none, consensus, allreduce };
  void begin_round(Mode mode) noexcept {
    mode_ = mode;
    state_ = is_needed() ? State::not_begun : State::reached;
  }
  /// Advance, once this rank has closed the round. @param sends  of parcels  @param n_sent  unannounced parcels
  /// @param n_received  unannounced parcels received so far
  /// @param blocks  sleep in a reduction, if no other rank waits for this one. Not in a barrier: a rank that takes in
  /// no parcels keeps others out of it
  /// @return false if nothing has happened
  bool advance(std::span<MPI_Request> sends, std::size_t n_sent, std::size_t n_received, bool blocks);

 private:
  enum class State { not_begun, under_way, reached };
  mpi::Comm comm_;
  Mode mode_ = Mode::none;
  MPI_Request request_ = MPI_REQUEST_NULL;
  State state_ = State::reached;
  std::array<std::uint64_t, 2> parcels_{};  // sent and received, over all ranks
  std::uint64_t n_calls_ = 0;
};

}  // namespace barrio::exchange::detail
