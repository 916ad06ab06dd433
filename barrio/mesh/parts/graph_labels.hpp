#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "barrio/exchange/router.hpp"
#include "barrio/mesh/tables.hpp"

// The tables distribute each block in slabs of its own; the dual graph distributes all top cells together. So each cell
// has two homes.

namespace barrio::mesh::detail {

/// A value of a cell on the way to its other home.
template <mpi::Trivial T>
struct CellLabel {
  GlobalId cell;
  T label;
};

/// Send labels to the homes of their cells. Collective. @return the labels received, by ascending cell
template <mpi::Trivial T, class HomeOf>
std::vector<T> move_labels(mpi::Context& context, std::span<const CellLabel<T>> labels, HomeOf&& home_of) {
  std::vector<Rank> to;
  to.reserve(labels.size());
  for (const CellLabel<T>& label : labels) to.push_back(home_of(label.cell));
  auto moved = exchange::route(context, exchange::pack_by_rank<CellLabel<T>>(to, labels)).items;
  std::ranges::sort(moved, {}, &CellLabel<T>::cell);
  std::vector<T> by_row;
  by_row.reserve(moved.size());
  for (const CellLabel<T>& label : moved) by_row.push_back(label.label);
  return by_row;
}

/// Move labels from the order of `MeshTables::parts` to this rank's rows of the dual graph. Collective.
template <mpi::Trivial T>
std::vector<T> to_graph_rows(mpi::Context& context, const MeshTables& tables, const Slabs& graph_rows,
                             std::span<const T> by_table) {
  const std::vector<GlobalId> ids = top_ids(context, tables);
  std::vector<CellLabel<T>> labels;
  labels.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) labels.push_back({ids[i], by_table[i]});
  return move_labels<T>(context, labels, [&](GlobalId cell) { return graph_rows.rank_of(cell); });
}

/// Move labels from this rank's rows of the dual graph to the order of `MeshTables::parts`. Collective.
template <mpi::Trivial T>
std::vector<T> to_table_rows(mpi::Context& context, const MeshTables& tables, const Slabs& graph_rows,
                             std::span<const T> by_graph) {
  const GlobalId first{graph_rows.first(context.rank())};
  std::vector<CellLabel<T>> labels;
  labels.reserve(by_graph.size());
  for (std::size_t i = 0; i < by_graph.size(); ++i) labels.push_back({first + i, by_graph[i]});
  return move_labels<T>(context, labels, [&](GlobalId cell) { return tables.home(tables.top_dim(), value(cell)); });
}

}  // namespace barrio::mesh::detail
