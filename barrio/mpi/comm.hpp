#pragma once

#include <mpi.h>

#include <utility>

#include "barrio/base/ids.hpp"
#include "barrio/mpi/check.hpp"

namespace barrio::mpi {

/// Own a communicator. Move-only; making one is collective, and so is freeing it: `close()` does it on purpose,
/// the destructor does it too unless an exception is on its way or MPI has ended.
class Comm {
 public:
  Comm() = default;
  /// Duplicate a communicator, with errors returned instead of fatal. Collective.
  static Comm duplicate(MPI_Comm source);
  /// Split a communicator by colour, ordered by key. Collective. @param colour MPI_UNDEFINED gives an empty Comm
  static Comm split(MPI_Comm source, int colour, int key);
  /// The ranks that share memory with this one, ordered by key. Collective.
  static Comm split_shared(MPI_Comm source, int key);

  /// The ranks on this one's host, ordered by key: by its name, so also where MPI was told not to share memory.
  /// Collective.
  static Comm split_by_host(MPI_Comm source, int key);

  Comm(Comm&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
  Comm& operator=(Comm&& other) noexcept {
    std::swap(comm_, other.comm_);
    return *this;
  }
  ~Comm();

  /// Free the communicator now. Collective.
  void close();

  [[nodiscard]] MPI_Comm get() const noexcept { return comm_; }
  [[nodiscard]] Rank rank() const;
  [[nodiscard]] int size() const;
  explicit operator bool() const noexcept { return comm_ != MPI_COMM_NULL; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace barrio::mpi
