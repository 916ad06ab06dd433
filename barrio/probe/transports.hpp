#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/base/json.hpp"

namespace barrio::probe {

/// A way of messages between processes, which is fixed when a job is launched.
struct Transport {
  std::string name;                    ///< shm, tcp, ucx-shm, ucx-tcp
  std::string summary;                 ///< one line for people
  std::vector<std::string> variables;  ///< NAME=value, to be set for the job
};

/// Those that an MPI of this flavour (openmpi, mpich) may offer; the first is what a job on one node gets by itself.
std::vector<Transport> transports_of(std::string_view mpi_flavour);

/// One value of a setting that moves a limit of a transport, and what it costs.
struct Setting {
  std::string transport;
  std::string quantity = {};                ///< what it moves: "eager limit"
  std::uint64_t value = 0;                  ///< bytes; 0 for a switch
  std::vector<std::string> variables = {};  ///< NAME=value, to be set for the job
  std::string how = {};                     ///< as one gives it to the launcher
  /// Memory of each rank: bytes_per_rank + bytes_per_peer * (ranks it talks to).
  std::uint64_t bytes_per_rank = 0;
  std::uint64_t bytes_per_peer = 0;
  std::string memory = {};      ///< where the bytes lie
  std::string limited_by = {};  ///< file of the kernel with the largest value that it grants, if there is one
};

/// Settings worth a try for an MPI of this flavour: of each quantity of a transport several values, ascending.
std::vector<Setting> settings_of(std::string_view mpi_flavour);

/// "eager limit 64 KiB"
std::string name_of(const Setting& setting);

/// With the memory of a rank that talks to 16, 256 and 4096 others, and what the kernel grants if that is less.
Json to_json(const Setting& setting);

}  // namespace barrio::probe
