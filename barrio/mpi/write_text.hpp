#pragma once

/// @file Write one text file from a piece of each rank.

#include <string>
#include <string_view>

#include "barrio/mpi/context.hpp"

namespace barrio::mpi {

/// Write one text file from a piece of each rank, in the order of ranks. Collective; nothing is gathered.
/// @throws AgreedError{failed} if the file cannot be written; an old file stays unchanged then
void write_text(Context& context, const std::string& path, std::string_view piece);

}  // namespace barrio::mpi
