#include <algorithm>
#include <optional>

#include "barrio/base/memory.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/assembly/builder.hpp"
#include "barrio/mesh/tables/message.hpp"

// Fetch the values of tags, after all entities are in place. For each dimension that has tags, a rank asks the homes of
// the rows of all its entities, copies and ghosts too, and gets the values of all tags in one answer.

namespace barrio::mesh {
namespace {

using detail::ByteValues;
using detail::ByteValuesView;
using detail::MessageReader;
using detail::MessageWriter;

constexpr RegionName tag_region{"mesh.tags"};

/// A row of one of the tables of a dimension.
struct TableRow {
  std::int32_t block;  // -1: vertices
  std::int32_t row;    // in the home's slab
};

/// Return the value of a tag on a row of this rank's slab, if it has one.
std::optional<std::span<const std::byte>> value_at(const TagTable& tag, const TableRow& row) {
  const auto column = std::ranges::find(tag.columns, row.block, &TagColumn::block);
  if (column == tag.columns.end()) return std::nullopt;
  std::size_t item = row.row;
  if (!column->is_dense) {
    const auto at = std::ranges::lower_bound(column->rows, row.row);
    if (at == column->rows.end() || *at != row.row) return std::nullopt;
    item = at - column->rows.begin();
  }
  return column->items.value(item, tag.info.value_bytes());
}

}  // namespace

void MeshBuilder::fetch_tags() {
  if (tables_.tags.empty()) return;
  const Region region(context_.trace(), tag_region);
  for (const TagTable& tag : tables_.tags) out_.tags.push_back({tag.info, {}, tag.on_sets});
  for (int d = 0; d <= value(out_.cell_dim); ++d) {
    const Dim dim{d};
    const auto has_dim = [&](const TagColumn& column) {
      return (column.block < 0 ? Dim::vertex : topology(tables_.blocks[column.block].type).dim) == dim;
    };
    const bool any = std::ranges::any_of(
        tables_.tags, [&](const TagTable& tag) { return std::ranges::any_of(tag.columns, has_dim); });
    if (any) fetch_tags_of(dim);
  }
}

void MeshBuilder::fetch_tags_of(Dim dim) {
  const std::vector<GlobalId>& ids =
      dim == Dim::vertex ? out_.vertices.global_ids : out_.entities[index(dim)].global_ids;
  std::vector<std::int64_t> first_rows;
  for (std::size_t b = 0; b < tables_.blocks.size(); ++b) first_rows.push_back(tables_.first_row(b));
  std::vector<Rank> to;
  std::vector<TableRow> wanted;
  for (const GlobalId id : ids) {
    std::int64_t row = barrio::value(id);
    std::int32_t block = -1;
    const Slabs* slabs = &tables_.vertices;
    for (std::int32_t b = 0; dim != Dim::vertex && b < std::ssize(tables_.blocks); ++b) {
      if (topology(tables_.blocks[b].type).dim != dim || row >= first_rows[b] + tables_.blocks[b].rows.n_rows) continue;
      row -= first_rows[b];
      block = b;
      slabs = &tables_.blocks[b].rows;
      break;
    }
    const Rank home = slabs->rank_of(row);
    to.push_back(home);
    wanted.push_back({block, static_cast<std::int32_t>(row - slabs->first(home))});
  }
  const std::vector<std::size_t> order = exchange::order_by_rank(to);
  const auto asked =
      exchange::route(context_, exchange::pack_by_rank<TableRow>(to, wanted), exchange::Route::automatic);

  exchange::Parcels<std::byte> answers;
  for (std::size_t p = 0; p < asked.n_peers(); ++p) {
    MessageWriter out;
    for (const TagTable& tag : tables_.tags) {
      ByteValues values;
      for (const TableRow& row : asked.of(p)) {
        if (const std::optional<std::span<const std::byte>> value = value_at(tag, row)) {
          values.add(*value);
        } else {
          values.add_nothing();
        }
      }
      values.put_into(out);
    }
    answers.add(asked.peers[p], out.bytes());
  }
  const auto received = exchange::route(context_, answers, exchange::Route::automatic);
  free_memory(answers);

  // Answers come in the order of requests; values are stored by ascending local id.
  std::vector<MessageReader> readers;
  for (std::size_t p = 0; p < received.n_peers(); ++p) readers.emplace_back(received.of(p));
  for (MeshTag& tag : out_.tags) {
    std::vector<std::span<const std::byte>> value_of(ids.size());
    std::vector<bool> has_value(ids.size(), false);
    std::size_t next = 0;
    for (MessageReader& in : readers) {
      const ByteValuesView values(in);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t id = order[next++];
        if (!values.has(i)) continue;
        has_value[id] = true;
        value_of[id] = values[i];
      }
    }
    MeshTag::Values& values = tag.on[index(dim)];
    for (std::size_t id = 0; id < ids.size(); ++id) {
      if (!has_value[id]) continue;
      values.entities.insert(local_id(id));
      values.items.add(value_of[id], tag.info.length_varies);
    }
    values.items.bytes.shrink_to_fit();
  }
}

}  // namespace barrio::mesh
