#pragma once

/// @file Profiles that `barrio probe` measured, stored per user and platform.

#include <string>

#include "barrio/base/json.hpp"
#include "barrio/base/profile.hpp"
#include "barrio/mpi/context.hpp"
#include "barrio/mpi/platform.hpp"

namespace barrio::mpi {

/// Return the path where `barrio probe` stores this user's profiles: $BARRIO_PROFILE, or else barrio/profiles.json in
/// $XDG_CACHE_HOME or ~/.cache. Empty if BARRIO_PROFILE is "off" or there is no home.
std::string stored_profiles_path();

/// Use the profile that was stored for this job's platform; without one the context's stays unchanged. Logs a notice if
/// there are only profiles of other platforms, or if the file cannot be parsed. Collective. Cost: rank 0 looks for the
/// file; one broadcast of four bytes. If there is a file, also three broadcasts of some hundred bytes, a communicator
/// split and a reduction.
void use_stored_profile(Context& context);

/// Store a profile in a file, in place of one of the same platform. Local.
/// Waits while another process stores one.
/// @throws Error{failed} if the file cannot be written, Error{bad_input} if it exists and is not a file of profiles
void store_profile(const std::string& path, const Platform& platform, const Profile& profile);

}  // namespace barrio::mpi
