#pragma once

/// @file Collectives among neighbours: broadcast, scatter, gather, allgather, alltoall, reduce.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "barrio/exchange/neighborhood.hpp"
#include "barrio/exchange/router.hpp"

/// Collectives among neighbours. Each is one round of a Neighborhood and calls no MPI collective. Neighbours make the
/// same calls of the same type in the same order, and wait for nobody else. Errors are thrown on the ranks that find
/// them; an error thrown after the round leaves the neighbourhood ready for the next.
///
/// A neighbourhood has no root that all ranks know; any number of ranks may be roots of one call. In a broadcast or a
/// scatter a root declares itself by passing values to send. In a gather or a reduce each rank names the roots it sends
/// to. Own values are not sent: only reductions include them, over the closed neighbourhood.
///
/// | call                         | MPI                                  | sent to                                   |
/// |------------------------------|--------------------------------------|-------------------------------------------|
/// | neighbor_broadcast           | Bcast from each root                 | all neighbours, one value                 |
/// | neighbor_broadcastv          | the same; receivers learn the length | all neighbours, one list                  |
/// | neighbor_scatter             | Scatter from each root               | each neighbour, a value of its own        |
/// | neighbor_gather              | Gather at each root                  | the roots that are neighbours, one value  |
/// | neighbor_allgather           | Neighbor_allgather                   | all neighbours, one value                 |
/// | neighbor_allgatherv          | Neighbor_allgatherv                  | all neighbours, one list                  |
/// | neighbor_alltoall            | Neighbor_alltoall                    | each neighbour, n values of its own       |
/// | neighbor_alltoallv           | Neighbor_alltoallv, Scatterv, Gatherv| any of the neighbours, a list of its own  |
/// | neighbor_alltoallw           | Neighbor_alltoallw                   | each neighbour, bytes the caller packs    |
/// | neighbor_reduce, _allreduce  | -                                    | the roots, or all neighbours              |
///
/// Lengths are sent with lists, so receivers need not state them. Results are in ascending order of neighbours, the
/// same on every run. Cost: one message per neighbour and direction, as in any round; a list in a message of its own
/// has a header of 8 bytes.
namespace barrio::exchange {

/// Value that a round may send. A view would be sent as its address, so views and pointers are refused.
template <class T>
concept Message = mpi::Trivial<T> && std::default_initializable<T> && alignof(T) <= 8 && !std::is_pointer_v<T> &&
                  !std::ranges::view<T>;

namespace detail {

/// Counter of the messages from each neighbour in a call in which all send the same number.
class Tally {
 public:
  Tally(const Neighborhood& hood, RoundCall call, std::size_t n_each);
  /// Return the place of the next message of a rank, with n_each per neighbour; empty for one too many.
  std::optional<std::size_t> next_place(Rank from);
  /// Check the counts once the round is over. @throws Error{usage} naming the lowest rank with an unexpected number
  void check() const;

 private:
  RoundCall call_;
  std::size_t n_each_;
  std::vector<Rank> neighbours_;  // a copy: the end of a round may add neighbours
  std::vector<std::size_t> n_taken_;
  std::optional<Rank> stranger_;
};

void check_one_each(const Neighborhood& hood, RoundCall call, std::size_t n_given);
void check_pieces(const Neighborhood& hood, RoundCall call, std::size_t n_given);
void check_peers(const Neighborhood& hood, RoundCall call, std::span<const Rank> peers);
/// Check the lists. @throws Error{usage} unless each sender appears once and every list ends at an item
void check_lists(RoundCall call, std::span<const Rank> ascending, std::optional<Rank> torn);

/// Read a round in which every neighbour sends n_each values: those of neighbours()[i] from i * n_each on.
template <Message T>
std::vector<T> take_from_all(Round<T>& round, Tally tally, std::size_t n) {
  std::vector<T> values(n);
  for (const auto& [from, value] : round.received())
    if (const auto place = tally.next_place(from)) values[*place] = value;
  tally.check();
  return values;
}

/// Read a round in which some neighbours send one list.
template <Message T>
Parcels<T> take_lists(ByteRound& round, RoundCall call) {
  Parcels<T> lists;
  std::optional<Rank> torn;
  bool is_ascending = true;
  for (const auto& [from, bytes] : round.received()) {
    const std::size_t n = bytes.size() / sizeof(T);
    if (bytes.size() % sizeof(T) != 0) torn = from;
    if (!lists.peers.empty() && lists.peers.back() >= from) is_ascending = false;
    const std::size_t first = lists.items.size();
    lists.items.resize(first + n);
    if (n > 0) std::memcpy(&lists.items[first], bytes.data(), n * sizeof(T));
    lists.peers.push_back(from);
    lists.offsets.push_back(lists.items.size());
  }
  if (!is_ascending) {
    std::vector<std::size_t> order(lists.n_peers());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return lists.peers[i]; });
    Parcels<T> sorted;
    sorted.items.reserve(lists.items.size());
    for (const std::size_t i : order) sorted.add(lists.peers[i], lists.of(i));
    lists = std::move(sorted);
  }
  check_lists(call, lists.peers, torn);
  return lists;
}

