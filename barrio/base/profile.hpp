#pragma once

#include <cstdint>

namespace barrio {

/// What is known of the MPI and the machine a job runs on: plain data that tunes the rooms above.
/// The defaults are safe for shared memory and for networks with an eager limit of 4 KiB or more.
struct Profile {
  std::uint32_t packet_bytes = 64U * 1024U;  ///< size of a packed message buffer
  std::uint32_t ring_depth = 4;              ///< send buffers per neighbour before a sender waits
  std::uint32_t spin_polls = 200;            ///< polls of a wait loop before it yields the core
};

}  // namespace barrio
