#pragma once

/// @file Find the other ranks that have the same global ids.

#include <algorithm>
#include <compare>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "barrio/base/hash.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/exchange/tuple_list.hpp"

namespace barrio::exchange {

/// Other position of an id: a rank, and an index in that rank's list.
struct Sharer {
  Rank rank;      ///< may be this rank
  LocalId index;  ///< position in the list of that rank, not of this one
  auto operator<=>(const Sharer&) const = default;
};

/// Sharers of this rank's ids, position by position.
struct SharedIds {
  std::vector<std::size_t> offsets{0};  ///< one longer than the ids
  /// Grouped by position, each group ascending: all positions with the same id except itself. They include positions of
  /// this rank if it lists an id more than once.
  std::vector<Sharer> sharers;
  std::vector<Rank> neighbours;  ///< other ranks that share an id with this one, ascending

  /// Return the number of positions in this rank's list.
  [[nodiscard]] std::size_t n_ids() const noexcept { return offsets.size() - 1; }
  /// Return the sharers of the id at a position; empty if nobody shares it.
  [[nodiscard]] std::span<const Sharer> of(std::size_t i) const& noexcept {
    return std::span<const Sharer>(sharers).subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
  /// Refuse a temporary, whose sharers would be gone.
  std::span<const Sharer> of(std::size_t) const&& = delete;
  /// Count the bytes of the lists, capacity included.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
};

/// Sharers as in SharedIds, with the whole tuple of each.
template <Column Key, Column... Rest>
struct SharedTuples {
  std::vector<std::size_t> offsets{0};             ///< one longer than the list
  TupleList<Rank, LocalId, Key, Rest...> sharers;  ///< rank, position there, and its tuple
  std::vector<Rank> neighbours;                    ///< ascending
  /// Return the number of rows of this rank's list.
  [[nodiscard]] std::size_t n_tuples() const noexcept { return offsets.size() - 1; }
  /// Return the rows of `sharers` that belong to a position: first and end.
  [[nodiscard]] std::pair<std::size_t, std::size_t> rows_of(std::size_t i) const noexcept {
    return {offsets[i], offsets[i + 1]};
  }
  /// Count the bytes of the lists, capacity included.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept {
    return barrio::memory_bytes(offsets) + sharers.memory_bytes() + barrio::memory_bytes(neighbours);
  }
};

/// Find the other ranks that have this rank's ids. Collective.
/// @param[in] ids  in any order, with any repetition; negative ones (no_global_id) are shared with nobody
/// Cost: O(n log n) local work and two transfers. Ids meet at a home rank, chosen by a hash, which answers only for ids
/// with more than one position. An id with m positions costs its home O(m^2), and this rank O(m) for each of its own;
/// for ids that all ranks share, see GatherScatter. The result is the same on every run.
/// Source: Tautges et al. 2012, section III, gs_init().
[[nodiscard]] SharedIds find_shared_ids(mpi::Context& context, std::span<const GlobalId> ids);

namespace detail {

/// Return the home of a key: the rank where all its positions meet.
template <RadixKey Key>
Rank home_of(Key key, int n_ranks) noexcept {
  return static_cast<Rank>(mix64(ordered_bits(key)) % static_cast<std::uint64_t>(n_ranks));
}

/// Find all copies, including its own, of this rank's keys that have more than one position: (home, rank, position,
/// key, rest of the tuple), by ascending key, rank and position.
template <RadixKey Key, class... Rest>
TupleList<Rank, Rank, LocalId, Key, Rest...> find_copies(mpi::Context& context, std::span<const Key> keys,
                                                         std::span<const Rest>... rest) {
  BARRIO_ASSERT(cheap, keys.size() <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()), keys.size());
  TupleList<Rank, LocalId, Key, Rest...> rows;
  rows.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (!(keys[i] < Key{})) rows.push_back(home_of(keys[i], context.size()), local_id(i), keys[i], rest[i]...);
  transfer<0>(context, rows);
  rows.template sort_by<2>();  // the rows of a key stay in order of rank and position
  const auto rank = std::as_const(rows).template column<0>();
  const auto key = std::as_const(rows).template column<2>();
  TupleList<Rank, Rank, LocalId, Key, Rest...> answers;
  for (std::size_t first = 0, last = 0; first < rows.size(); first = last) {
    while (last < rows.size() && key[last] == key[first]) ++last;
    if (last - first == 1) continue;
    for (std::size_t to = first; to < last; ++to) {
      if (to > first && rank[to] == rank[to - 1]) continue;
      for (std::size_t row = first; row < last; ++row)
        std::apply([&](const auto&... values) { answers.push_back(rank[to], values...); }, rows.tuple(row));
    }
  }
  rows = {};
  transfer<0>(context, answers);
  answers.template sort_by<3>();
  return answers;
}

/// Rows of `copies` with the key of a position, its own among them.
struct CopyRange {
  std::size_t first = 0;
  std::size_t count = 0;
};
template <RadixKey Key>
std::vector<CopyRange> match_copies(std::span<const Key> keys, std::span<const Key> copies) {
  std::vector<CopyRange> ranges(keys.size());
  std::size_t first = 0;
  std::size_t last = 0;
  for (const std::size_t i : sorted_rows(keys)) {
    while (first < copies.size() && copies[first] < keys[i]) ++first;
    last = std::max(last, first);
    while (last < copies.size() && copies[last] == keys[i]) ++last;
    ranges[i] = {first, last - first};
  }
  return ranges;
}

/// Assign each position its sharers: `take(copy)` for each of them, in order. @return offsets
template <class Take>
std::vector<std::size_t> spread_copies(std::span<const CopyRange> ranges, std::span<const Rank> rank_of_copy,
                                       std::span<const LocalId> position_of_copy, Rank own, Take&& take) {
  std::vector<std::size_t> offsets(ranges.size() + 1);
  for (std::size_t i = 0; i < ranges.size(); ++i)
    offsets[i + 1] = offsets[i] + (ranges[i].count > 0 ? ranges[i].count - 1 : 0);
  for (std::size_t i = 0; i < ranges.size(); ++i)
    for (std::size_t copy = ranges[i].first; copy < ranges[i].first + ranges[i].count; ++copy)
      if (rank_of_copy[copy] != own || index(position_of_copy[copy]) != i) take(copy);
  return offsets;
}

/// Return the ranks ascending, without repetition and without this rank.
std::vector<Rank> other_ranks(std::span<const Rank> ranks, Rank own);

}  // namespace detail