/// End a round in which roots send one value to a neighbour. @return the values, by ascending rank
template <Message T>
std::vector<Received<T>> take_from_roots(Round<T>& round, RoundCall call) {
  round.close();
  std::vector<Received<T>> values = round.collect();
  std::vector<Rank> senders;
  for (const Received<T>& one : values) senders.push_back(one.from);
  check_lists(call, senders, {});
  return values;
}

template <Message T>
void put_list(ByteRound& round, Rank to, std::span<const T> list) {
  const std::span<std::byte> place = round.allocate(to, list.size_bytes());
  if (!list.empty()) std::memcpy(place.data(), list.data(), list.size_bytes());
}

/// Combine own values and those of the neighbours in ascending order of ranks. @param n_below  neighbours below this
/// rank
template <Message T, class Combine>
void fold(std::span<T> mine, const std::vector<T>& theirs, std::size_t n_below, Combine& combine) {
  const std::size_t n = mine.size();
  for (std::size_t c = 0; c < n; ++c) {
    const std::size_t n_ranks = theirs.size() / n + 1;
    const auto of = [&](std::size_t k) -> T {
      if (k == n_below) return mine[c];
      return theirs[(k < n_below ? k : k - 1) * n + c];
    };
    T total = of(0);
    for (std::size_t k = 1; k < n_ranks; ++k) total = combine(total, of(k));
    mine[c] = total;
  }
}

[[nodiscard]] std::size_t n_neighbours_below(const Neighborhood& hood, Rank rank) noexcept;
[[nodiscard]] bool contains(std::span<const Rank> ranks, Rank rank) noexcept;
[[nodiscard]] std::vector<Rank> neighbours_among(const Neighborhood& hood, std::span<const Rank> ranks);

/// Send one list, if given, to all neighbours, and receive the lists of those that send one.
template <Message T>
Parcels<T> send_list_to_all(Neighborhood& hood, std::optional<std::span<const T>> mine, RoundCall call) {
  auto round = CallRounds::begin_lists<T>(hood, call);
  if (mine)
    for (const Rank to : hood.neighbours()) put_list<T>(round, to, *mine);
  round.close();
  return take_lists<T>(round, call);
}

/// Send one value to the roots among the neighbours. @return on a root the values in the order of neighbours()
template <Message T>
std::vector<T> gather_values(Neighborhood& hood, std::span<const Rank> roots, const T& mine, RoundCall call) {
  const bool is_root = contains(roots, hood.context().rank());
  Tally tally(hood, call, is_root ? 1 : 0);
  const std::size_t n = is_root ? hood.neighbours().size() : 0;
  const std::vector<Rank> near_roots = neighbours_among(hood, roots);
  auto round = CallRounds::begin<T>(hood, call);
  for (const Rank to : near_roots) round.allocate(to) = mine;
  round.close();
  return take_from_all(round, std::move(tally), n);
}

}  // namespace detail

/// Send one value from each root to all its neighbours. One round.
/// @param mine  empty on a rank that is not a root
/// @return the values of the roots among the neighbours, by ascending rank
template <Message T>
[[nodiscard]] std::vector<Received<T>> neighbor_broadcast(Neighborhood& hood, const std::optional<T>& mine) {
  auto round = detail::CallRounds::begin<T>(hood, detail::RoundCall::broadcast);
  for (std::size_t i = 0; mine && i < hood.neighbours().size(); ++i) round.channel(i).allocate() = *mine;
  return detail::take_from_roots(round, detail::RoundCall::broadcast);
}

