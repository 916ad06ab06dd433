#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "barrio/mpi/context.hpp"
#include "barrio/mpi/datatype.hpp"

namespace barrio::exchange {

/// Items grouped by the rank they go to or come from: `peers` ascending and unique, `offsets` one longer.
template <mpi::Trivial T>
struct Parcels {
  std::vector<Rank> peers;
  std::vector<std::size_t> offsets{0};
  std::vector<T> items;

  [[nodiscard]] std::size_t n_peers() const noexcept { return peers.size(); }
  [[nodiscard]] std::span<const T> of(std::size_t i) const& noexcept {
    return std::span<const T>(items).subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
  std::span<const T> of(std::size_t) const&& = delete;
  /// Append a group. @pre the peer is greater than the ones before
  void add(Rank peer, std::span<const T> group) {
    peers.push_back(peer);
    items.insert(items.end(), group.begin(), group.end());
    offsets.push_back(items.size());
  }
};

/// Group items by destination; items for one rank keep their order. Local. Cost: O(n log n), memory O(n).
template <mpi::Trivial T>
[[nodiscard]] Parcels<T> pack_by_rank(std::span<const Rank> to, std::span<const T> items) {
  std::vector<std::size_t> order(to.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return to[a] < to[b]; });
  Parcels<T> parcels;
  parcels.items.reserve(items.size());
  for (const std::size_t i : order) {
    if (parcels.peers.empty() || parcels.peers.back() != to[i]) {
      parcels.peers.push_back(to[i]);
      parcels.offsets.push_back(parcels.items.size());
    }
    parcels.items.push_back(items[i]);
    parcels.offsets.back() = parcels.items.size();
  }
  return parcels;
}

namespace detail {
/// Words with a head of their own: (destination, source), length in bytes, then the bytes padded to words.
std::vector<std::uint64_t> route_words(mpi::Context& context, std::vector<std::uint64_t> words);
constexpr std::size_t n_head_words = 2;
}  // namespace detail

/// Deliver parcels to ranks that do not expect them. Collective, without a collective call inside.
/// Messages for the same half of the ranks travel together, in log2(P) exchanges with one partner each (a crystal
/// router); it needs no memory and no message in proportion to P. A rank may send to itself.
/// @return what came, grouped by sender in ascending order: the same on every run
/// Cost: log2(P) messages per rank; each item is copied up to log2(P) times.
/// Source: Fox et al. 1988, chapter 22; Tautges et al. 2012, section III.
template <mpi::Trivial T>
[[nodiscard]] Parcels<T> route(mpi::Context& context, const Parcels<T>& parcels) {
  const auto words_of = [](std::size_t n_bytes) { return (n_bytes + 7) / 8; };
  std::size_t n_words = 0;
  for (std::size_t i = 0; i < parcels.n_peers(); ++i)
    n_words += detail::n_head_words + words_of(parcels.of(i).size_bytes());
  std::vector<std::uint64_t> words(n_words);
  std::size_t at = 0;
  for (std::size_t i = 0; i < parcels.n_peers(); ++i) {
    const std::span<const T> group = parcels.of(i);
    words[at] = static_cast<std::uint64_t>(parcels.peers[i]) << 32U | static_cast<std::uint64_t>(context.rank());
    words[at + 1] = group.size_bytes();
    if (!group.empty()) std::memcpy(&words[at + detail::n_head_words], group.data(), group.size_bytes());
    at += detail::n_head_words + words_of(group.size_bytes());
  }
  words = detail::route_words(context, std::move(words));

  struct Place {
    Rank from;
    std::size_t at;
    std::size_t n_bytes;
  };
  std::vector<Place> places;
  std::size_t n_items = 0;
  for (at = 0; at < words.size(); at += detail::n_head_words + words_of(words[at + 1])) {
    places.push_back({static_cast<Rank>(words[at] & 0xffffffffU), at + detail::n_head_words, words[at + 1]});
    n_items += words[at + 1] / sizeof(T);
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.from < b.from; });
  Parcels<T> received;
  received.items.resize(n_items);
  std::size_t filled = 0;
  for (const Place& place : places) {
    if (place.n_bytes > 0) std::memcpy(&received.items[filled], &words[place.at], place.n_bytes);
    filled += place.n_bytes / sizeof(T);
    received.peers.push_back(place.from);
    received.offsets.push_back(filled);
  }
  return received;
}

}  // namespace barrio::exchange
