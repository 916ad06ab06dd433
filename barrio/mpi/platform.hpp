#pragma once

#include <string>

#include "barrio/base/json.hpp"
#include "barrio/base/profile.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::mpi {

/// What a profile was measured on, and holds for.
struct Platform {
  std::string mpi;        ///< library and version, as `mpi_library()`
  std::string transport;  ///< "shm", "tcp", or "network" between nodes
  std::string settings;   ///< variables of this job that tune MPI, "NAME=value NAME=value"; often empty
  std::string host_kind;  ///< processor and number of cores
  friend bool operator==(const Platform&, const Platform&) = default;
};

/// This job's platform: of rank 0's host and environment. Collective; the same on all ranks.
Platform find_platform(Context& context);
/// The platform of jobs that have all their ranks on one node of this job, as far as the environment tells. Local.
Platform platform_on_node(Platform platform);

Json to_json(const Platform& platform);
/// @throws Error{bad_input} naming what is missing
Platform platform_from_json(const Json& json);

Json to_json(const Profile& profile);
/// @throws Error{bad_input} naming what is missing or out of range
Profile profile_from_json(const Json& json);

}  // namespace barrio::mpi
