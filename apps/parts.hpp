#pragma once

#include <fmt/format.h>

#include "barrio/base/error.hpp"
#include "barrio/mesh/tables.hpp"

namespace barrio::apps {

inline constexpr RegionName cut_region{"partition.cut"};
inline constexpr RegionName reorder_region{"partition.reorder"};

/// Refuse more parts than there are cells: the tables of parts would outgrow the mesh. @throws AgreedError{usage}
inline void check_n_parts(int n_parts, const mesh::MeshTables& tables) {
  const std::int64_t n_cells = tables.n_global(tables.top_dim());
  if (n_parts <= n_cells) return;
  throw AgreedError(ErrorCode::usage, {.subject = fmt::format("{} parts", n_parts),
                                       .cause = fmt::format("are more than the {} cells of the mesh", n_cells),
                                       .remedy = fmt::format("ask for at most {}", n_cells)});
}

}  // namespace barrio::apps
