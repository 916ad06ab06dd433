#pragma once

/// @file Choice of what leaves memory.

#include <cstdint>

namespace barrio::mobile {

/// Choice of the object that leaves memory for the disk. Objects that are in use, locked, or of a higher priority than
/// others stay; finished ones leave first, and those with messages last. Of the rest:
enum class Eviction : std::uint8_t {
  lru,       ///< the least recently used
  mru,       ///< the most recently used: for programs that go round through all objects again and again
  lfu,       ///< the least frequently used: turns by the time since it was made; the best of 64 that are looked at
  lu,        ///< the least used: by the number of turns; the same
  mu,        ///< the most used; the same
  adaptive,  ///< as lru, mru or lfu, whichever would have read the fewest bytes lately
};

}  // namespace barrio::mobile
