#include "barrio/mesh/partition_quality.hpp"

#include <algorithm>
#include <vector>

#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/parts/graph_labels.hpp"
#include "barrio/mesh/sides/dual_graph.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/partition/pieces.hpp"

namespace barrio::mesh {
namespace {

/// A number for each part.
using PerPart = std::vector<std::int64_t>;

struct VertexUse {
  GlobalId vertex;
  std::int32_t part;
  auto operator<=>(const VertexUse&) const = default;
};

struct Neighbours {
  std::int32_t part;
  std::int32_t other;
  auto operator<=>(const Neighbours&) const = default;
};

/// Call `visit(nodes, part)` for each of this rank's top cells.
template <class Visit>
void for_each_cell(mpi::Context& context, const MeshTables& tables, Visit&& visit) {
  std::size_t at = 0;
  for (const CellBlock& block : tables.blocks) {
    if (topology(block.type).dim != tables.top_dim()) continue;
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i) visit(block.cell(i), tables.parts[at++]);
  }
}

double imbalance(mpi::Context& context, PerPart loads) {
  mpi::all_reduce(context, std::span<std::int64_t>(loads), MPI_SUM);
  double total = 0.0;
  for (const std::int64_t load : loads) total += static_cast<double>(load);
  const auto largest = static_cast<double>(*std::max_element(loads.begin(), loads.end()));
  return total == 0.0 ? 1.0 : largest * static_cast<double>(loads.size()) / total;
}

/// Measures taken at the homes of vertices.
class Halo {
 public:
  Halo(mpi::Context& context, const MeshTables& tables)
      : context_(context), tables_(tables), n_parts_(tables.n_parts) {}

  void measure(PartitionQuality& quality) {
    std::vector<VertexUse> uses;
    for_each_cell(context_, tables_, [&](std::span<const GlobalId> nodes, std::int32_t part) {
      for (const GlobalId node : nodes) uses.push_back({node, part});
    });
    sort_unique(uses);
    std::vector<Rank> to;
    to.reserve(uses.size());
    for (const VertexUse& use : uses) to.push_back(tables_.vertices.rank_of(use.vertex));
    const auto asked = exchange::route(context_, exchange::pack_by_rank<VertexUse>(to, uses));
    take_shared(asked.items, quality);
    count_neighbours(quality);
    count_ghosts(asked, quality);
  }

 private:
  /// Keep the uses of vertices shared by several parts.
  void take_shared(std::vector<VertexUse> uses, PartitionQuality& quality) {
    sort_unique(uses);
    PerPart n_shared(n_parts_, 0);
    std::int64_t n_vertices = 0;
    for (std::size_t i = 0; i < uses.size();) {
      std::size_t end = i;
      while (end < uses.size() && uses[end].vertex == uses[i].vertex) ++end;
      if (end - i > 1) {
        n_vertices += 1;
        for (std::size_t k = i; k < end; ++k) n_shared[uses[k].part] += 1;
        shared_.insert(shared_.end(), uses.begin() + i, uses.begin() + end);
      }
      i = end;
    }
    mpi::all_reduce(context_, std::span<std::int64_t>(n_shared), MPI_SUM);
    quality.n_shared_vertices = mpi::sum(context_, n_vertices);
    quality.max_shared_vertices = *std::max_element(n_shared.begin(), n_shared.end());
  }

  /// Select the uses of one vertex.
  [[nodiscard]] std::span<const VertexUse> parts_at(std::span<const VertexUse> shared, GlobalId vertex) const {
    const auto found = std::ranges::equal_range(shared, vertex, {}, &VertexUse::vertex);
    return {found.begin(), found.end()};
  }

  /// Each pair of parts is counted once, at the home of the first one.
  void count_neighbours(PartitionQuality& quality) const {
    std::vector<Neighbours> pairs;
    for (const VertexUse& use : shared_)
      for (const VertexUse& other : parts_at(shared_, use.vertex))
        if (other.part != use.part) pairs.push_back({use.part, other.part});
    sort_unique(pairs);
    const Slabs homes{tables_.n_parts, context_.size()};
    std::vector<Rank> to;
    for (const Neighbours& pair : pairs) to.push_back(homes.rank_of(pair.part));
    pairs = exchange::route(context_, exchange::pack_by_rank<Neighbours>(to, pairs)).items;
    sort_unique(pairs);
    PerPart n_neighbours(homes.size(context_.rank()), 0);
    for (const Neighbours& pair : pairs) n_neighbours[pair.part - homes.first(context_.rank())] += 1;
    const std::int64_t most = n_neighbours.empty() ? 0 : *std::max_element(n_neighbours.begin(), n_neighbours.end());
    quality.max_neighbours = mpi::max(context_, most);
    quality.mean_neighbours = static_cast<double>(mpi::sum(context_, std::ssize(pairs))) / tables_.n_parts;
  }

