#pragma once

/// @file End the whole job at once, with the rank in the message.

#include <string_view>

#include "barrio/base/error.hpp"

namespace barrio {

/// Function that ends the job, and the rank named in its message. Base knows no MPI, so `mpi` installs it once MPI
/// runs.
struct AbortHook {
  void (*end_job)(int exit_code) noexcept = nullptr;  ///< takes the exit code; null: only this process ends
  Rank rank = 0;                                      ///< of this process, as messages name it
  int size = 1;                                       ///< of the job, as messages name it
};

/// Install the hook for this process and return the previous one. Thread-safe only before threads start.
AbortHook set_abort_hook(AbortHook hook) noexcept;
/// Return the installed hook; its `end_job` is null if none was installed. Local.
[[nodiscard]] AbortHook abort_hook() noexcept;

/// Print `[rank r/n] message` on stderr and end the whole job at once. Local; never returns.
[[noreturn]] void abort_job(ErrorCode code, std::string_view message) noexcept;

/// Let a write beyond the file size limit (`ulimit -f`) fail like one to a full disk, which its writer reports. By
/// default the system kills the process without a word. A handler that is already installed stays. Local.
void let_long_files_fail() noexcept;

}  // namespace barrio
