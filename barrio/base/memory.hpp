#pragma once

#include <cstdint>
#include <vector>

namespace barrio {

/// Count the bytes a vector holds, capacity included. Local.
template <class T>
std::uint64_t memory_bytes(const std::vector<T>& items) noexcept {
  return static_cast<std::uint64_t>(items.capacity()) * sizeof(T);
}

/// Give back the memory of a container: `x = {}` keeps that of a vector. Local.
template <class Container>
void free_memory(Container& x) {
  x = Container();
}

/// Count the bytes of this process that are in physical memory now. Local; 0 where /proc is absent.
std::uint64_t resident_bytes() noexcept;
/// The largest value `resident_bytes()` has had, since the last reset. Local.
std::uint64_t peak_resident_bytes() noexcept;
/// Forget the peak of before. Local. @return false where the system cannot (Linux can)
bool reset_peak_resident_bytes() noexcept;

}  // namespace barrio
