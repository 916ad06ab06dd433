#include "barrio/partition/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "barrio/base/error.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/partition/methods/ghost_labels.hpp"

namespace barrio::partition {

std::vector<std::string> available_graph_methods() {
  std::vector<std::string> names;
#ifdef BARRIO_HAVE_PTSCOTCH
  names.emplace_back("ptscotch");
#endif
#ifdef BARRIO_HAVE_METIS
  names.emplace_back("metis");
#endif
#ifdef BARRIO_HAVE_ZOLTAN
  names.emplace_back("hypergraph");
#endif
  return names;
}

GraphMethod graph_method(const std::string& name) {
  // In the order of GraphMethod.
  const std::vector<std::string> known{"ptscotch", "metis", "hypergraph"};
  const auto at = std::find(known.begin(), known.end(), name);
  if (at == known.end()) {
    throw AgreedError(ErrorCode::usage, {.subject = fmt::format("partitioner '{}'", name),
                                         .cause = "is not known." + did_you_mean(name, known),
                                         .remedy = "use ptscotch, metis or hypergraph"});
  }
  const std::vector<std::string> available = available_graph_methods();
  static constexpr std::array reasons{"; Debian builds it for Open MPI only", "",
                                      "; it needs Zoltan, which Debian builds for Open MPI only"};
  if (std::find(available.begin(), available.end(), name) == available.end()) {
    throw AgreedError(ErrorCode::usage, {.subject = fmt::format("partitioner '{}'", name),
                                         .cause = fmt::format("is not in this build (MPI flavour {}){}",
                                                              BARRIO_MPI_FLAVOUR, reasons[at - known.begin()]),
                                         .remedy = "use rcb or hilbert, which every build has"});
  }
  return static_cast<GraphMethod>(at - known.begin());
}

std::vector<std::int32_t> detail::labels_of_neighbours(mpi::Context& context, const Graph& graph,
                                                       const std::vector<std::int32_t>& label) {
  // Each distinct remote neighbour is requested once, from the rank whose slab holds it.
  const std::int64_t first = graph.vertices.first(context.rank());
  const std::int64_t n = label.size();
  const auto is_here = [&](GlobalId id) { return value(id) >= first && value(id) < first + n; };
  std::vector<GlobalId> remote;
  for (const GlobalId id : graph.neighbours)
    if (!is_here(id)) remote.push_back(id);
  sort_unique(remote);
  const std::vector<std::int32_t> remote_label = ask_homes<std::int32_t>(context, graph.vertices, remote, label);
  std::vector<std::int32_t> labels;
  labels.reserve(graph.neighbours.size());
  for (const GlobalId id : graph.neighbours) {
    if (is_here(id)) {
      labels.push_back(label[value(id) - first]);
    } else {
      const auto at = std::lower_bound(remote.begin(), remote.end(), id) - remote.begin();
      labels.push_back(remote_label[at]);
    }
  }
  return labels;
}

CutQuality cut_quality(mpi::Context& context, const Graph& graph, const std::vector<std::int32_t>& part, int n_parts) {
  const std::vector<std::int32_t> other = detail::labels_of_neighbours(context, graph, part);
  std::int64_t n_cut = 0;
  std::vector<std::int64_t> size(n_parts, 0);
  for (std::size_t v = 0; v < part.size(); ++v) {
    size[part[v]] += 1;
    for (std::int64_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e)
      if (other[e] != part[v]) n_cut += 1;
  }
  mpi::all_reduce(context, std::span<std::int64_t>(size), MPI_SUM);
  CutQuality quality;
  quality.n_cut_edges = mpi::sum(context, n_cut) / 2;
  const std::int64_t largest = *std::max_element(size.begin(), size.end());
  quality.imbalance = graph.vertices.n_rows == 0
                          ? 1.0
                          : static_cast<double>(largest) * n_parts / static_cast<double>(graph.vertices.n_rows);
  for (const std::int64_t n : size) quality.n_empty_parts += n == 0 ? 1 : 0;
  return quality;
}

}  // namespace barrio::partition
