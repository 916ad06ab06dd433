#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "barrio/base/error.hpp"
#include "barrio/base/slabs.hpp"
#include "barrio/io/common/description.hpp"
#include "barrio/io/common/file_rows.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/io/common/share_catalog.hpp"
#include "barrio/io/common/steps.hpp"
#include "barrio/io/vtk/inspect_vtk.hpp"
#include "barrio/io/vtk/vtk_pieces.hpp"
#include "barrio/io/vtk/vtk_polyhedra.hpp"
#include "barrio/io/vtkhdf/vtkhdf_file.hpp"
#include "barrio/mpi/agree.hpp"

// VTKHDF. Rank 0 reads the lists of pieces and arrays. Then every rank reads its rows of each array. The rows of a
// share are contiguous in each list of cells: pieces follow each other in all lists.

namespace barrio::io::detail {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(VtkhdfCells, path, type, n_cells, n_nodes, first_cell, first_node, n_pieces_before)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(VtkhdfFaces, n_faces, n_face_nodes, n_cell_faces)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(VtkhdfArray, path, name, n_components, is_integer, is_id, first_row)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(VtkLeftOut, arrays, field_data, others)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(VtkhdfCatalog, format, first_piece, first_point, first_points, first_cells, cells,
                                   faces, on_points, on_cells, left_out)

namespace {

using files::Rows;

/// Run a phase that does not communicate. If the file is open on all ranks, agree on its outcome: the next read needs
/// all of them.
template <class Phase>
void agree_if_shared(files::Place file, Phase&& phase) {
  if (file.context == nullptr)
    phase();
  else
    agree_after(*file.context, std::forward<Phase>(phase));
}

class ShareReader {
 public:
  ShareReader(files::Place file, const std::string& path, const VtkhdfCatalog& catalog, int share, int n_shares)
      : file_(file),
        path_(path),
        catalog_(catalog),
        points_(slab_of({catalog.n_points(), n_shares}, share)),
        cells_(slab_of({catalog.n_cells(), n_shares}, share)) {}

  VtkGrid run() {
    grid_.n_points = catalog_.n_points();
    grid_.first_points.assign(catalog_.first_points.begin(), catalog_.first_points.end() - 1);
    grid_.coordinates =
        files::read_reals(file_, "/VTKHDF/Points", {catalog_.first_point + points_.first, points_.count});
    agree_if_shared(file_, [&] {
      if (std::ssize(grid_.coordinates) != 3 * points_.count) refuse("has points that are not of three coordinates");
    });
    for (const VtkhdfCells& list : catalog_.cells) lists_.push_back(read_list(list));
    add_cells();
    read_arrays(catalog_.on_points, points_, grid_.on_points);
    read_arrays(catalog_.on_cells, cells_, grid_.on_cells);
    agree_if_shared(file_, [&] { split_lists(grid_, path_); });
    return std::move(grid_);
  }

 private:
  /// Cells of this share in one list.
  struct List {
    int type = 0;
    std::vector<std::int64_t> types = {};
    std::vector<std::int64_t> n_cells = {};  ///< by piece, of this share
    std::vector<std::int64_t> lengths = {};
    std::vector<std::int64_t> nodes = {};  ///< points of the file
  };
  /// Cells of a piece that are in this share, and where they are in the file.
  struct Run {
    std::size_t piece;
    Rows cells;               ///< from the piece's first cell in the list
    std::int64_t first_end;   ///< row of its first cell in Offsets, from the first row that this share reads there
    std::int64_t first_node;  ///< row of the piece's first node in Connectivity
  };

  [[noreturn]] void refuse(const std::string& cause) const {
    throw Error(ErrorCode::bad_input, {.subject = path_, .cause = cause, .remedy = damaged_remedy});
  }

  /// Find the runs of cells of this share in a list. @param first_cell, first_end  get their first rows in the file
  std::vector<Run> runs_of(const VtkhdfCells& list, std::int64_t& first_cell, std::int64_t& first_end) const {
    std::vector<Run> runs;
    std::int64_t cell = list.first_cell;
    std::int64_t node = list.first_node;
    for (std::size_t p = 0; p < list.n_cells.size(); ++p) {
      std::int64_t before = catalog_.first_cells[p];  // cells of the piece in the lists before this one
      for (const VtkhdfCells& other : catalog_.cells) {
        if (&other == &list) break;
        before += other.n_cells[p];
      }
      const Rows cells = overlap(cells_, before, list.n_cells[p]);
      // Each piece has one offset more than it has cells.
      const std::int64_t end = cell + cells.first + list.n_pieces_before + static_cast<std::int64_t>(p);
      if (cells.count > 0 && runs.empty()) {
        first_cell = cell + cells.first;
        first_end = end;
      }
      if (cells.count > 0) runs.push_back({p, cells, end - first_end, node});
      cell += list.n_cells[p];
      node += list.n_nodes[p];
    }
    return runs;
  }

