#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::mesh::detail {

/// Check the name of a partitioner. All ranks give the same one.
/// @param not_known  cause in the message about an unknown method
/// @throws AgreedError{usage}
void check_cut_method(const std::string& method, const std::vector<std::string>& known, std::string_view not_known);

/// Check the weights of this rank's cells. Collective.
/// @return the weights; all 1 if only other ranks gave weights; nothing if no rank did
/// @throws AgreedError{usage} if there is not one weight for each of n_cells; AgreedError{bad_input} if one is negative
[[nodiscard]] std::optional<std::vector<std::int64_t>> agreed_weights(mpi::Context& context, std::size_t n_cells,
                                                                      std::span<const std::int64_t> weights);

}  // namespace barrio::mesh::detail
