#include "barrio/io/h5m/h5m_tags.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cstring>
#include <map>
#include <tuple>

#include "barrio/base/error.hpp"
#include "barrio/exchange/byte_values.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/io/common/file_rows.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {
namespace {

using exchange::ByteValues;
using exchange::ByteValuesView;
using exchange::MessageReader;
using exchange::MessageWriter;
using files::NativeValues;
using mesh::EntityCode;
using mesh::MeshTables;
using mesh::TagColumn;
using mesh::TagInfo;
using mesh::TagItems;
using mesh::TagStorage;
using mesh::TagTable;
using mesh::TagType;

constexpr const char* set_of_parts = "PARALLEL_MESH_PARTITIONING";

TagType type_of(const NativeValues& shape, bool is_id, bool is_bits) {
  if (is_id) return TagType::entity;
  if (is_bits) return TagType::bits;
  if (shape.kind == NativeValues::Kind::integer && shape.number_bytes == 4) return TagType::int32;
  if (shape.kind == NativeValues::Kind::real && shape.number_bytes == 8) return TagType::float64;
  return TagType::bytes;
}

/// Turn ids of the file, as stored, into codes. Ids that refer to nothing become EntityCode::none.
std::vector<std::byte> codes_of(const NativeValues& raw, const IdSpace& ids,
                                const std::vector<std::int32_t>& place_of_set) {
  const std::size_t n = raw.bytes.size() / raw.number_bytes;
  std::vector<EntityCode> codes(n, EntityCode::none);
  for (std::size_t i = 0; i < n; ++i) {
    std::int64_t id = 0;
    std::memcpy(&id, &raw.bytes[i * raw.number_bytes], std::min(raw.number_bytes, sizeof id));  // ids are not negative
    const IdSpace::Table* table = ids.find(id);
    if (id == 0 || table == nullptr) continue;
    if (!table->is_set) {
      codes[i] = mesh::code_of(table->dim, GlobalId{table->first_row + id - table->first});
    } else if (const std::int32_t set = place_of_set[id - table->first]; set >= 0) {
      codes[i] = mesh::code_of_set(set);
    }
  }
  std::vector<std::byte> bytes(n * sizeof(EntityCode));
  if (n > 0) std::memcpy(bytes.data(), codes.data(), bytes.size());
  return bytes;
}

/// Return the values of some rows of a dataset in the form of the tag.
std::vector<std::byte> values_of(files::Place file, const std::string& path, files::Rows rows, const TagInfo& info,
                                 const IdSpace& ids, const std::vector<std::int32_t>& place_of_set) {
  NativeValues raw = files::read_native(file, path, rows);
  return info.type == TagType::entity ? codes_of(raw, ids, place_of_set) : std::move(raw.bytes);
}

/// Check that a dataset has the expected number of rows and values of the tag's type. Local.
/// Ranks read different rows, so the fault must be known before they read together.
void check_values(hid_t file, const std::string& path, const NativeValues& shape, std::int64_t n_rows) {
  const auto refuse = [&](std::string cause) {
    throw Error(ErrorCode::bad_input, {.subject = path, .cause = std::move(cause), .remedy = damaged_remedy});
  };
  const auto sizes = files::extents(file, path);
  if (sizes.empty()) refuse("is missing in the file");
  if (n_rows >= 0 && sizes[0] != n_rows) refuse(fmt::format("has {} rows, but must have {}", sizes[0], n_rows));
  files::check_size(file, path);
  const NativeValues found = files::read_native(file, path, {0, 0});
  std::size_t n_numbers = found.n_numbers;
  for (std::size_t d = 1; d < sizes.size(); ++d) n_numbers *= sizes[d];
  const bool is_other = shape.kind == NativeValues::Kind::other;  // n_numbers may count bits there
  if (is_other && n_numbers != found.n_numbers) refuse("has several values per row");
  if (found.kind != shape.kind || found.number_bytes != shape.number_bytes ||
      (!is_other && n_numbers != shape.n_numbers))
    refuse("has values of another type than the tag");
}

/// Check that a dataset is a list of n integers. Local.
void check_integers(hid_t file, const std::string& path, std::int64_t n) {
  const auto sizes = files::extents(file, path);
  if (sizes.size() == 1 && sizes[0] == n) {
    files::check_size(file, path);
    const NativeValues found = files::read_native(file, path, {0, 0});
    if (found.kind == NativeValues::Kind::integer && found.n_numbers == 1) return;
  }
  throw Error(ErrorCode::bad_input,
              {.subject = path, .cause = fmt::format("must be a list of {} integers", n), .remedy = damaged_remedy});
}

/// A value on its way from the sparse list to the rank that holds its entity.
struct SparseItem {
  std::int32_t block;  // -1: vertices, -2: sets, -3: parts
  std::int32_t row;    // in that rank's slab, or the set or part
  std::span<const std::byte> value;
};

constexpr std::int32_t on_sets_block = -2;
constexpr std::int32_t on_parts_block = -3;

/// Send the items of a tag to the ranks that hold their rows; of sets to rank 0, of parts to the rank with them.
/// Collective.
/// @param storage  keeps the received bytes
std::vector<SparseItem> bring_home(mpi::Context& context, const MeshTables& tables,
                                   const std::vector<std::pair<const IdSpace::Table*, std::int64_t>>& rows,
                                   const TagItems& items, std::size_t value_bytes,
                                   const std::vector<std::int32_t>& place_of_set,
                                   const std::vector<std::int32_t>& part_of_set,
                                   exchange::Parcels<std::byte>& storage) {
  struct Columns {
    std::vector<std::int32_t> blocks;
    std::vector<std::int32_t> rows;
    ByteValues values;
  };
  std::map<Rank, Columns> outgoing;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [table, row] = rows[i];
    if (table == nullptr) continue;
    Rank home = 0;
    std::int32_t block = on_sets_block;
    std::int64_t place = 0;
    if (table->is_set) {
      place = std::max(place_of_set[row], part_of_set[row]);  // at most one of the two is valid
      if (place < 0) continue;
      if (part_of_set[row] >= 0) {
        home = Slabs{tables.n_parts, context.size()}.rank_of(place);
        block = on_parts_block;
      }
    } else {
      const Slabs& slabs = tables.slabs_of(table->block);
      home = slabs.rank_of(row);
      block = table->block;
      place = row - slabs.first(home);
    }
    Columns& out = outgoing[home];
    out.blocks.push_back(block);
    out.rows.push_back(static_cast<std::int32_t>(place));
    out.values.add(items.value(i, value_bytes));
  }
  exchange::Parcels<std::byte> parcels;
  for (const auto& [rank, out] : outgoing) {
    MessageWriter message;
    message.put(out.blocks);
    message.put(out.rows);
    out.values.put_into(message);
    parcels.add(rank, message.bytes());
  }
  storage = exchange::route(context, parcels, exchange::Route::automatic);
  std::vector<SparseItem> found;
  for (std::size_t p = 0; p < storage.n_peers(); ++p) {
    MessageReader in(storage.of(p));
    const auto blocks = in.get<std::int32_t>();
    const auto places = in.get<std::int32_t>();
    const ByteValuesView values(in);
    for (std::size_t i = 0; i < blocks.size(); ++i) found.push_back({blocks[i], places[i], values[i]});
  }
  std::ranges::stable_sort(found, {}, [](const SparseItem& item) { return std::tuple(item.block, item.row); });
  return found;
}

