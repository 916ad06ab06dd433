#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/io/cgns/cgns_file.hpp"
#include "barrio/io/cgns/join_interfaces.hpp"
#include "barrio/io/cgns/mixed_section.hpp"
#include "barrio/io/common/file_rows.hpp"
#include "barrio/io/common/listed_sides.hpp"
#include "barrio/io/common/merged_blocks.hpp"
#include "barrio/io/common/new_tags.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/io/common/steps.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

// CGNS on HDF5. Rank 0 reads the list of zones. Then every rank reads its slab of each array, and makes its slab of the
// cells of structured zones.

namespace barrio::io::detail {

namespace {

using files::Rows;
using mesh::CellType;
using mesh::Dim;
using mesh::MeshTables;
using mesh::SetKind;

class Reader {
 public:
  Reader(mpi::Context& context, const std::string& path, CgnsCatalog catalog, std::int64_t step,
         const std::vector<std::string>& without_tags)
      : context_(context),
        path_(path),
        catalog_(std::move(catalog)),
        step_(step),
        without_tags_(without_tags),
        file_(files::open_to_read(context, path)) {}

  MeshTables read() {
    return files::or_close(file_, [&] { return read_all(); });
  }

 private:
  MeshTables read_all() {
    tables_.vertices = {catalog_.n_vertices, context_.size()};
    read_vertices();
    read_elements();
    for (std::size_t z = 0; z < catalog_.zones.size(); ++z) add_sections(catalog_.zones[z], first_section_[z]);
    for (std::size_t z = 0; z < catalog_.zones.size(); ++z)
      for (const CgnsBoundary& boundary : catalog_.zones[z].boundaries) add_boundary(z, boundary);
    add_solutions();
    std::vector<ListedSide> sides = sides_of_patches();
    join_interfaces(context_, path_, file_.get(), catalog_, tables_, sides);
    if (n_faces_ > 0) list_sides(context_, tables_, sides, {n_faces_, context_.size()});
    return std::move(tables_);
  }

  /// Return the array of a zone at the wanted step: of arrays with fewer steps the last one; null without one.
  [[nodiscard]] const CgnsArray* find_array(const CgnsZone& zone, const CgnsArray& wanted) const {
    const CgnsArray* found = nullptr;
    for (const CgnsArray& array : zone.arrays)
      if (array.name == wanted.name && array.on_cells == wanted.on_cells && array.step <= step_) found = &array;
    return found;
  }
  /// Read the solutions as tags, each on the zones that have it.
  void add_solutions() {
    std::vector<const CgnsArray*> wanted;
    for (const CgnsZone& zone : catalog_.zones)
      for (const CgnsArray& array : zone.arrays)
        if (std::ranges::none_of(wanted, [&](const CgnsArray* one) {
              return one->name == array.name && one->on_cells == array.on_cells;
            }))
          wanted.push_back(&array);
    NewTags tags(context_, tables_, without_tags_);
    for (const CgnsArray* one : wanted) {
      mesh::TagTable* const tag = tags.find_or_rename(one->name, mesh::TagType::float64, 1, one->on_cells);
      if (tag == nullptr) continue;
      if (!one->on_cells) tag->columns.push_back(on_vertices(*one));
      for (std::int32_t block = 0; block < std::ssize(tables_.blocks) && one->on_cells; ++block)
        if (mesh::TagColumn column = on_cells(*one, block); !has_no_zone_) {
          tag->columns.push_back(std::move(column));
        }
    }
  }
  /// Add the values of some rows of a zone to a column. @param first  of the rows, in this rank's slab
  void add_values(const CgnsZone& zone, const CgnsArray* array, Rows rows, std::int64_t first,
                  mesh::TagColumn& column) {
    if (array == nullptr) {
      column.is_dense = false;
      return;
    }
    has_no_zone_ = false;
    put(read_cgns_array(file_.get(), zone, *array, rows), first, column);
  }
  static void put(const std::vector<double>& values, std::int64_t first, mesh::TagColumn& column) {
    for (const double& x : values) column.items.add(std::as_bytes(std::span(&x, 1)), false);
    for (std::int64_t i = 0; i < std::ssize(values); ++i) column.rows.push_back(static_cast<std::int32_t>(first + i));
  }
  /// Do the same for one type of a section of mixed types. @param n_before  cells of the zone before the section
  void add_mixed_values(const CgnsZone& zone, const CgnsSection& section, const CgnsArray& array, std::int64_t n_before,
                        std::int64_t first, const Slabs& rows, mesh::TagColumn& column) {
    has_no_zone_ = false;
    const MixedShare& share = shares_[&zone - catalog_.zones.data()][section.mixed];
    Rows cells = share.cells(catalog_.cell_dim);
    cells.first += n_before;
    const auto values = read_cgns_array(file_.get(), zone, array, cells);
    put(share.values_at_home(context_, catalog_.cell_dim, values, section.kind, section.row, rows), first, column);
  }
  [[nodiscard]] mesh::TagColumn on_vertices(const CgnsArray& wanted) {
    mesh::TagColumn column{.block = -1};
    const Rows mine = slab_of(tables_.vertices, context_.rank());
    for (const CgnsZone& zone : catalog_.zones) {
      const Rows rows = overlap(mine, zone.first_vertex, zone.n_vertices());
      add_values(zone, find_array(zone, wanted), rows, zone.first_vertex + rows.first - mine.first, column);
    }
    if (column.is_dense) column.rows.clear();
    return column;
  }
  [[nodiscard]] mesh::TagColumn on_cells(const CgnsArray& wanted, std::int32_t block) {
    mesh::TagColumn column{.block = block};
    const Rows mine = slab_of(tables_.blocks[block].rows, context_.rank());
    has_no_zone_ = true;
    auto table = table_of_.begin();
    for (const CgnsZone& zone : catalog_.zones) {
      const CgnsArray* const array = find_array(zone, wanted);
      std::int64_t n_up_to_here = 0;
      std::int64_t n_before = 0;  // cells of earlier sections
      for (const CgnsSection& section : zone.sections) {
        const bool is_cell = value(mesh::topology(section.type).dim) == catalog_.cell_dim;
        if (section.kind == 0) n_before = n_up_to_here;
        n_up_to_here += is_cell ? section.n : 0;
        if (*table++ != block) continue;
        Rows rows = overlap(mine, section.row, section.n);
        const std::int64_t first = section.row + rows.first - mine.first;
        rows.first += n_before;
        if (section.mixed >= 0 && is_cell && array != nullptr) {
          add_mixed_values(zone, section, *array, n_before, first, tables_.blocks[block].rows, column);
        } else {
          add_values(zone, is_cell ? array : nullptr, rows, first, column);
        }
      }
    }
    if (column.is_dense) column.rows.clear();
    return column;
  }

