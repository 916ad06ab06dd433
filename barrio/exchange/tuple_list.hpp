#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "barrio/base/assert.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/exchange/detail/delivery.hpp"
#include "barrio/exchange/detail/sort_rows.hpp"
#include "barrio/exchange/transfer_options.hpp"
#include "barrio/mpi/context.hpp"
#include "barrio/mpi/datatype.hpp"

namespace barrio::exchange {

/// A type that a column of a TupleList may have. For truth values take std::uint8_t: vectors of bool have no span.
template <class T>
concept Column = mpi::Trivial<T> && std::default_initializable<T> && std::equality_comparable<T> &&
                 !std::same_as<std::remove_cv_t<T>, bool>;

/// Hold tuples as one array per column. Everything about it is local; `transfer` sends its rows to other ranks.
/// Source: Tautges et al. 2012, section III.
template <Column... Columns>
class TupleList {
  static_assert(sizeof...(Columns) > 0);

 public:
  using Tuple = std::tuple<Columns...>;
  template <std::size_t I>
  using ColumnType = std::tuple_element_t<I, Tuple>;

  [[nodiscard]] std::size_t size() const noexcept { return std::get<0>(columns_).size(); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }

  /// A column, shape (size()); valid until rows are added.
  template <std::size_t I>
  [[nodiscard]] std::span<const ColumnType<I>> column() const& noexcept {
    return std::get<I>(columns_);
  }
  template <std::size_t I>
  [[nodiscard]] std::span<ColumnType<I>> column() & noexcept {
    return std::get<I>(columns_);
  }
  template <std::size_t I>
  auto column() const&& = delete;

  /// A copy of one row.
  [[nodiscard]] Tuple tuple(std::size_t row) const {
    return std::apply([&](const auto&... columns) { return Tuple(columns[row]...); }, columns_);
  }

  void reserve(std::size_t n) {
    for_each_column([n](auto& column) { column.reserve(n); });
  }
  /// Change the number of rows; new ones are zero.
  void resize(std::size_t n) {
    for_each_column([n](auto& column) { column.resize(n); });
  }
  void clear() noexcept {
    for_each_column([](auto& column) { column.clear(); });
  }
  void push_back(const Columns&... values) {
    std::apply([&](auto&... columns) { (columns.push_back(values), ...); }, columns_);
  }

  /// Erase the rows for which `predicate(row)` is true; the others keep their order. The predicate is asked about the
  /// rows 0, 1, ... in turn and may read the columns at the row it is asked about. Cost: O(n).
  template <std::predicate<std::size_t> Predicate>
  void erase_if(Predicate&& predicate) {
    std::size_t n_kept = 0;
    for (std::size_t row = 0; row < size(); ++row) {
      if (predicate(row)) continue;
      if (n_kept != row) for_each_column([&](auto& column) { column[n_kept] = column[row]; });
      n_kept += 1;
    }
    resize(n_kept);
  }

  /// Sort the rows by column I, then J, ...; stable. Floating-point keys: -0 and +0 are equal, and NaNs have a place.
  /// Cost: O(n) if all keys are integers (radix sort from 2048 rows), else O(n log n); each column is moved once.
  template <std::size_t I, std::size_t... J>
  void sort_by() {
    const TupleList& list = *this;
    permute(detail::sorted_rows(list.column<I>(), list.column<J>()...));
  }

  /// Reorder the rows: row i becomes what row `order[i]` was. @param[in] order  a permutation, shape (size())
  void permute(std::span<const std::size_t> order) {
    BARRIO_ASSERT(cheap, order.size() == size(), order.size(), size());
    for_each_column([&](auto& column) {
      std::remove_reference_t<decltype(column)> moved(column.size());
      for (std::size_t i = 0; i < order.size(); ++i) moved[i] = column[order[i]];
      column.swap(moved);
    });
  }

  [[nodiscard]] std::uint64_t memory_bytes() const noexcept {
    return std::apply([](const auto&... columns) { return (barrio::memory_bytes(columns) + ...); }, columns_);
  }
  bool operator==(const TupleList&) const = default;

