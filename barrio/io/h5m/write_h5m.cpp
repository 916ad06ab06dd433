#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "barrio/files/h5m_file.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/io/h5m/h5m_sets.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/polyhedron_faces.hpp"
#include "barrio/mesh/topology.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io {
namespace {

using detail::WrittenIds;
using files::H5mFile;
using mesh::CellBlock;
using mesh::Dim;
using mesh::MeshTables;
using mesh::SetKind;

constexpr RegionName write_region{"io.write"};
constexpr int name_bytes = 32;  // size of the NAME tag, by convention of the format

/// Make a tag of integers or bytes on sets.
mesh::TagTable tag_on_sets(const char* name, mesh::TagType type, int n_components) {
  mesh::TagTable tag;
  tag.info = {.name = name, .type = type, .n_components = n_components, .storage = mesh::TagStorage::sparse};
  if (type == mesh::TagType::int32) {
    constexpr std::int32_t none = -1;
    tag.info.default_value.resize(sizeof none);
    std::memcpy(tag.info.default_value.data(), &none, sizeof none);
  }
  return tag;
}

void add(mesh::TagTable& tag, std::int32_t set, std::int32_t value) {
  tag.on_sets.sets.push_back(set);
  tag.on_sets.items.add(std::as_bytes(std::span(&value, 1)), false);
}

/// Write parts, which are sets in the file only. Their values have 32 bits if all fit. Collective.
void write_parts(mpi::Context& context, H5mFile& file, const MeshTables& tables, const WrittenIds& ids,
                 const std::string& tag) {
  const Slabs slices{tables.n_parts, context.size()};
  std::vector<std::int64_t> values = tables.part_sets.values;
  const bool has_values = mpi::sum(context, std::ssize(values)) > 0;
  std::vector<std::int64_t> parts;
  for (std::int64_t p = slices.first(context.rank()); p < slices.first(context.rank() + 1); ++p) {
    parts.push_back(ids.first_part + p);
    if (!has_values) values.push_back(p);
  }
  const bool is_wide = mpi::sum(context, std::int64_t{std::ranges::any_of(values, [](std::int64_t value) {
                                  return !std::in_range<std::int32_t>(value);
                                })}) > 0;
  const auto write_as = [&]<class T>(T none, files::H5mValues::Of type) {
    const std::vector<T> narrow(values.begin(), values.end());
    const auto in_file =
        file.make_tag({.name = tag, .values = {type, 1}, .default_value = std::as_bytes(std::span<const T>(&none, 1))});
    if (tables.n_parts == 0) return;
    const auto rows = file.make_sparse(in_file, tables.n_parts);
    const std::int64_t first = slices.first(context.rank());
    file.put_ids(rows, first, parts);
    file.put_values(rows.values, first, std::ssize(narrow), std::as_bytes(std::span(narrow)));
  };
  if (is_wide) {
    write_as(std::int64_t{-1}, files::H5mValues::Of::int64);
  } else {
    write_as(std::int32_t{-1}, files::H5mValues::Of::int32);
  }
}

/// Write the meanings of sets, which tables hold with the sets themselves.
void write_roles(mpi::Context& context, H5mFile& file, const MeshTables& tables, const WrittenIds& ids) {
  for (const detail::SetTag& kind : detail::set_tags) {
    auto tag = tag_on_sets(kind.name, mesh::TagType::int32, 1);
    for (std::int32_t s = 0; s < std::ssize(tables.sets); ++s) {
      const mesh::SetInfo& set = tables.sets[s];
      const auto add_role = [&](SetKind of, std::int32_t id, Dim geometry_dim) {
        if (of == kind.kind) add(tag, s, of == SetKind::geometry ? value(geometry_dim) : id);
      };
      add_role(set.kind, set.id, set.geometry_dim);
      for (const mesh::SetRole& role : set.more_roles) add_role(role.kind, role.id, role.geometry_dim);
    }
    detail::write_tag(context, file, tables, ids, tag);
  }
}

/// Write NAME: of sets from their info, of entities from the tag.
void write_names(mpi::Context& context, H5mFile& file, const MeshTables& tables, const WrittenIds& ids) {
  auto tag = tag_on_sets(detail::name_tag, mesh::TagType::bytes, name_bytes);
  const auto known =
      std::ranges::find(tables.tags, detail::name_tag, [](const mesh::TagTable& t) { return t.info.name; });
  if (known != tables.tags.end()) tag = *known;
  tag.on_sets = {};
  std::vector<std::string> cut;
  for (std::int32_t s = 0; s < std::ssize(tables.sets); ++s) {
    if (tables.sets[s].name.empty()) continue;
    if (!tag.info.length_varies && tables.sets[s].name.size() > tag.info.value_bytes())
      cut.push_back(tables.sets[s].name);
    std::vector<std::byte> text(tag.info.value_bytes(), std::byte{0});
    std::memcpy(text.data(), tables.sets[s].name.data(), std::min(text.size(), tables.sets[s].name.size()));
    tag.on_sets.sets.push_back(s);
    tag.on_sets.items.add(text, tag.info.length_varies);
  }
  if (!cut.empty())
    context.log().notice(
        fmt::format("the names of {} set(s) are cut to the {} bytes that .h5m files have for them; the first is '{}'",
                    cut.size(), tag.info.value_bytes(), cut[0]));
  detail::write_tag(context, file, tables, ids, tag);
}

/// Add the ids of sets that no other tag holds: those of geometry, and of sets without a meaning. Local.
void add_ids_of_sets(const MeshTables& tables, mesh::TagTable& tag) {
  for (std::int32_t s = 0; s < std::ssize(tables.sets); ++s) {
    const mesh::SetInfo& set = tables.sets[s];
    const bool has_meaning = std::ranges::any_of(
        detail::set_tags, [&](const detail::SetTag& known) { return set.id_as(known.kind).has_value(); });
    const auto id = has_meaning || set.id == 0 ? set.id_as(SetKind::geometry) : std::optional(set.id);
    if (id && std::ranges::find(tag.on_sets.sets, s) == tag.on_sets.sets.end()) add(tag, s, *id);
  }
}

/// Write GLOBAL_ID of vertices and elements (their row, from 1) and of sets, unless the mesh brings its own.
void write_global_ids(mpi::Context& context, H5mFile& file, const MeshTables& tables, const WrittenIds& ids) {
  auto tag = tag_on_sets(detail::global_id_tag, mesh::TagType::int32, 1);
  tag.info.storage = mesh::TagStorage::dense;
  const auto add_column = [&](std::int32_t block, const Slabs& rows, std::int64_t first_row) {
    if (first_row + rows.n_rows >= INT32_MAX)
      return;  // the tag is 32 bits wide by convention; readers then use file order
    std::vector<std::int32_t> values;
    for (std::int64_t row = rows.first(context.rank()); row < rows.first(context.rank() + 1); ++row)
      values.push_back(static_cast<std::int32_t>(first_row + row + 1));
    mesh::TagColumn column{.block = block};
    const auto bytes = std::as_bytes(std::span(values));
    column.items.bytes.assign(bytes.begin(), bytes.end());
    tag.columns.push_back(std::move(column));
  };
  add_column(-1, tables.vertices, 0);
  for (std::int32_t b = 0; b < std::ssize(tables.blocks); ++b)
    add_column(b, tables.blocks[b].rows, tables.first_row(b));
  add_ids_of_sets(tables, tag);
  detail::write_tag(context, file, tables, ids, tag, true);
}

/// Refuse reserved names. @throws AgreedError{usage}
void check_partition_tag(const std::string& name) {
  const bool has_meaning = detail::is_set_tag(name) || name == detail::name_tag || name == detail::global_id_tag;
  if (!has_meaning && !name.empty()) return;
  throw AgreedError(ErrorCode::usage,
                    {.subject = fmt::format("partition tag '{}'", name),
                     .cause = has_meaning ? "is a reserved name in .h5m files" : "must have a name",
                     .remedy = fmt::format("choose another name; programs look for {}", default_partition_tag)});
}

/// Estimate the bytes of tags and of the contents of parts.
std::uint64_t estimated_bytes(const MeshTables& tables) {
  std::uint64_t bytes = tables.vertices.n_rows * 4;
  for (const CellBlock& block : tables.blocks) bytes += block.rows.n_rows * 8;
  for (const mesh::TagTable& tag : tables.tags)
    for (const mesh::TagColumn& column : tag.columns) {
      const Slabs& rows = tables.slabs_of(column.block);
      if (column.is_dense) bytes += rows.n_rows * tag.info.value_bytes();
    }
  return bytes;
}

/// Return the sizes of the tables in the file. Collective.
files::H5mTables sizes_in_file(mpi::Context& context, const MeshTables& tables) {
  std::vector<std::int64_t> n_entries;
  for (const CellBlock& block : tables.blocks) {
    std::int64_t& n = n_entries.emplace_back(std::ssize(block.nodes));
    if (block.type != mesh::CellType::polyhedron) continue;
    n = 0;  // entries are faces
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i)
      mesh::for_each_loop(block.cell(i), [&](std::span<const GlobalId>) { ++n; });
  }
  mpi::all_reduce(context, std::span<std::int64_t>(n_entries), MPI_SUM);
  files::H5mTables sizes{.n_vertices = tables.vertices.n_rows, .n_sets = tables.n_parts + std::ssize(tables.sets)};
  for (std::size_t b = 0; b < tables.blocks.size(); ++b) {
    const CellBlock& block = tables.blocks[b];
    sizes.elements.push_back({detail::h5m_name(block.type), block.nodes_per_cell, block.rows.n_rows, n_entries[b]});
  }
  return sizes;
}

