#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <pugixml.hpp>

#include "barrio/base/error.hpp"
#include "barrio/base/slabs.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/io/common/file_rows.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/io/vtk/inspect_vtk.hpp"
#include "barrio/io/vtk/vtk_pieces.hpp"
#include "barrio/io/vtu/vtu_file.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

// A .pvtu file names the .vtu files of the pieces, and their arrays. Each rank reads the heads of some of them; all
// ranks learn the sizes of the pieces. Then every rank reads its rows from the files that have some of them.

namespace barrio::io::detail {
namespace {

/// Contents of a .pvtu file. O(files + arrays).
struct PvtuIndex {
  std::vector<std::string> files;
  std::vector<VtuArray> on_points;  ///< without places
  std::vector<VtuArray> on_cells;
  VtkLeftOut left_out;
};

/// Size of a piece of a file.
struct PieceSize {
  std::int64_t file;
  std::int64_t n_points;
  std::int64_t n_cells;
};

std::vector<VtuArray> declared(const pugi::xml_node& parent, VtkLeftOut& left_out) {
  std::vector<VtuArray> arrays;
  for (const pugi::xml_node& node : parent.children()) {
    const std::string name = node.attribute("Name").as_string();
    const auto number = vtu_number(node.attribute("type").as_string());
    if (!number) {
      left_out.arrays.push_back(name);
      continue;
    }
    arrays.push_back({.name = name,
                      .number = *number,
                      .n_components = node.attribute("NumberOfComponents").as_int(1),
                      .is_id = name == parent.attribute("GlobalIds").as_string()});
  }
  return arrays;
}

PvtuIndex parse_pvtu(const std::string& markup, const std::string& path) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(markup.data(), markup.size());
  const auto refuse_pvtu = [&](const std::string& cause) {
    throw Error(ErrorCode::bad_input, {.subject = path, .cause = cause, .remedy = damaged_remedy});
  };
  if (!parsed) refuse_pvtu(fmt::format("has markup that cannot be understood: {}", parsed.description()));
  const pugi::xml_node grid = document.child("VTKFile").child("PUnstructuredGrid");
  PvtuIndex index;
  index.on_points = declared(grid.child("PPointData"), index.left_out);
  index.on_cells = declared(grid.child("PCellData"), index.left_out);
  for (const pugi::xml_node& node : grid.child("PFieldData").children())
    index.left_out.field_data.emplace_back(node.attribute("Name").as_string());
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (const pugi::xml_node& piece : grid.children("Piece"))
    index.files.push_back((folder / piece.attribute("Source").as_string()).string());
  if (index.files.empty()) refuse_pvtu("names no files of pieces");
  return index;
}

/// Put the arrays of a piece into the order of those that the .pvtu file declares; others are left out.
void choose(std::vector<VtuArray>& arrays, const std::vector<VtuArray>& wanted, const std::string& path,
            VtkLeftOut& left_out) {
  std::vector<VtuArray> chosen;
  for (const VtuArray& one : arrays)
    if (std::ranges::find(wanted, one.name, &VtuArray::name) == wanted.end())
      left_out.add({.others = {fmt::format("array '{}' of pieces, which the .pvtu file does not declare", one.name)}});
  for (const VtuArray& one : wanted) {
    const auto found = std::ranges::find(arrays, one.name, &VtuArray::name);
    if (found == arrays.end() || found->n_components != one.n_components ||
        is_integer(found->number) != is_integer(one.number))
      throw Error(ErrorCode::bad_input,
                  {.subject = path,
                   .cause = fmt::format("has no array '{}' of {} {}, which the .pvtu file declares", one.name,
                                        one.n_components, is_integer(one.number) ? "integer(s)" : "real(s)"),
                   .remedy = "write the files of all pieces again"});
    chosen.push_back(*found);
  }
  arrays = std::move(chosen);
}

VtuIndex read_file_index(const PvtuIndex& index, std::int64_t file) {
  const std::string& path = index.files[file];
  VtuIndex found = parse_vtu(read_vtu_markup(path), path);
  for (VtuPiece& piece : found.pieces) {
    if (piece.n_points > 0) choose(piece.on_points, index.on_points, path, found.left_out);
    if (piece.n_cells > 0) choose(piece.on_cells, index.on_cells, path, found.left_out);
  }
  return found;
}

/// Read the sizes of the pieces of some files, and add the names of what these hold besides. Local.
std::vector<PieceSize> read_sizes_of(PvtuIndex& index, std::int64_t first, std::int64_t end) {
  std::vector<PieceSize> sizes;
  for (std::int64_t file = first; file < end; ++file) {
    const VtuIndex found = read_file_index(index, file);
    for (const VtuPiece& piece : found.pieces) sizes.push_back({file, piece.n_points, piece.n_cells});
    index.left_out.add(found.left_out);
  }
  return sizes;
}

/// Read one share. Local. @param sizes  of all pieces, by file
VtkGrid read_pvtu_share(const PvtuIndex& index, const std::vector<PieceSize>& sizes, const std::string& path, int share,
                        int n_shares) {
  VtkGrid grid;
  std::int64_t n_cells = 0;
  for (const PieceSize& piece : sizes) {
    grid.first_points.push_back(grid.n_points);
    grid.n_points += piece.n_points;
    n_cells += piece.n_cells;
  }
  add_vtu_arrays(index.on_points, grid.on_points);
  add_vtu_arrays(index.on_cells, grid.on_cells);
  const files::Rows points = slab_of({grid.n_points, n_shares}, share);
  const files::Rows cells = slab_of({n_cells, n_shares}, share);
  std::int64_t first_point = 0;
  std::int64_t first_cell = 0;
  for (auto piece = sizes.begin(); piece != sizes.end();) {
    const std::int64_t file = piece->file;
    std::int64_t end_point = first_point;
    std::int64_t end_cell = first_cell;
    for (; piece != sizes.end() && piece->file == file; ++piece) {
      end_point += piece->n_points;
      end_cell += piece->n_cells;
    }
    const files::Rows of_points = overlap(points, first_point, end_point - first_point);
    const files::Rows of_cells = overlap(cells, first_cell, end_cell - first_cell);
    if (of_points.count > 0 || of_cells.count > 0)
      add_vtu_rows(index.files[file], read_file_index(index, file), of_points, of_cells, first_point, grid);
    first_point = end_point;
    first_cell = end_cell;
  }
  split_lists(grid, path);
  return grid;
}

}  // namespace