 private:
  template <class Visit>
  void for_each_column(Visit&& visit) {
    std::apply([&](auto&... columns) { (visit(columns), ...); }, columns_);
  }
  std::tuple<std::vector<Columns>...> columns_;
};

namespace detail {

/// Call `visit.operator()<K>()` for each column but the one that names the rank.
template <std::size_t I, std::size_t n_columns, class Visit>
void for_each_other_column(Visit&& visit) {
  [&]<std::size_t... Ks>(std::index_sequence<Ks...>) {
    const auto visit_other = [&]<std::size_t K>() {
      if constexpr (K != I) visit.template operator()<K>();
    };
    (visit_other.template operator()<Ks>(), ...);
  }(std::make_index_sequence<n_columns>{});
}

/// How many rows each rank is to be sent, and a way from ranks to their places in that list. Cost: O(rows) if the ranks
/// lie within some thousands of each other, else O(rows log rows).
class Destinations {
 public:
  /// @param row_bytes  that one row takes in a message
  Destinations(std::span<const Rank> to, std::size_t row_bytes);
  /// Ascending by rank.
  [[nodiscard]] const std::vector<BytesTo>& entries() const noexcept { return entries_; }
  [[nodiscard]] std::size_t entry_of(Rank rank) const noexcept {
    if (!entry_of_rank_.empty()) return entry_of_rank_[static_cast<std::size_t>(rank - low_)];
    return static_cast<std::size_t>(std::ranges::lower_bound(entries_, rank, {}, &BytesTo::to) - entries_.begin());
  }

 private:
  std::vector<BytesTo> entries_;
  Rank low_ = 0;
  std::vector<std::uint32_t> entry_of_rank_;  // from low_ on; empty where ranks lie too far from each other
};

/// The fault of the first row that is for no rank.
Status find_fault(std::span<const Rank> to, int n_ranks);

}  // namespace detail

/// Send each row to the rank its column I names. Collective. Afterwards the list holds the rows that came, and column I
/// the rank each came from, ordered by that rank and then as they stood in its list: the same on every run. Rows to
/// oneself are legal and stay here.
/// @throws AgreedError{usage} on all ranks if any destination is no rank of the communicator, or if ranks have lists of
/// other columns; the lists are as before
/// Cost: O(rows), then see `Route`. A row is copied once into the message and once out of it, and in between `crystal`
/// copies it up to log2(P) times and `direct` twice. Memory O(rows sent + rows received); by the
/// router a rank also holds rows on their way to others, as many as it sends if destinations are spread evenly.
/// Source: Tautges et al. 2012, section III, tuple_transfer().
template <std::size_t I, Column... Columns>
void transfer(mpi::Context& context, TupleList<Columns...>& list, TransferOptions options = {}) {
  using List = TupleList<Columns...>;
  static_assert(std::is_same_v<typename List::template ColumnType<I>, Rank>, "column I names the destination");
  constexpr std::size_t n_columns = sizeof...(Columns);
  // A list of destinations alone sends a byte a row, so that rows can be counted.
  constexpr std::size_t sent_bytes = (sizeof(Columns) + ...) - sizeof(Rank);
  constexpr std::size_t row_bytes = sent_bytes > 0 ? sent_bytes : 1;

  const List& rows = list;
  const std::span<const Rank> to = rows.template column<I>();
  Status fault = detail::find_fault(to, context.size());
  const detail::Destinations destinations(fault ? std::span<const Rank>() : to, row_bytes);
  const detail::ItemKind kind = detail::items_of<Columns...>();
  const auto pack = [&](std::span<std::byte* const> places) {
    // Row by row, as they stand: each rank's rows keep their order, and columns are read from front to end.
    std::vector<std::byte*> next(places.begin(), places.end());
    for (std::size_t row = 0; row < to.size(); ++row) {
      std::byte*& into = next[destinations.entry_of(to[row])];
      if constexpr (sent_bytes == 0) *into = std::byte{};
      std::byte* at = into;
      detail::for_each_other_column<I, n_columns>([&]<std::size_t K>() {
        const auto column = rows.template column<K>();
        std::memcpy(at, &column[row], sizeof column[row]);
        at += sizeof column[row];
      });
      into += row_bytes;
    }
  };
  const bool counts = options.route == Route::counted ||
                      (options.route == Route::automatic && context.size() <= detail::most_counted_ranks);
  const detail::DeliveredBytes incoming =
      counts ? detail::deliver_counted(context, fault, kind, destinations.entries(), pack)
             : detail::deliver(context, kind, destinations.entries(), pack,
                               detail::agree_on_route(context, fault, kind, destinations.entries(), options.route));

  std::size_t n_rows = 0;
  for (const auto& place : incoming.places) n_rows += place.n_bytes / row_bytes;
  list.resize(n_rows);
  std::size_t row = 0;
  for (const auto& place : incoming.places) {
    const std::size_t n = place.n_bytes / row_bytes;
    const std::byte* from = incoming.bytes_of(place);
    std::ranges::fill(list.template column<I>().subspan(row, n), place.from);
    for (std::size_t i = row; i < row + n; ++i) {
      detail::for_each_other_column<I, n_columns>([&]<std::size_t K>() {
        auto& value = list.template column<K>()[i];
        std::memcpy(&value, from, sizeof value);
        from += sizeof value;
      });
      if constexpr (sent_bytes == 0) from += row_bytes;
    }
    row += n;
  }
}

}  // namespace barrio::exchange
