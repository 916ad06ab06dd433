#include <cstdio>
// Scotch's header needs FILE.
#include <scotch.h>

#include <algorithm>
#include <numeric>

#include "benchmarks/rankmap/peers.hpp"

namespace barrio::bench {
namespace {

/// Owns an object of Scotch.
template <class T, void (*Free)(T*)>
struct Owned {
  T value;
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { Free(&value); }
};

std::vector<SCOTCH_Num> numbers(auto first, auto last) { return {first, last}; }

}  // namespace

std::optional<PeerResult> map_by_scotch(const rankmap::CommunicationGraph& graph, const EvenTree& tree,
                                        ScotchStrategy strategy) {
  const int n_cores = std::accumulate(tree.arities.begin(), tree.arities.end(), 1, std::multiplies{});
  std::vector<SCOTCH_Num> offsets = numbers(graph.offsets.begin(), graph.offsets.end());
  std::vector<SCOTCH_Num> partners = numbers(graph.partners.begin(), graph.partners.end());
  std::vector<SCOTCH_Num> weights;
  for (const double weight : graph.weights) weights.push_back(static_cast<SCOTCH_Num>(weight));
  // Scotch lists levels from the outside in.
  const std::vector<SCOTCH_Num> sizes = numbers(tree.arities.rbegin(), tree.arities.rend());
  const std::vector<SCOTCH_Num> links = numbers(tree.distances.rbegin(), tree.distances.rend());

  const double start = processor_seconds();
  SCOTCH_randomReset();
  Owned<SCOTCH_Graph, SCOTCH_graphExit> scotch_graph;
  Owned<SCOTCH_Arch, SCOTCH_archExit> arch;
  Owned<SCOTCH_Strat, SCOTCH_stratExit> plan;
  SCOTCH_graphInit(&scotch_graph.value);
  SCOTCH_archInit(&arch.value);
  SCOTCH_stratInit(&plan.value);
  std::vector<SCOTCH_Num> core(graph.n_ranks());
  const bool is_done =
      SCOTCH_graphBuild(&scotch_graph.value, 0, graph.n_ranks(), offsets.data(), offsets.data() + 1, nullptr, nullptr,
                        static_cast<SCOTCH_Num>(partners.size()), partners.data(), weights.data()) == 0 &&
      SCOTCH_archTleaf(&arch.value, static_cast<SCOTCH_Num>(sizes.size()), sizes.data(), links.data()) == 0 &&
      SCOTCH_stratGraphMapBuild(&plan.value,
                                strategy == ScotchStrategy::quality ? SCOTCH_STRATQUALITY : SCOTCH_STRATDEFAULT,
                                n_cores, 0.0) == 0 &&
      SCOTCH_graphMap(&scotch_graph.value, &arch.value, &plan.value, core.data()) == 0;
  const double seconds = processor_seconds() - start;
  if (!is_done) return {};
  std::vector<int> used(core.begin(), core.end());
  std::ranges::sort(used);
  if (std::ranges::adjacent_find(used) != used.end()) return {};
  return PeerResult{.placement = {{core.begin(), core.end()}, n_cores}, .seconds = seconds};
}

}  // namespace barrio::bench
