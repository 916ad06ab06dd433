#include "barrio/mesh/tables/move_tags.hpp"

#include <algorithm>
#include <cstring>

#include "barrio/exchange/ask.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/tables/message.hpp"

namespace barrio::mesh::detail {
namespace {

/// Move values to the new homes of their rows.
void move_column(mpi::Context& context, const Slabs& slabs, std::span<const std::int64_t> new_rows, const TagInfo& info,
                 TagColumn& column) {
  struct Outgoing {
    std::vector<std::int32_t> rows;
    ByteValues values;
  };
  std::map<Rank, Outgoing> outgoing;
  const std::int64_t n = column.is_dense ? new_rows.size() : column.rows.size();
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t row = new_rows[column.is_dense ? i : column.rows[i]];
    if (row < 0) continue;
    const Rank home = slabs.rank_of(row);
    Outgoing& out = outgoing[home];
    out.rows.push_back(static_cast<std::int32_t>(row - slabs.first(home)));
    out.values.add(column.items.value(i, info.value_bytes()));
  }
  exchange::Parcels<std::byte> parcels;
  for (const auto& [rank, out] : outgoing) {
    MessageWriter message;
    message.put(out.rows);
    out.values.put_into(message);
    parcels.add(rank, message.bytes());
  }
  const auto received = exchange::route(context, parcels, exchange::Route::automatic);
  struct Item {
    std::int32_t row;
    std::span<const std::byte> value;
  };
  std::vector<Item> items;
  for (std::size_t p = 0; p < received.n_peers(); ++p) {
    MessageReader in(received.of(p));
    const auto rows = in.get<std::int32_t>();
    const ByteValuesView values(in);
    for (std::size_t i = 0; i < rows.size(); ++i) items.push_back({rows[i], values[i]});
  }
  // Items arrive by ascending former row, so the first one of a row is from the lowest.
  std::ranges::stable_sort(items, {}, &Item::row);
  const auto repeated = std::ranges::unique(items, {}, &Item::row);
  items.erase(repeated.begin(), repeated.end());
  column.rows.clear();
  column.items = {};
  for (const Item& item : items) {
    if (!column.is_dense) column.rows.push_back(item.row);
    column.items.add(item.value, info.length_varies);
  }
}

/// Replace entities in values by their new rows.
void translate_codes(mpi::Context& context, const Moves& moves, TagItems& items) {
  struct Request {
    std::int32_t block;
    std::int32_t row;
  };
  const auto n = items.bytes.size() / sizeof(EntityCode);
  std::vector<EntityCode> codes(n);
  if (n > 0) std::memcpy(codes.data(), items.bytes.data(), items.bytes.size());
  std::vector<Rank> to;
  std::vector<Request> requests;
  struct Asking {
    std::size_t value;
    std::int32_t block;
  };
  std::vector<Asking> asking;
  for (std::size_t i = 0; i < n; ++i) {
    if (codes[i] == EntityCode::none || is_set(codes[i])) continue;
    std::int64_t row = row_of(codes[i]);
    std::int32_t block = -1;
    for (std::int32_t b = 0; dim_of(codes[i]) != Dim::vertex && b < std::ssize(moves.before.blocks); ++b) {
      const CellBlock& one = moves.before.blocks[b];
      const std::int64_t first = moves.before.first_row(b);
      if (topology(one.type).dim != dim_of(codes[i]) || row >= first + one.rows.n_rows) continue;
      block = b;
      row -= first;
      break;
    }
    if (!moves.new_rows.contains(block)) {
      codes[i] = code_of(dim_of(codes[i]), GlobalId{moves.first_row_after(block) + row});
      continue;
    }
    const Slabs& slabs = moves.before.slabs_of(block);
    to.push_back(slabs.rank_of(row));
    requests.push_back({block, static_cast<std::int32_t>(row - slabs.first(to.back()))});
    asking.push_back({i, block});
  }
  const std::vector<std::int64_t> rows = exchange::ask(
      context, to, requests, [&](const Request& request) { return moves.new_rows.at(request.block)[request.row]; });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [at, block] = asking[i];
    codes[at] =
        rows[i] < 0 ? EntityCode::none : code_of(dim_of(codes[at]), GlobalId{moves.first_row_after(block) + rows[i]});
  }
  if (n > 0) std::memcpy(items.bytes.data(), codes.data(), items.bytes.size());
}

}  // namespace

void move_tags(mpi::Context& context, const Moves& moves, std::vector<TagTable>& tags) {
  for (TagTable& tag : tags) {
    for (TagColumn& column : tag.columns) {
      if (tag.info.type == TagType::entity) translate_codes(context, moves, column.items);
      const std::int32_t block = moves.block_after(column.block);
      if (const auto moved = moves.new_rows.find(column.block);
          moved != moves.new_rows.end() && block != Moves::no_block)
        move_column(context, moves.after.slabs_of(block), moved->second, tag.info, column);
      column.block = block;
    }
    // Default values and values on sets and the mesh are the same on every rank; each rank translates its own copy.
    if (tag.info.type == TagType::entity) {
      translate_codes(context, moves, tag.on_sets.items);
      for (std::vector<std::byte>* value : {&tag.info.default_value, &tag.info.mesh_value}) {
        TagItems item{.bytes = std::move(*value)};
        translate_codes(context, moves, item);
        *value = std::move(item.bytes);
      }
    }
    std::erase_if(tag.columns, [](const TagColumn& column) { return column.block == Moves::no_block; });
  }
}

}  // namespace barrio::mesh::detail