  /// Count ghosts: a cell is a ghost of every other part that shares one of its vertices.
  void count_ghosts(const exchange::Parcels<VertexUse>& asked, PartitionQuality& quality) const {
    exchange::Parcels<VertexUse> answers;
    for (std::size_t p = 0; p < asked.n_peers(); ++p) {
      std::vector<VertexUse> group;
      const std::span<const VertexUse> of_peer = asked.of(p);
      for (std::size_t i = 0; i < of_peer.size(); ++i) {
        if (i > 0 && of_peer[i].vertex == of_peer[i - 1].vertex) continue;
        const std::span<const VertexUse> all = parts_at(shared_, of_peer[i].vertex);
        group.insert(group.end(), all.begin(), all.end());
      }
      answers.add(asked.peers[p], group);
    }
    // Homes ascend with vertices, so the answers are sorted by vertex.
    const std::vector<VertexUse> shared = exchange::route(context_, answers).items;
    PerPart n_ghosts(n_parts_, 0);
    std::vector<std::int32_t> others;
    for_each_cell(context_, tables_, [&](std::span<const GlobalId> nodes, std::int32_t part) {
      others.clear();
      for (const GlobalId node : nodes)
        for (const VertexUse& use : parts_at(shared, node))
          if (use.part != part) others.push_back(use.part);
      sort_unique(others);
      for (const std::int32_t other : others) n_ghosts[other] += 1;
    });
    mpi::all_reduce(context_, std::span<std::int64_t>(n_ghosts), MPI_SUM);
    for (const std::int64_t n : n_ghosts) quality.n_ghost_cells += n;
    quality.max_ghost_cells = *std::max_element(n_ghosts.begin(), n_ghosts.end());
  }

  mpi::Context& context_;
  const MeshTables& tables_;
  std::size_t n_parts_;
  std::vector<VertexUse> shared_;  // at the homes of the vertices
};

}  // namespace

PartitionQuality partition_quality(mpi::Context& context, const MeshTables& tables,
                                   std::span<const std::int64_t> weights) {
  PartitionQuality quality;
  quality.n_parts = tables.n_parts;
  Halo(context, tables).measure(quality);

  PerPart n_cells(tables.n_parts, 0);
  PerPart weight = n_cells;
  for (std::size_t i = 0; i < tables.parts.size(); ++i) {
    n_cells[tables.parts[i]] += 1;
    weight[tables.parts[i]] += weights.empty() ? 1 : weights[i];
  }
  quality.weight_imbalance = imbalance(context, weight);
  quality.imbalance = imbalance(context, n_cells);
  mpi::all_reduce(context, std::span<std::int64_t>(n_cells), MPI_SUM);
  for (const std::int64_t n : n_cells) quality.n_empty_parts += n == 0 ? 1 : 0;

  const partition::Graph graph = dual_graph(context, tables);
  const auto part = detail::to_graph_rows<std::int32_t>(context, tables, graph.vertices, tables.parts);
  quality.n_cut_sides = partition::cut_quality(context, graph, part, tables.n_parts).n_cut_edges;
  quality.n_split_parts = std::ranges::count_if(partition::count_pieces(context, graph, part, tables.n_parts),
                                                [](std::int64_t n) { return n > 1; });
  return quality;
}

Json to_json(const PartitionQuality& quality) {
  Json json{{"parts", quality.n_parts},
            {"imbalance", quality.imbalance},
            {"weight_imbalance", quality.weight_imbalance},
            {"empty_parts", quality.n_empty_parts},
            {"ghost_cells", quality.n_ghost_cells},
            {"max_ghost_cells", quality.max_ghost_cells},
            {"shared_vertices", quality.n_shared_vertices},
            {"max_shared_vertices", quality.max_shared_vertices},
            {"mean_neighbours", quality.mean_neighbours},
            {"max_neighbours", quality.max_neighbours},
            {"cut_sides", quality.n_cut_sides},
            {"split_parts", quality.n_split_parts}};
  return json;
}

}  // namespace barrio::mesh
