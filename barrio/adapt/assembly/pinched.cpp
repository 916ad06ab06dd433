#include "barrio/adapt/assembly/pinched.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::adapt::detail {
namespace {

/// A tetrahedron at a pinched vertex, and the copy that it gets.
struct Piece {
  std::uint64_t vertex = 0;              // global id
  std::array<std::uint64_t, 4> corners;  // global ids, ascending
  std::uint64_t copy = 0;                // from 1
  auto operator<=>(const Piece&) const = default;
};

std::array<std::uint64_t, 4> corners_of(const Tets& tets, const Tet& tet) {
  std::array<std::uint64_t, 4> ids{};
  for (std::size_t i = 0; i < 4; ++i) ids[i] = tets.key(tet.v[i]).low;
  std::ranges::sort(ids);
  return ids;
}

/// Find the pinched vertices of this rank: on the boundary, with more tetrahedra than a walk around them finds.
std::vector<Slot> find_pinched(Tets& tets, Rank me) {
  std::vector<std::uint32_t> n_at(tets.vertices.size(), 0);
  std::vector<bool> is_on_boundary(tets.vertices.size(), false);
  for (const Tet& tet : tets.tets) {
    if (tet.is_free()) continue;
    for (std::size_t f = 0; f < 4; ++f) {
      n_at[tet.v[f]] += 1;
      if (tet.across[f] >= 0) continue;
      for (const std::size_t i : face_of[f]) is_on_boundary[tet.v[i]] = true;
    }
  }
  std::vector<Slot> pinched;
  std::vector<Slot> star;
  for (Slot v = 0; v < std::ssize(tets.vertices); ++v) {
    if (!is_on_boundary[v] || tets.vertices[v].owner != me) continue;
    tets.star(v, star);
    if (star.size() != n_at[v]) pinched.push_back(v);
  }
  return pinched;
}

/// Number the groups around each pinched vertex, by their tetrahedron of lowest ids. @param[out] to  ranks that see the
/// tetrahedron of each piece besides this one
std::vector<Piece> cut(Tets& tets, std::span<const Slot> pinched, Rank me, std::vector<std::vector<Rank>>& to) {
  std::vector<std::pair<Slot, Slot>> at;
  for (Slot t = 0; t < std::ssize(tets.tets); ++t)
    if (!tets.tets[t].is_free())
      for (const Slot v : tets.tets[t].v)
        if (std::ranges::binary_search(pinched, v)) at.emplace_back(v, t);
  std::ranges::sort(at);
  std::vector<Piece> pieces;
  std::vector<std::vector<Slot>> groups;
  for (auto first = at.begin(); first != at.end();) {
    const Slot v = first->first;
    const auto end = std::ranges::upper_bound(first, at.end(), v, {}, &std::pair<Slot, Slot>::first);
    groups.clear();
    std::vector<Slot> seen;
    for (; first != end; ++first) {
      if (std::ranges::binary_search(seen, first->second)) continue;
      tets.vertices[v].tet = first->second;
      tets.star(v, groups.emplace_back());
      seen.insert(seen.end(), groups.back().begin(), groups.back().end());
      std::ranges::sort(seen);
    }
    std::ranges::sort(groups, {}, [&](const std::vector<Slot>& group) {
      auto lowest = corners_of(tets, tets.tets[group[0]]);
      for (const Slot t : group) lowest = std::min(lowest, corners_of(tets, tets.tets[t]));
      return lowest;
    });
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const Slot t : groups[g]) {
        pieces.push_back({tets.key(v).low, corners_of(tets, tets.tets[t]), g + 1});
        std::vector<Rank>& ranks = to.emplace_back();
        for (const Slot w : tets.tets[t].v)
          if (tets.vertices[w].owner != me) ranks.push_back(tets.vertices[w].owner);
        sort_unique(ranks);
      }
    }
  }
  return pieces;
}

