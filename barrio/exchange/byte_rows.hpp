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

/// Rows that came, ordered by sender and then as they stood in its list.
struct ReceivedRows {
  std::vector<Rank> from;
  std::vector<std::vector<std::byte>> columns;
};

/// Send rows to ranks, as `transfer` does those of a TupleList, of columns whose types are known at run time: arrays of
/// another language, records that a file describes. Collective.
/// @param[in] to  the rank for each row
/// @param[in] columns  the same number with the same bytes on all ranks, at least one
/// @param types  what they are, in words, the same on all ranks: "int64, float64[3]"
/// @param fault  of the caller: all ranks throw it together, and nothing is sent
/// @throws AgreedError on all ranks, if any has a fault, a destination that is no rank, or columns of other types
/// Cost: as `transfer`
[[nodiscard]] ReceivedRows transfer_bytes(mpi::Context& context, std::span<const Rank> to,
                                          std::span<const ByteColumn> columns, const std::string& types,
                                          TransferOptions options = {}, const Status& fault = {});

}  // namespace barrio::exchange
