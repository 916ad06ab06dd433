#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

#include "barrio/exchange/router.hpp"
#include "barrio/files/writer.hpp"
#include "barrio/io/detail/readers.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/detail/memberships.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io {
namespace {

using files::FileWriter;
using files::Handle;
using mesh::CellBlock;
using mesh::Dim;
using mesh::MeshTables;
using mesh::SetKind;
using mesh::SetRows;

constexpr RegionName write_region{"io.write"};
constexpr std::int64_t unique_flag = 2;
constexpr std::size_t name_bytes = 32;  // of the NAME tag, by convention of the format

/// Ids of the file: vertices, then blocks, then sets, from 1, without holes.
struct Ids {
  std::int64_t first_vertex = 1;
  std::vector<std::int64_t> first_of_block;
  std::int64_t first_set = 1;

  explicit Ids(const MeshTables& tables) {
    first_set += tables.vertices.n_rows;
    for (const CellBlock& block : tables.blocks) {
      first_of_block.push_back(first_set);
      first_set += block.rows.n_rows;
    }
  }
};

/// One run of ids in one set.
struct Run {
  std::int64_t set;
  std::size_t table;  // 0: vertices, 1 + b: block b; runs of a set stand in this order
  std::int64_t first_id;
  std::int64_t count;
};

/// All runs of this rank: parts come before the mesh's own sets.
std::vector<Run> collect_runs(mpi::Context& context, const MeshTables& tables, const Ids& ids) {
  std::vector<Run> runs;
  std::size_t at = 0;
  for (std::size_t b = 0; b < tables.blocks.size() && tables.n_parts > 0; ++b) {
    const CellBlock& block = tables.blocks[b];
    if (topology(block.type).dim != tables.top_dim()) continue;
    const std::int64_t first = ids.first_of_block[b] + block.rows.first(context.rank());
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i, ++at) {
      const std::int64_t id = first + static_cast<std::int64_t>(i);
      if (!runs.empty() && runs.back().set == tables.parts[at] && runs.back().table == b + 1 &&
          runs.back().first_id + runs.back().count == id) {
        runs.back().count += 1;
      } else {
        runs.push_back({tables.parts[at], b + 1, id, 1});
      }
    }
  }
  auto members = mesh::detail::memberships_at_home(context, tables);
  for (const SetRows& rows : mesh::detail::as_runs(members)) {
    const std::int64_t set = tables.n_parts + rows.set;
    if (rows.dim == Dim::vertex) {
      runs.push_back({set, 0, ids.first_vertex + rows.first, rows.count});
      continue;
    }
    // A run of rows of a dimension may go on from one block to the next.
    for (std::size_t b = 0; b < tables.blocks.size(); ++b) {
      if (topology(tables.blocks[b].type).dim != rows.dim) continue;
      const std::int64_t low = std::max(rows.first, tables.first_row(b));
      const std::int64_t high = std::min(rows.first + rows.count, tables.first_row(b) + tables.blocks[b].rows.n_rows);
      if (low < high) runs.push_back({set, b + 1, ids.first_of_block[b] + low - tables.first_row(b), high - low});
    }
  }
  std::stable_sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return std::tuple(a.set, a.table, a.first_id) < std::tuple(b.set, b.table, b.first_id);
  });
  return runs;
}

/// The highest of each item over all lower ranks; 0 on rank 0. Collective. @pre items >= 0
std::vector<std::int64_t> highest_below(mpi::Context& context, const std::vector<std::int64_t>& items) {
  std::vector<std::int64_t> highest(items.size(), 0);
  mpi::detail::exclusive_scan(context, items.data(), highest.data(), items.size(), mpi::datatype<std::int64_t>(),
                              MPI_MAX);
  if (context.is_root()) std::fill(highest.begin(), highest.end(), 0);
  return highest;
}

