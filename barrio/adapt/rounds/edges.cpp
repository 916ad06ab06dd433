#include "barrio/adapt/rounds/edges.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "barrio/adapt/kernel/measure.hpp"
#include "barrio/adapt/kernel/operator.hpp"
#include "barrio/adapt/kernel/sheets.hpp"
#include "barrio/base/ragged.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::adapt::detail {
namespace {

bool is_frozen(const Tets& tets, Slot v, std::span<const Slot> star) {
  return std::ranges::any_of(star, [&](Slot t) {
    const Tet& tet = tets.tets[t];
    if ((tet.cell_membership & frozen_cell) != 0) return true;
    for (std::size_t f = 0; f < 4; ++f)
      if (tet.v[f] != v && (tet.face_membership[f] & frozen_face) != 0) return true;
    return false;
  });
}

/// Find what keeps a vertex at an edge that is too short.
HeldBy held_by(const Tets& tets, Slot v, std::span<const Slot> star, double tolerance, Sheets& sheets) {
  const Classification classification = tets.vertices[v].classification;
  if (tets.has_frozen && is_frozen(tets, v, star)) return HeldBy::frozen;
  if (classification == Classification::corner || is_held(tets, v, star)) return HeldBy::fixed;
  if (classification == Classification::volume) return HeldBy::quality;
  sheets.gather(tets, v, star);
  const bool is_flat = sheets.are_flat(tolerance) &&
                       (classification != Classification::edge || sheets.straight_line(tolerance).has_value());
  return is_flat ? HeldBy::quality : HeldBy::curved;
}

/// List the other ends of edges, by the lower slot of each; an edge is there once for each of its tetrahedra.
Ragged<Slot> ends_by_lowest(const Tets& tets) {
  return Ragged<Slot>::grouped(tets.vertices.size(), [&](auto&& put) {
    for (const Tet& tet : tets.tets) {
      if (tet.is_free()) continue;
      for (const auto& [a, b] : edge_of) put(std::min(tet.v[a], tet.v[b]), std::max(tet.v[a], tet.v[b]));
    }
  });
}

/// Edges at a vertex that lie outside the range.
struct EdgesAt {
  bool has_short = false;
  bool has_long = false;
};

}  // namespace

EdgeCounts count_edges(mpi::Context& context, Tets& tets, double tolerance, std::vector<HeldBy>* held) {
  EdgeCounts counts;
  std::array<std::int64_t, 6> n_held{};  // by HeldBy
  if (held != nullptr) held->assign(tets.vertices.size(), HeldBy::nothing);
  const Ragged<Slot> ends = ends_by_lowest(tets);
  std::vector<EdgesAt> at(tets.vertices.size());
  for (Slot v = 0; v < std::ssize(tets.vertices); ++v) {
    const std::uint32_t mark = tets.next_mark();
    for (const Slot w : ends[v]) {
      if (std::exchange(tets.vertices[w].mark, mark) == mark) continue;
      const Vertex& low = tets.vertices[v];
      const Vertex& high = tets.vertices[w];
      const double length = metric_length(low, high);
      const double squared = length * length;
      for (const Slot end : {v, w}) {
        at[end].has_short |= squared < 0.5;
        at[end].has_long |= squared > 4.0;
      }
      if ((low.key < high.key ? low : high).owner != context.rank()) continue;  // another rank counts it
      counts.n_edges += 1;
      counts.n_in_range += squared >= 0.5 && squared <= 2.0 ? 1 : 0;
      counts.n_beyond += squared > 4.0 ? 1 : 0;
    }
  }
  std::vector<Slot> star;
  Sheets sheets;
  for (Slot v = 0; v < std::ssize(tets.vertices); ++v) {
    const Vertex& vertex = tets.vertices[v];
    if (vertex.tet == no_slot || vertex.owner != context.rank()) continue;
    if (at[v].has_short) tets.star(v, star);
    const HeldBy by = at[v].has_short  ? held_by(tets, v, star, tolerance, sheets)
                      : at[v].has_long ? HeldBy::long_edge
                                       : HeldBy::nothing;
    n_held[static_cast<std::size_t>(by)] += 1;
    if (held != nullptr) (*held)[v] = by;
  }
  counts.n_held_curved = n_held[static_cast<std::size_t>(HeldBy::curved)];
  counts.n_held_fixed = n_held[static_cast<std::size_t>(HeldBy::fixed)];
  counts.n_held_frozen = n_held[static_cast<std::size_t>(HeldBy::frozen)];
  counts.n_held_by_quality = n_held[static_cast<std::size_t>(HeldBy::quality)];
  std::array<std::int64_t*, 7> all{&counts.n_edges,          &counts.n_in_range,   &counts.n_beyond,
                                   &counts.n_held_curved,    &counts.n_held_fixed, &counts.n_held_frozen,
                                   &counts.n_held_by_quality};
  std::array<std::int64_t, 7> totals{};
  std::ranges::transform(all, totals.begin(), [](const std::int64_t* one) { return *one; });
  mpi::all_reduce(context, std::span<std::int64_t>(totals), MPI_SUM);
  for (std::size_t i = 0; i < all.size(); ++i) *all[i] = totals[i];
  return counts;
}

}  // namespace barrio::adapt::detail
