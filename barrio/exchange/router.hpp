#pragma once

/// @file Deliver items to any ranks, which need not expect them: the crystal router.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ranges>
#include <span>
#include <vector>

#include "barrio/base/memory.hpp"
#include "barrio/exchange/detail/delivery.hpp"
#include "barrio/mpi/context.hpp"
#include "barrio/mpi/datatype.hpp"

namespace barrio::exchange {

/// Items grouped by destination or source rank: `peers` ascending and unique, `offsets` one longer.
template <mpi::Trivial T>
struct Parcels {
  std::vector<Rank> peers;              ///< destinations; of received items the senders
  std::vector<std::size_t> offsets{0};  ///< into `items`: the first of each peer, and the end
  std::vector<T> items;                 ///< of all peers, in the order of `peers`

  /// Return the number of ranks that have a group.
  [[nodiscard]] std::size_t n_peers() const noexcept { return peers.size(); }
  /// Return the items of one rank. @param i  its place in `peers`
  [[nodiscard]] std::span<const T> of(std::size_t i) const& noexcept {
    return std::span<const T>(items).subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
  /// Refuse a temporary, whose items would be gone.
  std::span<const T> of(std::size_t) const&& = delete;
  /// Append a group. @pre the peer is greater than the ones before
  void add(Rank peer, std::span<const T> group) {
    peers.push_back(peer);
    items.insert(items.end(), group.begin(), group.end());
    offsets.push_back(items.size());
  }
};

/// Order items by rank, stably. @return their places. Cost: O(n) if the ranks lie within n of each other, else O(n log
/// n).
[[nodiscard]] std::vector<std::size_t> order_by_rank(std::span<const Rank> ranks);

/// Pack items by destination; items for one rank keep their order. Local. Cost: O(n), or O(n log n) for few items to
/// distant ranks; memory O(n).
template <mpi::Trivial T>
[[nodiscard]] Parcels<T> pack_by_rank(std::span<const Rank> to, std::span<const T> items) {
  Parcels<T> parcels;
  parcels.items.reserve(items.size());
  const auto add = [&](std::size_t i) {
    if (parcels.peers.empty() || parcels.peers.back() != to[i]) {
      parcels.peers.push_back(to[i]);
      parcels.offsets.push_back(0);
    }
    parcels.items.push_back(items[i]);
    parcels.offsets.back() = parcels.items.size();
  };
  if (std::ranges::is_sorted(to)) {
    for (std::size_t i = 0; i < to.size(); ++i) add(i);
  } else {
    for (const std::size_t i : order_by_rank(to)) add(i);
  }
  return parcels;
}

/// Pack a vector, or any other contiguous range, by destination.
template <std::ranges::contiguous_range Items>
[[nodiscard]] auto pack_by_rank(std::span<const Rank> to, const Items& items) {
  return pack_by_rank<std::ranges::range_value_t<Items>>(to, std::span(items));
}

namespace detail {

/// Deliver parcels, see `route`. @param release  called when all items are packed
template <class T, class Release>
Parcels<T> route_parcels(mpi::Context& context, const Parcels<T>& parcels, Route route, Release&& release) {
  std::vector<BytesTo> outgoing;
  outgoing.reserve(parcels.n_peers());
  for (std::size_t i = 0; i < parcels.n_peers(); ++i)
    outgoing.push_back({parcels.peers[i], parcels.of(i).size_bytes()});
  const ItemKind kind = items_of<T>();
  if (route == Route::automatic) route = agree_on_route(context, Status{}, kind, outgoing, route);
  const auto pack = [&](std::span<std::byte* const> places) {
    for (std::size_t i = 0; i < places.size(); ++i)
      if (!parcels.of(i).empty()) std::memcpy(places[i], parcels.of(i).data(), parcels.of(i).size_bytes());
    release();
  };
  const DeliveredBytes incoming = route == Route::counted ? deliver_counted(context, Status{}, kind, outgoing, pack)
                                                          : deliver(context, kind, outgoing, pack, route);
  Parcels<T> received;
  std::size_t n_items = 0;
  for (const auto& place : incoming.places) n_items += place.n_bytes / sizeof(T);
  received.items.resize(n_items);
  std::size_t filled = 0;
  for (const auto& place : incoming.places) {
    if (place.n_bytes > 0) std::memcpy(&received.items[filled], incoming.bytes_of(place), place.n_bytes);
    filled += place.n_bytes / sizeof(T);
    received.peers.push_back(place.from);
    received.offsets.push_back(filled);
  }
  return received;
}

}  // namespace detail

/// Deliver parcels to ranks that do not expect them. Collective.
/// `Route::crystal` makes no collective call: messages for the same half of the ranks travel together, in log2(P)
/// exchanges with one partner each (a crystal router). Neither memory nor messages grow in proportion to P.
/// A rank may send to itself; that is a copy in memory.
/// @param route  the same on all ranks; `automatic` first compares the sizes on all ranks, which pays for large parcels
/// @return the received items, grouped by sender in ascending order: the same on every run
/// @throws Error{usage} on ranks that were sent items of another type
/// Cost: log2(P) messages per rank; each item is copied up to log2(P) times. The other routes: see `Route`.
/// Source: Fox et al. 1988, chapter 22; Tautges et al. 2012, section III.
template <mpi::Trivial T>
[[nodiscard]] Parcels<T> route(mpi::Context& context, const Parcels<T>& parcels, Route route = Route::crystal) {
  return detail::route_parcels(context, parcels, route, [] {});
}

/// Deliver parcels, and free them as soon as they are packed: the items are in memory twice at most, not three times.
template <mpi::Trivial T>
[[nodiscard]] Parcels<T> route(mpi::Context& context, Parcels<T>&& parcels, Route route = Route::crystal) {
  return detail::route_parcels(context, parcels, route, [&] { free_memory(parcels.items); });
}

}  // namespace barrio::exchange