/// The set table and its contents. Memory O(sets x blocks) on each rank.
void write_sets(mpi::Context& context, FileWriter& file, const MeshTables& tables, const Ids& ids) {
  const std::vector<Run> runs = collect_runs(context, tables, ids);
  const auto n_sets = static_cast<std::size_t>(tables.n_parts) + tables.sets.size();
  const std::size_t n_tables = 1 + tables.blocks.size();
  // For each (set, table): words as a list, and as pairs.
  std::vector<std::int64_t> as_list(n_sets * n_tables, 0);
  std::vector<std::int64_t> as_pairs(n_sets * n_tables, 0);
  const auto key_of = [&](const Run& run) { return static_cast<std::size_t>(run.set) * n_tables + run.table; };
  // A run that reaches the end of a slab may go on on a higher rank: it is one pair there too, so that the file does
  // not depend on the number of ranks.
  std::vector<std::int64_t> last_end(n_sets * n_tables, 0);
  for (const Run& run : runs) last_end[key_of(run)] = run.first_id + run.count;
  const std::vector<std::int64_t> end_below = highest_below(context, last_end);
  const auto goes_on = [&](const Run& run) { return end_below[key_of(run)] == run.first_id; };
  for (const Run& run : runs) {
    as_list[key_of(run)] += run.count;
    as_pairs[key_of(run)] += goes_on(run) ? 0 : 2;
  }
  std::vector<std::int64_t> total_list = as_list;
  std::vector<std::int64_t> total_pairs = as_pairs;
  mpi::all_reduce(context, std::span<std::int64_t>(total_list), MPI_SUM);
  mpi::all_reduce(context, std::span<std::int64_t>(total_pairs), MPI_SUM);

  std::vector<std::int64_t> list(4 * n_sets, -1);
  std::vector<std::int64_t> place(n_sets * n_tables);  // where this rank's first word of (set, table) goes
  std::vector<char> is_ranged(n_sets);
  std::int64_t end = 0;
  std::vector<std::int64_t> mine(n_sets * n_tables);
  for (std::size_t s = 0; s < n_sets; ++s) {
    std::int64_t n_list = 0;
    std::int64_t n_pairs = 0;
    for (std::size_t t = 0; t < n_tables; ++t) {
      n_list += total_list[s * n_tables + t];
      n_pairs += total_pairs[s * n_tables + t];
    }
    is_ranged[s] = n_pairs < n_list ? 1 : 0;
    for (std::size_t t = 0; t < n_tables; ++t) {
      place[s * n_tables + t] = end;
      end += is_ranged[s] != 0 ? total_pairs[s * n_tables + t] : total_list[s * n_tables + t];
      mine[s * n_tables + t] = is_ranged[s] != 0 ? as_pairs[s * n_tables + t] : as_list[s * n_tables + t];
    }
    list[4 * s] = end - 1;
    list[4 * s + 3] = unique_flag | (is_ranged[s] != 0 ? files::H5mSetList::ranged : 0);
  }
  mpi::exclusive_sum(context, std::span<std::int64_t>(mine));
  for (std::size_t k = 0; k < place.size(); ++k) place[k] += mine[k];

  // Words travel to the slabs of `contents`, so that each rank writes one contiguous piece.
  struct Word {
    std::int64_t place;
    std::int64_t value;
  };
  const Slabs slabs{end, context.size()};
  std::vector<Rank> to;
  std::vector<Word> words;
  const auto put = [&](std::size_t key, std::int64_t value) {
    to.push_back(slabs.rank_of(place[key]));
    words.push_back({place[key]++, value});
  };
  for (const Run& run : runs) {
    const std::size_t key = key_of(run);
    if (is_ranged[static_cast<std::size_t>(run.set)] != 0 && goes_on(run)) {
      place[key] -= 1;  // adds to the count of the pair before
      put(key, run.count);
    } else if (is_ranged[static_cast<std::size_t>(run.set)] != 0) {
      put(key, run.first_id);
      put(key, run.count);
    } else {
      for (std::int64_t i = 0; i < run.count; ++i) put(key, run.first_id + i);
    }
  }
  words = exchange::route(context, exchange::pack_by_rank<Word>(to, words)).items;
  const std::int64_t first = slabs.first(context.rank());
  std::vector<std::int64_t> contents(slabs.size(context.rank()), 0);
  for (const Word& word : words) contents[static_cast<std::size_t>(word.place - first)] += word.value;

  file.write_small<std::int64_t>("/tstt/sets/list", list, 4);
  file.write_attribute("/tstt/sets/list", "start_id", ids.first_set);
  if (end > 0) file.write_rows<std::int64_t>("/tstt/sets/contents", end, 0, first, contents);
}