/// Broadcast the values on sets from rank 0.
void share(mpi::Context& context, mesh::TagOnSets& on_sets) {
  mpi::broadcast(context, on_sets.sets);
  mpi::broadcast(context, on_sets.items.offsets);
  mpi::broadcast(context, on_sets.items.bytes);
}

/// Keep the values on this rank's parts, if any rank has some. Collective.
void keep_on_parts(mpi::Context& context, const std::vector<SparseItem>& found, const TagInfo& info,
                   mesh::PartSets& parts) {
  mesh::TagOnSets on_parts;
  for (const SparseItem& item : std::ranges::equal_range(found, on_parts_block, {}, &SparseItem::block)) {
    if (!on_parts.sets.empty() && on_parts.sets.back() == item.row) continue;  // named twice: the first counts
    on_parts.sets.push_back(item.row);
    on_parts.items.add(item.value, info.length_varies);
  }
  const std::int64_t n = mpi::sum(context, std::ssize(on_parts.sets));
  if (n == 0) return;
  if (info.type == TagType::entity) {
    context.log().notice(fmt::format("tag '{}' on {} part(s) is left out: its values are entities", info.name, n));
    return;
  }
  parts.tags.push_back({info.name, std::move(on_parts)});
}

/// Read the list of entities and values of a tag, each rank a slab of it.
void read_sparse(mpi::Context& context, files::Place file, const TagPlan& plan, const IdSpace& ids,
                 const std::vector<std::int32_t>& place_of_set, const std::vector<std::int32_t>& part_of_set,
                 MeshTables& tables, TagTable& tag, Status& fault) {
  const std::string where = "/tstt/tags/" + plan.path;
  const Slabs slabs{plan.n_sparse, context.size()};
  const files::Rows mine = slab_of(slabs, context.rank());
  std::vector<std::pair<const IdSpace::Table*, std::int64_t>> rows;
  for (const std::int64_t id : files::read_integers(file, where + "/id_list", mine)) {
    const IdSpace::Table* table = ids.find(id);
    rows.emplace_back(table, table == nullptr ? 0 : id - table->first);
  }
  TagItems items;
  if (!plan.info.length_varies) {
    items.bytes = values_of(file, where + "/values", mine, plan.info, ids, place_of_set);
  } else {
    // var_indices holds the last component of each value; the one before this slab says where its values begin.
    const std::int64_t from = mine.first > 0 && mine.count > 0 ? mine.first - 1 : mine.first;
    auto last = files::read_integers(file, where + "/var_indices", {from, mine.first + mine.count - from});
    std::int64_t before = -1;
    if (from < mine.first) {
      before = last.front();
      last.erase(last.begin());
    }
    const std::int64_t component = plan.info.value_bytes();
    const auto n = files::extents(file, where + "/values");
    bool is_sound = n.size() == 1 && before >= -1 && before < n[0];
    const std::int64_t begin = is_sound ? before + 1 : 0;
    items.offsets.assign(1, 0);
    for (const std::int64_t end : last) {
      is_sound = is_sound && end >= before && end < n[0];
      if (!is_sound) break;
      before = end;
      items.offsets.push_back((end + 1 - begin) * component);
    }
    items.bytes =
        values_of(file, where + "/values", is_sound ? files::Rows{begin, before + 1 - begin} : files::Rows{0, 0},
                  plan.info, ids, place_of_set);
    if (!is_sound) {
      items = {{0}, {}};
      rows.clear();
      fault = Error(
          ErrorCode::bad_input,
          {.subject = where + "/var_indices", .cause = "does not ascend within the values", .remedy = damaged_remedy});
    }
  }
  exchange::Parcels<std::byte> storage;
  const auto found =
      bring_home(context, tables, rows, items, plan.info.value_bytes(), place_of_set, part_of_set, storage);
  for (std::int32_t block = -1; block < std::ssize(tables.blocks); ++block) {
    const auto [first, end] = std::ranges::equal_range(found, block, {}, &SparseItem::block);
    const auto n = mpi::sum(context, end - first);
    if (n == 0 || std::ranges::find(tag.columns, block, &TagColumn::block) != tag.columns.end()) continue;
    TagColumn column{.block = block, .is_dense = false};
    for (auto item = first; item != end; ++item) {
      if (!column.rows.empty() && column.rows.back() == item->row) continue;  // named twice: the first counts
      column.rows.push_back(item->row);
      column.items.add(item->value, plan.info.length_varies);
    }
    tag.columns.push_back(std::move(column));
  }
  const bool has_parts = !tables.part_sets.tags.empty() && tables.part_sets.tags.back().name == plan.info.name;
  if (!has_parts) keep_on_parts(context, found, plan.info, tables.part_sets);
  if (!tag.on_sets.sets.empty()) return;
  for (const SparseItem& item : found) {
    if (item.block != on_sets_block) continue;
    tag.on_sets.sets.push_back(item.row);
    tag.on_sets.items.add(item.value, plan.info.length_varies);
  }
  share(context, tag.on_sets);
}