mesh::MeshTables read_pvtu(mpi::Context& context, const std::string& path) {
  std::string markup;
  agree_after(context, [&] {
    if (context.is_root()) markup = read_vtu_markup(path);
  });
  mpi::broadcast(context, markup);
  PvtuIndex index;
  std::vector<PieceSize> sizes;
  agree_after(context, [&] {
    index = parse_pvtu(markup, path);
    const Slabs files{std::ssize(index.files), context.size()};
    sizes = read_sizes_of(index, files.first(context.rank()), files.first(context.rank() + 1));
  });
  const std::vector<Rank> to(sizes.size(), 0);
  sizes = exchange::route(context, exchange::pack_by_rank(to, sizes)).items;
  mpi::broadcast(context, sizes);
  index.left_out.unite(context);
  index.left_out.tell(context, path);
  VtkGrid grid;
  agree_after(context, [&] { grid = read_pvtu_share(index, sizes, path, context.rank(), context.size()); });
  unite_pieces(context, grid, path);
  return tables_of_vtk(context, std::move(grid), path);
}

Json inspect_pvtu(const std::string& path, const InspectOptions& options) {
  PvtuIndex index = parse_pvtu(read_vtu_markup(path), path);
  const std::vector<PieceSize> sizes = read_sizes_of(index, 0, std::ssize(index.files));
  std::uintmax_t n_bytes = 0;
  std::int64_t n_points = 0;
  for (const std::string& file : index.files) n_bytes += std::filesystem::file_size(file);
  for (const PieceSize& piece : sizes) n_points += piece.n_points;
  const int n = n_shares_of(n_bytes);
  VtkShares shares{"PVTU", n, n_points, [&](int share, bool) { return read_pvtu_share(index, sizes, path, share, n); }};
  shares.left_out = index.left_out;
  return inspect_vtk_shares(path, shares, options);
}

}  // namespace barrio::io::detail