  List read_list(const VtkhdfCells& list) {
    List mine{.type = list.type, .n_cells = std::vector<std::int64_t>(list.n_cells.size(), 0)};
    if (std::ranges::all_of(list.n_cells, [](std::int64_t n) { return n == 0; })) return mine;
    std::int64_t first_cell = 0;
    std::int64_t first_end = 0;
    const std::vector<Run> runs = runs_of(list, first_cell, first_end);
    std::int64_t n_cells = 0;
    for (const Run& run : runs) n_cells += mine.n_cells[run.piece] = run.cells.count;
    const std::int64_t n_ends = runs.empty() ? 0 : runs.back().first_end + runs.back().cells.count + 1;
    if (list.type == 0) mine.types = files::read_integers(file_, list.path + "/Types", {first_cell, n_cells});
    const auto ends = files::read_integers(file_, list.path + "/Offsets", {first_end, n_ends});
    Rows nodes;
    agree_if_shared(file_, [&] {
      for (const Run& run : runs) {
        const auto of_run = std::span<const std::int64_t>(ends).subspan(run.first_end, run.cells.count + 1);
        if (of_run.front() < 0 || !std::ranges::is_sorted(of_run) || of_run.back() > list.n_nodes[run.piece])
          refuse("has offsets of cells that do not ascend, or exceed the nodes of a piece");
      }
      if (runs.empty()) return;
      nodes.first = runs.front().first_node + ends[runs.front().first_end];
      nodes.count = runs.back().first_node + ends[n_ends - 1] - nodes.first;
    });
    const auto found = files::read_integers(file_, list.path + "/Connectivity", nodes);
    agree_if_shared(file_, [&] {
      for (const Run& run : runs)
        add_nodes(run, found, run.first_node - nodes.first,
                  std::span<const std::int64_t>(ends).subspan(run.first_end, run.cells.count + 1), mine);
    });
    return mine;
  }

  /// Add the nodes of a run of cells: of polyhedra the closed loops of their faces. Local.
  /// @param first  place among the nodes where the offsets of the run count from; negative if the share begins later
  void add_nodes(const Run& run, std::span<const std::int64_t> nodes, std::int64_t first,
                 std::span<const std::int64_t> ends, List& list) {
    const std::size_t before = list.lengths.size();
    const auto is_polyhedron = [&](std::int64_t c) {
      return list.type == 0 && list.types[before + c] == vtk_polyhedron;
    };
    VtkLoops loops;
    for (std::int64_t c = 0; c < run.cells.count && loops.offsets.size() == 1; ++c)
      if (is_polyhedron(c)) loops = loops_of(run);
    for (std::int64_t c = 0; c < run.cells.count; ++c) {
      const auto of_cell = is_polyhedron(c) ? loops.of(c) : nodes.subspan(first + ends[c], ends[c + 1] - ends[c]);
      for (const std::int64_t node : of_cell) list.nodes.push_back(point_of(node, run.piece));
      list.lengths.push_back(std::ssize(of_cell));
    }
  }

  /// Read the faces of the cells of a run, each rank by itself.
  [[nodiscard]] VtkLoops loops_of(const Run& run) const {
    const VtkhdfFaces& faces = catalog_.faces;
    if (faces.n_faces.empty()) refuse("has polyhedra, but no faces of them");
    const auto piece = static_cast<std::ptrdiff_t>(run.piece);
    const auto slice_of = [&](const char* name, const std::vector<std::int64_t>& sizes, bool has_end) {
      const std::int64_t base =
          std::accumulate(sizes.begin(), sizes.begin() + piece, std::int64_t{0}) + (has_end ? piece : 0);
      return [this, name, base, has_end](std::int64_t first, std::int64_t n) {
        return files::read_integers(file_.id, fmt::format("/VTKHDF/{}", name), {base + first, has_end ? n + 1 : n});
      };
    };
    return read_loops({.cell_offsets = slice_of("PolyhedronOffsets", catalog_.cells[0].n_cells, true),
                       .cell_faces = slice_of("PolyhedronToFaces", faces.n_cell_faces, false),
                       .face_offsets = slice_of("FaceOffsets", faces.n_faces, true),
                       .face_points = slice_of("FaceConnectivity", faces.n_face_nodes, false)},
                      run.cells.first, run.cells.count, path_);
  }

