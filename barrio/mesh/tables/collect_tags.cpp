#include <fmt/format.h>

#include <cstring>
#include <map>

#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/tables/collected_rows.hpp"
#include "barrio/mesh/tables/message.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh::detail {
namespace {

/// Convert the owned values of a field to values of a tag. @throws Error{usage} for integers not exact in double
std::vector<std::byte> owned_values(const FieldData& field, std::size_t n_owned) {
  const std::size_t n = n_owned * field.n_components;
  const auto as_tag = [&]<class T>(const std::vector<T>& values) {
    const auto own = std::span(values).first(n);
    if constexpr (std::is_same_v<T, std::int32_t>) {
      const auto bytes = std::as_bytes(own);
      return std::vector<std::byte>(bytes.begin(), bytes.end());
    } else {
      constexpr std::int64_t most = std::int64_t{1} << 53;
      std::vector<double> doubles(n);
      for (std::size_t i = 0; i < n; ++i) {
        if constexpr (std::is_integral_v<T>) {
          if (own[i] < -most || own[i] > most) {
            throw Error(
                ErrorCode::usage,
                {.subject = fmt::format("field '{}'", field.name),
                 .cause = fmt::format("has the value {}, which is not exact in float64; tags have no int64", own[i]),
                 .remedy = "keep it in two fields of int32, or save without fields"});
          }
        }
        doubles[i] = static_cast<double>(own[i]);
      }
      const auto bytes = std::as_bytes(std::span(doubles));
      return std::vector<std::byte>(bytes.begin(), bytes.end());
    }
  };
  return std::visit(as_tag, field.values);
}

/// Convert the fields of a mesh to tags with the owners' values. Collective.
std::vector<MeshTag> tags_of_fields(const Mesh& mesh) {
  std::vector<MeshTag> tags;
  agree_after(mesh.context(), [&] {
    for (const auto& field : mesh.fields()) {
      const bool is_int32 = std::holds_alternative<std::vector<std::int32_t>>(field->values);
      const TagInfo info{.name = field->name,
                         .type = is_int32 ? TagType::int32 : TagType::float64,
                         .n_components = field->n_components,
                         .storage = TagStorage::dense};
      auto tag = std::ranges::find(tags, field->name, [](const MeshTag& one) { return one.info.name; });
      if (tag == tags.end()) {
        tags.push_back({info, {}, {}});
        tag = std::prev(tags.end());
      } else if (tag->info.type != info.type || tag->info.n_components != info.n_components) {
        throw Error(ErrorCode::usage, {.subject = fmt::format("field '{}'", field->name),
                                       .cause = "must have one type on all dimensions to be saved as a tag",
                                       .remedy = "give them different names, or save without fields"});
      }
      const std::size_t n_owned = mesh.n_owned(field->dim);
      MeshTag::Values& values = tag->on[index(field->dim)];
      values.entities = Range({{LocalId{0}, local_id(n_owned)}});
      values.items.bytes = owned_values(*field, n_owned);
    }
  });
  return tags;
}

/// Replace entities in values by their rows in the tables. Collective.
void translate(const CollectedRows& rows, std::vector<std::byte>& bytes) {
  std::vector<EntityCode> codes(bytes.size() / sizeof(EntityCode));
  if (codes.empty()) {
    bytes.clear();
  } else {
    std::memcpy(codes.data(), bytes.data(), bytes.size());
  }
  for (std::size_t d = 0; d < 4; ++d) {
    std::vector<std::size_t> at;
    std::vector<GlobalId> ids;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      if (codes[i] == EntityCode::none || is_set(codes[i]) || index(dim_of(codes[i])) != d) continue;
      at.push_back(i);
      ids.push_back(GlobalId{row_of(codes[i])});
    }
    ids = rows.numbers[d].rows_of(ids);
    for (std::size_t i = 0; i < at.size(); ++i)
      codes[at[i]] = ids[i] == no_global_id ? EntityCode::none : code_of(dim_of(codes[at[i]]), ids[i]);
  }
  if (!codes.empty()) std::memcpy(bytes.data(), codes.data(), bytes.size());
}

/// A value on the rank whose slab holds its row.
struct HomeValue {
  std::int32_t block;
  std::int32_t row;  // in the slab
  std::span<const std::byte> value;
};

