#include "barrio/exchange/detail/row_transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "barrio/base/assert.hpp"
#include "barrio/exchange/detail/buffer.hpp"
#include "barrio/exchange/rounds/packet.hpp"
#include "barrio/mpi/check.hpp"
#include "barrio/mpi/point_to_point.hpp"

namespace barrio::exchange::detail {
namespace {

// Messages of at least this length are received straight into the columns, by a datatype that takes a microsecond or
// two to make. Shorter ones are copied from a buffer. Both ends must decide alike, since MPI wants the same types
// there.
constexpr std::size_t min_direct_bytes = 16384;
constexpr std::size_t max_direct_bytes = std::size_t{1} << 30U;
bool is_direct(std::size_t n_bytes) { return n_bytes >= min_direct_bytes && n_bytes <= max_direct_bytes; }

/// Place of the rows of one sender.
class Target {
 public:
  Target(std::span<std::byte* const> columns, std::span<const std::size_t> value_bytes, std::size_t first_row,
         std::size_t n_rows)
      : columns_(columns), value_bytes_(value_bytes), first_row_(first_row), n_rows_(n_rows) {}

  void copy_from(const std::byte* from) const {
    if (n_rows_ == 0) return;
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      std::memcpy(column(k), from, n_bytes(k));
      from += n_bytes(k);
    }
  }
  /// Make a datatype for all columns, starting at the first value of the first one. The caller frees it.
  [[nodiscard]] MPI_Datatype type() const {
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    MPI_Aint first = 0;
    mpi::check(MPI_Get_address(column(0), &first), "MPI_Get_address");
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      MPI_Aint place = 0;
      mpi::check(MPI_Get_address(column(k), &place), "MPI_Get_address");
      places.push_back(MPI_Aint_diff(place, first));
      lengths.push_back(static_cast<int>(n_bytes(k)));
    }
    MPI_Datatype made = MPI_DATATYPE_NULL;
    const int n = static_cast<int>(lengths.size());
    mpi::check(MPI_Type_create_hindexed(n, lengths.data(), places.data(), MPI_BYTE, &made), "MPI_Type_create_hindexed");
    mpi::check(MPI_Type_commit(&made), "MPI_Type_commit");
    return made;
  }
  [[nodiscard]] std::byte* begin() const { return column(0); }

 private:
  [[nodiscard]] std::byte* column(std::size_t k) const { return columns_[k] + first_row_ * value_bytes_[k]; }
  [[nodiscard]] std::size_t n_bytes(std::size_t k) const { return n_rows_ * value_bytes_[k]; }

  std::span<std::byte* const> columns_;
  std::span<const std::size_t> value_bytes_;
  std::size_t first_row_;
  std::size_t n_rows_;
};

/// Make room for all received rows, and pass the part of each sender to `place(i, target)`.
/// @param columns  start of each column; targets live as long as it does
template <class Place>
std::vector<RowsFrom> place_rows(std::span<const BytesFrom> incoming, const TransferredRows& rows,
                                 std::vector<std::byte*>& columns, Place&& place) {
  const std::size_t row_bytes = std::accumulate(rows.value_bytes.begin(), rows.value_bytes.end(), std::size_t{0});
  std::vector<RowsFrom> came;
  came.reserve(incoming.size());
  std::size_t n_rows = 0;
  for (const BytesFrom& one : incoming) {
    BARRIO_ASSERT(cheap, one.n_bytes % row_bytes == 0, one.n_bytes, row_bytes);
    came.push_back({one.from, one.n_bytes / row_bytes});
    n_rows += came.back().n_rows;
  }
  columns = rows.make_room(n_rows);
  std::size_t first = 0;
  for (std::size_t i = 0; i < came.size(); ++i) {
    place(i, Target(columns, rows.value_bytes, first, came[i].n_rows));
    first += came[i].n_rows;
  }
  return came;
}

