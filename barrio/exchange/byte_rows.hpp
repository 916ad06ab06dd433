#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/exchange/options.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::exchange {

/// A column of values whose type only the caller knows, borrowed. Shape (n_rows, value_bytes).
struct ByteColumn {
  const std::byte* values;
  std::size_t value_bytes;  ///< >= 1
};

/// Rows received, ordered by sender and within a sender as in its list.
struct ReceivedRows {
  std::vector<Rank> from;
  std::vector<std::vector<std::byte>> columns;
};

/// Send rows to ranks as `transfer` does for a TupleList, but with column types known only at run time: arrays of
/// another language, records that a file describes. Collective.
/// @param[in] to  the rank for each row
/// @param[in] columns  equally many with equal value_bytes on all ranks, at least one
/// @param types  what they are, in words, the same on all ranks: "int64, float64[3]"
/// @param fault  the caller's, if it has one: then all ranks throw together and nothing is sent
/// @throws AgreedError on all ranks, if any has a fault, a destination that is no rank, or columns of other types
/// Cost: as `transfer`
[[nodiscard]] ReceivedRows transfer_bytes(mpi::Context& context, std::span<const Rank> to,
                                          std::span<const ByteColumn> columns, const std::string& types,
                                          TransferOptions options = {}, const Status& fault = {});

}  // namespace barrio::exchange