/// Send one list from each root to all its neighbours. One round.
/// @param mine  empty optional on a rank that is not a root; an empty list is sent too
/// @return the lists of the roots among the neighbours
template <Message T>
[[nodiscard]] Parcels<T> neighbor_broadcastv(Neighborhood& hood,
                                             std::optional<std::span<const std::type_identity_t<T>>> mine) {
  return detail::send_list_to_all<T>(hood, mine, detail::RoundCall::broadcastv);
}

/// Send a value from each root to each neighbour, a different one for each. One round. Lists: `neighbor_alltoallv`.
/// @param mine  one value per neighbour, in the order of neighbours(); empty optional on a rank that is not a root
/// @return the values from the roots among the neighbours, by ascending rank
/// @throws Error{usage} before the round for another number of values
template <Message T>
[[nodiscard]] std::vector<Received<T>> neighbor_scatter(Neighborhood& hood,
                                                        std::optional<std::span<const std::type_identity_t<T>>> mine) {
  if (mine) detail::check_one_each(hood, detail::RoundCall::scatter, mine->size());
  auto round = detail::CallRounds::begin<T>(hood, detail::RoundCall::scatter);
  for (std::size_t i = 0; mine && i < mine->size(); ++i) round.channel(i).allocate() = (*mine)[i];
  return detail::take_from_roots(round, detail::RoundCall::scatter);
}

/// Gather one value of each neighbour at the roots. One round. Lists: `neighbor_alltoallv`.
/// @param roots  the roots this rank knows, including itself if it is one; those that are not neighbours are ignored.
/// All neighbours of a root name it
/// @return on a root the values in the order of neighbours(), without its own; empty elsewhere
/// @throws Error{usage} if a neighbour of a root did not name it, or named a rank that is not a root
template <Message T>
[[nodiscard]] std::vector<T> neighbor_gather(Neighborhood& hood, std::span<const Rank> roots, const T& mine) {
  return detail::gather_values(hood, roots, mine, detail::RoundCall::gather);
}

/// Send one value to all neighbours and receive theirs. One round.
/// @return values in the order of neighbours(), without the own one
template <Message T>
[[nodiscard]] std::vector<T> neighbor_allgather(Neighborhood& hood, const T& mine) {
  const std::size_t n = hood.neighbours().size();
  detail::Tally tally(hood, detail::RoundCall::allgather, 1);
  auto round = detail::CallRounds::begin<T>(hood, detail::RoundCall::allgather);
  for (std::size_t i = 0; i < n; ++i) round.channel(i).allocate() = mine;
  round.close();
  return detail::take_from_all(round, std::move(tally), n);
}

/// Send one list to all neighbours and receive theirs; lengths may differ. One round.
/// @return lists of all neighbours: `of(i)` is that of neighbours()[i]
template <Message T>
[[nodiscard]] Parcels<T> neighbor_allgatherv(Neighborhood& hood, std::span<const std::type_identity_t<T>> mine) {
  return detail::send_list_to_all<T>(hood, mine, detail::RoundCall::allgatherv);
}

/// Send each neighbour n values of its own, and receive n from each. One round.
/// @param mine  shape (neighbours().size(), n); n is the same on all ranks. The values for neighbours()[i] begin at i *
/// n
/// @return the values of neighbours()[i], from i * n on
/// @throws Error{usage} before the round if the values cannot be divided evenly; after it if a neighbour sent another
/// number
template <Message T>
[[nodiscard]] std::vector<T> neighbor_alltoall(Neighborhood& hood, std::span<const std::type_identity_t<T>> mine) {
  detail::check_pieces(hood, detail::RoundCall::alltoall, mine.size());
  const std::size_t n_neighbours = hood.neighbours().size();
  const std::size_t n_each = n_neighbours == 0 ? 0 : mine.size() / n_neighbours;
  detail::Tally tally(hood, detail::RoundCall::alltoall, n_each);
  auto round = detail::CallRounds::begin<T>(hood, detail::RoundCall::alltoall);
  for (std::size_t i = 0; i < mine.size(); ++i) round.channel(i / n_each).allocate() = mine[i];
  round.close();
  return detail::take_from_all(round, std::move(tally), mine.size());
}

