#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "barrio/exchange/byte_values.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/io/h5m/h5m_tags.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {

using exchange::ByteValues;
using exchange::ByteValuesView;
using exchange::MessageReader;
using exchange::MessageWriter;
using mesh::EntityCode;
using mesh::MeshTables;
using mesh::TagColumn;
using mesh::TagInfo;
using mesh::TagTable;
using mesh::TagType;

WrittenIds::WrittenIds(const files::H5mFile& file, const MeshTables& tables)
    : first_part(file.first_set()), first_set(first_part + tables.n_parts) {
  for (std::int32_t b = 0; b < std::ssize(tables.blocks); ++b) first_of_block.push_back(file.first_id(b));
}

std::int64_t WrittenIds::of(const MeshTables& tables, mesh::Dim dim, std::int64_t row) const {
  if (dim == mesh::Dim::vertex) return first_vertex + row;
  for (std::size_t b = 0; b < tables.blocks.size(); ++b) {
    if (topology(tables.blocks[b].type).dim != dim) continue;
    if (row < tables.blocks[b].rows.n_rows) return first_of_block[b] + row;
    row -= tables.blocks[b].rows.n_rows;
  }
  return 0;
}

namespace {

files::H5mValues values_in_file(const TagInfo& info) {
  using Of = files::H5mValues::Of;
  switch (info.type) {
    case TagType::int32: return {Of::int32, info.n_components};
    case TagType::float64: return {Of::float64, info.n_components};
    case TagType::entity: return {Of::id, info.n_components};
    case TagType::bytes: return {Of::opaque, info.n_components};
    case TagType::bits: break;
  }
  return {Of::bits, info.n_components};
}

/// Turn codes into ids of the file that is written.
void codes_to_ids(const MeshTables& tables, const WrittenIds& ids, std::span<std::byte> bytes) {
  for (std::size_t at = 0; at + sizeof(EntityCode) <= bytes.size(); at += sizeof(EntityCode)) {
    EntityCode code{};
    std::memcpy(&code, &bytes[at], sizeof code);
    std::int64_t id = 0;
    if (code != EntityCode::none && mesh::is_set(code)) {
      id = ids.first_set + mesh::row_of(code);
    } else if (code != EntityCode::none) {
      id = ids.of(tables, mesh::dim_of(code), mesh::row_of(code));
    }
    std::memcpy(&bytes[at], &id, sizeof id);
  }
}

/// This rank's entries in the sparse list of a tag.
struct SparseEntries {
  std::vector<std::int64_t> ids;
  std::vector<std::span<const std::byte>> values;
  std::vector<std::int64_t> n_of_column;  // of columns by ascending id, then of parts, then of sets
};

SparseEntries sparse_entries(const mpi::Context& context, const MeshTables& tables, const WrittenIds& ids,
                             const TagTable& tag) {
  SparseEntries out;
  const std::size_t n_bytes = tag.info.value_bytes();
  std::vector<const TagColumn*> columns;
  for (const TagColumn& column : tag.columns)
    if (!column.is_dense || tag.info.length_varies) columns.push_back(&column);
  std::ranges::sort(columns, {}, [&](const TagColumn* column) { return ids.first_of(column->block); });
  for (const TagColumn* column : columns) {
    const Slabs& slabs = tables.slabs_of(column->block);
    const std::int64_t n = column->is_dense ? slabs.size(context.rank()) : column->rows.size();
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t row = column->is_dense ? i : column->rows[i];
      out.ids.push_back(ids.first_of(column->block) + slabs.first(context.rank()) + row);
      out.values.push_back(column->items.value(i, n_bytes));
    }
    out.n_of_column.push_back(n);
  }
  const auto add_sets = [&](const mesh::TagOnSets* on_sets, std::int64_t first_id) {
    const std::size_t n = on_sets == nullptr ? 0 : on_sets->sets.size();
    for (std::size_t i = 0; i < n; ++i) {
      out.ids.push_back(first_id + on_sets->sets[i]);
      out.values.push_back(on_sets->items.value(i, n_bytes));
    }
    out.n_of_column.push_back(n);
  };
  const auto of_parts = std::ranges::find(tables.part_sets.tags, tag.info.name, &mesh::PartSets::Tag::name);
  add_sets(of_parts == tables.part_sets.tags.end() ? nullptr : &of_parts->on_parts, ids.first_part);
  add_sets(context.is_root() ? &tag.on_sets : nullptr, ids.first_set);
  return out;
}

/// A slab of the sparse list.
struct SparseSlab {
  std::vector<std::int64_t> ids;
  std::vector<std::span<const std::byte>> values;  // in `received`
  exchange::Parcels<std::byte> received;
};

