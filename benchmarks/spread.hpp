#pragma once

#include "barrio/base/json.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::bench {

/// Return min, mean and max of a number over ranks. Collective.
[[nodiscard]] inline Json spread(mpi::Context& context, double of_rank) {
  return {{"min", mpi::min(context, of_rank)},
          {"mean", mpi::sum(context, of_rank) / context.size()},
          {"max", mpi::max(context, of_rank)}};
}

/// Add the communication of all ranks between two counts. Collective.
inline void add_counts(Json& row, mpi::Context& context, const mpi::Counters& before, const mpi::Counters& now) {
  row["messages"] = spread(context, static_cast<double>(now.messages_sent - before.messages_sent));
  row["bytes"] = spread(context, static_cast<double>(now.bytes_sent - before.bytes_sent));
  row["collectives"] = spread(context, static_cast<double>(now.collectives - before.collectives));
}

}  // namespace barrio::bench
