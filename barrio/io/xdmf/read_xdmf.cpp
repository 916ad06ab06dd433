#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "barrio/base/slabs.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/io/common/description.hpp"
#include "barrio/io/common/file_rows.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/io/common/steps.hpp"
#include "barrio/io/common/structured_cells.hpp"
#include "barrio/io/vtk/inspect_vtk.hpp"
#include "barrio/io/vtk/vtk_pieces.hpp"
#include "barrio/io/vtk/vtk_polyhedra.hpp"
#include "barrio/io/xdmf/mixed_lists.hpp"
#include "barrio/io/xdmf/xdmf_file.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

// Rank 0 reads the markup and broadcasts it. Mixed lists of cells state the type of each cell before its nodes: rank 0
// walks through them with a bounded buffer and finds where each share begins. Then every rank reads its own rows.

namespace barrio::io::detail {
namespace {

using files::Rows;

/// Return the rows of a share in each piece, all of which follow each other.
std::vector<Rows> rows_of(const std::vector<XdmfGrid>& pieces, std::int64_t XdmfGrid::* size, int share, int n_shares) {
  std::int64_t n = 0;
  for (const XdmfGrid& piece : pieces) n += piece.*size;
  const Rows all = slab_of({n, n_shares}, share);
  std::vector<Rows> rows;
  std::int64_t first = 0;
  for (const XdmfGrid& piece : pieces) {
    rows.push_back(overlap(all, first, piece.*size));
    first += piece.*size;
  }
  return rows;
}

class XdmfShareReader {
 public:
  XdmfShareReader(const std::string& path, const std::vector<XdmfGrid>& pieces, int share, int n_shares)
      : path_(path), pieces_(pieces), share_(share), n_shares_(n_shares), reader_(path) {}

  VtkGrid run(std::span<const MixedCut> cuts) {
    const std::vector<Rows> points = rows_of(pieces_, &XdmfGrid::n_points, share_, n_shares_);
    const std::vector<Rows> cells = rows_of(pieces_, &XdmfGrid::n_cells, share_, n_shares_);
    for (const XdmfGrid& piece : pieces_) {
      grid_.first_points.push_back(grid_.n_points);
      grid_.n_points += piece.n_points;
    }
    add_arrays(pieces_[0].on_points, grid_.on_points);
    add_arrays(pieces_[0].on_cells, grid_.on_cells);
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      add_points(pieces_[p], points[p]);
      if (pieces_[p].vtk_type == 0 && !pieces_[p].is_structured) {
        for (; !cuts.empty() && cuts.front().piece == static_cast<std::int64_t>(p); cuts = cuts.subspan(1))
          add_mixed_cells(p, cuts.front());
      } else if (cells[p].count > 0) {
        add_cells(p, cells[p]);
      }
      read_arrays(pieces_[p].on_points, points[p], grid_.on_points);
      read_arrays(pieces_[p].on_cells, cells[p], grid_.on_cells);
    }
    unpack_streams(grid_, path_);
    split_lists(grid_, path_);
    return std::move(grid_);
  }

