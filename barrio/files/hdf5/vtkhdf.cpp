#include "barrio/files/vtkhdf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

// The group /VTKHDF has one row a piece in NumberOfPoints, NumberOfCells and NumberOfConnectivityIds, and the points,
// cells and data of the pieces one after the other. In a series the group Steps says for each step where its grid and
// its arrays begin, so that steps may share them.

namespace barrio::files {
namespace {

constexpr std::int64_t largest_chunk = 1 << 16;  // rows

std::int64_t sum_of(std::span<const std::int64_t> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
}

std::string folder_of(VtkhdfFile::Of of) { return of == VtkhdfFile::Of::points ? "PointData" : "CellData"; }

std::uint64_t hash_of(const void* values, std::size_t n_bytes) {
  Hash64 hash(n_bytes);
  const auto* at = static_cast<const unsigned char*>(values);
  for (; n_bytes >= 8; at += 8, n_bytes -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    hash.add(word);
  }
  std::uint64_t rest = 0;
  if (n_bytes > 0) std::memcpy(&rest, at, n_bytes);
  return hash.add(rest).value();
}

}  // namespace

VtkhdfFile::VtkhdfFile(mpi::Context& context, const std::string& path, std::uint64_t expected_bytes, bool has_steps)
    : context_(context), path_(path), has_steps_(has_steps), file_(context, path, expected_bytes) {
  file_.make_group("/VTKHDF");
  file_.write_attribute("/VTKHDF", "Type", "UnstructuredGrid");
}

std::int64_t VtkhdfFile::put(const std::string& path, hid_t type, std::int64_t row_size, const Rows& rows,
                             const void* values) {
  const std::string place = "/VTKHDF/" + path;
  if (!has_steps_) {
    file_.write_rows(place, type, rows.n, row_size, rows.first, rows.count, values);
    return 0;
  }
  const auto [known, is_new] = n_rows_.try_emplace(path, 0);
  if (is_new) file_.make_growing(place, type, row_size, std::clamp<std::int64_t>(rows.n, 1, largest_chunk));
  const std::int64_t first = known->second;
  known->second += rows.n;
  file_.write_growing(place, first + rows.n, first + rows.first, rows.count, values);
  return first;
}

void VtkhdfFile::check(const VtkhdfGrid& grid) const {
  const auto wants = [&](const char* what, std::size_t n, std::int64_t wanted) {
    if (static_cast<std::int64_t>(n) != wanted)
      refuse(ErrorCode::usage, fmt::format("{}: {}", path_, what), fmt::format("are {}, not {}", n, wanted));
  };
  const std::int64_t n_pieces = std::ssize(grid.n_points);
  const std::int64_t n_cells = sum_of(grid.n_cells);
  wants("numbers of cells", grid.n_cells.size(), n_pieces);
  wants("numbers of nodes", grid.n_nodes.size(), n_pieces);
  wants("coordinates", grid.points.size(), 3 * sum_of(grid.n_points));
  wants("nodes of cells", grid.connectivity.size(), sum_of(grid.n_nodes));
  wants("offsets of cells", grid.offsets.size(), n_cells + n_pieces);
  wants("types of cells", grid.types.size(), n_cells);
  if (grid.n_faces.empty() && grid.cell_offsets.empty()) return;
  wants("numbers of faces", grid.n_faces.size(), n_pieces);
  wants("numbers of nodes of faces", grid.n_face_nodes.size(), n_pieces);
  wants("nodes of faces", grid.face_nodes.size(), sum_of(grid.n_face_nodes));
  wants("offsets of faces", grid.face_offsets.size(), sum_of(grid.n_faces) + n_pieces);
  wants("faces of cells", grid.cell_faces.size(), sum_of(grid.n_faces));
  wants("offsets of cells in faces", grid.cell_offsets.size(), n_cells + n_pieces);
}

void VtkhdfFile::write_grid(const VtkhdfGrid& grid) {
  agree_after(context_, [&] { check(grid); });
  const std::array<std::int64_t, 6> mine{std::ssize(grid.n_points), sum_of(grid.n_points), sum_of(grid.n_cells),
                                         sum_of(grid.n_nodes),      sum_of(grid.n_faces),  sum_of(grid.n_face_nodes)};
  std::array<std::int64_t, 6> before = mine;
  std::array<std::int64_t, 6> n = mine;
  mpi::exclusive_sum(context_, std::span<std::int64_t>(before));
  mpi::all_reduce(context_, std::span<std::int64_t>(n), MPI_SUM);
  std::array<Rows, 6> rows;
  for (std::size_t i = 0; i < n.size(); ++i) rows[i] = {n[i], before[i], mine[i]};
  const auto [pieces, points, cells, nodes, faces, face_nodes] = rows;
  // Known only now: some rank has polyhedra.
  if (faces.n > 0)
    agree_after(context_, [&] {
      if (grid.n_faces.size() != grid.n_points.size())
        refuse(ErrorCode::usage, fmt::format("{}: numbers of faces", path_),
               fmt::format("are {}, not {}: another rank has polyhedra", grid.n_faces.size(), grid.n_points.size()));
    });
  if (n_grids_ > 0 && !has_steps_) refuse_together(ErrorCode::usage, path_, "has a grid already", "ask for a series");
  if (n_grids_ > 0 && (has_polyhedra_ || faces.n > 0))
    refuse_together(ErrorCode::usage, path_, "cannot be a series of polyhedra that change: VTKHDF has no place for it",
                    "write a file for each step");
  const std::array<std::int64_t, 2> version{2, faces.n > 0 ? 4 : 0};  // polyhedra came with 2.4
  if (n_grids_ == 0) file_.write_attribute("/VTKHDF", "Version", version);
  n_grids_ += 1;
  n_pieces_ = pieces.n;
  points_ = points;
  cells_ = cells;
  has_polyhedra_ = faces.n > 0;
  grid_.n_pieces = pieces.n;
  grid_.piece = put("NumberOfPoints", 0, pieces, grid.n_points);
  put("NumberOfCells", 0, pieces, grid.n_cells);
  put("NumberOfConnectivityIds", 0, pieces, grid.n_nodes);
  grid_.point = put("Points", 3, points, grid.points);
  grid_.node = put("Connectivity", 0, nodes, grid.connectivity);
  const Rows of_offsets{cells.n + pieces.n, cells.first + pieces.first, cells.count + pieces.count};
  put("Offsets", 0, of_offsets, grid.offsets);
  grid_.cell = put("Types", 0, cells, grid.types);
  if (!has_polyhedra_) return;
  put("NumberOfFaces", 0, pieces, grid.n_faces);
  put("NumberOfFaceConnectivityIds", 0, pieces, grid.n_face_nodes);
  put("NumberOfPolyhedronToFaceIds", 0, pieces, grid.n_faces);
  put("FaceConnectivity", 0, face_nodes, grid.face_nodes);
  put("FaceOffsets", 0, {faces.n + pieces.n, faces.first + pieces.first, faces.count + pieces.count},
      grid.face_offsets);
  put("PolyhedronToFaces", 0, faces, grid.cell_faces);
  put("PolyhedronOffsets", 0, of_offsets, grid.cell_offsets);
}

void VtkhdfFile::write_array(Of of, const std::string& name, hid_t type, int width, std::int64_t n_values,
                             const void* values) {
  const Rows& rows = of == Of::points ? points_ : cells_;
  const auto [known, is_new] = arrays_.try_emplace({of, name});
  Array& array = known->second;
  const std::size_t number_bytes = H5Tget_size(type);
  const std::string subject = fmt::format("{}: array '{}'", path_, name);
  if (is_new && !times_.empty())
    refuse_together(ErrorCode::usage, subject, "is new", "give all arrays in the first step");
  if (!is_new && !has_steps_) refuse_together(ErrorCode::usage, subject, "is given twice", "ask for a series");
  if (!is_new && (array.width != width || array.number_bytes != number_bytes))
    refuse_together(ErrorCode::usage, subject,
                    "has numbers of another type, or another number of them a row, than before");
  const std::uint64_t hash = hash_of(values, static_cast<std::size_t>(n_values) * number_bytes);
  const bool fits = n_values == rows.count * width;
  const bool is_other = is_new || array.grid != n_grids_ || array.hash != hash;
  std::array<std::int64_t, 2> faults{fits ? 0 : 1, is_other ? 1 : 0};
  mpi::all_reduce(context_, std::span<std::int64_t>(faults), MPI_SUM);
  if (faults[0] > 0)
    agree_after(context_, [&] {
      if (!fits)
        refuse(ErrorCode::usage, subject,
               fmt::format("has {} numbers, and this rank's pieces have {} rows of {}", n_values, rows.count, width));
    });
  if (faults[1] == 0) return;
  array.width = width;
  array.number_bytes = number_bytes;
  array.grid = n_grids_;
  array.hash = hash;
  array.offset = put(folder_of(of) + "/" + name, type, width > 1 ? width : 0, rows, values);
}

void VtkhdfFile::end_step(double time) {
  if (!has_steps_) refuse_together(ErrorCode::usage, path_, "is no series", "ask for one");
  for (auto& [key, array] : arrays_) {
    if (array.grid != n_grids_)
      refuse_together(ErrorCode::usage, fmt::format("{}: array '{}'", path_, key.second),
                      "is of a grid that was there before", "give it again after the grid");
    array.offsets.push_back(array.offset);
  }
  times_.push_back(time);
  grids_.push_back(grid_);
}

void VtkhdfFile::write_steps() {
  file_.make_group("/VTKHDF/Steps");
  file_.write_attribute("/VTKHDF/Steps", "NSteps", std::ssize(times_));
  file_.write_small<double>("/VTKHDF/Steps/Values", times_);
  const auto put_offsets = [&](const std::string& name, std::int64_t row_size, auto&& of) {
    std::vector<std::int64_t> offsets;
    for (const GridOffsets& grid : grids_) offsets.push_back(of(grid));
    file_.write_small<std::int64_t>("/VTKHDF/Steps/" + name, offsets, row_size);
  };
  put_offsets("PartOffsets", 0, [](const GridOffsets& grid) { return grid.piece; });
  put_offsets("NumberOfParts", 0, [](const GridOffsets& grid) { return grid.n_pieces; });
  put_offsets("PointOffsets", 0, [](const GridOffsets& grid) { return grid.point; });
  put_offsets("CellOffsets", 1, [](const GridOffsets& grid) { return grid.cell; });
  put_offsets("ConnectivityIdOffsets", 1, [](const GridOffsets& grid) { return grid.node; });
  for (const auto& [key, array] : arrays_)
    file_.write_small<std::int64_t>("/VTKHDF/Steps/" + folder_of(key.first) + "Offsets/" + key.second, array.offsets);
}

void VtkhdfFile::close() {
  if (has_steps_) write_steps();
  file_.close();
}

}  // namespace barrio::files