/// Elements as ids of the file: of vertices, or of faces for polyhedra. In the order of the block.
struct WrittenCells {
  std::vector<std::int64_t> entries;
  std::vector<std::int64_t> offsets;  // empty if all elements have the same number of entries
};

/// @param faces  rows of the polyhedra's faces, this block's first; advances past them
WrittenCells polyhedra_to_write(mpi::Context& context, const MeshTables& tables, const WrittenIds& ids,
                                const CellBlock& block, std::span<const std::int64_t>& faces) {
  WrittenCells cells{{}, {0}};
  for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i) {
    mesh::for_each_loop(block.cell(i), [&](std::span<const GlobalId>) {
      cells.entries.push_back(ids.of(tables, Dim::face, faces.front()));
      faces = faces.subspan(1);
    });
    cells.offsets.push_back(std::ssize(cells.entries));
  }
  return cells;
}

/// Write the elements. Collective. @param faces  rows of the polyhedra's faces
void put_cells(mpi::Context& context, H5mFile& file, const MeshTables& tables, const WrittenIds& ids,
               std::span<const std::int64_t> faces) {
  for (std::int32_t b = 0; b < std::ssize(tables.blocks); ++b) {
    const CellBlock& block = tables.blocks[b];
    const std::int64_t first = block.rows.first(context.rank());
    WrittenCells cells;
    if (block.type == mesh::CellType::polyhedron) {
      cells = polyhedra_to_write(context, tables, ids, block, faces);
    } else {
      cells.offsets = block.offsets;
      cells.entries.reserve(block.nodes.size());
      for (const GlobalId node : block.nodes) cells.entries.push_back(ids.first_vertex + barrio::value(node));
    }
    if (block.nodes_per_cell > 0) {
      file.put_elements(b, first, cells.entries);
      continue;
    }
    const auto before = mpi::exclusive_sum(context, std::ssize(cells.entries));
    std::vector<std::int64_t> ends;
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i) ends.push_back(before + cells.offsets[i + 1]);
    file.put_elements(b, first, ends, before, cells.entries);
  }
}

