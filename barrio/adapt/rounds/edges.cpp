#include "barrio/adapt/rounds/edges.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "barrio/adapt/kernel/operator.hpp"
#include "barrio/adapt/kernel/sheets.hpp"
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

}  // namespace

EdgeCounts count_edges(mpi::Context& context, Tets& tets, double tolerance, std::vector<HeldBy>* held) {
  EdgeCounts counts;
  std::array<std::int64_t, 6> n_held{};  // by HeldBy
  if (held != nullptr) held->assign(tets.vertices.size(), HeldBy::nothing);
  Star star;
  Sheets sheets;
  for (Slot v = 0; v < std::ssize(tets.vertices); ++v) {
    const Vertex& vertex = tets.vertices[v];
    if (vertex.tet == no_slot || vertex.owner != context.rank()) continue;
    star.gather(tets, v);
    bool has_short = false;
    bool has_long = false;
    for (std::size_t i = 0; i < star.neighbours.size(); ++i) {
      const double squared = star.length[i] * star.length[i];
      has_short = has_short || squared < 0.5;
      has_long = has_long || squared > 4.0;
      if (tets.key(star.neighbours[i]) < vertex.key) continue;  // the other end counts it
      counts.n_edges += 1;
      counts.n_in_range += squared >= 0.5 && squared <= 2.0 ? 1 : 0;
      counts.n_beyond += squared > 4.0 ? 1 : 0;
    }
    const HeldBy by = has_short  ? held_by(tets, v, star.tets, tolerance, sheets)
                      : has_long ? HeldBy::long_edge
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
