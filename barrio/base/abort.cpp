#include "barrio/base/abort.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace barrio {
namespace {
AbortHook installed_hook;

// One write per message, so that lines of several ranks do not mix.
void write_stderr(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}
}  // namespace

AbortHook set_abort_hook(AbortHook hook) noexcept { return std::exchange(installed_hook, hook); }

AbortHook abort_hook() noexcept { return installed_hook; }

void abort_job(ErrorCode code, std::string_view message) noexcept {
  try {
    write_stderr(fmt::format("[rank {}/{}] {}\n", installed_hook.rank, installed_hook.size, message));
  } catch (...) {
    write_stderr(message);
  }
  if (installed_hook.end_job != nullptr) installed_hook.end_job(exit_code(code));
  std::_Exit(exit_code(code));
}

}  // namespace barrio
