#include <fmt/format.h>

#include <cstring>
#include <map>
#include <string>
#include <tuple>

#include "barrio/base/error.hpp"
#include "barrio/mesh/joining/join_rows.hpp"
#include "barrio/mesh/tables/tag_rows.hpp"

namespace barrio::mesh::detail {

void add_columns(mpi::Context& context, const std::vector<TagRow>& rows, TagTable& tag, const MeshTables& tables) {
  SlabMail mail(context);
  for (std::size_t begin = 0; begin < rows.size();) {
    // Consecutive rows form at most one message per home.
    std::size_t end = begin + 1;
    while (end < rows.size() && rows[end].block == rows[begin].block && rows[end].row == rows[end - 1].row + 1) ++end;
    mail.send(rows[begin].block, tables.slabs_of(rows[begin].block), rows[begin].row, end - begin,
              [&](MessageWriter& message, std::size_t at, std::size_t n) {
                ByteValues values;
                for (std::size_t i = begin + at; i < begin + at + n; ++i) values.add(rows[i].value);
                values.put_into(message);
              });
    begin = end;
  }
  struct Item {
    std::int32_t block;
    std::int32_t row;
    std::span<const std::byte> value;  // in the mail
  };
  std::vector<Item> items;
  mail.deliver([&](std::int32_t block, std::size_t first, std::size_t, MessageReader& in) {
    const ByteValuesView values(in);
    for (std::size_t i = 0; i < values.size(); ++i)
      items.push_back({block, static_cast<std::int32_t>(first + i), values[i]});
  });
  std::ranges::sort(items, {}, [](const Item& item) { return std::tuple(item.block, item.row); });
  for (std::int32_t block = -1; block < std::ssize(tables.blocks); ++block) {
    const auto [first, end] = std::ranges::equal_range(items, block, {}, &Item::block);
    const auto n = mpi::sum(context, end - first);
    if (n == 0) continue;
    TagColumn column{.block = block, .is_dense = n == tables.slabs_of(block).n_rows && !tag.info.length_varies};
    if (tag.info.length_varies) column.items.offsets.push_back(0);
    for (auto item = first; item != end; ++item) {
      if (!column.is_dense) column.rows.push_back(item->row);
      column.items.add(item->value, tag.info.length_varies);
    }
    tag.columns.push_back(std::move(column));
  }
}

void join_tags(mpi::Context& context, std::vector<MeshTables>& pieces, const NewVertices& vertices,
               const NewBlocks& blocks, const std::vector<std::vector<std::int32_t>>& place_of, MeshTables& out) {
  const Rank me = context.rank();
  // Values that are entities must name rows of the joined mesh.
  const auto for_each_vertex = [&](auto&& visit) {  // visit(piece, row, address of its code)
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      const auto look_at = [&](TagItems& items) {
        for (std::size_t at = 0; at + sizeof(EntityCode) <= items.bytes.size(); at += sizeof(EntityCode)) {
          EntityCode code{};
          std::memcpy(&code, &items.bytes[at], sizeof code);
          if (code != EntityCode::none && !is_set(code) && dim_of(code) == Dim::vertex)
            visit(p, row_of(code), &items.bytes[at]);
        }
      };
      for (TagTable& tag : pieces[p].tags) {
        if (tag.info.type != TagType::entity) continue;
        for (TagColumn& column : tag.columns) look_at(column.items);
        look_at(tag.on_sets.items);
      }
    }
  };
  const auto new_rows = vertices.translation([&](NewVertices::Wanted& wanted) {
    for_each_vertex([&](std::size_t p, std::int64_t row, std::byte*) { wanted.add(p, row); });
  });
  for_each_vertex([&](std::size_t p, std::int64_t row, std::byte* at) {
    const EntityCode code = code_of(Dim::vertex, GlobalId{new_rows.of(p)(row)});
    std::memcpy(at, &code, sizeof code);
  });
  std::map<std::string, std::vector<TagRow>> rows;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    MeshTables& piece = pieces[p];
    for (TagTable& tag : piece.tags) {
      auto known = std::ranges::find(out.tags, tag.info.name, [](const TagTable& t) { return t.info.name; });
      if (known == out.tags.end()) {
        out.tags.push_back({.info = tag.info});
        known = std::prev(out.tags.end());
      }
      if (known->info.type != tag.info.type || known->info.n_components != tag.info.n_components ||
          known->info.length_varies != tag.info.length_varies) {
        throw AgreedError(ErrorCode::bad_input, {.subject = fmt::format("tag '{}'", tag.info.name),
                                                 .cause = "must be of the same type in all pieces",
                                                 .remedy = "leave it out of one of them"});
      }
      const auto turn_codes = [&](TagItems& items) {
        for (std::size_t at = 0; tag.info.type == TagType::entity && at + sizeof(EntityCode) <= items.bytes.size();
             at += sizeof(EntityCode)) {
          EntityCode code{};
          std::memcpy(&code, &items.bytes[at], sizeof code);
          if (code == EntityCode::none) continue;
          if (is_set(code)) {
            code = code_of_set(place_of[p][row_of(code)]);
          } else if (dim_of(code) != Dim::vertex) {
            for_each_new_run(
                piece, blocks.of_piece[p], out, dim_of(code), row_of(code), 1,
                [&](std::int64_t, std::int64_t first, std::int64_t) { code = code_of(dim_of(code), GlobalId{first}); });
          }
          std::memcpy(&items.bytes[at], &code, sizeof code);
        }
      };
      std::vector<TagRow>& rows_of_tag = rows[tag.info.name];
      for (TagColumn& column : tag.columns) {
        turn_codes(column.items);
        const bool on_vertices = column.block < 0;
        const Slabs& slabs = on_vertices ? piece.vertices : piece.blocks[column.block].rows;
        const std::size_t n = column.is_dense ? slabs.size(me) : column.rows.size();
        for (std::size_t i = 0; i < n; ++i) {
          std::int64_t at = i;
          if (!column.is_dense) at = column.rows[i];
          const auto value = column.items.value(i, tag.info.value_bytes());
          if (on_vertices) {
            if (vertices.stays(p, at)) rows_of_tag.push_back({-1, vertices.row(p, at), value});
          } else {
            const NewBlocks::Place& place = blocks.of_piece[p][column.block];
            rows_of_tag.push_back({place.block, place.first + slabs.first(me) + at, value});
          }
        }
      }
      turn_codes(tag.on_sets.items);
      std::map<std::int32_t, std::vector<std::byte>> on_sets;
      const auto collect = [&](const TagOnSets& values, auto&& place) {
        for (std::size_t i = 0; i < values.sets.size(); ++i) {
          const auto value = values.items.value(i, tag.info.value_bytes());
          on_sets.try_emplace(place(values.sets[i]), value.begin(), value.end());
        }
      };
      collect(known->on_sets, [](std::int32_t set) { return set; });
      collect(tag.on_sets, [&](std::int32_t set) { return place_of[p][set]; });
      known->on_sets = {};
      for (const auto& [set, value] : on_sets) {
        known->on_sets.sets.push_back(set);
        known->on_sets.items.add(value, tag.info.length_varies);
      }
    }
  }
  for (TagTable& tag : out.tags) add_columns(context, rows[tag.info.name], tag, out);
}

}  // namespace barrio::mesh::detail
