#include "barrio/mesh/parts/cut_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh::detail {

void check_cut_method(const std::string& method, const std::vector<std::string>& known, std::string_view not_known) {
  if (std::ranges::find(known, method) != known.end()) return;
  throw AgreedError(ErrorCode::usage, {.subject = fmt::format("partitioner '{}'", method),
                                       .cause = fmt::format("{}.{}", not_known, did_you_mean(method, known)),
                                       .remedy = fmt::format("use one of {}", fmt::join(known, ", "))});
}

std::optional<std::vector<std::int64_t>> agreed_weights(mpi::Context& context, std::size_t n_cells,
                                                        std::span<const std::int64_t> weights) {
  agree_after(context, [&] {
    if (!weights.empty() && weights.size() != n_cells)
      throw Error(ErrorCode::usage, {.subject = fmt::format("{} weights", weights.size()),
                                     .cause = fmt::format("must be one for each of the {} cells of this rank", n_cells),
                                     .remedy = "give a weight for each cell of this rank, or none at all"});
    const auto negative = std::ranges::find_if(weights, [](std::int64_t one) { return one < 0; });
    if (negative != weights.end())
      throw Error(ErrorCode::bad_input, {.subject = fmt::format("weight of cell {}", negative - weights.begin()),
                                         .cause = fmt::format("is {}, but must be at least 0", *negative)});
  });
  if (!mpi::all_reduce(context, !weights.empty(), MPI_LOR)) return std::nullopt;
  if (weights.empty()) return std::vector<std::int64_t>(n_cells, 1);
  return std::vector<std::int64_t>(weights.begin(), weights.end());
}

}  // namespace barrio::mesh::detail