  void read_vertices() {
    const Rows mine = slab_of(tables_.vertices, context_.rank());
    for (const CgnsZone& zone : catalog_.zones) {
      const auto x =
          read_cgns_coordinates(file_.get(), catalog_, zone, overlap(mine, zone.first_vertex, zone.n_vertices()));
      tables_.coordinates.insert(tables_.coordinates.end(), x.begin(), x.end());
    }
  }
  void read_elements() {
    std::vector<ElementRun> runs;
    for (const CgnsZone& zone : catalog_.zones) {
      first_section_.push_back(runs.size());
      for (const CgnsSection& section : zone.sections) runs.push_back({section.type, section.n_nodes, section.n});
    }
    table_of_ = add_merged_blocks(context_, tables_, runs);
    Status fault;
    auto table = table_of_.begin();
    for (const CgnsZone& zone : catalog_.zones) {
      auto& shares = shares_.emplace_back();
      for (const CgnsMixed& mixed : zone.mixed)
        shares.emplace_back(file_.get(), path_, zone, mixed, context_.rank(), context_.size(), fault);
      for (const CgnsSection& section : zone.sections) {
        mesh::CellBlock& block = tables_.blocks[*table++];
        if (section.mixed >= 0) {
          const auto nodes = shares[section.mixed].nodes_at_home(context_, section.kind, section.row, block.rows);
          block.nodes.insert(block.nodes.end(), nodes.begin(), nodes.end());
          continue;
        }
        const Rows rows = overlap(slab_of(block.rows, context_.rank()), section.row, section.n);
        const auto nodes = read_cgns_nodes(file_.get(), path_, zone, section, rows, fault);
        block.nodes.insert(block.nodes.end(), nodes.begin(), nodes.end());
      }
    }
    agree(context_, fault);
  }
  std::int32_t add_set(SetKind kind, const std::string& name) {
    const auto alike = std::ranges::count(tables_.sets, kind, &mesh::SetInfo::kind);
    return detail::add_set(tables_, {.kind = kind, .id = static_cast<std::int32_t>(alike + 1), .name = name});
  }
  /// Add the set of a boundary condition: one for all of a family, else one for each.
  std::int32_t add_boundary_set(SetKind kind, const CgnsBoundary& boundary) {
    if (!boundary.has_family) return add_set(kind, boundary.name);
    const auto known = set_of_family_.find({kind, boundary.name});
    if (known != set_of_family_.end()) return known->second;
    return set_of_family_[{kind, boundary.name}] = add_set(kind, boundary.name);
  }
  void add_rows(std::int32_t set, Dim dim, std::int64_t first, std::int64_t n) {
    if (context_.is_root() && n > 0) tables_.members.push_back({set, dim, first, n});
  }
  [[nodiscard]] std::int64_t first_row(std::size_t section, const CgnsSection& of) const {
    return tables_.first_row(table_of_[section]) + of.row;
  }
  void add_sections(const CgnsZone& zone, std::size_t place) {
    const auto is_cell = [&](const CgnsSection& section) {
      return value(mesh::topology(section.type).dim) == catalog_.cell_dim;
    };
    std::int32_t set = 0;
    for (const CgnsSection& section : zone.sections) {
      if (section.kind == 0) {  // one set for all types of a section
        const bool is_material = std::ranges::any_of(
            zone.sections, [&](const CgnsSection& other) { return other.name == section.name && is_cell(other); });
        set = add_set(is_material ? SetKind::material : SetKind::other, section.name);
      }
      add_rows(set, mesh::topology(section.type).dim, first_row(place++, section), section.n);
    }
  }