/// @param faces  rows of the polyhedra's faces
void write_tables(mpi::Context& context, const MeshTables& tables, std::span<const std::int64_t> faces,
                  const std::string& path, const H5mOptions& options) {
  const auto has_tag = [&](const std::string& name) {
    return std::ranges::any_of(tables.tags, [&](const mesh::TagTable& tag) { return tag.info.name == name; });
  };
  check_partition_tag(options.partition_tag);
  if (tables.n_parts > 0 && has_tag(options.partition_tag)) {
    throw AgreedError(ErrorCode::usage, {.subject = fmt::format("partition tag '{}'", options.partition_tag),
                                         .cause = "is the name of another tag of this mesh",
                                         .remedy = "choose another name, or read the mesh with that partition"});
  }
  H5mFile file(context, path, sizes_in_file(context, tables), estimated_bytes(tables));
  const WrittenIds ids(file, tables);
  file.put_vertices(tables.vertices.first(context.rank()), tables.coordinates);
  put_cells(context, file, tables, ids, faces);
  if (!has_tag(detail::global_id_tag)) write_global_ids(context, file, tables, ids);
  if (!has_tag(options.partition_tag)) write_parts(context, file, tables, ids, options.partition_tag);
  write_roles(context, file, tables, ids);
  write_names(context, file, tables, ids);
  for (const mesh::TagTable& tag : tables.tags) {
    if (tag.info.name == detail::name_tag) continue;
    if (tag.info.name == detail::global_id_tag && tag.info.type == mesh::TagType::int32 && tag.info.n_components == 1) {
      mesh::TagTable with_sets = tag;
      add_ids_of_sets(tables, with_sets);
      detail::write_tag(context, file, tables, ids, with_sets);
    } else {
      detail::write_tag(context, file, tables, ids, tag);
    }
  }
  const bool is_full = options.full_parts && tables.n_parts > 0;
  detail::write_sets(context, file, tables, ids,
                     is_full ? mesh::compute_part_contents(context, tables) : mesh::PartContents{});
  file.close();
}

}  // namespace

void write_h5m(mpi::Context& context, const MeshTables& tables, const std::string& path, const H5mOptions& options) {
  const Region region(context.trace(), write_region);
  if (!mesh::has_polyhedra(tables)) {
    write_tables(context, tables, {}, path, options);
    return;
  }
  MeshTables with_faces = tables;
  const std::vector<std::int64_t> faces = mesh::list_polyhedron_faces(context, with_faces);
  write_tables(context, with_faces, faces, path, options);
}

}  // namespace barrio::io
