#pragma once

/// @file Table with typed columns whose rows can be sent to any rank.

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "barrio/base/assert.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/exchange/detail/delivery.hpp"
#include "barrio/exchange/detail/row_transfer.hpp"
#include "barrio/exchange/detail/sort_rows.hpp"
#include "barrio/exchange/options.hpp"
#include "barrio/mpi/context.hpp"
#include "barrio/mpi/datatype.hpp"

namespace barrio::exchange {

/// Type that a column of a TupleList may have. For truth values use std::uint8_t: vectors of bool have no span.
template <class T>
concept Column = mpi::Trivial<T> && std::default_initializable<T> && std::equality_comparable<T> &&
                 !std::same_as<std::remove_cv_t<T>, bool>;

/// Tuples stored as one array per column. All member functions are local; `transfer` sends rows to other ranks.
/// Source: Tautges et al. 2012, section III.
template <Column... Columns>
class TupleList {
  static_assert(sizeof...(Columns) > 0);

 public:
  /// One row, by value.
  using Tuple = std::tuple<Columns...>;
  /// Type of the values of column I.
  template <std::size_t I>
  using ColumnType = std::tuple_element_t<I, Tuple>;

  /// Return the number of rows.
  [[nodiscard]] std::size_t size() const noexcept { return std::get<0>(columns_).size(); }
  /// Tell whether there are no rows.
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }

  /// Return a column, shape (size()); valid until rows are added.
  template <std::size_t I>
  [[nodiscard]] std::span<const ColumnType<I>> column() const& noexcept {
    return std::get<I>(columns_);
  }
  /// Return a column to write, shape (size()); valid until rows are added.
  template <std::size_t I>
  [[nodiscard]] std::span<ColumnType<I>> column() & noexcept {
    return std::get<I>(columns_);
  }
  /// Refuse a temporary, whose columns would be gone.
  template <std::size_t I>
  auto column() const&& = delete;

  /// Return a copy of one row.
  [[nodiscard]] Tuple tuple(std::size_t row) const {
    return std::apply([&](const auto&... columns) { return Tuple(columns[row]...); }, columns_);
  }

  /// Reserve room for `n` rows in each column.
  void reserve(std::size_t n) {
    for_each_column([n](auto& column) { column.reserve(n); });
  }
  /// Resize to `n` rows; new ones are zero.
  void resize(std::size_t n) {
    for_each_column([n](auto& column) { column.resize(n); });
  }
  /// Resize to `n` rows with unspecified contents. Nothing is copied when columns move.
  void resize_anew(std::size_t n) {
    for_each_column([n](auto& column) {
      if (n > column.capacity()) column.clear();
      column.resize(n);
    });
  }
  /// Remove all rows; the memory stays.
  void clear() noexcept {
    for_each_column([](auto& column) { column.clear(); });
  }
  /// Add a row after the last, one value for each column.
  void push_back(const Columns&... values) {
    std::apply([&](auto&... columns) { (columns.push_back(values), ...); }, columns_);
  }

  /// Erase the rows for which `predicate(row)` is true; the others keep their order. The predicate is called for the
  /// rows 0, 1, ... in turn and may read the columns at that row. Cost: O(n).
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

  /// Reorder the rows: row i becomes the former row `order[i]`. @param[in] order  a permutation, shape (size())
  void permute(std::span<const std::size_t> order) {
    BARRIO_ASSERT(cheap, order.size() == size(), order.size(), size());
    for_each_column([&](auto& column) {
      std::remove_reference_t<decltype(column)> moved(column.size());
      for (std::size_t i = 0; i < order.size(); ++i) moved[i] = column[order[i]];
      column.swap(moved);
    });
  }

  /// Count the bytes of all columns, capacity included.
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

/// Send each row to the rank that its column I names. Collective. Afterwards the list holds the received rows, and
/// column I the rank each came from. They are ordered by that rank and then as in its list: the same on every run. Rows
/// to oneself are legal and stay here.
/// @throws AgreedError{usage} on all ranks if any destination is not a rank of the communicator, or if ranks have lists
/// of other columns; the lists are unchanged then
/// Cost: O(rows), then see `Route`. A row is copied once into the message. Long messages of `counted` arrive straight
/// in the columns; others are copied out once. In between `crystal` copies a row up to log2(P) times and `direct`
/// twice. Memory O(rows sent + rows received). By the router a rank also holds rows in transit to others, as many as it
/// sends if destinations are spread evenly. Source: Tautges et al. 2012, section III, tuple_transfer().
template <std::size_t I, Column... Columns>
void transfer(mpi::Context& context, TupleList<Columns...>& list, TransferOptions options = {}) {
  using List = TupleList<Columns...>;
  static_assert(std::is_same_v<typename List::template ColumnType<I>, Rank>, "column I names the destination");
  // Call `visit` with the indices of the columns that are sent; a list of destinations alone sends a byte per row.
  const auto with_others = [](auto&& visit) {
    [&]<std::size_t... Ks>(std::index_sequence<Ks...>) {
      return visit.template operator()<Ks + (Ks < I ? 0 : 1)...>();
    }(std::make_index_sequence<sizeof...(Columns) - 1>{});
  };
  constexpr std::size_t sent_bytes = (sizeof(Columns) + ...) - sizeof(Rank);
  const List& rows = list;
  const std::span<const Rank> to = rows.template column<I>();
  const detail::Destinations destinations(to, context.size(), sent_bytes > 0 ? sent_bytes : 1);
  std::vector<std::size_t> value_bytes;
  std::vector<std::uint8_t> marks;
  with_others([&]<std::size_t... Ks>() {
    if constexpr (sizeof...(Ks) > 0) {
      value_bytes = {sizeof(typename List::template ColumnType<Ks>)...};
    } else {
      value_bytes = {1};
      marks.resize(to.size());
    }
  });
  const detail::TransferredRows transferred{
      .value_bytes = value_bytes,
      .pack =
          [&](std::span<std::byte* const> places) {
            with_others([&]<std::size_t... Ks>() {
              if constexpr (sizeof...(Ks) > 0) {
                detail::pack_columns(destinations, to, places, rows.template column<Ks>()...);
              } else {
                detail::pack_columns(destinations, to, places, std::span<const std::uint8_t>(marks));
              }
            });
          },
      .make_room =
          [&](std::size_t n_rows) {
            list.resize_anew(n_rows);
            marks.resize(n_rows);
            std::vector<std::byte*> columns;
            with_others([&]<std::size_t... Ks>() {
              if constexpr (sizeof...(Ks) > 0) {
                columns = {reinterpret_cast<std::byte*>(list.template column<Ks>().data())...};
              } else {
                columns = {reinterpret_cast<std::byte*>(marks.data())};
              }
            });
            return columns;
          }};
  std::size_t row = 0;
  for (const auto& [from, n] :
       detail::transfer_rows(context, destinations, detail::items_of<Columns...>(), transferred, options.route)) {
    std::ranges::fill(list.template column<I>().subspan(row, n), from);
    row += n;
  }
}

}  // namespace barrio::exchange
