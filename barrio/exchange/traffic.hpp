#pragma once

/// @file Write the traffic between ranks as a document for `barrio map`.

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::exchange {

/// Traffic from one end of a connection to the other.
struct TrafficRow {
  std::int32_t from;      ///< sending end: a rank or part, 0-based
  std::int32_t to;        ///< receiving end: a rank or part, 0-based
  std::int64_t points;    ///< values of one exchange, whatever their size
  std::int64_t bytes;     ///< over the whole run
  std::int64_t messages;  ///< over the whole run
};

/// Write traffic as a document of schema "barrio.traffic", which `barrio map` reads. Collective; each rank writes its
/// own rows, nothing is gathered. @param n_ends  number of ranks (or parts) that rows may name
/// @throws AgreedError{failed} if the file cannot be written
void write_traffic(mpi::Context& context, const std::string& path, int n_ends, const std::vector<TrafficRow>& rows);

}  // namespace barrio::exchange