void read_dense(mpi::Context& context, files::Place file, const files::H5mCatalog& catalog, const TagPlan& plan,
                const IdSpace& ids, const std::vector<std::int32_t>& place_of_set,
                const std::vector<std::int32_t>& part_of_set, MeshTables& tables, TagTable& tag) {
  const auto is_on = [&](const std::string& table) {
    return std::ranges::find(plan.dense_on, table) != plan.dense_on.end();
  };
  const auto read = [&](const std::string& table, const Slabs& slabs, std::int32_t block) {
    const files::Rows rows = slab_of(slabs, context.rank());
    TagColumn column{.block = block, .is_dense = true};
    column.items.bytes =
        values_of(file, fmt::format("/tstt/{}/tags/{}", table, plan.path), rows, plan.info, ids, place_of_set);
    tag.columns.push_back(std::move(column));
  };
  if (is_on("nodes")) read("nodes", tables.vertices, -1);
  for (std::int32_t g = 0; g < std::ssize(catalog.groups); ++g)
    if (is_on(catalog.groups[g].name)) read("elements/" + catalog.groups[g].name, tables.blocks[g].rows, g);
  if (!is_on("sets")) return;
  // All ranks take part in the read, rank 0 alone reads rows.
  const std::string path = "/tstt/sets/tags/" + plan.path;
  const files::Rows rows{0, context.is_root() ? catalog.n_sets : 0};
  const std::vector<std::byte> bytes = values_of(file, path, rows, plan.info, ids, place_of_set);
  std::vector<std::pair<const IdSpace::Table*, std::int64_t>> sets;
  for (std::int64_t set = 0; set < rows.count; ++set) sets.emplace_back(&ids.tables.back(), set);
  exchange::Parcels<std::byte> storage;
  const auto found =
      bring_home(context, tables, sets, {{}, bytes}, plan.info.value_bytes(), place_of_set, part_of_set, storage);
  for (const SparseItem& item : found) {
    if (item.block != on_sets_block) continue;
    tag.on_sets.sets.push_back(item.row);
    tag.on_sets.items.add(item.value, false);
  }
  keep_on_parts(context, found, plan.info, tables.part_sets);
  share(context, tag.on_sets);
}

}  // namespace