/// Bring entries to the ranks that write them. Collective. @param next  place of the first entry of each column
SparseSlab bring_to_slabs(mpi::Context& context, const SparseEntries& entries, std::vector<std::int64_t> next,
                          const Slabs& slabs) {
  struct Outgoing {
    std::vector<std::int64_t> places;  // in the list
    std::vector<std::int64_t> ids;
    ByteValues values;
  };
  std::map<Rank, Outgoing> outgoing;
  std::size_t at = 0;
  for (std::size_t c = 0; c < next.size(); ++c) {
    for (std::int64_t i = 0; i < entries.n_of_column[c]; ++i, ++at) {
      Outgoing& out = outgoing[slabs.rank_of(next[c])];
      out.places.push_back(next[c]++);
      out.ids.push_back(entries.ids[at]);
      out.values.add(entries.values[at]);
    }
  }
  exchange::Parcels<std::byte> parcels;
  for (const auto& [rank, out] : outgoing) {
    MessageWriter message;
    message.put(out.places);
    message.put(out.ids);
    out.values.put_into(message);
    parcels.add(rank, message.bytes());
  }
  SparseSlab slab;
  slab.received = exchange::route(context, parcels, exchange::Route::automatic);
  slab.ids.resize(slabs.size(context.rank()));
  slab.values.resize(slab.ids.size());
  for (std::size_t p = 0; p < slab.received.n_peers(); ++p) {
    MessageReader in(slab.received.of(p));
    const auto places = in.get<std::int64_t>();
    const auto ids = in.get<std::int64_t>();
    const ByteValuesView values(in);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::size_t place = places[i] - slabs.first(context.rank());
      slab.ids[place] = ids[i];
      slab.values[place] = values[i];
    }
  }
  return slab;
}

/// Write the sparse list of a tag, by ascending id; each rank writes a slab of it.
void write_sparse(mpi::Context& context, files::H5mFile& file, const MeshTables& tables, const WrittenIds& ids,
                  const TagTable& tag, const files::H5mFile::Tag& in_file) {
  const SparseEntries entries = sparse_entries(context, tables, ids, tag);
  std::vector<std::int64_t> totals = entries.n_of_column;
  mpi::all_reduce(context, std::span<std::int64_t>(totals), MPI_SUM);
  std::vector<std::int64_t> next = entries.n_of_column;
  mpi::exclusive_sum(context, std::span<std::int64_t>(next));
  std::int64_t n_all = 0;
  for (std::size_t c = 0; c < totals.size(); ++c) {
    next[c] += n_all;
    n_all += totals[c];
  }
  if (n_all == 0) return;

  const Slabs slabs{n_all, context.size()};
  const SparseSlab slab = bring_to_slabs(context, entries, std::move(next), slabs);
  const std::size_t n_bytes = tag.info.value_bytes();
  std::vector<std::byte> bytes;
  std::vector<std::int64_t> ends;
  for (const auto value : slab.values) {
    bytes.insert(bytes.end(), value.begin(), value.end());
    ends.push_back(bytes.size() / n_bytes);
  }
  if (tag.info.type == TagType::entity) codes_to_ids(tables, ids, bytes);
  const std::int64_t first = slabs.first(context.rank());
  const std::int64_t n_values = bytes.size() / n_bytes;
  const bool varies = tag.info.length_varies;
  const std::int64_t before = varies ? mpi::exclusive_sum(context, n_values) : first;
  const auto rows = file.make_sparse(in_file, n_all, varies ? mpi::sum(context, n_values) : n_all);
  file.put_ids(rows, first, slab.ids);
  if (varies) {
    for (std::int64_t& end : ends) end += before;
    file.put_ends(rows, first, ends);
  }
  file.put_values(rows.values, before, n_values, bytes);
}

}  // namespace

void write_tag(mpi::Context& context, files::H5mFile& file, const MeshTables& tables, const WrittenIds& ids,
               const TagTable& tag, bool repeats_rows) {
  const auto in_file = file.make_tag({.name = tag.info.name,
                                      .values = values_in_file(tag.info),
                                      .storage = files::H5mNewTag::Storage{static_cast<std::uint8_t>(tag.info.storage)},
                                      .is_variable = tag.info.length_varies,
                                      .default_value = tag.info.default_value,
                                      .mesh_value = tag.info.mesh_value,
                                      .repeats_rows = repeats_rows});
  for (const TagColumn& column : tag.columns) {
    if (!column.is_dense || tag.info.length_varies) continue;
    const Slabs& slabs = tables.slabs_of(column.block);
    std::vector<std::byte> codes;
    if (tag.info.type == TagType::entity) {
      codes = column.items.bytes;
      codes_to_ids(tables, ids, codes);
    }
    file.put_values(file.make_dense(in_file, column.block), slabs.first(context.rank()), slabs.size(context.rank()),
                    codes.empty() ? column.items.bytes : codes);
  }
  write_sparse(context, file, tables, ids, tag, in_file);
}

}  // namespace barrio::io::detail
