#include "barrio/mpi/node.hpp"

#include <sched.h>

#include "barrio/mpi/collectives.hpp"

namespace barrio::mpi {

namespace {

/// Compute the number of a node, given its ranks. Collective.
int number_of(Context& context, const Comm& node) {
  int number = exclusive_sum(context, node.rank() == 0 ? 1 : 0);
  check(MPI_Bcast(&number, 1, MPI_INT, 0, node.get()), "MPI_Bcast");
  return number;
}

}  // namespace

NodePlace find_node(Context& context) {
  const Comm node = Comm::split_shared(context.comm(), context.rank());
  return {.node = number_of(context, node),
          .n_nodes = sum(context, node.rank() == 0 ? 1 : 0),
          .rank_on_node = node.rank(),
          .ranks_on_node = node.size()};
}

NodeRanks find_node_ranks(Context& context, std::optional<int> group) {
  const Comm node =
      group ? Comm::split(context.comm(), *group, context.rank()) : Comm::split_shared(context.comm(), context.rank());
  NodeRanks found{.node = number_of(context, node), .ranks = std::vector<Rank>(static_cast<std::size_t>(node.size()))};
  const Rank me = context.rank();
  check(MPI_Allgather(&me, 1, MPI_INT, found.ranks.data(), 1, MPI_INT, node.get()), "MPI_Allgather");
  return found;
}

int usable_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  return ::sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

}  // namespace barrio::mpi