std::vector<TagPlan> look_at_tags(hid_t file, const files::H5mCatalog& catalog, const TableOptions& options) {
  const auto is_left_out = [&](const std::string& name) {
    const auto is_named = [&](const std::string& other) { return other == name || other == "*"; };
    return name == options.partition_tag || name == set_of_parts || is_set_tag(name) ||
           std::ranges::any_of(options.without_tags, is_named);
  };
  std::vector<TagPlan> plans;
  for (const files::H5mTag& tag : catalog.tags) {
    TagPlan plan;
    plan.path = tag.name;
    plan.info.name = files::h5m_unescaped(tag.name);
    if (is_left_out(plan.info.name)) continue;
    const std::string where = "/tstt/tags/" + tag.name;
    if (!files::has(file, where + "/type")) continue;
    const bool repeats_rows = options.without_row_numbers && plan.info.name == global_id_tag &&
                              !files::read_attribute(file, where, "repeats_rows").empty();
    if (repeats_rows) continue;
    const NativeValues shape = files::shape_of_type(file, where + "/type");
    const bool is_bits = tag.type.starts_with("bit[");
    const bool is_integer = shape.kind == NativeValues::Kind::integer;
    if ((tag.type == "id" && !is_integer) || (is_bits && tag.type != "id" && shape.number_bytes != 1))
      throw Error(ErrorCode::bad_input, {.subject = where + "/type",
                                         .cause = "is not a type of tags: ids must be integers, and bits at most eight",
                                         .remedy = damaged_remedy});
    plan.info.type = type_of(shape, tag.type == "id", is_bits);
    plan.info.length_varies = tag.is_variable;
    plan.info.n_components =
        static_cast<int>(plan.info.type == TagType::bytes ? shape.number_bytes * shape.n_numbers : shape.n_numbers);
    static constexpr std::array<const char*, 4> storages{"bit", "sparse", "dense", "mesh"};
    const auto storage = std::ranges::find(storages, tag.storage);
    if (storage != storages.end()) plan.info.storage = static_cast<TagStorage>(storage - storages.begin());
    const auto attribute = [&](const char* name) {
      std::vector<std::byte> bytes = files::read_native_attribute(file, where, name).bytes;
      // Values that are ids refer to this file's ids, so their defaults mean nothing.
      const bool fits = plan.info.length_varies || bytes.size() == plan.info.value_bytes();
      return plan.info.type == TagType::entity || !fits ? std::vector<std::byte>() : bytes;
    };
    plan.info.default_value = attribute("default");
    plan.info.mesh_value = attribute("global");
    plan.n_sparse = tag.n_sparse;
    plan.dense_on = tag.dense_on;
    if (plan.info.length_varies && !plan.dense_on.empty())
      throw Error(ErrorCode::bad_input,
                  {.subject = where, .cause = "has values of varying length in a table", .remedy = damaged_remedy});
    if (plan.n_sparse > 0) check_integers(file, where + "/id_list", plan.n_sparse);
    if (plan.n_sparse > 0) check_values(file, where + "/values", shape, plan.info.length_varies ? -1 : plan.n_sparse);
    if (plan.n_sparse > 0 && plan.info.length_varies) check_integers(file, where + "/var_indices", plan.n_sparse);
    for (const std::string& table : plan.dense_on) {
      const auto group = std::ranges::find(catalog.groups, table, &files::H5mGroup::name);
      const bool is_group = group != catalog.groups.end();
      const std::int64_t n = is_group ? group->n : (table == "nodes" ? catalog.n_vertices : catalog.n_sets);
      check_values(file, fmt::format("/tstt/{}{}/tags/{}", is_group ? "elements/" : "", table, tag.name), shape, n);
    }
    plans.push_back(std::move(plan));
  }
  return plans;
}

