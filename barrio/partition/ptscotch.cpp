#include <fmt/format.h>

#include "barrio/base/error.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/partition/graph.hpp"

#ifdef BARRIO_HAVE_PTSCOTCH
// ptscotch.h needs both in front of it.
#include <cstdint>
#include <cstdio>
extern "C" {
#include <ptscotch.h>
}
#endif

namespace barrio::partition {

#ifdef BARRIO_HAVE_PTSCOTCH
namespace {

class DistributedGraph {
 public:
  explicit DistributedGraph(MPI_Comm comm) { check(SCOTCH_dgraphInit(&graph_, comm), "SCOTCH_dgraphInit"); }
  DistributedGraph(const DistributedGraph&) = delete;
  DistributedGraph& operator=(const DistributedGraph&) = delete;
  ~DistributedGraph() { SCOTCH_dgraphExit(&graph_); }
  SCOTCH_Dgraph* get() { return &graph_; }
  static void check(int status, const char* call) {
    if (status != 0) throw Error(ErrorCode::failed, {.subject = call, .cause = fmt::format("gave up with code {}", status)});
  }

 private:
  SCOTCH_Dgraph graph_{};
};

}  // namespace

std::vector<std::int32_t> cut_by_ptscotch(mpi::Context& context, const Graph& graph, int n_parts) {
  std::vector<SCOTCH_Num> offsets(graph.offsets.begin(), graph.offsets.end());
  std::vector<SCOTCH_Num> neighbours;
  neighbours.reserve(graph.neighbours.size() + 1);
  for (const GlobalId id : graph.neighbours) neighbours.push_back(static_cast<SCOTCH_Num>(value(id)));
  const auto n = static_cast<SCOTCH_Num>(graph.offsets.size() - 1);
  const auto n_edges = static_cast<SCOTCH_Num>(neighbours.size());
  std::vector<SCOTCH_Num> part(static_cast<std::size_t>(n) + 1, 0);
  SCOTCH_randomSeed(1);
  SCOTCH_randomReset();
  // PT-Scotch communicates inside: what one rank finds wrong, all find wrong.
  DistributedGraph scotch(context.comm());
  agree_after(context, [&] {
    DistributedGraph::check(
        SCOTCH_dgraphBuild(scotch.get(), 0, n, n, offsets.data(), offsets.data() + 1, nullptr, nullptr, n_edges,
                           n_edges, neighbours.data(), nullptr, nullptr),
        "SCOTCH_dgraphBuild");
  });
  SCOTCH_Strat strategy;
  SCOTCH_stratInit(&strategy);
  const int status = SCOTCH_dgraphPart(scotch.get(), static_cast<SCOTCH_Num>(n_parts), &strategy, part.data());
  SCOTCH_stratExit(&strategy);
  agree_after(context, [&] { DistributedGraph::check(status, "SCOTCH_dgraphPart"); });
  part.resize(static_cast<std::size_t>(n));
  return {part.begin(), part.end()};
}
#else
std::vector<std::int32_t> cut_by_ptscotch(mpi::Context&, const Graph&, int) {
  graph_method("ptscotch");  // throws: this build lacks it
  return {};
}
#endif

}  // namespace barrio::partition
