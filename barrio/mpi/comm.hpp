#pragma once

/// @file Move-only owner of an MPI communicator.

#include <mpi.h>

#include <utility>

#include "barrio/base/ids.hpp"
#include "barrio/mpi/check.hpp"

namespace barrio::mpi {

/// Owner of a communicator. Move-only. Construction is collective. So is freeing, either by `close()` or by the
/// destructor. The destructor does not free while an exception unwinds the stack or after MPI_Finalize.
class Comm {
 public:
  Comm() = default;
  /// Duplicate a communicator; its errors are returned instead of fatal. Collective.
  static Comm duplicate(MPI_Comm source);
  /// Split a communicator by colour, ordered by key. Collective. @param colour  MPI_UNDEFINED gives an empty Comm
  static Comm split(MPI_Comm source, int colour, int key);
  /// Split off the ranks that share memory with this one, ordered by key. Collective.
  static Comm split_shared(MPI_Comm source, int key);

  /// Split off the ranks on this rank's host, ordered by key. Hosts are told by name, so it also works where MPI was
  /// told not to share memory. Collective.
  static Comm split_by_host(MPI_Comm source, int key);

  Comm(Comm&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
  Comm& operator=(Comm&& other) noexcept {
    std::swap(comm_, other.comm_);
    return *this;
  }
  ~Comm();

  /// Free the communicator now. Collective.
  void close();

  /// Return the communicator, which stays owned; MPI_COMM_NULL if empty.
  [[nodiscard]] MPI_Comm get() const noexcept { return comm_; }
  /// Return the number of this rank, from 0. Local. @pre not empty
  [[nodiscard]] Rank rank() const;
  /// Return the number of ranks. Local. @pre not empty
  [[nodiscard]] int size() const;
  /// Tell whether there is a communicator: false if none was made, or if it was closed or moved from.
  explicit operator bool() const noexcept { return comm_ != MPI_COMM_NULL; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace barrio::mpi