/// Find the other ranks that have this rank's keys, and fetch their whole tuples. Collective. Keys are the first
/// column, integers or enumerations; negative ones are shared with nobody.
/// @return for each row its sharers, by ascending rank and position: see SharedIds. Cost: as find_shared_ids
template <detail::RadixKey Key, Column... Rest>
[[nodiscard]] SharedTuples<Key, Rest...> find_shared_tuples(mpi::Context& context,
                                                            const TupleList<Key, Rest...>& list) {
  const std::span<const Key> keys = list.template column<0>();
  const auto copies = [&]<std::size_t... Ks>(std::index_sequence<Ks...>) {
    return detail::find_copies<Key, Rest...>(context, keys, list.template column<Ks + 1>()...);
  }(std::index_sequence_for<Rest...>{});
  const auto ranges = detail::match_copies<Key>(keys, copies.template column<3>());
  SharedTuples<Key, Rest...> shared;
  shared.offsets = detail::spread_copies(
      ranges, copies.template column<1>(), copies.template column<2>(), context.rank(), [&](std::size_t copy) {
        std::apply([&](Rank /*home*/, const auto&... values) { shared.sharers.push_back(values...); },
                   copies.tuple(copy));
      });
  shared.neighbours = detail::other_ranks(copies.template column<1>(), context.rank());
  return shared;
}

}  // namespace barrio::exchange
