#include "barrio/base/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>

#ifdef __GLIBC__
// of <malloc.h>, which the simulator's compiler cannot read: there malloc is a macro
extern "C" int malloc_trim(std::size_t pad) noexcept;
#endif

namespace barrio {

void return_free_memory() noexcept {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

std::uint64_t resident_bytes() noexcept {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  unsigned long total = 0;
  unsigned long resident = 0;
  const int read = std::fscanf(file, "%lu %lu", &total, &resident);
  std::fclose(file);
  return read == 2 ? resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

std::uint64_t peak_resident_bytes() noexcept {
  // Prefer VmHWM: a reset does not clear the maximum of threads that ended in getrusage().
  if (std::FILE* file = std::fopen("/proc/self/status", "r")) {
    std::array<char, 256> line{};
    unsigned long kibibytes = 0;
    bool is_found = false;
    while (!is_found && std::fgets(line.data(), line.size(), file) != nullptr)
      is_found = std::sscanf(line.data(), "VmHWM: %lu", &kibibytes) == 1;
    std::fclose(file);
    if (is_found) return std::uint64_t{kibibytes} * 1024U;
  }
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024U;
}

bool reset_peak_resident_bytes() noexcept {
  std::FILE* file = std::fopen("/proc/self/clear_refs", "w");
  if (file == nullptr) return false;
  const bool is_written = std::fputs("5\n", file) >= 0;
  return std::fclose(file) == 0 && is_written;
}

}  // namespace barrio
