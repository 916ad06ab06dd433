#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "barrio/base/error.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/io/common/parts_on_elements.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {
namespace {

using mesh::MeshTables;
using mesh::TagColumn;
using mesh::TagTable;

constexpr std::int64_t no_value = -1;

std::int64_t integer_of(std::span<const std::byte> bytes) {
  if (bytes.size() == sizeof(std::int32_t)) {
    std::int32_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::int64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// Return the values of this rank's top cells, in the order of `MeshTables::parts`; -1 without a value.
std::vector<std::int64_t> values_on_top(mpi::Context& context, const MeshTables& tables, const TagTable& tag) {
  std::vector<std::int64_t> values;
  for (std::int32_t b = 0; b < std::ssize(tables.blocks); ++b) {
    if (topology(tables.blocks[b].type).dim != tables.top_dim()) continue;
    const std::size_t first = values.size();
    const std::size_t n = tables.blocks[b].rows.size(context.rank());
    values.resize(first + n, no_value);
    const auto column = std::ranges::find(tag.columns, b, &TagColumn::block);
    if (column == tag.columns.end()) continue;
    const std::size_t n_items = column->is_dense ? n : column->rows.size();
    for (std::size_t i = 0; i < n_items; ++i) {
      const std::size_t at = column->is_dense ? i : static_cast<std::size_t>(column->rows[i]);
      values[first + at] = integer_of(column->items.value(i, tag.info.value_bytes()));
    }
  }
  return values;
}

/// Return all distinct values of all ranks, ascending; values are divided among ranks to find them. Collective.
/// @param most  refuse more, before they are all brought together
std::vector<std::int64_t> different_values(mpi::Context& context, std::vector<std::int64_t> values, std::int64_t most,
                                           const Error& too_many) {
  std::erase_if(values, [](std::int64_t value) { return value < 0; });
  sort_unique(values);
  std::vector<Rank> to;
  for (const std::int64_t value : values) to.push_back(static_cast<Rank>(value % context.size()));
  values = exchange::route(context, exchange::pack_by_rank<std::int64_t>(to, values)).items;
  sort_unique(values);
  if (mpi::sum(context, std::ssize(values)) > most) throw AgreedError(too_many);
  to.assign(values.size(), 0);
  values = exchange::route(context, exchange::pack_by_rank<std::int64_t>(to, values)).items;
  std::ranges::sort(values);
  mpi::broadcast(context, values);
  return values;
}

}  // namespace

std::vector<std::int64_t> take_parts_from_elements(mpi::Context& context, const TagTable& tag, MeshTables& tables) {
  const std::vector<std::int64_t> values = values_on_top(context, tables, tag);
  const std::int64_t n_cells = tables.n_global(tables.top_dim());
  const Error too_many(ErrorCode::usage,
                       {.subject = fmt::format("partition tag '{}'", tag.info.name),
                        .cause = fmt::format("is not a partition: it has as many values as cells, {}", n_cells),
                        .remedy = "barrio info lists the partitions of a file"});
  std::vector<std::int64_t> parts = different_values(context, values, std::max<std::int64_t>(n_cells - 1, 1), too_many);
  if (parts.empty()) return parts;
  const bool is_elsewhere = !tag.on_sets.sets.empty() || std::ranges::any_of(tag.columns, [&](const TagColumn& column) {
    return column.block < 0 || topology(tables.blocks[column.block].type).dim != tables.top_dim();
  });
  if (is_elsewhere) {
    context.log().notice(fmt::format(
        "tag '{}' assigns cells to parts; its values on vertices, sides and sets are left out", tag.info.name));
  }
  tables.n_parts = static_cast<int>(parts.size());
  tables.parts.clear();
  for (const std::int64_t value : values) {
    const auto at = std::ranges::lower_bound(parts, value);
    tables.parts.push_back(value < 0 ? -1 : static_cast<std::int32_t>(at - parts.begin()));
  }
  return parts;
}

}  // namespace barrio::io::detail
