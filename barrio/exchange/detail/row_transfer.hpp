#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/exchange/detail/delivery.hpp"
#include "barrio/exchange/options.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::exchange::detail {

/// Number of rows to each rank, and a slot for each of these ranks that holds its place while rows are packed.
/// Cost: O(rows) if the ranks are few or lie near each other, else O(rows log rows).
class Destinations {
 public:
  /// Count the rows. @param row_bytes  size of one row in a message
  Destinations(std::span<const Rank> to, int n_ranks, std::size_t row_bytes);
  /// Make an empty one, where the caller has found a fault.
  explicit Destinations(Error fault) : fault_(std::move(fault)) {}
  /// Return the destinations, ascending by rank; empty if there is a fault.
  [[nodiscard]] const std::vector<BytesTo>& entries() const noexcept { return entries_; }
  /// Return the fault of the first row whose destination is not a rank.
  [[nodiscard]] const Status& fault() const noexcept { return fault_; }
  [[nodiscard]] std::size_t n_slots() const noexcept { return is_sparse_ ? entries_.size() : n_slots_; }

  /// Call `visit(slot_of)`: slot_of returns the slot of a rank, by the look-up that is cheaper here.
  template <class Visit>
  void with_slots(Visit&& visit) const {
    if (is_sparse_) {
      visit(
          [this](Rank rank) { return std::ranges::lower_bound(entries_, rank, {}, &BytesTo::to) - entries_.begin(); });
    } else {
      visit([low = low_](Rank rank) { return static_cast<std::size_t>(rank - low); });
    }
  }

 private:
  void count(std::span<const Rank> to, std::size_t row_bytes);
  void sort(std::span<const Rank> to, std::size_t row_bytes);

  std::vector<BytesTo> entries_;
  Status fault_;
  bool is_sparse_ = false;
  Rank low_ = 0;
  std::size_t n_slots_ = 0;
};

/// List of rows as seen by a transfer: columns of values.
struct TransferredRows {
  /// Bytes of one value, for each column that is sent; at least one column.
  std::span<const std::size_t> value_bytes;
  /// Function that writes the values for each destination to its place, column by column. Called once, before
  /// `make_room`.
  PackAll pack;
  /// Function that changes the number of rows; the current ones are no longer needed. Called once. @return the start of
  /// each column
  std::function<std::vector<std::byte*>(std::size_t n_rows)> make_room;
};

struct RowsFrom {
  Rank from;
  std::size_t n_rows;
};

/// Send rows to their destinations. Collective. @return the number of rows per sender, in the order of the received
/// rows: by ascending rank. @throws AgreedError{usage} as `agree_on_route`
std::vector<RowsFrom> transfer_rows(mpi::Context& context, const Destinations& destinations, const ItemKind& kind,
                                    const TransferredRows& rows, Route route);

/// Write columns whose types the compiler knows into the messages.
/// @param at  start of each column, for each slot
template <class... Values>
void scatter_columns(const Destinations& destinations, std::span<const Rank> to,
                     std::span<const std::array<std::byte*, sizeof...(Values)>> at,
                     std::span<const Values>... columns) {
  struct Slot {
    std::size_t n_rows;
    std::array<std::byte*, sizeof...(Values)> columns;
  };
  std::vector<Slot> slots;
  slots.reserve(at.size());
  for (const auto& begins : at) slots.push_back({0, begins});
  destinations.with_slots([&](auto&& slot_of) {
    for (std::size_t row = 0; row < to.size(); ++row) {
      Slot& slot = slots[slot_of(to[row])];
      const std::size_t i = slot.n_rows++;
      std::size_t k = 0;
      (std::memcpy(slot.columns[k++] + i * sizeof(Values), &columns[row], sizeof(Values)), ...);
    }
  });
}

/// Write all columns into the messages. Within a message they follow each other, column by column.
/// @param places  of the messages of `destinations.entries()`
template <class... Values>
void pack_columns(const Destinations& destinations, std::span<const Rank> to, std::span<std::byte* const> places,
                  std::span<const Values>... columns) {
  constexpr std::size_t row_bytes = (sizeof(Values) + ...);
  using Begins = std::array<std::byte*, sizeof...(Values)>;
  std::vector<Begins> begins(destinations.n_slots());
  destinations.with_slots([&](auto&& slot_of) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      const BytesTo& entry = destinations.entries()[i];
      std::byte* at = places[i];
      std::size_t k = 0;
      ((begins[slot_of(entry.to)][k++] = at, at += sizeof(Values) * (entry.n_bytes / row_bytes)), ...);
    }
  });
  // All columns together are read once, but written at columns x messages places at a time: too many for the processor
  // to follow if they come from memory.
  constexpr std::size_t max_in_cache = std::size_t{1} << 20U;
  if (to.size() * row_bytes <= max_in_cache) {
    scatter_columns<Values...>(destinations, to, begins, columns...);
    return;
  }
  std::size_t k = 0;
  const auto scatter_one = [&]<class Value>(std::span<const Value> column) {
    std::vector<std::array<std::byte*, 1>> at(begins.size());
    for (std::size_t slot = 0; slot < at.size(); ++slot) at[slot][0] = begins[slot][k];
    scatter_columns<Value>(destinations, to, at, column);
    k += 1;
  };
  (scatter_one(columns), ...);
}

}  // namespace barrio::exchange::detail
