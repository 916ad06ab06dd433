#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::mesh::detail {

/// Check what a caller has chosen to cut by. All ranks give the same.
/// @param not_known  what the message says of a method that is none of these
/// @throws AgreedError{usage}
void check_cut_method(const std::string& method, const std::vector<std::string>& known, std::string_view not_known);

/// Weights of the cells of this rank: ones if only other ranks have some, nothing if no rank has. Collective.
/// @throws AgreedError{usage} if they are not one for each of n_cells; AgreedError{bad_input} if one is negative
[[nodiscard]] std::optional<std::vector<std::int64_t>> agreed_weights(mpi::Context& context, std::size_t n_cells,
                                                                      std::span<const std::int64_t> weights);

}  // namespace barrio::mesh::detail