/// Give the tetrahedra of all pieces their copies. @param pieces  ascending
void hand_out(Tets& tets, std::span<const Piece> pieces) {
  const auto is_pinched = [&](const Key& key) {
    return std::ranges::binary_search(pieces, key.low, {}, &Piece::vertex);
  };
  std::vector<Slot> before;
  for (Slot v = 0; v < std::ssize(tets.vertices); ++v)
    if (tets.vertices[v].tet != no_slot && is_pinched(tets.key(v))) before.push_back(v);
  std::map<std::pair<Slot, std::uint64_t>, Slot> copies;  // of pinched vertices alone
  for (Slot t = 0; t < std::ssize(tets.tets); ++t) {
    if (tets.tets[t].is_free()) continue;
    const std::array<Slot, 4> corners = tets.tets[t].v;
    for (std::size_t i = 0; i < 4; ++i) {
      const Slot v = corners[i];
      if (!std::ranges::binary_search(before, v)) continue;
      const Piece one{tets.key(v).low, corners_of(tets, tets.tets[t]), 0};
      const std::uint64_t copy = std::ranges::lower_bound(pieces, one)->copy;
      const auto [known, is_new] = copies.try_emplace({v, copy}, no_slot);
      if (is_new) {
        Vertex vertex = tets.vertices[v];
        vertex.key.high = of_mesh + copy;
        vertex.classification = Classification::corner;
        const Slot slot = known->second = tets.add_vertex(vertex);
        std::ranges::copy(tets.values_of(v), tets.values_of(slot).begin());
        tets.set_vertex_parent(slot, tets.vertex_parent(v));
        tets.set_membership(slot, tets.membership_of(v));
      }
      tets.tets[t].v[i] = known->second;
      tets.vertices[known->second].tet = t;
    }
  }
  for (const Slot v : before) tets.free_vertex(v);
}

}  // namespace

void split_pinched(mpi::Context& context, Tets& tets) {
  const std::vector<Slot> pinched = find_pinched(tets, context.rank());
  if (mpi::sum(context, std::ssize(pinched)) == 0) return;
  std::vector<std::vector<Rank>> to;
  std::vector<Piece> pieces = cut(tets, pinched, context.rank(), to);
  std::vector<Rank> ranks;
  std::vector<Piece> sent;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    ranks.insert(ranks.end(), to[i].begin(), to[i].end());
    sent.insert(sent.end(), to[i].size(), pieces[i]);
  }
  const auto received = exchange::route(context, exchange::pack_by_rank(ranks, sent));
  pieces.insert(pieces.end(), received.items.begin(), received.items.end());
  std::ranges::sort(pieces);
  hand_out(tets, pieces);
}

std::vector<std::pair<Slot, Slot>> merge_pinched(Tets& tets) {
  std::vector<std::pair<std::uint64_t, Slot>> copies;  // global id, slot
  for (Slot v = 0; v < std::ssize(tets.vertices); ++v)
    if (tets.vertices[v].tet != no_slot && is_pinched(tets.key(v))) copies.emplace_back(tets.key(v).low, v);
  if (copies.empty()) return {};
  std::ranges::sort(copies);
  std::vector<std::pair<Slot, Slot>> one_of;  // copy, the one that remains
  for (std::size_t i = 0, first = 0; i < copies.size(); ++i) {
    if (copies[i].first != copies[first].first) first = i;
    one_of.emplace_back(copies[i].second, copies[first].second);
  }
  std::ranges::sort(one_of);
  tets.listed_edges().rename(one_of);
  std::vector<std::pair<Slot, Slot>> at;
  for (Slot t = 0; t < std::ssize(tets.tets); ++t) {
    Tet& tet = tets.tets[t];
    if (tet.is_free()) continue;
    for (Slot& v : tet.v) {
      const auto known = std::ranges::lower_bound(one_of, v, {}, &std::pair<Slot, Slot>::first);
      if (known == one_of.end() || known->first != v) continue;
      v = known->second;
      at.emplace_back(v, t);
    }
  }
  for (const auto& [copy, one] : one_of) {
    if (copy == one)
      tets.vertices[one].key.high = of_mesh;
    else
      tets.free_vertex(copy);
  }
  std::ranges::sort(at);
  return at;
}

}  // namespace barrio::adapt::detail
