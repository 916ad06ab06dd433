#pragma once

#include <string>

#include "barrio/base/json.hpp"
#include "barrio/base/profile.hpp"
#include "barrio/mpi/context.hpp"
#include "barrio/mpi/platform.hpp"

namespace barrio::mpi {

/// Where `barrio probe` leaves its profiles for this user: $BARRIO_PROFILE, or else barrio/profiles.json in
/// $XDG_CACHE_HOME or ~/.cache; empty if BARRIO_PROFILE is "off" or there is no home.
std::string stored_profiles_path();

/// Use the profile that was stored for this job's platform, if there is one; else the context's stays as it is. Says so
/// if there are profiles, but of other platforms, or if the file cannot be understood. Collective. Cost: rank 0 looks
/// for the file; one broadcast of four bytes. Where there is a file, three more of some hundred bytes, a communicator
/// split and a reduction.
void use_stored_profile(Context& context);

/// Put a profile among those that a file has, in place of one of the same platform. Local.
/// Waits for others that store one.
/// @throws Error{failed} if the file cannot be written, Error{bad_input} if it is there and no file of profiles
void store_profile(const std::string& path, const Platform& platform, const Profile& profile);

}  // namespace barrio::mpi
