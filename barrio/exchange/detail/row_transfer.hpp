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

/// How many rows go to each rank, and a slot for each of these ranks that holds its place while rows are packed.
/// Cost: O(rows) if there are few ranks for the rows or they lie near each other, else O(rows log rows).
class Destinations {
 public:
  /// @param row_bytes  that one row takes in a message
  Destinations(std::span<const Rank> to, int n_ranks, std::size_t row_bytes);
  /// No destinations: the caller has found a fault.
  explicit Destinations(Error fault) : fault_(std::move(fault)) {}
  /// Ascending by rank; empty if there is a fault.
  [[nodiscard]] const std::vector<BytesTo>& entries() const noexcept { return entries_; }
  /// The fault of the first row whose destination is no rank.
  [[nodiscard]] const Status& fault() const noexcept { return fault_; }
  [[nodiscard]] std::size_t n_slots() const noexcept { return is_sparse_ ? entries_.size() : n_slots_; }

  /// Call `visit(slot_of)`: slot_of gives the slot of a rank, by the look-up that is cheaper here.
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

/// A list of rows as a transfer sees it: columns of values.
struct TransferredRows {
  /// Bytes of one value, for each column that travels; at least one column.
  std::span<const std::size_t> value_bytes;
  /// Write the values for each destination to its place, column by column. Called once, before `make_room`.
  PackAll pack;
  /// Change the number of rows; those at hand are no longer needed. Called once. @return where each column begins
  std::function<std::vector<std::byte*>(std::size_t n_rows)> make_room;
};

struct RowsFrom {
  Rank from;
  std::size_t n_rows;
};

/// Send rows to the ranks they are for. Collective. @return who sent how many, in the order in which the rows now
/// stand: by ascending rank. @throws AgreedError{usage} as `agree_on_route`
std::vector<RowsFrom> transfer_rows(mpi::Context& context, const Destinations& destinations, const ItemKind& kind,
                                    const TransferredRows& rows, Route route);

/// Write columns whose types the compiler knows into the messages.
/// @param at  where each column begins, for each slot
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
  // All columns together are read once, but are written at columns x messages places at a time: more than the processor
  // can follow if they come from memory.
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