/// Send a list of its own to any of the neighbours. One round. With peers = neighbours() everywhere it is MPI's; with
/// one sender it is a scatter of lists, with one common peer a gather.
/// @return the lists received, including empty ones
/// @throws Error{usage} before the round for a peer that is not a neighbour
template <Message T>
[[nodiscard]] Parcels<T> neighbor_alltoallv(Neighborhood& hood, const Parcels<T>& mine) {
  detail::check_peers(hood, detail::RoundCall::alltoallv, mine.peers);
  auto round = detail::CallRounds::begin_lists<T>(hood, detail::RoundCall::alltoallv);
  for (std::size_t i = 0; i < mine.n_peers(); ++i) detail::put_list<T>(round, mine.peers[i], mine.of(i));
  round.close();
  return detail::take_lists<T>(round, detail::RoundCall::alltoallv);
}

/// Send bytes to each neighbour, packed and unpacked in place: types, strides and lengths may differ for each. One
/// round.
/// Callbacks take i, the place in neighbours(); one that throws leaves the neighbours waiting.
/// @param n_bytes_to  std::size_t (std::size_t i): number of bytes to a neighbour
/// @param pack  (std::size_t i, std::span<std::byte>): write them straight into the send buffer, 8-byte aligned
/// @param unpack  (std::size_t i, std::span<const std::byte>): read the received bytes, once per neighbour, in order of
/// arrival. If each neighbour's bytes go to their own place, the result is the same on every run. Bytes live during the
/// call
template <class NumberOfBytes, class Pack, class Unpack>
void neighbor_alltoallw(Neighborhood& hood, NumberOfBytes&& n_bytes_to, Pack&& pack, Unpack&& unpack) {
  detail::Tally tally(hood, detail::RoundCall::alltoallw, 1);
  const std::size_t n = hood.neighbours().size();
  auto round = detail::CallRounds::begin_bytes(hood, detail::RoundCall::alltoallw);
  for (std::size_t i = 0; i < n; ++i) pack(i, round.allocate(hood.neighbours()[i], n_bytes_to(i)));
  round.close();
  for (const auto& [from, bytes] : round.received())
    if (const auto place = tally.next_place(from)) unpack(*place, bytes);
  tally.check();
}

/// Combine own values with those of all neighbours, element by element, in ascending order of ranks: bitwise the same
/// on every run, even if `combine` is not associative. One round.
/// @param[in,out] values  the same number on every rank
/// @param combine  T (T, T)
/// @throws Error{usage} if a neighbour passed another number
template <Message T, class Combine>
void neighbor_allreduce(Neighborhood& hood, std::span<T> values, Combine&& combine) {
  const std::size_t n = hood.neighbours().size();
  detail::Tally tally(hood, detail::RoundCall::allreduce, values.size());
  auto round = detail::CallRounds::begin<T>(hood, detail::RoundCall::allreduce);
  for (std::size_t i = 0; i < n; ++i)
    for (const T& value : values) round.channel(i).allocate() = value;
  round.close();
  const std::vector<T> theirs = detail::take_from_all(round, std::move(tally), n * values.size());
  detail::fold(values, theirs, detail::n_neighbours_below(hood, hood.context().rank()), combine);
}
/// Combine a vector, or any other contiguous range, with those of all neighbours.
template <std::ranges::contiguous_range Values, class Combine>
  requires(!Message<std::remove_cvref_t<Values>>)  // an array is one value
void neighbor_allreduce(Neighborhood& hood, Values&& values, Combine&& combine) {
  neighbor_allreduce(hood, std::span<std::ranges::range_value_t<Values>>(values), combine);
}
/// Combine one value with those of all neighbours. @return the combined value
template <Message T, class Combine>
[[nodiscard]] T neighbor_allreduce(Neighborhood& hood, const T& mine, Combine&& combine) {
  T value = mine;
  neighbor_allreduce(hood, std::span<T>(&value, 1), combine);
  return value;
}

/// Combine the values of each root and its neighbours at the root, in ascending order of ranks. One round.
/// @param roots  as in neighbor_gather
/// @return the combined value on a root, empty elsewhere
/// @throws Error{usage} as neighbor_gather
template <Message T, class Combine>
[[nodiscard]] std::optional<T> neighbor_reduce(Neighborhood& hood, std::span<const Rank> roots, const T& mine,
                                               Combine&& combine) {
  const std::size_t n_below = detail::n_neighbours_below(hood, hood.context().rank());
  const std::vector<T> theirs = detail::gather_values(hood, roots, mine, detail::RoundCall::reduce);
  if (!detail::contains(roots, hood.context().rank())) return {};
  T value = mine;
  detail::fold(std::span<T>(&value, 1), theirs, n_below, combine);
  return value;
}

}  // namespace barrio::exchange