std::vector<RowsFrom> transfer_counted(mpi::Context& context, const std::vector<BytesTo>& outgoing,
                                       const std::vector<BytesFrom>& incoming, const TransferredRows& rows) {
  const Rank me = context.rank();
  std::size_t n_sent = 0;
  for (const BytesTo& one : outgoing) n_sent += words_of(one.n_bytes);
  Buffer sent(n_sent);
  std::vector<std::byte*> places;
  places.reserve(outgoing.size());
  const std::byte* own = nullptr;
  std::uint64_t* next = sent.data();
  for (const BytesTo& one : outgoing) {
    places.push_back(reinterpret_cast<std::byte*>(next));
    if (one.to == me) own = places.back();
    next += words_of(one.n_bytes);
  }
  rows.pack(places);

  // Short messages are received into a buffer of their own. All memory is allocated before MPI writes into any of it: a
  // rank that runs out of memory throws, and frees what it has.
  const auto is_staged = [&](const BytesFrom& one) { return one.from != me && !is_direct(one.n_bytes); };
  std::size_t n_staged = 0;
  for (const BytesFrom& one : incoming)
    if (is_staged(one)) n_staged += words_of(one.n_bytes);
  Buffer staged(n_staged);
  Counted counted(context, outgoing.size() + incoming.size());
  std::vector<std::byte*> columns;
  std::vector<Target> targets;
  std::vector<MPI_Datatype> types(incoming.size(), MPI_DATATYPE_NULL);
  targets.reserve(incoming.size());
  std::vector<RowsFrom> came = place_rows(incoming, rows, columns, [&](std::size_t i, const Target& target) {
    targets.push_back(target);
    if (incoming[i].from == me) {
      target.copy_from(own);
    } else if (!is_staged(incoming[i])) {
      types[i] = target.type();
    }
  });

  next = staged.data();
  for (std::size_t i = 0; i < incoming.size(); ++i) {
    const BytesFrom& one = incoming[i];
    if (is_staged(one)) {
      counted.receive_words(next, one.n_bytes, one.from);
      next += words_of(one.n_bytes);
    } else if (one.from != me) {
      counted.receive(targets[i].begin(), types[i], one.n_bytes, one.from);
      mpi::check(MPI_Type_free(&types[i]), "MPI_Type_free");  // takes effect after the receive
    }
  }
  for (std::size_t i = 0; i < outgoing.size(); ++i) {
    const BytesTo& one = outgoing[i];
    if (one.to == me) continue;
    if (is_direct(one.n_bytes)) {
      counted.send_bytes(places[i], one.n_bytes, one.to);
    } else {
      counted.send_words(places[i], one.n_bytes, one.to);
    }
  }
  counted.wait();

  const std::byte* from = staged.bytes();
  for (std::size_t i = 0; i < incoming.size(); ++i) {
    if (!is_staged(incoming[i])) continue;
    targets[i].copy_from(from);
    from += sizeof(std::uint64_t) * words_of(incoming[i].n_bytes);
  }
  return came;
}

}  // namespace

Destinations::Destinations(std::span<const Rank> to, int n_ranks, std::size_t row_bytes) {
  if (to.empty()) return;
  constexpr std::size_t max_far = 4096;
  const std::size_t max_slots = std::max(to.size(), max_far);
  if (static_cast<std::size_t>(n_ranks) <= max_slots) {
    n_slots_ = n_ranks;
    count(to, row_bytes);
    return;
  }
  const auto [low, high] = std::ranges::minmax(to);
  if (low < 0 || high >= n_ranks) {
    fault_ = find_fault(to, n_ranks);
    return;
  }
  low_ = low;
  n_slots_ = static_cast<std::size_t>(high - low) + 1;
  is_sparse_ = n_slots_ > max_slots;
  if (is_sparse_) {
    sort(to, row_bytes);
  } else {
    count(to, row_bytes);
  }
}

/// Count rows by slot. A rank without a slot is a fault.
void Destinations::count(std::span<const Rank> to, std::size_t row_bytes) {
  std::vector<std::size_t> n_rows(n_slots_ + 1, 0);
  for (const Rank rank : to) {  // one pass: ranks out of range are counted after the last slot
    const std::size_t slot = rank - low_;
    n_rows[std::min(slot, n_slots_)] += 1;
  }
  if (n_rows[n_slots_] > 0) {
    fault_ = find_fault(to, low_ + static_cast<Rank>(n_slots_));
    return;
  }
  for (std::size_t slot = 0; slot < n_slots_; ++slot)
    if (n_rows[slot] > 0) entries_.push_back({low_ + static_cast<Rank>(slot), n_rows[slot] * row_bytes});
}

void Destinations::sort(std::span<const Rank> to, std::size_t row_bytes) {
  std::vector<Rank> sorted(to.begin(), to.end());
  std::ranges::sort(sorted);
  for (const Rank rank : sorted) {
    if (entries_.empty() || entries_.back().to != rank) entries_.push_back({rank, 0});
    entries_.back().n_bytes += row_bytes;
  }
}

std::vector<RowsFrom> transfer_rows(mpi::Context& context, const Destinations& destinations, const ItemKind& kind,
                                    const TransferredRows& rows, Route route) {
  const std::vector<BytesTo>& outgoing = destinations.entries();
  const bool counts = route == Route::counted || (route == Route::automatic && context.size() <= max_counted_ranks);
  if (counts) return transfer_counted(context, outgoing, announce(context, destinations.fault(), kind, outgoing), rows);

  route = agree_on_route(context, destinations.fault(), kind, outgoing, route);
  const DeliveredBytes delivered = deliver(context, kind, outgoing, rows.pack, route);
  std::vector<BytesFrom> incoming;
  for (const DeliveredBytes::Place& place : delivered.places) incoming.push_back({place.from, place.n_bytes});
  std::vector<std::byte*> columns;
  return place_rows(incoming, rows, columns, [&](std::size_t i, const Target& target) {
    target.copy_from(delivered.bytes_of(delivered.places[i]));
  });
}

}  // namespace barrio::exchange::detail
