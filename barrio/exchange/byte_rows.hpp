#pragma once

/// @file Send table rows to ranks when column types are known only at run time.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/exchange/options.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::exchange {

/// Column of values whose type only the caller knows, borrowed. Shape (n_rows, value_bytes).
struct ByteColumn {
  const std::byte* values;  ///< row after row; not read if there are no rows
  std::size_t value_bytes;  ///< >= 1
};

/// Received rows, ordered by sender and then as in the sender's list.
struct ReceivedRows {
  std::vector<Rank> from;  ///< sender of each row; may be this rank
  /// As many as were sent, each with the bytes of its values, shape (rows, value_bytes).
  std::vector<std::vector<std::byte>> columns;
};

/// Send rows to ranks as `transfer` does for a TupleList, but with column types known only at run time: arrays of
/// another language, or records that a file describes. Collective.
/// @param[in] to  destination rank of each row
/// @param[in] columns  the same number with equal value_bytes on all ranks, at least one
/// @param types  the column types in words, the same on all ranks: "int64, float64[3]"
/// @param fault  a fault of the caller, if any: then all ranks throw together and nothing is sent
/// @throws AgreedError on all ranks, if any has a fault, a destination that is not a rank, or columns of other types
/// Cost: as `transfer`
[[nodiscard]] ReceivedRows transfer_bytes(mpi::Context& context, std::span<const Rank> to,
                                          std::span<const ByteColumn> columns, const std::string& types,
                                          TransferOptions options = {}, const Status& fault = {});

}  // namespace barrio::exchange
