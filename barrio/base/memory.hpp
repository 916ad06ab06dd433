#pragma once

/// @file Memory of containers and of this process.

#include <cstdint>
#include <vector>

namespace barrio {

/// Count the bytes that a vector holds, capacity included. Local.
template <class T>
std::uint64_t memory_bytes(const std::vector<T>& items) noexcept {
  return static_cast<std::uint64_t>(items.capacity()) * sizeof(T);
}

/// Free the memory of a container; `x = {}` would keep a vector's. Local.
template <class Container>
void free_memory(Container& x) {
  x = Container();
}

/// Give memory that is free inside the allocator back to the system, where the allocator can do that (glibc). Local.
/// Large blocks that were freed may stay otherwise, beside those that a program allocates next. Cost: milliseconds, and
/// page faults where the memory is needed again; call it between phases
void return_free_memory() noexcept;

/// Count the bytes of this process in physical memory. Local; 0 where /proc is absent.
std::uint64_t resident_bytes() noexcept;
/// Return the maximum of `resident_bytes()` since the last reset. Local.
std::uint64_t peak_resident_bytes() noexcept;
/// Reset the peak. Local. @return false where the system cannot (Linux can)
bool reset_peak_resident_bytes() noexcept;

}  // namespace barrio