  void add_boundary(std::size_t z, const CgnsBoundary& boundary) {
    const CgnsZone& zone = catalog_.zones[z];
    if (zone.is_structured && !zone.has_vertices(boundary)) {
      faces_.push_back({&zone, &boundary, add_boundary_set(SetKind::neumann, boundary), n_faces_});
      n_faces_ += faces_.back().n_faces();
    } else if (zone.has_vertices(boundary)) {
      const std::int32_t set = add_boundary_set(SetKind::dirichlet, boundary);
      if (boundary.path.empty()) {
        agree_after(context_, [&] { check(zone, boundary, "node", boundary.low[0], boundary.high[0], zone.n[0]); });
        add_rows(set, Dim::vertex, zone.first_vertex + boundary.low[0] - 1, boundary.high[0] - boundary.low[0] + 1);
        return;
      }
      std::vector<std::int64_t> rows = list_of(boundary);
      agree_after(context_, [&] {
        for (std::int64_t& row : rows) {
          check(zone, boundary, "node", row, row, zone.n[0]);
          row += zone.first_vertex - 1;
        }
        add_members(tables_, set, Dim::vertex, std::move(rows));
      });
    } else {
      add_elements(z, boundary, add_boundary_set(SetKind::neumann, boundary));
    }
  }
  void check(const CgnsZone& zone, const CgnsBoundary& boundary, std::string_view what, std::int64_t low,
             std::int64_t high, std::int64_t n) const {
    if (low >= 1 && high <= n) return;
    refuse(ErrorCode::bad_input, path_,
           fmt::format("boundary condition '{}' of zone '{}' has {} {}, but they are 1 to {}", boundary.name, zone.name,
                       what, low < 1 ? low : high, n),
           damaged_remedy);
  }
  [[nodiscard]] std::vector<std::int64_t> list_of(const CgnsBoundary& boundary) const {
    return files::read_integers(file_.get(), boundary.path, slab_of({boundary.n, context_.size()}, context_.rank()));
  }
  void add_elements(std::size_t z, const CgnsBoundary& boundary, std::int32_t set) {
    const CgnsZone& zone = catalog_.zones[z];
    const std::vector<std::int64_t> numbers = boundary.path.empty() ? std::vector<std::int64_t>() : list_of(boundary);
    agree_after(context_, [&] {
      if (zone.sections.empty())
        refuse(ErrorCode::bad_input, path_,
               fmt::format("zone '{}' has a boundary condition but no elements", zone.name), damaged_remedy);
      const std::int64_t n = zone.last_element();
      if (boundary.path.empty()) check(zone, boundary, "element", boundary.low[0], boundary.high[0], n);
      for (const std::int64_t number : numbers) check(zone, boundary, "element", number, number, n);
    });
    std::size_t place = first_section_[z];
    for (const CgnsSection& section : zone.sections) {
      const Dim dim = mesh::topology(section.type).dim;
      const std::int64_t first = first_row(place++, section);
      if (section.mixed >= 0) {
        const MixedShare& share = shares_[z][section.mixed];
        std::vector<std::int64_t> rows;
        for (const MixedShare::Element& element :
             boundary.path.empty() ? share.find(boundary.low[0], boundary.high[0]) : share.find(context_, numbers))
          if (element.kind == section.kind) rows.push_back(first + element.row);
        add_members(tables_, set, dim, std::move(rows));
        continue;
      }
      if (boundary.path.empty()) {
        const Rows rows = overlap({boundary.low[0], boundary.high[0] - boundary.low[0] + 1}, section.first, section.n);
        add_rows(set, dim, first + rows.first, rows.count);
        continue;
      }
      std::vector<std::int64_t> rows;
      for (const std::int64_t number : numbers)
        if (number >= section.first && number < section.first + section.n)
          rows.push_back(first + number - section.first);
      add_members(tables_, set, dim, std::move(rows));
    }
  }

