#pragma once

#include <string_view>

#include "barrio/base/error.hpp"

namespace barrio {

/// What ends the job and names the rank once MPI runs; base knows no MPI, so `mpi` installs it.
struct AbortHook {
  void (*end_job)(int exit_code) noexcept = nullptr;
  Rank rank = 0;
  int size = 1;
};

/// Install the hook for this process and return the one before. Thread-safe only before threads start.
AbortHook set_abort_hook(AbortHook hook) noexcept;
[[nodiscard]] AbortHook abort_hook() noexcept;

/// Print `[rank r/n] message` on stderr and end the whole job at once. Local; never returns.
[[noreturn]] void abort_job(ErrorCode code, std::string_view message) noexcept;

/// Let a write beyond the limit on file sizes (`ulimit -f`) fail like one to a full disk, which its writer reports,
/// where the system would kill the process without a word. A handler that somebody has installed stays. Local.
void let_long_files_fail() noexcept;

}  // namespace barrio
