#pragma once

#include <cstdint>
#include <string>

#include "barrio/mpi/context.hpp"

namespace barrio::io::detail {

/// Return the index, from 0, of the time step to read; -1 if a file has none. Collective. The log says that a file has
/// others, unless one was asked for.
/// @param step  as TableOptions::step
/// @throws AgreedError{usage} for a step that the file does not have
std::int64_t chosen_step(mpi::Context& context, const std::string& path, int step, std::int64_t n_steps);

}  // namespace barrio::io::detail