 private:
  static void add_arrays(const std::vector<XdmfArray>& arrays, std::vector<VtkArray>& out) {
    for (const XdmfArray& array : arrays) {
      out.push_back({.name = array.name, .n_components = array.n_components, .values = {}});
      if (!is_integer(array.values.number)) out.back().values = std::vector<double>();
    }
  }
  void read_arrays(const std::vector<XdmfArray>& arrays, Rows rows, std::vector<VtkArray>& out) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const std::int64_t width = arrays[i].n_components;
      std::visit([&](auto& values) { reader_.read(arrays[i].values, rows.first * width, rows.count * width, values); },
                 out[i].values);
    }
  }

  void add_points(const XdmfGrid& grid, Rows rows) {
    using Points = XdmfGrid::Points;
    if (rows.count == 0) return;
    if (grid.points == Points::xyz)
      return reader_.read(grid.coordinates[0], 3 * rows.first, 3 * rows.count, grid_.coordinates);
    if (grid.points == Points::axes || grid.points == Points::even) return add_implicit_points(grid, rows);
    std::vector<std::vector<double>> columns(grid.coordinates.size());
    const std::int64_t width = grid.points == Points::xy ? 2 : 1;
    for (std::size_t k = 0; k < columns.size(); ++k)
      reader_.read(grid.coordinates[k], width * rows.first, width * rows.count, columns[k]);
    for (std::int64_t i = 0; i < rows.count; ++i)
      for (std::int64_t k = 0; k < 3; ++k) {
        const auto column = width == 2 ? 0 : k;
        const bool is_there = width == 2 ? k < 2 : k < std::ssize(columns);
        grid_.coordinates.push_back(is_there ? columns[column][width == 2 ? 2 * i + k : i] : 0.0);
      }
  }

  void add_implicit_points(const XdmfGrid& grid, Rows rows) {
    const PointGrid points{grid.dimensions};
    std::vector<std::vector<double>> axes(3);
    for (std::size_t k = 0; k < grid.coordinates.size(); ++k)
      reader_.read(grid.coordinates[k], 0, std::min(grid.coordinates[k].n_numbers(), points.n_points()), axes[k]);
    const auto along = [&](std::size_t axis, std::int64_t place) {
      if (grid.points == XdmfGrid::Points::axes) return place < std::ssize(axes[axis]) ? axes[axis][place] : 0.0;
      // Origin and spacing are given with the slowest axis first.
      const std::size_t n = axes[0].size();
      return axis < n && axis < axes[1].size()
                 ? axes[0][n - 1 - axis] + axes[1][axes[1].size() - 1 - axis] * static_cast<double>(place)
                 : 0.0;
    };
    for (std::int64_t row = rows.first; row < rows.first + rows.count; ++row) {
      const auto place = points.place(row);
      for (std::size_t axis = 0; axis < 3; ++axis) grid_.coordinates.push_back(along(axis, place[axis]));
    }
  }

  [[nodiscard]] std::vector<std::int64_t> in_file(std::span<const std::int64_t> nodes, std::size_t piece) const {
    std::vector<std::int64_t> points;
    for (const std::int64_t node : nodes) {
      if (node < 0 || node >= pieces_[piece].n_points)
        throw Error(ErrorCode::bad_input, {.subject = path_,
                                           .cause = fmt::format("has a cell with point {} in a grid of {} points", node,
                                                                pieces_[piece].n_points),
                                           .remedy = xdmf_remedy});
      points.push_back(grid_.first_points[piece] + node);
    }
    return points;
  }

  void add_cells(std::size_t p, Rows rows) {
    const XdmfGrid& grid = pieces_[p];
    if (grid.is_structured) {
      const PointGrid points{grid.dimensions};
      points.for_each_cell(rows.first, rows.count, [&](std::span<const std::int64_t> corners) {
        grid_.add_cell(points.vtk_type(), in_file(corners, p));
      });
      return;
    }
    std::vector<std::int64_t> nodes;
    reader_.read(grid.nodes[0], rows.first * grid.n_nodes, rows.count * grid.n_nodes, nodes);
    for (std::int64_t c = 0; c < rows.count; ++c)
      grid_.add_cell(grid.vtk_type,
                     in_file(std::span<const std::int64_t>(nodes).subspan(c * grid.n_nodes, grid.n_nodes), p));
  }

  void add_mixed_cells(std::size_t p, const MixedCut& cut) {
    std::vector<std::int64_t> words;
    reader_.read(pieces_[p].nodes[0], cut.first, cut.n, words);
    for (auto rest = std::span<const std::int64_t>(words); !rest.empty();) {
      const std::int64_t length = length_of_cell(rest, path_);
      if (length == 0 || length > std::ssize(rest))
        throw Error(ErrorCode::bad_input, {.subject = path_,
                                           .cause = "changed its cells during the read",
                                           .remedy = "read it again once it is complete"});
      const auto cell = rest.first(length);
      const XdmfKind* const kind = xdmf_kind(cell[0]);
      if (kind->code == xdmf_polyhedron)
        add_polyhedron(p, cell.subspan(1));
      else
        grid_.add_cell(kind->vtk_type, in_file(cell.subspan(kind->n_nodes > 0 ? 1 : 2), p));
      rest = rest.subspan(length);
    }
  }

  /// Add a polyhedron by its stream, which `unpack_streams` turns into faces.
  void add_polyhedron(std::size_t p, std::span<const std::int64_t> stream) {
    std::vector<std::int64_t> in_grid{stream[0]};
    for (std::size_t at = 1; at < stream.size();) {
      const std::size_t n = stream[at];
      in_grid.push_back(stream[at]);
      const std::vector<std::int64_t> face = in_file(stream.subspan(at + 1, n), p);
      in_grid.insert(in_grid.end(), face.begin(), face.end());
      at += 1 + n;
    }
    grid_.add_cell(vtk_polyhedron, in_grid);
  }

  const std::string& path_;
  const std::vector<XdmfGrid>& pieces_;
  int share_;
  int n_shares_;
  XdmfReader reader_;
  VtkGrid grid_;
};

