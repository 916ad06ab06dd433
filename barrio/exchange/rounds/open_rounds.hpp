#pragma once

#include <mpi.h>

#include <span>
#include <vector>

namespace barrio::exchange::detail {

/// Round or stream that takes messages in while this rank waits in another one.
class Intake {
 public:
  /// Take in what has arrived, without waiting. @return false if nothing has
  virtual bool take_in() = 0;
  /// Tell whether other ranks may wait in it for this one. A stream only travels while all ranks drain it.
  [[nodiscard]] virtual bool holds_up() const noexcept { return true; }

 protected:
  Intake() = default;
  Intake(const Intake&) = default;
  Intake& operator=(const Intake&) = default;
  ~Intake() = default;
};

/// Return the rounds and streams that this rank has open on one communicator. A rank that waits in one of them takes
/// packets in for all: another rank may wait for this one to make room.
/// Kept as an attribute of the communicator and freed with it. Local.
std::vector<Intake*>& open_rounds(MPI_Comm comm);

/// Take in what has arrived for any of these but one. @return false if nothing has
bool take_in_all(std::span<Intake* const> rounds, const Intake* but = nullptr);

/// Return the number of open rounds and streams of this process, over all Contexts. It helps to explain why one of them
/// waits.
int& n_open_rounds();

}  // namespace barrio::exchange::detail
