#pragma once

/// @file Transports and settings of an MPI that a probe can compare.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/base/json.hpp"

namespace barrio::probe {

/// A transport of messages between processes, fixed when a job is launched.
struct Transport {
  std::string name;                    ///< shm, tcp, ucx-shm, ucx-tcp
  std::string summary;                 ///< one line for users
  std::vector<std::string> variables;  ///< NAME=value, to set for the job
};

/// List the transports that an MPI of this flavour (openmpi, mpich) may offer; the first is the default of a job on one
/// node.
std::vector<Transport> transports_of(std::string_view mpi_flavour);

/// One value of a setting that moves a limit of a transport, and what it costs.
struct Setting {
  std::string transport;                    ///< name of a Transport: it needs this one
  std::string quantity = {};                ///< the limit that it changes: "eager limit"
  std::uint64_t value = 0;                  ///< bytes; 0 for a switch
  std::vector<std::string> variables = {};  ///< NAME=value, to set for the job
  std::string how = {};                     ///< in the form in which the launcher takes it
  /// Memory of each rank: bytes_per_rank + bytes_per_peer * (ranks it talks to).
  std::uint64_t bytes_per_rank = 0;
  std::uint64_t bytes_per_peer = 0;  ///< see bytes_per_rank; 0: the number of peers does not matter
  std::string memory = {};           ///< location of the bytes
  std::string limited_by = {};       ///< file of the kernel with the largest value that it grants; empty without one
};

/// List settings worth a try for an MPI of this flavour: several values, ascending, for each quantity of a transport.
std::vector<Setting> settings_of(std::string_view mpi_flavour);

/// Name a setting: "eager limit 64 KiB".
std::string name_of(const Setting& setting);

/// Describe a setting, with the memory of a rank that talks to 16, 256 and 4096 others, and the value the kernel grants
/// if that is less.
Json to_json(const Setting& setting);

}  // namespace barrio::probe
