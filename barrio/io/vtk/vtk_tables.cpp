#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/io/common/id_sets.hpp"
#include "barrio/io/common/new_tags.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/io/vtk/vtk_grid.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {
namespace {

using mesh::CellBlock;
using mesh::CellType;
using mesh::Dim;
using mesh::MeshTables;
using mesh::TagTable;
using mesh::TagType;
using SetNames = std::map<std::pair<int, int>, std::string>;

/// Cells of this share that go into one block, in the order of the file, and their rows there.
struct Move {
  std::vector<std::size_t> cells;
  std::vector<Rank> to;
  std::int64_t first_row = 0;  ///< in the block; the others follow, since cells of a type ascend with the shares
};

constexpr std::size_t max_nodes = max_cell_nodes;  // of a cell that is no polygon or polyhedron
/// Triangles of strips have a block of their own: polygonal data list them apart from other triangles, so both together
/// would not ascend with the shares.
constexpr std::size_t strip_key = mesh::n_cell_types * (max_nodes + 1);
constexpr std::size_t n_keys = strip_key + 1;

/// Return the block of a shape: by type and number of nodes.
std::size_t key_of(const VtkShape& shape, int vtk_type) {
  if (vtk_type == vtk_strip) return strip_key;
  return static_cast<std::size_t>(shape.type) * (max_nodes + 1) + shape.n_nodes;
}

class TablesMaker {
 public:
  TablesMaker(mpi::Context& context, VtkGrid grid, const std::string& path, const SetNames& set_names)
      : context_(context), grid_(std::move(grid)), path_(path), set_names_(set_names) {}

  MeshTables run() {
    tables_.vertices = {grid_.n_points, context_.size()};
    tables_.coordinates = std::move(grid_.coordinates);
    say_what_was_split();
    find_blocks();
    for (std::size_t b = 0; b < tables_.blocks.size(); ++b) fill(tables_.blocks[b], moves_[b]);
    if (tables_.top_dim() == Dim::vertex)
      throw AgreedError(ErrorCode::bad_input,
                        {.subject = path_, .cause = "has no cells other than points", .remedy = no_cells_remedy});
    keep_last_of_a_name(grid_.on_points);
    keep_last_of_a_name(grid_.on_cells);
    take_structure();
    add_tags();
    return std::move(tables_);
  }

 private:
  [[nodiscard]] std::size_t n_cells() const { return grid_.types.size(); }
  [[nodiscard]] std::int64_t n_nodes(std::size_t cell) const { return grid_.offsets[cell + 1] - grid_.offsets[cell]; }
  [[nodiscard]] VtkShape shape_of(std::size_t cell) const {
    return grid_.has_gmsh_types ? *gmsh_kind(grid_.types[cell]) : vtk_shape(grid_.types[cell], n_nodes(cell), path_);
  }

  [[nodiscard]] std::int64_t point_of(std::size_t cell) const { return grid_.nodes[grid_.offsets[cell]]; }

  void say_what_was_split() {
    std::array<std::int64_t, 3> n{grid_.n_poly_lines, grid_.n_strips, grid_.n_prisms};
    mpi::all_reduce(context_, std::span<std::int64_t>(n), MPI_SUM);
    if (n[0] > 0) context_.log().notice(fmt::format("{}: {} poly-line(s) were cut into edges", path_, n[0]));
    if (n[1] > 0) context_.log().notice(fmt::format("{}: {} triangle strip(s) were cut into triangles", path_, n[1]));
    if (n[2] > 0)
      context_.log().notice(fmt::format("{}: {} prism(s) over pentagons or hexagons became polyhedra", path_, n[2]));
  }

