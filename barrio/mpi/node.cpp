#include "barrio/mpi/node.hpp"

#include <sched.h>

#include <array>
#include <span>
#include <string_view>

#include "barrio/base/hash.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mpi {

NodePlace find_node(Context& context) {
  MPI_Comm raw = MPI_COMM_NULL;
#ifdef BARRIO_MPI_SMPI
  // The simulator's MPI_Comm_split_type does not follow its host list, the processor names do.
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  check(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
  Hash64 hash;
  for (const char c : std::string_view(name.data(), static_cast<std::size_t>(length)))
    hash.add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
  check(MPI_Comm_split(context.comm(), static_cast<int>(hash.value() & 0x7fffffffU), context.rank(), &raw),
        "MPI_Comm_split");
#else
  check(MPI_Comm_split_type(context.comm(), MPI_COMM_TYPE_SHARED, context.rank(), MPI_INFO_NULL, &raw),
        "MPI_Comm_split_type");
#endif
  NodePlace place;
  check(MPI_Comm_rank(raw, &place.rank_on_node), "MPI_Comm_rank");
  check(MPI_Comm_size(raw, &place.ranks_on_node), "MPI_Comm_size");
  const int leads = place.rank_on_node == 0 ? 1 : 0;
  place.node = exclusive_sum(context, leads);
  place.n_nodes = sum(context, leads);
  check(MPI_Bcast(&place.node, 1, MPI_INT, 0, raw), "MPI_Bcast");
  check(MPI_Comm_free(&raw), "MPI_Comm_free");
  return place;
}

int usable_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  return ::sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

}  // namespace barrio::mpi
