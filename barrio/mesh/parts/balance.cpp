#include "barrio/mesh/balance.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "barrio/exchange/ask.hpp"
#include "barrio/mesh/parts/cut_choice.hpp"
#include "barrio/mesh/parts/graph_labels.hpp"
#include "barrio/mesh/sides/dual_graph.hpp"
#include "barrio/mesh/topology.hpp"
#include "barrio/partition/graph.hpp"
#include "barrio/partition/hilbert.hpp"
#include "barrio/partition/rcb.hpp"
#include "barrio/partition/remap.hpp"

namespace barrio::mesh {
namespace {

using Weights = std::span<const std::int64_t>;

std::vector<double> centres_of(const Mesh& mesh) {
  const EntityTable& cells = mesh.cells();
  const std::vector<double>& x = mesh.vertices().coordinates;
  std::vector<double> centres(3 * cells.n_owned, 0.0);
  std::vector<LocalId> room;
  for (std::size_t c = 0; c < cells.n_owned; ++c) {
    const auto nodes = cells.nodes_of(c);
    const std::span<const LocalId> corners = distinct_corners(cells.type(c), nodes, room);
    for (const LocalId node : corners)
      for (std::size_t k = 0; k < 3; ++k) centres[3 * c + k] += x[3 * index(node) + k];
    for (std::size_t k = 0; k < 3; ++k) centres[3 * c + k] /= static_cast<double>(corners.size());
  }
  return centres;
}

std::vector<std::int32_t> cut_centres(const Mesh& mesh, const std::string& method, Weights weights, int n_parts) {
  const auto cut = method == "hilbert" ? partition::hilbert : partition::rcb;
  return cut(mesh.context(), centres_of(mesh), mesh.global_ids(mesh.cell_dim()).first(mesh.cells().n_owned), weights,
             n_parts);
}

/// Mapping between owned cells and rows of the dual graph.
class Rows {
 public:
  /// @param first_row  row of this rank's first cell
  Rows(const Mesh& mesh, const Slabs& slabs, std::int64_t first_row)
      : context_(mesh.context()), slabs_(slabs), first_(first_row), n_(mesh.cells().n_owned) {}

  /// Move values of owned cells to the rows of this rank's slab. Collective.
  template <class T>
  [[nodiscard]] std::vector<T> values(std::span<const T> of_cells) const {
    std::vector<detail::CellLabel<T>> labels;
    labels.reserve(n_);
    for (std::size_t i = 0; i < n_; ++i) labels.push_back({row(i), of_cells[i]});
    return detail::move_labels<T>(context_, labels, [&](GlobalId one) { return slabs_.rank_of(one); });
  }
  /// Move values of rows back to the owned cells. Collective.
  template <class T>
  [[nodiscard]] std::vector<T> of_cells(std::span<const T> of_rows) const {
    std::vector<GlobalId> rows;
    std::vector<Rank> to;
    for (std::size_t i = 0; i < n_; ++i) rows.push_back(row(i)), to.push_back(slabs_.rank_of(row(i)));
    const GlobalId first{slabs_.first(context_.rank())};
    return exchange::ask(context_, to, rows, [&](GlobalId one) { return of_rows[index(one) - index(first)]; });
  }

 private:
  [[nodiscard]] GlobalId row(std::size_t cell) const { return GlobalId{first_} + cell; }

  mpi::Context& context_;
  Slabs slabs_;
  std::int64_t first_;
  std::size_t n_;
};

/// Choose the vertices of METIS's coarse graph: the cells if it can take them all, else clusters of nearby cells.
std::vector<std::int32_t> clusters_of(const Mesh& mesh, const partition::Graph& graph, const Rows& rows,
                                      Weights weights, int n_clusters) {
  if (n_clusters < graph.vertices.n_rows)
    return rows.values<std::int32_t>(cut_centres(mesh, "rcb", weights, n_clusters));
  std::vector<std::int32_t> cluster(graph.vertices.size(mesh.context().rank()));
  std::iota(cluster.begin(), cluster.end(), static_cast<std::int32_t>(graph.vertices.first(mesh.context().rank())));
  return cluster;
}

/// @param has_weights  whether any rank has weights
std::vector<std::int32_t> cut_graph(const Mesh& mesh, partition::GraphMethod method, Weights weights, bool has_weights,
                                    int n_parts) {
  mpi::Context& context = mesh.context();
  const std::int64_t first = first_row(mesh);
  partition::Graph graph = dual_graph(mesh, first);
  const Rows rows(mesh, graph.vertices, first);
  if (has_weights) graph.weights = rows.values<std::int64_t>(weights);
  if (method == partition::GraphMethod::ptscotch)
    return rows.of_cells<std::int32_t>(partition::cut_by_ptscotch(context, graph, n_parts));
  const auto n_clusters =
      static_cast<int>(std::clamp<std::int64_t>(graph.vertices.n_rows, n_parts, partition::metis_max_vertices));
  const std::vector<std::int32_t> cluster = clusters_of(mesh, graph, rows, weights, n_clusters);
  return rows.of_cells<std::int32_t>(partition::cut_by_metis(context, graph, cluster, n_clusters, n_parts));
}

}  // namespace

std::vector<Rank> balanced_ranks(const Mesh& mesh, const BalanceOptions& options) {
  detail::check_cut_method(options.method, {"rcb", "hilbert", "metis", "ptscotch"}, "is not known for a mesh");
  const bool by_centres = options.method == "rcb" || options.method == "hilbert";
  const auto given = detail::agreed_weights(mesh.context(), mesh.cells().n_owned, options.weights);
  const Weights weights = given ? Weights(*given) : Weights();
  const int n_parts = mesh.context().size();
  std::vector<Rank> part =
      by_centres ? cut_centres(mesh, options.method, weights, n_parts)
                 : cut_graph(mesh, partition::graph_method(options.method), weights, given.has_value(), n_parts);
  return options.keep ? partition::remap(mesh.context(), std::move(part), weights) : part;
}

}  // namespace barrio::mesh