  /// Find the blocks, in ascending dimension and type, as .h5m files have them.
  void find_blocks() {
    std::vector<std::vector<std::size_t>> cells(n_keys);
    std::vector<std::int64_t> n(n_keys, 0);
    agree_after(context_, [&] {
      for (std::size_t c = 0; c < n_cells(); ++c) {
        const VtkShape shape = shape_of(c);
        const int vtk_type = grid_.has_gmsh_types ? 0 : grid_.types[c];
        if (shape.type == CellType::vertex)
          points_.push_back(c);
        else
          cells[key_of(shape, vtk_type)].push_back(c);
      }
      for (const std::size_t c : points_)
        if (const std::int64_t point = point_of(c); point < 0 || point >= grid_.n_points)
          throw Error(ErrorCode::bad_input, {.subject = path_,
                                             .cause = fmt::format("a cell has point {}, which does not exist", point),
                                             .remedy = damaged_remedy});
    });
    for (std::size_t key = 0; key < n_keys; ++key) n[key] = cells[key].size();
    std::vector<std::int64_t> before = n;
    mpi::exclusive_sum(context_, std::span<std::int64_t>(before));
    mpi::all_reduce(context_, std::span<std::int64_t>(n), MPI_SUM);
    for (std::size_t key = 0; key < n_keys; ++key) {
      if (n[key] == 0) continue;
      CellBlock block;
      block.type = key == strip_key ? CellType::triangle : static_cast<CellType>(key / (max_nodes + 1));
      block.nodes_per_cell = key == strip_key ? 3 : static_cast<int>(key % (max_nodes + 1));
      block.rows = {n[key], context_.size()};
      Move move{std::move(cells[key]), {}, before[key]};
      for (std::size_t i = 0; i < move.cells.size(); ++i) move.to.push_back(block.rows.rank_of(move.first_row + i));
      tables_.blocks.push_back(std::move(block));
      moves_.push_back(std::move(move));
    }
  }

  /// Send values of cells to the ranks that hold their rows. Collective. @return those of this rank's rows, by row
  template <class T>
  std::vector<T> bring(const Move& move, std::span<const T> values, std::size_t n_components) const {
    std::vector<Rank> to;
    std::vector<T> items;
    for (std::size_t i = 0; i < move.cells.size(); ++i) {
      const auto of_cell = values.subspan(move.cells[i] * n_components, n_components);
      items.insert(items.end(), of_cell.begin(), of_cell.end());
      to.insert(to.end(), n_components, move.to[i]);
    }
    // Senders ascend with rows, so the received items are in order.
    return exchange::route(context_, exchange::pack_by_rank<T>(to, items)).items;
  }

  void fill(CellBlock& block, const Move& move) const {
    std::vector<Rank> to;
    std::vector<GlobalId> nodes;
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i < move.cells.size(); ++i) {
      const std::size_t cell = move.cells[i];
      const auto of_cell = std::span<const std::int64_t>(grid_.nodes).subspan(grid_.offsets[cell], n_nodes(cell));
      const VtkShape shape = shape_of(cell);
      for (std::size_t n = 0; n < of_cell.size(); ++n) nodes.push_back(GlobalId{of_cell[shape.place_of(n)]});
      to.insert(to.end(), of_cell.size(), move.to[i]);
      lengths.push_back(n_nodes(cell));
    }
    block.nodes = exchange::route(context_, exchange::pack_by_rank<GlobalId>(to, nodes)).items;
    if (block.nodes_per_cell > 0) return;
    block.offsets = {0};
    for (const std::int64_t n : exchange::route(context_, exchange::pack_by_rank<std::int64_t>(move.to, lengths)).items)
      block.offsets.push_back(block.offsets.back() + n);
  }

  /// Keep the last of the arrays of one name, as VTK does.
  static void keep_last_of_a_name(std::vector<VtkArray>& arrays) {
    for (std::size_t i = arrays.size(); i-- > 0;) {
      const auto end = arrays.begin() + i;
      const auto same = [&](const VtkArray& a) { return a.name == arrays[i].name; };
      if (std::find_if(end + 1, arrays.end(), same) != arrays.end()) arrays.erase(end);
    }
  }