/// A tag's definition: its type and how programs like to store it (1 sparse, 2 dense).
void define_tag(FileWriter& file, const std::string& name, hid_t type, std::int32_t storage) {
  const std::string where = "/tstt/tags/" + name;
  file.make_group(where);
  file.commit_type(where + "/type", type);
  file.write_attribute(where, "class", H5T_NATIVE_INT32, &storage);
}

void write_set_tags(mpi::Context& context, FileWriter& file, const MeshTables& tables, const Ids& ids) {
  // Sets are known alike on every rank; rank 0 writes, the others join in with nothing.
  const auto write_integers = [&](const std::string& name, const std::vector<std::int64_t>& sets,
                                  const std::vector<std::int32_t>& values) {
    const std::string where = "/tstt/tags/" + name;
    define_tag(file, name, H5T_NATIVE_INT32, 1);
    constexpr std::int32_t none = -1;
    file.write_attribute(where, "default", H5T_NATIVE_INT32, &none);
    if (sets.empty()) return;
    file.write_small<std::int64_t>(where + "/id_list", sets);
    file.write_small<std::int32_t>(where + "/values", values);
  };
  std::vector<std::int64_t> parts;
  std::vector<std::int32_t> part_values;
  for (std::int32_t p = 0; p < tables.n_parts; ++p) {
    parts.push_back(ids.first_set + p);
    part_values.push_back(p);
  }
  write_integers(detail::partition_tag, parts, part_values);
  for (const detail::SetTag& tag : detail::set_tags) {
    std::vector<std::int64_t> sets;
    std::vector<std::int32_t> values;
    for (std::size_t s = 0; s < tables.sets.size(); ++s) {
      if (tables.sets[s].kind != tag.kind) continue;
      sets.push_back(ids.first_set + tables.n_parts + static_cast<std::int64_t>(s));
      values.push_back(tag.kind == SetKind::geometry ? value(tables.sets[s].geometry_dim) : tables.sets[s].id);
    }
    write_integers(tag.name, sets, values);
  }
  std::vector<std::int64_t> named;
  std::vector<char> names;
  for (std::size_t s = 0; s < tables.sets.size(); ++s) {
    if (tables.sets[s].name.empty()) continue;
    named.push_back(ids.first_set + tables.n_parts + static_cast<std::int64_t>(s));
    names.resize(names.size() + name_bytes, '\0');
    std::memcpy(&names[names.size() - name_bytes], tables.sets[s].name.data(),
                std::min(name_bytes, tables.sets[s].name.size()));
  }
  const Handle opaque(H5Tcreate(H5T_OPAQUE, name_bytes), &H5Tclose);
  define_tag(file, "NAME", opaque.get(), 1);
  if (!named.empty()) {
    file.write_small<std::int64_t>("/tstt/tags/NAME/id_list", named);
    const auto n = static_cast<std::int64_t>(named.size());
    file.write_rows("/tstt/tags/NAME/values", opaque.get(), opaque.get(), n, 0, 0, context.is_root() ? n : 0,
                    names.data());
  }
}

