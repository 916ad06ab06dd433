#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/partition/graph.hpp"
#include "barrio/partition/methods/fit_weights.hpp"
#include "barrio/partition/methods/quiet_output.hpp"

#ifdef BARRIO_HAVE_PTSCOTCH
// ptscotch.h needs both headers before it.
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
    if (status != 0)
      throw Error(ErrorCode::failed, {.subject = call, .cause = fmt::format("gave up with code {}", status)});
  }

 private:
  SCOTCH_Dgraph graph_{};
};

/// A context with one thread and a fixed seed: with more threads PT-Scotch's result varies from call to call.
class RepeatingContext {
 public:
  RepeatingContext() { DistributedGraph::check(SCOTCH_contextInit(&context_), "SCOTCH_contextInit"); }
  RepeatingContext(const RepeatingContext&) = delete;
  RepeatingContext& operator=(const RepeatingContext&) = delete;
  ~RepeatingContext() { SCOTCH_contextExit(&context_); }
  /// Bind the graph to this context. @return the bound graph, valid as long as both exist
  SCOTCH_Dgraph* bind(DistributedGraph& graph) {
    DistributedGraph::check(SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMDETERMINISTIC, 1),
                            "SCOTCH_contextOptionSetNum");
    DistributedGraph::check(SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMRANDOMFIXEDSEED, 1),
                            "SCOTCH_contextOptionSetNum");
    DistributedGraph::check(SCOTCH_contextThreadSpawn(&context_, 1, nullptr), "SCOTCH_contextThreadSpawn");
    SCOTCH_contextRandomSeed(&context_, 1);
    SCOTCH_contextRandomReset(&context_);
    DistributedGraph::check(SCOTCH_contextBindDgraph(&context_, graph.get(), &bound_), "SCOTCH_contextBindDgraph");
    return &bound_;
  }

 private:
  SCOTCH_Context context_{};
  SCOTCH_Dgraph bound_{};
};

}  // namespace

std::vector<std::int32_t> cut_by_ptscotch(mpi::Context& context, const Graph& graph, int n_parts) {
  if (n_parts < 1)
    refuse_together(ErrorCode::usage, fmt::format("PT-Scotch, {} parts", n_parts), "must be at least 1",
                    "ask for 1 or more");
  if (graph.vertices.n_rows > std::numeric_limits<SCOTCH_Num>::max()) {
    refuse_together(ErrorCode::usage, fmt::format("PT-Scotch, {} vertices", graph.vertices.n_rows),
                    fmt::format("its ids have {} bits in this build", 8 * sizeof(SCOTCH_Num)), "use rcb");
  }
  std::vector<SCOTCH_Num> offsets(graph.offsets.begin(), graph.offsets.end());
  std::vector<SCOTCH_Num> neighbours;
  neighbours.reserve(graph.neighbours.size() + 1);
  for (const GlobalId id : graph.neighbours) neighbours.push_back(static_cast<SCOTCH_Num>(value(id)));
  const auto n = static_cast<SCOTCH_Num>(graph.offsets.size() - 1);
  const auto n_edges = static_cast<SCOTCH_Num>(neighbours.size());
  const auto of_vertices = detail::weights_that_count(context, graph.weights);
  const std::int64_t total =
      mpi::sum(context, std::accumulate(of_vertices.begin(), of_vertices.end(), std::int64_t{0}));
  std::vector<SCOTCH_Num> weights = detail::fit_weights<SCOTCH_Num>(of_vertices, total);
  for (SCOTCH_Num& weight : weights) weight = std::max<SCOTCH_Num>(weight, 1);  // PT-Scotch rejects weights of 0
  // A rank without vertices has no weights, but all ranks must agree on whether there are any.
  const bool has_weights = mpi::all_reduce(context, !of_vertices.empty(), MPI_LOR);
  weights.reserve(1);
  std::vector<SCOTCH_Num> part(offsets.size(), 0);
  // PT-Scotch communicates internally, so all ranks see the same fault.
  DistributedGraph scotch(context.comm());
  RepeatingContext repeating;
  SCOTCH_Dgraph* bound = nullptr;
  agree_after(context, [&] {
    DistributedGraph::check(SCOTCH_dgraphBuild(scotch.get(), 0, n, n, offsets.data(), offsets.data() + 1,
                                               has_weights ? weights.data() : nullptr, nullptr, n_edges, n_edges,
                                               neighbours.data(), nullptr, nullptr),
                            "SCOTCH_dgraphBuild");
    bound = repeating.bind(scotch);
  });
  SCOTCH_Strat strategy;
  SCOTCH_stratInit(&strategy);
  const int status = [&] {
    const detail::QuietOutput quiet;
    return SCOTCH_dgraphPart(bound, n_parts, &strategy, part.data());
  }();
  SCOTCH_stratExit(&strategy);
  agree_after(context, [&] { DistributedGraph::check(status, "SCOTCH_dgraphPart"); });
  part.resize(n);
  return {part.begin(), part.end()};
}
#else
std::vector<std::int32_t> cut_by_ptscotch(mpi::Context&, const Graph&, int) {
  graph_method("ptscotch");  // throws, because this build lacks PT-Scotch
  return {};
}
#endif

}  // namespace barrio::partition
