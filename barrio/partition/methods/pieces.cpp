#include "barrio/partition/pieces.hpp"

#include <algorithm>

#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/partition/methods/ghost_labels.hpp"

namespace barrio::partition {
namespace {

/// A link between two adjacent pieces: one of this rank, one of another. A piece is identified by its lowest vertex.
struct Link {
  GlobalId mine;
  GlobalId other;
  auto operator<=>(const Link&) const = default;
};

/// Find the lowest vertex of each vertex's piece, within this rank's slab.
std::vector<GlobalId> find_local_pieces(const Graph& graph, const std::vector<std::int32_t>& part, GlobalId first) {
  const std::int64_t n = part.size();
  std::vector<GlobalId> lowest(part.size(), no_global_id);
  std::vector<std::size_t> open;
  for (std::size_t start = 0; start < part.size(); ++start) {
    if (lowest[start] != no_global_id) continue;
    lowest[start] = first + start;
    for (open.assign(1, start); !open.empty();) {
      const std::size_t v = open.back();
      open.pop_back();
      for (std::int64_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
        const std::int64_t w = value(graph.neighbours[e]) - value(first);
        if (w < 0 || w >= n) continue;
        const std::size_t at = w;
        if (lowest[at] != no_global_id || part[at] != part[v]) continue;
        lowest[at] = lowest[start];
        open.push_back(at);
      }
    }
  }
  return lowest;
}

/// Find the links between pieces of one part on different ranks; ascending.
std::vector<Link> find_links(mpi::Context& context, const Graph& graph, const std::vector<std::int32_t>& part,
                             const std::vector<GlobalId>& piece) {
  const std::vector<std::int32_t> other_part = detail::labels_of_neighbours(context, graph, part);
  const std::int64_t first = graph.vertices.first(context.rank());
  const std::int64_t n = part.size();
  std::vector<Link> links;
  std::vector<GlobalId> remote;
  for (std::size_t v = 0; v < part.size(); ++v) {
    for (std::int64_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      const GlobalId other = graph.neighbours[e];
      const bool is_here = value(other) >= first && value(other) < first + n;
      if (is_here || other_part[e] != part[v]) continue;
      links.push_back({piece[v], other});
      remote.push_back(other);
    }
  }
  sort_unique(remote);
  const std::vector<GlobalId> remote_piece = detail::ask_homes<GlobalId>(context, graph.vertices, remote, piece);
  for (Link& link : links)
    link.other = remote_piece[std::lower_bound(remote.begin(), remote.end(), link.other) - remote.begin()];
  sort_unique(links);
  return links;
}

}  // namespace

std::vector<std::int64_t> count_pieces(mpi::Context& context, const Graph& graph, const std::vector<std::int32_t>& part,
                                       int n_parts) {
  const GlobalId first{graph.vertices.first(context.rank())};
  const std::vector<GlobalId> piece = find_local_pieces(graph, part, first);
  const std::vector<Link> links = find_links(context, graph, part, piece);
  std::vector<GlobalId> others;
  std::vector<GlobalId> mine;
  for (const Link& link : links) {
    others.push_back(link.other);
    mine.push_back(link.mine);
  }
  sort_unique(others);
  sort_unique(mine);

  // Every piece points to a connected piece that is not higher. The pointers are lowered until all pieces of a
  // connected set point to the lowest one.
  std::vector<GlobalId> lower = piece;
  const auto pointer = [&](GlobalId id) -> GlobalId& { return lower[index(id) - index(first)]; };
  for (bool is_done = false; !is_done;) {
    bool has_changed = false;
    const auto lower_to = [&](GlobalId id, GlobalId to) {
      if (to >= pointer(id)) return;
      pointer(id) = to;
      has_changed = true;
    };
    const std::vector<GlobalId> of_others = detail::ask_homes<GlobalId>(context, graph.vertices, others, lower);
    std::vector<Rank> to;
    std::vector<Link> hooks;  // a piece that one of this rank's pieces points to, and a lower one
    for (const Link& link : links) {
      const auto at = std::lower_bound(others.begin(), others.end(), link.other) - others.begin();
      const GlobalId found = of_others[at];
      if (found >= pointer(link.mine)) continue;
      to.push_back(graph.vertices.rank_of(pointer(link.mine)));
      hooks.push_back({pointer(link.mine), found});
      lower_to(link.mine, found);
    }
    for (const Link& hook : exchange::route(context, exchange::pack_by_rank<Link>(to, hooks)).items)
      lower_to(hook.mine, hook.other);
    std::vector<GlobalId> targets;
    for (const GlobalId id : mine) targets.push_back(pointer(id));
    sort_unique(targets);
    const std::vector<GlobalId> of_targets = detail::ask_homes<GlobalId>(context, graph.vertices, targets, lower);
    for (const GlobalId id : mine) {
      const auto at = std::lower_bound(targets.begin(), targets.end(), pointer(id)) - targets.begin();
      lower_to(id, of_targets[at]);
    }
    is_done = !mpi::all_reduce(context, has_changed, MPI_LOR);
  }

  std::vector<std::int64_t> n_pieces(n_parts, 0);
  for (std::size_t v = 0; v < part.size(); ++v)
    if (lower[v] == first + v) n_pieces[part[v]] += 1;
  mpi::all_reduce(context, std::span<std::int64_t>(n_pieces), MPI_SUM);
  return n_pieces;
}

}  // namespace barrio::partition
