#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "barrio/io/common/new_tags.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/io/exodus/exodus_source.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {
namespace {

using mesh::MeshTables;
using mesh::TagColumn;
using mesh::TagType;

/// Return the name of a variable, or a default: a file may leave it blank.
std::string name_or(const std::string& name, std::string_view kind, std::size_t number) {
  return name.empty() ? fmt::format("{}_variable_{}", kind, number) : name;
}

void read_node_variables(const ExodusSource& source, NewTags& tags, const MeshTables& tables) {
  const bool are_together = source.file.has("vals_nod_var");
  for (std::size_t v = 0; v < source.catalog.node_variables.size(); ++v) {
    const std::string variable = are_together ? "vals_nod_var" : fmt::format("vals_nod_var{}", v + 1);
    if (!source.file.has(variable)) continue;
    auto* tag = tags.find_or_add(name_or(source.catalog.node_variables[v], "node", v + 1), TagType::float64);
    if (tag == nullptr) continue;
    const std::array<std::int64_t, 2> within{source.step, static_cast<std::int64_t>(v)};
    files::Rows rows = slab_of(tables.vertices, source.context.rank());
    rows.within = std::span(within).first(are_together ? 2 : 1);
    tag->columns.push_back(dense_column(-1, source.file.reals(variable, rows)));
  }
}

/// Read values on the blocks of the file that have them, as one column for each block of the tables.
/// @param has  tells whether a block has them @param read  gets a block and rows, collectively
template <class Has, class Read>
void read_on_blocks(const ExodusSource& source, const MeshTables& tables, mesh::TagTable& tag, Has&& has, Read&& read) {
  for (std::int32_t t = 0; t < std::ssize(tables.blocks); ++t) {
    TagColumn column{.block = t};
    std::size_t n_with = 0;
    for (std::size_t b = 0; b < source.catalog.blocks.size(); ++b) {
      if (source.table_of[b] != t) continue;
      if (!has(b)) {
        column.is_dense = false;
        continue;
      }
      n_with += 1;
      const files::Rows rows = source.rows_of(tables, b);
      const std::int64_t first =
          source.catalog.blocks[b].row + rows.first - tables.blocks[t].rows.first(source.context.rank());
      for (const double x : read(b, rows)) column.items.add(std::as_bytes(std::span(&x, 1)), false);
      for (std::int64_t i = 0; i < rows.count; ++i) column.rows.push_back(static_cast<std::int32_t>(first + i));
    }
    if (column.is_dense) column.rows.clear();
    if (n_with > 0) tag.columns.push_back(std::move(column));
  }
}

void read_element_variable(const ExodusSource& source, const MeshTables& tables, std::size_t v, mesh::TagTable& tag) {
  const auto variable = [&](std::size_t b) {
    return fmt::format("vals_elem_var{}eb{}", v + 1, source.catalog.blocks[b].number);
  };
  read_on_blocks(
      source, tables, tag, [&](std::size_t b) { return source.file.has(variable(b)); },
      [&](std::size_t b, files::Rows rows) {
        rows.within = std::span(&source.step, 1);
        return source.file.reals(variable(b), rows);
      });
}

/// Read the attributes of elements. Those of one name on several blocks are one tag.
void read_attributes(const ExodusSource& source, NewTags& tags, const MeshTables& tables) {
  const std::vector<ExodusBlock>& blocks = source.catalog.blocks;
  std::vector<std::string> names;
  for (const ExodusBlock& block : blocks)
    for (const std::string& name : block.attributes)
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  for (const std::string& name : names) {
    mesh::TagTable* tag = tags.find_or_rename(name, TagType::float64, 1, true);
    if (tag == nullptr) continue;
    const auto place = [&](std::size_t b) { return std::ranges::find(blocks[b].attributes, name); };
    read_on_blocks(
        source, tables, *tag, [&](std::size_t b) { return place(b) != blocks[b].attributes.end(); },
        [&](std::size_t b, files::Rows rows) {
          const std::string variable = numbered("attrib", blocks[b].number);
          const std::array<files::Run, 1> one{{{place(b) - blocks[b].attributes.begin(), 1}}};
          if (source.file.shape(variable).size() > 1) rows.of_each = one;
          return source.file.reals(variable, rows);
        });
  }
}

void read_global_variables(const ExodusSource& source, NewTags& tags) {
  if (source.catalog.global_variables.empty()) return;
  const std::vector<double> values = source.file.reals("vals_glo_var", {0, -1, std::span(&source.step, 1)});
  for (std::size_t v = 0; v < std::min(values.size(), source.catalog.global_variables.size()); ++v) {
    auto* tag = tags.find_or_add(name_or(source.catalog.global_variables[v], "global", v + 1), TagType::float64);
    if (tag == nullptr) continue;
    if (tag->columns.empty()) tag->info.storage = mesh::TagStorage::mesh;
    const auto bytes = std::as_bytes(std::span(&values[v], 1));
    tag->info.mesh_value.assign(bytes.begin(), bytes.end());
  }
}

/// Numbers that a program gave to nodes or elements.
struct Numbers {
  std::vector<std::int64_t> mine;
  bool are_places = true;
  bool fit = true;