void collect_tag(const Mesh& mesh, const CollectedRows& rows, const MeshTag& tag, MeshTables& out) {
  mpi::Context& context = mesh.context();
  struct Outgoing {
    std::vector<std::int32_t> blocks;
    std::vector<std::int32_t> rows;
    ByteValues values;
  };
  std::map<Rank, Outgoing> outgoing;
  const std::size_t n_bytes = tag.info.value_bytes();
  for (int d = 0; d < 4; ++d) {
    const Range& entities = tag.on[d].entities;
    auto last = outgoing.end();
    std::size_t item = 0;
    for (const LocalId id : entities) {
      if (index(id) >= rows.of_own[d].size()) break;  // copies follow the owned entities
      const TableRow place = rows.place_of(Dim{d}, rows.of_own[d][index(id)]);
      const Slabs& slabs = out.slabs_of(place.block);
      const Rank home = slabs.rank_of(place.row);
      if (last == outgoing.end() || last->first != home) last = outgoing.try_emplace(home).first;
      Outgoing& to_home = last->second;
      to_home.blocks.push_back(place.block);
      to_home.rows.push_back(static_cast<std::int32_t>(place.row - slabs.first(home)));
      to_home.values.add(tag.on[d].items.value(item++, n_bytes));
    }
  }
  exchange::Parcels<std::byte> parcels;
  for (auto& [home, to_home] : outgoing) {
    MessageWriter message;
    message.put(to_home.blocks);
    message.put(to_home.rows);
    to_home.values.put_into(message);
    free_memory(to_home);
    parcels.add(home, message.bytes());
  }
  const auto received = exchange::route(context, parcels, exchange::Route::automatic);
  free_memory(parcels);
  std::vector<HomeValue> items;
  for (std::size_t p = 0; p < received.n_peers(); ++p) {
    MessageReader in(received.of(p));
    const auto of_blocks = in.get<std::int32_t>();
    const auto of_rows = in.get<std::int32_t>();
    const ByteValuesView values(in);
    for (std::size_t i = 0; i < of_rows.size(); ++i) items.push_back({of_blocks[i], of_rows[i], values[i]});
  }
  std::ranges::sort(items, {}, [](const HomeValue& item) { return std::pair(item.block, item.row); });

  std::vector<std::int64_t> n_values(1 + out.blocks.size(), 0);  // by block, vertices first
  for (const HomeValue& item : items) n_values[std::int64_t{item.block} + 1] += 1;
  mpi::all_reduce(context, std::span<std::int64_t>(n_values), MPI_SUM);
  TagTable& table = out.tags.emplace_back();
  table.info = tag.info;
  table.on_sets = tag.on_sets;
  const bool may_be_dense = !tag.info.length_varies && tag.info.storage != TagStorage::sparse;
  auto item = items.begin();
  for (std::int32_t block = -1; block < std::ssize(out.blocks); ++block) {
    const std::int64_t n = n_values[std::int64_t{block} + 1];
    if (n == 0) continue;
    TagColumn column{.block = block, .is_dense = may_be_dense && n == out.slabs_of(block).n_rows};
    if (tag.info.length_varies) column.items.offsets.push_back(0);
    for (; item != items.end() && item->block == block; ++item) {
      if (!column.is_dense) column.rows.push_back(item->row);
      column.items.add(item->value, tag.info.length_varies);
    }
    if (tag.info.type == TagType::entity) translate(rows, column.items.bytes);
    table.columns.push_back(std::move(column));
  }
  if (tag.info.type != TagType::entity) return;
  // Rank 0 alone translates values that are the same on every rank.
  for (std::vector<std::byte>* bytes :
       {&table.on_sets.items.bytes, &table.info.default_value, &table.info.mesh_value}) {
    std::vector<std::byte> asked = context.is_root() ? *bytes : std::vector<std::byte>{};
    translate(rows, asked);
    mpi::broadcast(context, asked);
    *bytes = std::move(asked);
  }
}

}  // namespace

void collect_tags(const Mesh& mesh, const CollectedRows& rows, bool with_fields, MeshTables& out) {
  const std::vector<MeshTag> fields = with_fields ? tags_of_fields(mesh) : std::vector<MeshTag>{};
  const auto name = [](const MeshTag& tag) -> const std::string& { return tag.info.name; };
  for (const MeshTag& tag : mesh.tags())
    if (std::ranges::find(fields, tag.info.name, name) == fields.end()) collect_tag(mesh, rows, tag, out);
  for (const MeshTag& tag : fields) collect_tag(mesh, rows, tag, out);
}

}  // namespace barrio::mesh::detail
