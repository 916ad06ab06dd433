#pragma once

/// @file Wait for MPI requests without wasting the core.

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace barrio::mpi {

/// Way in which a rank waits for messages.
struct WaitPolicy {
  /// Use of the core while no message has arrived.
  enum class Kind {
    spin,   ///< poll without pause: least latency, needs a core per rank
    yield,  ///< poll, then yield the core: right for any rank count (default)
    block,  ///< sleep inside MPI if it can: for simulators, where a poll costs simulated time
  };
  Kind kind = Kind::yield;         ///< also set by BARRIO_WAIT, see `wait_policy_from_environment`
  std::uint32_t spin_polls = 200;  ///< polls before the first yield; 0 where ranks outnumber cores
};

/// Read the policy from BARRIO_WAIT (spin, yield, block); `yield` if unset, `block` under SMPI. Polls yield at once if
/// the launcher has started more ranks on this node than it has cores.
WaitPolicy wait_policy_from_environment();

/// Return the seconds of a steady clock, or simulated seconds on a simulated cluster. Only differences are meaningful.
[[nodiscard]] double seconds_now() noexcept;

/// Tell whether BARRIO_WAIT may have this value.
[[nodiscard]] bool is_wait_kind(std::string_view text) noexcept;

/// Pause of a wait loop: call it after each poll that found nothing.
class Pause {
 public:
  /// Begin a wait. @param policy  borrowed, must outlive the pause
  explicit Pause(const WaitPolicy& policy) noexcept : policy_(policy) {}
  /// Yield the core, as the policy says. Local.
  void operator()() noexcept;
  /// Count polls from 0 again, after a poll that found something.
  void reset() noexcept { polls_ = 0; }

 private:
  const WaitPolicy& policy_;
  std::uint32_t polls_ = 0;
};

/// Complete one request. Local, blocks. @throws Error{internal} if MPI reports an error
void wait(MPI_Request& request, const WaitPolicy& policy, MPI_Status* status = MPI_STATUS_IGNORE);

/// Complete all requests. Local, blocks.
void wait_all(std::span<MPI_Request> requests, const WaitPolicy& policy);

/// Complete one request or give up. Local. @param work  done between polls, if there is any
/// @return false if the limit passed first; the request is still active then
bool wait_for(MPI_Request& request, const WaitPolicy& policy, double limit_seconds,
              const std::function<void()>& work = {});

}  // namespace barrio::mpi