  [[nodiscard]] std::int64_t point_of(std::int64_t node, std::size_t piece) const {
    const std::int64_t first = catalog_.first_points[piece];
    const std::int64_t n = catalog_.first_points[piece + 1] - first;
    if (node < 0 || node >= n) refuse(fmt::format("has a cell with point {} in a piece of {} points", node, n));
    return first + node;
  }

  /// Add the cells in the order of the file: piece by piece, and list by list.
  void add_cells() {
    std::vector<std::size_t> next(lists_.size(), 0);
    std::vector<std::size_t> next_node(lists_.size(), 0);
    agree_if_shared(file_, [&] {
      for (std::int64_t p = 0; p < catalog_.n_pieces(); ++p)
        for (std::size_t k = 0; k < lists_.size(); ++k)
          for (std::int64_t i = 0; i < lists_[k].n_cells[p]; ++i) {
            const List& list = lists_[k];
            const std::int64_t type = list.type == 0 ? list.types[next[k]] : list.type;
            if (type < 0 || type > 255) refuse(fmt::format("has a cell of type {}, which must be 0 to 255", type));
            const std::size_t n = list.lengths[next[k]++];
            grid_.add_cell(static_cast<int>(type), std::span<const std::int64_t>(list.nodes).subspan(next_node[k], n));
            next_node[k] += n;
          }
    });
    lists_.clear();
  }

  void read_arrays(const std::vector<VtkhdfArray>& arrays, Rows rows, std::vector<VtkArray>& out) {
    for (const VtkhdfArray& array : arrays) {
      out.push_back({.name = array.name, .n_components = array.n_components, .values = {}, .is_id = array.is_id});
      const Rows of_step{array.first_row + rows.first, rows.count};
      if (array.is_integer)
        out.back().values = files::read_integers(file_, array.path, of_step);
      else
        out.back().values = files::read_reals(file_, array.path, of_step);
    }
  }

  files::Place file_;
  const std::string& path_;
  const VtkhdfCatalog& catalog_;
  Rows points_;
  Rows cells_;
  std::vector<List> lists_;
  VtkGrid grid_;
};

}  // namespace

VtkGrid read_vtkhdf_share(files::Place file, const std::string& path, const VtkhdfCatalog& catalog, int share,
                          int n_shares) {
  return ShareReader(file, path, catalog, share, n_shares).run();
}

mesh::MeshTables read_vtkhdf(mpi::Context& context, const std::string& path, const TableOptions& options) {
  std::int64_t n_steps = 0;
  agree_after(context, [&] {
    if (context.is_root()) n_steps = n_vtkhdf_steps(files::open_to_read(path).get(), path);
  });
  mpi::broadcast(context, std::span(&n_steps, 1));
  const std::int64_t step = chosen_step(context, path, options.step, n_steps);
  VtkhdfCatalog catalog;
  agree_after(context, [&] {
    if (context.is_root()) catalog = read_vtkhdf_catalog(files::open_to_read(path).get(), path, step);
  });
  share_catalog(context, catalog);
  catalog.left_out.tell(context, path);
  files::SharedFile file = files::open_to_read(context, path);
  VtkGrid grid = files::or_close(
      file, [&] { return read_vtkhdf_share(file.get(), path, catalog, context.rank(), context.size()); });
  unite_pieces(context, grid, path);
  return tables_of_vtk(context, std::move(grid), path);
}

constexpr const char* step_times = "/VTKHDF/Steps/Values";

Json inspect_vtkhdf(const std::string& path, const InspectOptions& options) {
  const files::Handle file = files::open_to_read(path);
  const std::int64_t n_steps = n_vtkhdf_steps(file.get(), path);
  const VtkhdfCatalog catalog = read_vtkhdf_catalog(file.get(), path, n_steps - 1);
  const int n = n_shares_of(std::filesystem::file_size(path));
  Json result = inspect_vtk_shares(
      path,
      {.format = catalog.format,
       .n = n,
       .n_points = catalog.n_points(),
       .read = [&](int share, bool) { return read_vtkhdf_share(file.get(), path, catalog, share, n); },
       .left_out = catalog.left_out},
      options);
  if (n_steps > 0) {
    result["time_steps"] = n_steps;
    const bool has_times = files::has(file.get(), step_times) &&
                           files::shape_of_type(file.get(), step_times).kind == files::NativeValues::Kind::real;
    if (has_times) add_times(result, files::read_reals(file.get(), step_times), n_steps);
  }
  return result;
}

}  // namespace barrio::io::detail
