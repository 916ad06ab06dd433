#include "barrio/exchange/byte_rows.hpp"

#include <algorithm>
#include <string_view>

#include "barrio/base/assert.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/exchange/detail/row_transfer.hpp"

namespace barrio::exchange {
namespace {

template <std::size_t n>
struct Value {
  std::byte bytes[n];
};

/// Write one column into the messages, for common value lengths with a length that the compiler knows.
void scatter(const detail::Destinations& destinations, std::span<const Rank> to, const ByteColumn& column,
             std::vector<std::array<std::byte*, 1>>& at) {
  const auto known = [&]<std::size_t n>() {
    const auto* const values = reinterpret_cast<const Value<n>*>(column.values);
    detail::scatter_columns<Value<n>>(destinations, to, at, std::span(values, to.size()));
  };
  switch (column.value_bytes) {
    case 1: return known.operator()<1>();
    case 2: return known.operator()<2>();
    case 4: return known.operator()<4>();
    case 8: return known.operator()<8>();
    case 16: return known.operator()<16>();
    case 24: return known.operator()<24>();
    case 32: return known.operator()<32>();
    default: break;
  }
  const std::size_t n_bytes = column.value_bytes;
  destinations.with_slots([&](auto&& slot_of) {
    const std::byte* from = column.values;
    for (const Rank rank : to) {
      std::byte*& into = at[slot_of(rank)][0];
      std::memcpy(into, from, n_bytes);
      into += n_bytes;
      from += n_bytes;
    }
  });
}

}  // namespace

ReceivedRows transfer_bytes(mpi::Context& context, std::span<const Rank> to, std::span<const ByteColumn> columns,
                            const std::string& types, TransferOptions options, const Status& fault) {
  std::size_t row_bytes = 0;
  Hash64 hash;
  for (const char letter : std::string_view(types)) hash.add(static_cast<std::uint64_t>(letter));
  std::vector<std::size_t> value_bytes;
  for (const ByteColumn& column : columns) {
    BARRIO_ASSERT(cheap, column.value_bytes > 0 || fault);
    value_bytes.push_back(column.value_bytes);
    row_bytes += column.value_bytes;
    hash.add(column.value_bytes);
  }
  BARRIO_ASSERT(cheap, row_bytes > 0 || fault);
  const detail::Destinations destinations =
      fault ? detail::Destinations(*fault) : detail::Destinations(to, context.size(), row_bytes);
  ReceivedRows received;
  received.columns.resize(columns.size());
  const auto pack = [&](std::span<std::byte* const> places) {
    std::vector<std::array<std::byte*, 1>> at(destinations.n_slots());
    std::size_t bytes_before = 0;
    for (const ByteColumn& column : columns) {
      destinations.with_slots([&](auto&& slot_of) {
        for (std::size_t i = 0; i < places.size(); ++i) {
          const detail::BytesTo& entry = destinations.entries()[i];
          at[slot_of(entry.to)][0] = places[i] + entry.n_bytes / row_bytes * bytes_before;
        }
      });
      scatter(destinations, to, column, at);
      bytes_before += column.value_bytes;
    }
  };
  const auto make_room = [&](std::size_t n_rows) {
    received.from.resize(n_rows);
    std::vector<std::byte*> begins;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      received.columns[k].resize(n_rows * value_bytes[k]);
      begins.push_back(received.columns[k].data());
    }
    return begins;
  };
  const detail::TransferredRows rows{.value_bytes = value_bytes, .pack = pack, .make_room = make_room};
  std::size_t row = 0;
  for (const auto& [from, n] :
       detail::transfer_rows(context, destinations, {hash.value(), types}, rows, options.route)) {
    std::fill_n(received.from.begin() + row, n, from);
    row += n;
  }
  return received;
}

}  // namespace barrio::exchange