/// Refuse grids that no rank can hold. Same result on all ranks.
void check_sizes(const std::vector<XdmfGrid>& pieces, const std::string& path, int n_ranks) {
  for (const XdmfGrid& piece : pieces)
    if (piece.is_structured) check_size({piece.dimensions}, path, n_ranks);
}

}  // namespace

mesh::MeshTables read_xdmf(mpi::Context& context, const std::string& path, const TableOptions& options) {
  std::string markup;
  agree_after(context, [&] {
    if (context.is_root()) markup = read_xdmf_markup(path);
  });
  mpi::broadcast(context, markup);
  XdmfIndex index;
  agree_after(context, [&] { index = parse_xdmf(markup, path); });
  index.left_out.tell(context, path);
  const std::int64_t step = chosen_step(context, path, options.step, index.has_steps ? std::ssize(index.steps) : 0);
  std::vector<XdmfGrid> pieces = index.steps[std::max<std::int64_t>(step, 0)];
  check_sizes(pieces, path, context.size());
  agree_after(context, [&] {
    if (context.is_root()) count_mixed(pieces, path);
  });
  std::vector<std::int64_t> n_cells;
  for (const XdmfGrid& piece : pieces) n_cells.push_back(piece.n_cells);
  mpi::broadcast(context, n_cells);
  for (std::size_t p = 0; p < pieces.size(); ++p) pieces[p].n_cells = n_cells[p];
  agree_after(context, [&] { fit_cell_arrays(pieces, path); });
  std::vector<Rank> to;
  std::vector<MixedCut> cuts;
  agree_after(context, [&] {
    if (!context.is_root()) return;
    const auto by_share = cut_mixed(pieces, context.size(), path);
    for (Rank rank = 0; rank < context.size(); ++rank) {
      cuts.insert(cuts.end(), by_share[rank].begin(), by_share[rank].end());
      to.insert(to.end(), by_share[rank].size(), rank);
    }
  });
  cuts = exchange::route(context, exchange::pack_by_rank(to, cuts)).items;
  VtkGrid grid;
  agree_after(context, [&] { grid = XdmfShareReader(path, pieces, context.rank(), context.size()).run(cuts); });
  unite_pieces(context, grid, path);
  return tables_of_vtk(context, std::move(grid), path);
}

Json inspect_xdmf(const std::string& path, const InspectOptions& options) {
  const XdmfIndex index = parse_xdmf(read_xdmf_markup(path), path);
  std::vector<XdmfGrid> pieces = index.steps.back();
  check_sizes(pieces, path, 1);
  count_mixed(pieces, path);
  fit_cell_arrays(pieces, path);
  std::set<std::string> files{path};
  std::int64_t n_points = 0;
  for (const XdmfGrid& piece : pieces) {
    n_points += piece.n_points;
    for (const XdmfItem& item : piece.nodes) files.insert(item.file);
    for (const XdmfItem& item : piece.coordinates) files.insert(item.file);
  }
  std::uintmax_t n_bytes = 0;
  for (const std::string& file : files) {
    std::error_code missing;  // its reader reports it
    const std::uintmax_t n = std::filesystem::file_size(file, missing);
    n_bytes += missing ? 0 : n;
  }
  for (const XdmfGrid& piece : pieces) n_bytes += piece.is_structured ? piece.n_cells * 73 : 0;
  const int n = n_shares_of(n_bytes);
  const auto cuts = cut_mixed(pieces, n, path);
  VtkShares shares{"XDMF", n, n_points,
                   [&](int share, bool) { return XdmfShareReader(path, pieces, share, n).run(cuts[share]); }};
  shares.left_out = index.left_out;
  Json result = inspect_vtk_shares(path, shares, options);
  if (index.has_steps) {
    result["time_steps"] = index.steps.size();
    add_times(result, index.times, std::ssize(index.steps));
  }
  return result;
}

}  // namespace barrio::io::detail
