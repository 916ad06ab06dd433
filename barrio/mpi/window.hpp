#pragma once

#include <mpi.h>

#include <cstddef>
#include <exception>
#include <span>
#include <utility>

#include "barrio/mpi/context.hpp"
#include "barrio/mpi/datatype.hpp"

namespace barrio::mpi {

/// Own memory that other ranks may read and write (MPI_Win_allocate). Move-only. Making and closing is collective.
template <Trivial T>
class Window {
 public:
  /// Collective over context.comm(). @param n  items on this rank; may differ between ranks, may be 0
  Window(Context& context, std::size_t n) : n_(n) {
    // MPICH 4.0 on shared memory computes other ranks' addresses from the sizes given, but hands out memory aligned to
    // 16 bytes: where a size is no multiple of 16, puts land beside their place. So whole cache lines are asked for.
    constexpr std::size_t line = 64;
    const std::size_t bytes = (n * sizeof(T) + line - 1) / line * line;
    check(MPI_Win_allocate(static_cast<MPI_Aint>(bytes), sizeof(T), MPI_INFO_NULL, context.comm(), &memory_, &window_),
          "MPI_Win_allocate");
  }
  Window(Window&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)),
        n_(std::exchange(other.n_, 0)),
        window_(std::exchange(other.window_, MPI_WIN_NULL)) {}
  Window& operator=(Window&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(n_, other.n_);
    std::swap(window_, other.window_);
    return *this;
  }
  /// Frees the window, which is collective, unless an exception is on its way.
  ~Window() {
    if (window_ != MPI_WIN_NULL && std::uncaught_exceptions() == 0) MPI_Win_free(&window_);
  }

  /// Free the window. Collective.
  void close() {
    if (window_ != MPI_WIN_NULL) check(MPI_Win_free(&window_), "MPI_Win_free");
    memory_ = nullptr;
    n_ = 0;
  }
  /// Separate accesses from before and after. Collective.
  void fence() { check(MPI_Win_fence(0, window_), "MPI_Win_fence"); }
  /// Write items into another rank's memory; complete after the next fence. Local.
  void put(std::span<const T> items, Rank to, std::size_t at) {
    check(MPI_Put(items.data(), static_cast<int>(items.size_bytes()), MPI_BYTE, to, static_cast<MPI_Aint>(at),
                  static_cast<int>(items.size_bytes()), MPI_BYTE, window_),
          "MPI_Put");
  }
  [[nodiscard]] std::span<T> local() noexcept { return {static_cast<T*>(memory_), n_}; }

 private:
  void* memory_ = nullptr;
  std::size_t n_ = 0;
  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace barrio::mpi
