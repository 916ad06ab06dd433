#pragma once

/// @file Platform of a job: MPI, transport, settings and host, to which a measured profile belongs.

#include <string>

#include "barrio/base/json.hpp"
#include "barrio/base/profile.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::mpi {

/// Platform that a profile was measured on. The profile is valid only there.
struct Platform {
  std::string mpi;        ///< library and version, as `mpi_library()`
  std::string transport;  ///< "shm", "tcp", or "network" between nodes
  std::string settings;   ///< environment variables that tune MPI, "NAME=value NAME=value"; often empty
  std::string host_kind;  ///< processor and number of cores
  friend bool operator==(const Platform&, const Platform&) = default;
};

/// Find this job's platform, from rank 0's host and environment. Collective; the same on all ranks.
Platform find_platform(Context& context);
/// Derive the platform of jobs with all their ranks on one node of this job, as far as the environment tells. Local.
Platform platform_on_node(Platform platform);

/// Write a platform as JSON that `platform_from_json` reads. Local.
Json to_json(const Platform& platform);
/// Read a platform from JSON. @throws Error{bad_input} naming the missing entry
Platform platform_from_json(const Json& json);

/// Write a profile as JSON that `profile_from_json` reads, without the platform. Local.
Json to_json(const Profile& profile);
/// Read a profile from JSON. @throws Error{bad_input} naming the entry that is missing or out of range
Profile profile_from_json(const Json& json);

}  // namespace barrio::mpi