/// GLOBAL_ID of vertices, elements (their row, from 1) and geometry sets.
void write_global_ids(mpi::Context& context, FileWriter& file, const MeshTables& tables, const Ids& ids) {
  const std::string name = "GLOBAL_ID";
  define_tag(file, name, H5T_NATIVE_INT32, 2);
  constexpr std::int32_t none = -1;
  file.write_attribute("/tstt/tags/" + name, "default", H5T_NATIVE_INT32, &none);
  const auto write = [&](const std::string& table, const Slabs& rows, std::int64_t first_row) {
    if (first_row + rows.n_rows >= INT32_MAX)
      return;  // the tag is 32 bits wide by convention; readers then use file order
    std::vector<std::int32_t> values;
    for (std::int64_t row = rows.first(context.rank()); row < rows.first(context.rank() + 1); ++row)
      values.push_back(static_cast<std::int32_t>(first_row + row + 1));
    file.write_rows<std::int32_t>(table + "/tags/" + name, rows.n_rows, 0, rows.first(context.rank()), values);
  };
  write("/tstt/nodes", tables.vertices, 0);
  for (std::size_t b = 0; b < tables.blocks.size(); ++b) {
    const CellBlock& block = tables.blocks[b];
    write("/tstt/elements/" + detail::block_name(tables, b), block.rows, tables.first_row(b));
  }
  std::vector<std::int64_t> sets;
  std::vector<std::int32_t> values;
  for (std::size_t s = 0; s < tables.sets.size(); ++s) {
    if (tables.sets[s].kind != SetKind::geometry) continue;
    sets.push_back(ids.first_set + tables.n_parts + static_cast<std::int64_t>(s));
    values.push_back(tables.sets[s].id);
  }
  if (sets.empty()) return;
  file.write_small<std::int64_t>("/tstt/tags/GLOBAL_ID/id_list", sets);
  file.write_small<std::int32_t>("/tstt/tags/GLOBAL_ID/values", values);
}

std::uint64_t estimated_bytes(const MeshTables& tables) {
  auto bytes = static_cast<std::uint64_t>(tables.vertices.n_rows) * 28;
  for (const CellBlock& block : tables.blocks) {
    const int n = block.nodes_per_cell > 0 ? block.nodes_per_cell : 8;
    bytes += static_cast<std::uint64_t>(block.rows.n_rows) * static_cast<std::uint64_t>(8 * n + 8);
  }
  return bytes + 32 * (static_cast<std::uint64_t>(tables.n_parts) + tables.sets.size()) + 65536;
}

}  // namespace

void write_h5m(mpi::Context& context, const MeshTables& tables, const std::string& path) {
  const Region region(context.trace(), write_region);
  FileWriter file(context, path, estimated_bytes(tables));
  const Ids ids(tables);
  for (const char* group : {"/tstt", "/tstt/nodes", "/tstt/elements", "/tstt/sets", "/tstt/tags"})
    file.make_group(group);
  file.write_attribute("/tstt", "max_id",
                       ids.first_set + tables.n_parts + static_cast<std::int64_t>(tables.sets.size()) - 1);
  const Handle types = detail::h5m_element_enum();
  file.commit_type("/tstt/elemtypes", types.get());

  file.write_rows<double>("/tstt/nodes/coordinates", tables.vertices.n_rows, 3, tables.vertices.first(context.rank()),
                          tables.coordinates);
  file.write_attribute("/tstt/nodes/coordinates", "start_id", ids.first_vertex);
  for (std::size_t b = 0; b < tables.blocks.size(); ++b) {
    const CellBlock& block = tables.blocks[b];
    const std::string where = "/tstt/elements/" + detail::block_name(tables, b);
    file.make_group(where);
    const auto type_number = detail::h5m_type_number(block.type);
    file.write_attribute(where, "element_type", types.get(), &type_number);
    std::vector<std::int64_t> nodes;
    nodes.reserve(block.nodes.size());
    for (const GlobalId node : block.nodes) nodes.push_back(ids.first_vertex + barrio::value(node));
    if (block.nodes_per_cell > 0) {
      file.write_rows<std::int64_t>(where + "/connectivity", block.rows.n_rows, block.nodes_per_cell,
                                    block.rows.first(context.rank()), nodes);
    } else {
      const auto before = mpi::exclusive_sum(context, static_cast<std::int64_t>(nodes.size()));
      const auto n_nodes = mpi::sum(context, static_cast<std::int64_t>(nodes.size()));
      std::vector<std::int64_t> last;
      for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i)
        last.push_back(before + block.offsets[i + 1] - 1);
      file.write_rows<std::int64_t>(where + "/connectivity", n_nodes, 0, before, nodes);
      file.write_rows<std::int64_t>(where + "/poly_indices", block.rows.n_rows, 0, block.rows.first(context.rank()),
                                    last);
    }
    file.write_attribute(where + "/connectivity", "start_id", ids.first_of_block[b]);
  }
  write_global_ids(context, file, tables, ids);
  write_set_tags(context, file, tables, ids);
  write_sets(context, file, tables, ids);
  file.close();
}

}  // namespace barrio::io
