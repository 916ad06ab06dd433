#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "barrio/base/error.hpp"
#include "barrio/io/common/file_rows.hpp"
#include "barrio/io/common/parts_on_elements.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/io/h5m/h5m_contents.hpp"
#include "barrio/io/h5m/polyhedra.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {
namespace {

using Plan = H5mPlan;
using mesh::CellBlock;
using mesh::CellType;
using mesh::Dim;
using mesh::MeshTables;
using mesh::PartRows;

// The steps of Tautges et al. 2012, section II. A file's partition is among its sets, so only a
// part of step 2 remains after they are read.
constexpr RegionName vertices_region{"read.vertices"};
constexpr RegionName cells_region{"read.cells"};
constexpr RegionName sides_region{"read.sides"};
constexpr RegionName sets_region{"read.sets"};
constexpr RegionName parts_region{"read.parts"};
constexpr RegionName tags_region{"read.tags"};

/// Return the fault of a table whose width changed after rank 0 looked at it.
Error other_shape(const std::string& path) {
  return {
      ErrorCode::bad_input,
      {.subject = path, .cause = "changed its shape during the read", .remedy = "read it while no program writes it"}};
}

/// @param fault  gets a fault of this rank's rows; reading continues, since other ranks read along
CellBlock read_block(mpi::Context& context, files::Place file, const files::H5mGroup& group, std::int64_t first_vertex,
                     Status& fault) {
  const std::string where = "/tstt/elements/" + group.name;
  CellBlock block;
  block.type = *cell_type_of(group.type);
  block.rows = {group.n, context.size()};
  block.nodes_per_cell = static_cast<int>(group.n_nodes);
  const std::int64_t first = block.rows.first(context.rank());
  const std::int64_t count = block.rows.size(context.rank());
  files::Rows rows{first, count};
  if (group.n_nodes == 0) {
    // poly_indices holds the last entry of each polygon; the one before this slab says where the slab begins.
    const std::int64_t from = first > 0 && count > 0 ? first - 1 : first;
    auto last = files::read_integers(file, where + "/poly_indices", {from, first + count - from});
    std::int64_t before = from < first ? last.front() : -1;
    if (from < first) last.erase(last.begin());
    block.offsets.assign(1, 0);
    const std::vector<std::int64_t> sizes = files::extents(file, where + "/connectivity");
    const std::int64_t n_entries = sizes.empty() ? 0 : sizes[0];
    bool is_sound = before >= -1 && before < n_entries;
    const std::int64_t begin = is_sound ? before + 1 : 0;
    for (const std::int64_t end : last) {
      is_sound = is_sound && end >= before && end < n_entries;
      if (!is_sound) break;
      block.offsets.push_back(end + 1 - begin);
      before = end;
    }
    if (!is_sound) {
      fault = Error(ErrorCode::bad_input,
                    {.subject = where + "/poly_indices",
                     .cause = fmt::format("does not ascend within the {} entries of connectivity", n_entries),
                     .remedy = damaged_remedy});
    }
    rows = is_sound ? files::Rows{begin, block.offsets.back()} : files::Rows{0, 0};
  }
  // Polyhedra are lists of faces: their ids stay unchanged until all blocks are read.
  const std::int64_t first_id = block.type == CellType::polyhedron ? 0 : first_vertex;
  block.nodes = files::read_ids(file, where + "/connectivity", first_id, rows);
  const std::int64_t n_nodes = group.n_nodes == 0 ? rows.count : rows.count * group.n_nodes;
  if (std::ssize(block.nodes) != n_nodes) fault = other_shape(where + "/connectivity");
  return block;
}

void read_vertices(mpi::Context& context, files::Place file, const Plan& plan, MeshTables& tables, Status& fault) {
  const Region region(context.trace(), vertices_region);
  const files::Rows rows = slab_of(tables.vertices, context.rank());
  std::vector<double> x = files::read_reals(file, "/tstt/nodes/coordinates", rows);
  const std::size_t width = plan.catalog.n_coordinates;
  if (x.size() != width * rows.count) {
    fault = other_shape("/tstt/nodes/coordinates");
  } else if (width == 3) {
    tables.coordinates = std::move(x);
  } else {
    tables.coordinates.assign(3 * rows.count, 0.0);
    for (std::size_t i = 0; i < x.size(); ++i) tables.coordinates[3 * (i / width) + i % width] = x[i];
  }
}

Dim top_dim(const Plan& plan) {
  Dim top = Dim::vertex;
  for (const files::H5mGroup& group : plan.catalog.groups)
    if (group.n > 0) top = std::max(top, mesh::topology(*cell_type_of(group.type)).dim);
  return top;
}

/// Keep the file's values of this rank's parts, unless they are 0, 1, 2, ... Local.
void keep_values(mpi::Context& context, const std::vector<std::int64_t>& part_values, MeshTables& tables) {
  const Slabs slices{tables.n_parts, context.size()};
  if (part_values.front() == 0 && part_values.back() == std::ssize(part_values) - 1) return;
  tables.part_sets.values.assign(part_values.begin() + slices.first(context.rank()),
                                 part_values.begin() + slices.first(context.rank() + 1));
}

MeshTables read_all(mpi::Context& context, const std::string& path, const Plan& plan, const files::SharedFile& file) {
  MeshTables tables;
  tables.vertices = {plan.catalog.n_vertices, context.size()};
  // Each read agrees on its faults. No fault is caught between reads: if one rank alone fails there, for lack of memory
  // for instance, the job must end, since the others are in the next read.
  Status fault;
  H5mContents contents;
  read_vertices(context, file.get(), plan, tables, fault);
  for (const files::H5mGroup& group : plan.catalog.groups) {
    const bool is_side = mesh::topology(*cell_type_of(group.type)).dim < top_dim(plan);
    const Region region(context.trace(), is_side ? sides_region : cells_region);
    tables.blocks.push_back(read_block(context, file.get(), group, plan.catalog.first_vertex, fault));
  }
  {
    const Region region(context.trace(), sets_region);
    contents.read(context, file.get(), plan, IdSpace(plan.catalog, tables), top_dim(plan));
  }
  agree(context, fault);
  if (tables.top_dim() == Dim::vertex) {
    throw AgreedError(ErrorCode::bad_input, {.subject = path, .cause = "has no elements", .remedy = no_cells_remedy});
  }
  {
    const Region region(context.trace(), cells_region);
    link_polyhedra(context, IdSpace(plan.catalog, tables), tables, path);
  }
  const std::vector<std::int64_t> part_values = values_of_parts(plan);
  std::vector<std::int32_t> part_of = parts_of_sets(plan, part_values);
  std::vector<std::int32_t> place_of;
  std::vector<PartRows> part_rows;
  {
    const Region region(context.trace(), sets_region);
    contents.share_links(context);
    place_of = make_sets(plan, contents, tables);
    tell_sets_in_themselves(context, tables, path);
    part_rows = take_members(contents, part_of, place_of, tables);
  }
  if (!part_values.empty()) {
    const Region region(context.trace(), parts_region);
    mesh::assign_parts(context, tables, std::move(part_rows), static_cast<int>(part_values.size()), path);
    keep_values(context, part_values, tables);
  }
  if (!plan.partition_on_elements.empty()) {
    const Region region(context.trace(), parts_region);
    read_tags(context, file.get(), plan.catalog, plan.partition_on_elements, IdSpace(plan.catalog, tables), place_of,
              part_of, tables);
    const mesh::TagTable tag = std::move(tables.tags.back());
    tables.tags.pop_back();
    const std::vector<std::int64_t> values = take_parts_from_elements(context, tag, tables);
    if (!values.empty()) keep_values(context, values, tables);
  }
  const Region region(context.trace(), tags_region);
  for (std::size_t s = 0; s < part_of.size(); ++s)
    if (place_of[s] >= 0) part_of[s] = -1;
  read_tags(context, file.get(), plan.catalog, plan.tags, IdSpace(plan.catalog, tables), place_of, part_of, tables);
  return tables;
}

/// Tell whether the values of a column are all zero, or count up from 1, or go on from those of the tables before.
bool counts_rows(const mesh::TagColumn& column, std::int64_t first, std::int64_t before) {
  std::array<bool, 3> may_be{true, true, true};
  const std::span<const std::byte> bytes = column.items.bytes;
  for (std::size_t i = 0; i < bytes.size() / sizeof(std::int32_t); ++i) {
    std::int32_t number = 0;
    std::memcpy(&number, &bytes[i * sizeof number], sizeof number);
    const std::int64_t row = first + static_cast<std::int64_t>(i);
    may_be[0] = may_be[0] && number <= 0;
    may_be[1] = may_be[1] && number == row + 1;
    may_be[2] = may_be[2] && number == before + row + 1;
  }
  return may_be[0] || may_be[1] || may_be[2];
}

/// Drop the numbers of nodes and elements if they only repeat the order of the file. Collective.
void drop_row_numbers(mpi::Context& context, MeshTables& tables) {
  const auto tag = std::ranges::find_if(tables.tags, [](const mesh::TagTable& one) {
    return one.info.name == global_id_tag && one.info.type == mesh::TagType::int32 && one.info.n_components == 1;
  });
  if (tag == tables.tags.end()) return;
  std::int32_t are_rows = 1;
  for (const mesh::TagColumn& column : tag->columns) {
    const std::int64_t before = column.block < 0 ? 0 : tables.first_row(column.block);
    const std::int64_t first = tables.slabs_of(column.block).first(context.rank());
    are_rows = are_rows == 1 && column.is_dense && counts_rows(column, first, before) ? 1 : 0;
  }
  if (mpi::min(context, are_rows) == 1) tables.tags.erase(tag);
}

/// Refuse a partition tag that is not a partition. @throws AgreedError{usage}
void check_partition(const MeshTables& tables, const std::string& path, const TableOptions& options) {
  if (options.partition_tag == default_partition_tag || options.may_lack_partition_tag) return;
  const std::int64_t n_cells = tables.n_global(tables.top_dim());
  const bool is_id = tables.n_parts > 1 && tables.n_parts >= n_cells;
  if (tables.n_parts > 0 && !is_id) return;
  throw AgreedError(ErrorCode::usage,
                    {.subject = fmt::format("{}: partition tag '{}'", path, options.partition_tag),
                     .cause = is_id ? fmt::format("is not a partition: it has as many values as cells, {}", n_cells)
                                    : "is not a partition: it gives no cell a part",
                     .remedy = "barrio info lists the partitions of a file"});
}

}  // namespace

MeshTables read_h5m(mpi::Context& context, const std::string& path, const TableOptions& options) {
  const Plan plan = make_plan(context, path, options);
  files::SharedFile file = files::open_to_read(context, path);
  MeshTables tables = files::or_close(file, [&] { return read_all(context, path, plan, file); });
  check_partition(tables, path, options);
  if (options.without_row_numbers) drop_row_numbers(context, tables);
  return tables;
}

}  // namespace barrio::io::detail