void share(mpi::Context& context, std::vector<TagPlan>& plans) {
  const auto as_numbers = [](const std::vector<std::byte>& bytes) {
    std::vector<int> numbers;
    for (const std::byte byte : bytes) numbers.push_back(std::to_integer<int>(byte));
    return numbers;
  };
  const auto as_bytes = [](const Json& numbers) {
    std::vector<std::byte> bytes;
    for (const Json& number : numbers) bytes.push_back(static_cast<std::byte>(number.get<int>()));
    return bytes;
  };
  const auto bytes_of = [](const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  const auto as_text = [&](const Json& numbers) {
    std::string text;
    for (const std::byte byte : as_bytes(numbers)) text += std::to_integer<char>(byte);
    return text;
  };
  Json all = Json::array();
  for (const TagPlan& plan : plans) {
    // Names in the file may be any bytes, not only valid text.
    std::vector<std::vector<int>> dense_on;
    for (const std::string& table : plan.dense_on) dense_on.push_back(as_numbers(bytes_of(table)));
    all.push_back({as_numbers(bytes_of(plan.info.name)), plan.info.type, plan.info.n_components,
                   plan.info.length_varies, plan.info.storage, as_numbers(plan.info.default_value),
                   as_numbers(plan.info.mesh_value), as_numbers(bytes_of(plan.path)), plan.n_sparse, dense_on});
  }
  std::string text = context.is_root() ? all.dump(-1, ' ', true, Json::error_handler_t::replace) : "";
  mpi::broadcast(context, text);
  if (context.is_root()) return;
  plans.clear();
  for (const Json& one : Json::parse(text)) {
    TagPlan plan;
    plan.info = {.name = as_text(one[0]),
                 .type = one[1],
                 .n_components = one[2],
                 .length_varies = one[3],
                 .storage = one[4],
                 .default_value = as_bytes(one[5]),
                 .mesh_value = as_bytes(one[6])};
    plan.path = as_text(one[7]);
    plan.n_sparse = one[8];
    for (const Json& table : one[9]) plan.dense_on.push_back(as_text(table));
    plans.push_back(std::move(plan));
  }
}

void read_tags(mpi::Context& context, files::Place file, const files::H5mCatalog& catalog,
               const std::vector<TagPlan>& plans, const IdSpace& ids, const std::vector<std::int32_t>& place_of_set,
               const std::vector<std::int32_t>& part_of_set, MeshTables& tables) {
  for (const TagPlan& plan : plans) {
    TagTable tag{.info = plan.info};
    Status fault;
    read_dense(context, file, catalog, plan, ids, place_of_set, part_of_set, tables, tag);
    if (plan.n_sparse > 0) read_sparse(context, file, plan, ids, place_of_set, part_of_set, tables, tag, fault);
    agree(context, fault);
    if (tag.info.name == name_tag) tag.on_sets = {};  // names of sets are in SetInfo
    tables.tags.push_back(std::move(tag));
  }
}

}  // namespace barrio::io::detail
