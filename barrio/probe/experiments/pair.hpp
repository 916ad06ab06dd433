#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "barrio/mpi/comm.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::probe {

/// Choice of rank 0's partner.
enum class Partner {
  far,   ///< the first one on another node, or else rank 1
  near,  ///< the first one on rank 0's node
};

/// The two ranks of the experiments: the context's rank 0 and a partner. All measured times are seconds of rank 0's
/// clock.
class Pair {
 public:
  /// Choose the partner. Collective over the context, which has at least two ranks. @throws AgreedError{usage} if it
  /// has one
  explicit Pair(mpi::Context& context, Partner partner = Partner::far);

  /// Tell whether there is such a partner, the same on all ranks.
  [[nodiscard]] bool exists() const noexcept { return exists_; }
  /// Tell whether this rank is one of the two; the others have nothing to do.
  [[nodiscard]] bool takes_part() const noexcept { return side_ >= 0; }
  /// Return 0 or 1; -1 on ranks that take no part.
  [[nodiscard]] int side() const noexcept { return side_; }
  [[nodiscard]] int other() const noexcept { return 1 - side_; }
  /// Tell whether the two are on different nodes.
  [[nodiscard]] bool is_apart() const noexcept { return is_apart_; }
  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_.get(); }
  [[nodiscard]] const mpi::WaitPolicy& wait_policy() const noexcept { return policy_; }

  /// Return the time now in seconds, on rank 0's clock.
  [[nodiscard]] double now() const noexcept;
  /// End the job with a message: the other side does not answer.
  [[noreturn]] static void give_up(std::string_view cause) noexcept;

  // Both sides call the following functions.

  /// Meet, and leave at one instant, at which both have their cores if possible. @return the instant
  double meet();
  /// Copy bytes of side 0 to side 1.
  void broadcast(std::span<std::byte> bytes);
  /// Exchange one number with the other side.
  double swap(double mine);
  /// Return the larger of both sides' numbers.
  double max(double mine) {
    const double others = swap(mine);
    return others > mine ? others : mine;
  }
  /// Exchange bytes; both sides know how many.
  void swap(std::span<const std::byte> mine, std::span<std::byte> others);

  /// Longest wait for a call of the other side. After it the job ends, since MPI cannot return what it holds.
  static constexpr double limit_seconds = 5.0;

 private:
  void estimate_offset();
  /// Sleep, and wake at one instant. Where other work computes on the core, a process that has slept gets it soon.
  void sleep(double seconds);
  mpi::Comm comm_;
  mpi::WaitPolicy policy_;
  int side_ = -1;
  bool exists_ = true;
  bool is_apart_ = false;
  double offset_seconds_ = 0.0;  ///< to add to this rank's clock
  double notice_seconds_ = 0.0;  ///< from the agreement on an instant to that instant
};

/// Wait for all ranks. Those that take no part in experiments sleep meanwhile and leave their cores to the pair.
/// Collective over the context of the pair.
void rest(mpi::Context& context, const Pair& pair);

}  // namespace barrio::probe