  /// Take sets and parts, each from the first suitable array.
  void take_structure() {
    const auto take = [&](bool (*is_named_so)(std::string_view), bool (TablesMaker::*use)(const VtkArray&)) {
      for (std::size_t i = 0; i < grid_.on_cells.size(); ++i) {
        const VtkArray& array = grid_.on_cells[i];
        if (!is_named_so(array.name) || array.n_components != 1 || array.values.index() != 0) continue;
        if (!(this->*use)(array)) continue;
        grid_.on_cells.erase(grid_.on_cells.begin() + i);
        return;
      }
    };
    take(names_material, &TablesMaker::add_sets);
    take(names_partition, &TablesMaker::add_parts);
    say_what_points_lose();
  }

  /// Name the values of cells that are points: vertices stand for these, and are in their sets only.
  void say_what_points_lose() {
    const std::int64_t n = mpi::sum(context_, std::ssize(points_));
    const std::int64_t n_in_sets = mpi::sum(context_, n_points_in_sets_);
    if (n == 0 || (grid_.on_cells.empty() && n_in_sets == n)) return;
    if (grid_.on_cells.empty())
      return context_.log().notice(
          fmt::format("{}: {} cell(s) that are points are left out: they are in no set", path_, n - n_in_sets));
    std::vector<std::string> names;
    for (const VtkArray& array : grid_.on_cells) names.push_back(fmt::format("'{}'", array.name));
    context_.log().notice(fmt::format("{}: {} cell(s) that are points are left out with their values of {}", path_, n,
                                      fmt::join(names, ", ")));
  }

  bool add_sets(const VtkArray& array) {
    const auto& ids = std::get<0>(array.values);
    IdSets sets;
    for (std::size_t b = 0; b < moves_.size(); ++b) {
      const Dim dim = mesh::topology(tables_.blocks[b].type).dim;
      const std::int64_t first = tables_.first_row(b) + moves_[b].first_row;
      for (std::size_t i = 0; i < moves_[b].cells.size(); ++i) {
        const std::int64_t id = ids[moves_[b].cells[i]];
        if (is_set_id(array.name, id)) sets.add(dim, id, first + i);
      }
    }
    std::int64_t n_points = 0;
    for (const std::size_t c : points_) {
      if (!is_set_id(array.name, ids[c])) continue;
      sets.add(Dim::vertex, ids[c], point_of(c));
      ++n_points;
    }
    if (sets.move_into(context_, tables_, set_names_)) {
      n_points_in_sets_ = n_points;
      say_what_is_in_no_set(array);
      return true;
    }
    context_.log().notice(
        fmt::format("{}: array '{}' has too many values for ids of sets; it stays a tag", path_, array.name));
    return false;
  }

  /// Tell of cells with a negative number in place of a material. barrio's own files mark so that a cell has none.
  void say_what_is_in_no_set(const VtkArray& array) {
    const std::int64_t n_here =
        std::ranges::count_if(std::get<0>(array.values), [](std::int64_t id) { return id < 0; });
    const std::int64_t n = mpi::sum(context_, n_here);
    if (n > 0 && array.name != "material")
      context_.log().notice(
          fmt::format("{}: {} cell(s) are in no set: their number in '{}' is negative", path_, n, array.name));
  }

  bool add_parts(const VtkArray& array) {
    const auto& parts = std::get<0>(array.values);
    const Dim top = tables_.top_dim();
    std::array<std::int64_t, 2> extremes{0, 0};  // whether a part is negative; the highest part
    for (std::size_t b = 0; b < moves_.size(); ++b) {
      if (mesh::topology(tables_.blocks[b].type).dim != top) continue;
      for (const std::size_t c : moves_[b].cells)
        extremes = {std::max(extremes[0], parts[c] < 0 ? 1 : std::int64_t{0}), std::max(extremes[1], parts[c])};
    }
    mpi::all_reduce(context_, std::span<std::int64_t>(extremes), MPI_MAX);
    if (extremes[0] > 0 || extremes[1] >= tables_.n_global(top) ||
        extremes[1] >= std::numeric_limits<std::int32_t>::max()) {
      context_.log().notice(fmt::format("{}: array '{}' is not a partition; it stays a tag", path_, array.name));
      return false;
    }
    tables_.n_parts = static_cast<int>(extremes[1]) + 1;
    for (std::size_t b = 0; b < moves_.size(); ++b) {
      if (mesh::topology(tables_.blocks[b].type).dim != top) continue;
      for (const std::int64_t part : bring<std::int64_t>(moves_[b], parts, 1))
        tables_.parts.push_back(static_cast<std::int32_t>(part));
    }
    return true;
  }