  /// A patch on a face of a structured zone.
  struct Patch {
    const CgnsZone* zone;
    const CgnsBoundary* boundary;
    std::int32_t set;
    std::int64_t position;

    [[nodiscard]] std::int64_t n_along(int d) const {
      if (d == boundary->normal || d >= zone->n_indices) return 1;
      return boundary->high[d] - boundary->low[d] + (boundary->on_vertices ? 0 : 1);
    }
    [[nodiscard]] std::int64_t n_faces() const { return n_along(0) * n_along(1) * n_along(2); }

    /// Return the corners of a face, ordered so that it looks out of the zone.
    [[nodiscard]] ListedSide side(std::int64_t face) const {
      std::int64_t low = zone->first_vertex;
      std::array<std::int64_t, 2> steps{};
      std::size_t n_steps = 0;
      std::int64_t stride = 1;
      for (int d = 0; d < zone->n_indices; ++d) {
        low += (boundary->low[d] - 1 + face % n_along(d)) * stride;
        face /= n_along(d);
        if (d != boundary->normal) steps[n_steps++] = stride;
        stride *= zone->n[d];
      }
      const std::size_t normal = boundary->normal;
      const bool is_turned = (boundary->low[normal] == 1) != (normal == 1);
      ListedSide side{.set = set, .type = n_steps == 2 ? CellType::quad : CellType::edge};
      const auto add = [&](std::int64_t node) { side.nodes[side.n_nodes++] = GlobalId{node}; };
      add(low);
      add(low + steps[0]);
      if (n_steps == 2) {
        add(low + steps[0] + steps[1]);
        add(low + steps[1]);
      }
      if (is_turned) std::reverse(side.nodes.begin(), side.nodes.begin() + side.n_nodes);
      return side;
    }
  };
  /// Make this rank's share of the faces of all patches.
  [[nodiscard]] std::vector<ListedSide> sides_of_patches() const {
    const Slabs positions{n_faces_, context_.size()};
    std::vector<ListedSide> sides;
    for (const Patch& patch : faces_) {
      const Rows rows = overlap(slab_of(positions, context_.rank()), patch.position, patch.n_faces());
      for (std::int64_t face = rows.first; face < rows.first + rows.count; ++face) {
        sides.push_back(patch.side(face));
        sides.back().position = patch.position + face;
      }
    }
    return sides;
  }

  mpi::Context& context_;
  const std::string& path_;
  CgnsCatalog catalog_;
  std::int64_t step_;
  const std::vector<std::string>& without_tags_;
  files::SharedFile file_;
  bool has_no_zone_ = false;  // the last column has values on no zone
  MeshTables tables_;
  std::vector<std::size_t> first_section_;       // of each zone, among those of all
  std::vector<std::int32_t> table_of_;           // index in the tables of each section
  std::vector<std::vector<MixedShare>> shares_;  // of the sections of mixed types, by zone
  std::map<std::pair<SetKind, std::string>, std::int32_t> set_of_family_;
  std::vector<Patch> faces_;
  std::int64_t n_faces_ = 0;
};

}  // namespace

MeshTables read_cgns(mpi::Context& context, const std::string& path, const TableOptions& options) {
  CgnsCatalog catalog = share_cgns_catalog(context, path);
  if (!catalog.left_out.empty())
    context.log().notice(fmt::format("{}: left out: {}", path, fmt::join(catalog.left_out, "; ")));
  const std::int64_t step = chosen_step(context, path, options.step, catalog.n_steps);
  return Reader(context, path, std::move(catalog), step, options.without_tags).read();
}

}  // namespace barrio::io::detail