  void add(std::int64_t place, const std::vector<std::int64_t>& numbers) {
    for (const std::int64_t number : numbers) {
      are_places = are_places && number == ++place;
      fit = fit && number >= 0 && number <= std::numeric_limits<std::int32_t>::max();
    }
    mine.insert(mine.end(), numbers.begin(), numbers.end());
  }
  [[nodiscard]] TagColumn column(std::int32_t block) const {
    return dense_column(block, std::vector<std::int32_t>(mine.begin(), mine.end()));
  }
};

void read_numbers(const ExodusSource& source, NewTags& tags, const MeshTables& tables) {
  std::vector<Numbers> numbers(1 + tables.blocks.size());  // of vertices, then of each block
  const bool has_nodes = source.file.has("node_num_map");
  const bool has_elements = source.file.has("elem_num_map");
  if (has_nodes) {
    const files::Rows rows = slab_of(tables.vertices, source.context.rank());
    numbers[0].add(rows.first, source.file.integers("node_num_map", rows));
  }
  for (std::size_t b = 0; b < source.catalog.blocks.size() && has_elements; ++b) {
    files::Rows rows = source.rows_of(tables, b);
    rows.first += source.catalog.blocks[b].first;
    numbers[1 + source.table_of[b]].add(rows.first, source.file.integers("elem_num_map", rows));
  }
  std::array<std::int32_t, 2> all{1, 1};
  for (const Numbers& some : numbers) {
    all[0] = all[0] != 0 && some.are_places ? 1 : 0;
    all[1] = all[1] != 0 && some.fit ? 1 : 0;
  }
  mpi::all_reduce(source.context, std::span<std::int32_t>(all), MPI_MIN);
  if (all[0] == 1) return;  // the numbers repeat the order of the file
  if (all[1] == 0) {
    source.context.log().notice(
        fmt::format("{}: the numbers of nodes and elements are left out: they need more than 32 bits", source.path));
    return;
  }
  mesh::TagTable* tag = tags.find_or_add(global_id_tag, TagType::int32);
  if (tag == nullptr) return;
  if (has_nodes) tag->columns.push_back(numbers[0].column(-1));
  for (std::size_t b = 0; b < source.catalog.blocks.size() && has_elements; ++b) {
    const std::int32_t block = source.table_of[b];
    if (std::ranges::find(tag->columns, block, &TagColumn::block) == tag->columns.end())
      tag->columns.push_back(numbers[1 + source.table_of[b]].column(block));
  }
}

/// @param first_set  index in the tables of the first set of the kind
void add_properties(NewTags& tags, const std::vector<ExodusProperty>& properties, std::size_t first_set) {
  for (const ExodusProperty& property : properties) {
    mesh::TagTable* tag = tags.find_or_add(property.name, TagType::int32);
    if (tag == nullptr) continue;
    if (tag->columns.empty()) tag->info.storage = mesh::TagStorage::sparse;
    for (std::size_t i = 0; i < property.values.size(); ++i) {
      tag->on_sets.sets.push_back(static_cast<std::int32_t>(first_set + i));
      tag->on_sets.items.add(std::as_bytes(std::span(&property.values[i], 1)), false);
    }
  }
}

}  // namespace

void read_exodus_tags(const ExodusSource& source, const std::vector<std::string>& without, MeshTables& tables) {
  const ExodusCatalog& catalog = source.catalog;
  NewTags tags(source.context, tables, without);
  std::size_t first_set = 0;
  add_properties(tags, catalog.block_properties, first_set);
  add_properties(tags, catalog.node_set_properties, first_set += catalog.blocks.size());
  add_properties(tags, catalog.side_set_properties, first_set += catalog.node_sets.size());
  read_attributes(source, tags, tables);
  read_node_variables(source, tags, tables);
  for (std::size_t v = 0; v < catalog.element_variables.size(); ++v) {
    auto* tag = tags.find_or_add(name_or(catalog.element_variables[v], "element", v + 1), TagType::float64);
    if (tag != nullptr) read_element_variable(source, tables, v, *tag);
  }
  read_global_variables(source, tags);
  if (tags.wants(global_id_tag)) read_numbers(source, tags, tables);
}

}  // namespace barrio::io::detail