  /// Return the width of the values of each array: 0: 32 bits hold them, 1: doubles do, 2: neither. Collective.
  std::vector<int> widths(const std::vector<VtkArray>& arrays) const {
    std::vector<int> widths;
    for (const VtkArray& array : arrays) {
      int width = array.values.index() == 1 ? 1 : 0;
      if (const auto* integers = std::get_if<0>(&array.values)) {
        for (const std::int64_t value : *integers) {
          const bool is_narrow = std::in_range<std::int32_t>(value);
          const bool is_exact = value >= -(std::int64_t{1} << 53) && value <= std::int64_t{1} << 53;
          width = std::max(width, is_narrow ? 0 : is_exact ? 1 : 2);
        }
      }
      widths.push_back(width);
    }
    mpi::all_reduce(context_, std::span<int>(widths), MPI_MAX);
    return widths;
  }

  void add_tags() {
    const std::vector<int> of_points = widths(grid_.on_points);
    const std::vector<int> of_cells = widths(grid_.on_cells);
    for (std::size_t i = 0; i < grid_.on_points.size(); ++i) {
      const VtkArray& array = grid_.on_points[i];
      if (TagTable* tag = new_tag(array, of_points[i], false)) add_column(*tag, -1, array);
    }
    for (std::size_t i = 0; i < grid_.on_cells.size(); ++i) {
      const VtkArray& array = grid_.on_cells[i];
      TagTable* tag = new_tag(array, of_cells[i], true);
      if (tag == nullptr) continue;
      for (std::int32_t b = 0; b < std::ssize(moves_); ++b) add_column(*tag, b, array);
    }
  }

  TagTable* new_tag(const VtkArray& array, int width, bool on_cells) {
    if (width == 2) {
      context_.log().notice(fmt::format(
          "{}: array '{}' is left out: it has integers that neither 32 bits nor a double can hold", path_, array.name));
      return nullptr;
    }
    return new_tags_.find_or_rename(array.name, width == 0 ? TagType::int32 : TagType::float64, array.n_components,
                                    on_cells);
  }

  /// Add the values of one block, or of the vertices, in the type of the tag. Collective for blocks.
  void add_column(TagTable& tag, std::int32_t block, const VtkArray& array) const {
    tag.columns.push_back({.block = block});
    std::vector<std::byte>& bytes = tag.columns.back().items.bytes;
    std::visit(
        [&]<class T>(const std::vector<T>& all) {
          const std::size_t components = array.n_components;
          const std::vector<T> values = block < 0 ? all : bring<T>(moves_[block], all, components);
          if (tag.info.type == TagType::int32)
            append<std::int32_t>(values, bytes);
          else
            append<double>(values, bytes);
        },
        array.values);
  }
  template <class To, class From>
  static void append(const std::vector<From>& values, std::vector<std::byte>& bytes) {
    bytes.resize(values.size() * sizeof(To));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const To item = static_cast<To>(values[i]);
      std::memcpy(&bytes[i * sizeof(To)], &item, sizeof(To));
    }
  }

  mpi::Context& context_;
  VtkGrid grid_;
  const std::string& path_;
  const SetNames& set_names_;
  MeshTables tables_;
  std::vector<std::string> without_;  ///< empty: tags are left out later
  NewTags new_tags_{context_, tables_, without_};
  std::vector<Move> moves_;          ///< by block
  std::vector<std::size_t> points_;  ///< cells of this share that are points
  std::int64_t n_points_in_sets_ = 0;
};

}  // namespace

MeshTables tables_of_vtk(mpi::Context& context, VtkGrid grid, const std::string& path, const SetNames& set_names) {
  return TablesMaker(context, std::move(grid), path, set_names).run();
}

}  // namespace barrio::io::detail
