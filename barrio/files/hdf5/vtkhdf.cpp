#include "barrio/files/vtkhdf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

// The group /VTKHDF has one row per piece in NumberOfPoints, NumberOfCells and NumberOfConnectivityIds, and the points,
// cells and data of the pieces in sequence. In a series the group Steps gives the first rows of grid and arrays for
// each step, so steps can share them.

namespace barrio::files {
namespace {

std::int64_t sum_of(std::span<const std::int64_t> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
}

constexpr std::array<const char*, 5> names_of_sizes{"points", "cells", "nodes", "faces", "nodes of faces"};

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

void VtkhdfFile::check(const VtkhdfArrays& arrays, const VtkhdfSizes& sizes) const {
  const auto wants = [&](const char* what, std::size_t n, std::int64_t wanted) {
    if (static_cast<std::int64_t>(n) != wanted)
      refuse(ErrorCode::usage, fmt::format("{}: {}", path_, what), fmt::format("are {}, but must be {}", n, wanted));
  };
  const std::int64_t n_pieces = std::ssize(sizes.n_points);
  const std::int64_t n_cells = sum_of(sizes.n_cells);
  const std::int64_t n_faces = sum_of(sizes.n_faces);
  wants("coordinates", arrays.points.size(), 3 * sum_of(sizes.n_points));
  wants("nodes of cells", arrays.connectivity.size(), sum_of(sizes.n_nodes));
  wants("offsets of cells", arrays.offsets.size(), n_cells + n_pieces);
  wants("types of cells", arrays.types.size(), n_cells);
  if (!has_polyhedra_ && n_faces == 0 && arrays.cell_offsets.empty()) return;
  wants("nodes of faces", arrays.face_nodes.size(), sum_of(sizes.n_face_nodes));
  wants("offsets of faces", arrays.face_offsets.size(), n_faces + n_pieces);
  wants("faces of cells", arrays.cell_faces.size(), n_faces);
  wants("offsets of cells in faces", arrays.cell_offsets.size(), n_cells + n_pieces);
}

void VtkhdfFile::make_grid(const VtkhdfSizes& sizes) {
  const std::array<std::span<const std::int64_t>, 5> given{sizes.n_points, sizes.n_cells, sizes.n_nodes, sizes.n_faces,
                                                           sizes.n_face_nodes};
  const std::size_t n_pieces = sizes.n_points.size();
  const bool lists_faces = !sizes.n_faces.empty();
  // Rows of each kind, by piece.
  std::array<std::vector<std::int64_t>, n_kinds> n;
  agree_after(context_, [&] {
    for (std::size_t k = 0; k < given.size(); ++k) {
      if (given[k].size() == n_pieces || (k >= 3 && given[k].empty() && !lists_faces)) continue;
      refuse(ErrorCode::usage, fmt::format("{}: numbers of {}", path_, names_of_sizes[k]),
             fmt::format("are {}, but must be {}", given[k].size(), n_pieces));
    }
  });
  for (std::size_t k = 0; k < given.size(); ++k) {
    n[of_points + k].assign(given[k].begin(), given[k].end());
    n[of_points + k].resize(n_pieces, 0);
  }
  n[of_pieces].assign(n_pieces, 1);
  for (std::size_t p = 0; p < n_pieces; ++p) {
    n[of_offsets].push_back(n[of_cells][p] + 1);
    n[of_face_offsets].push_back(n[of_faces][p] + 1);
  }
  std::array<std::int64_t, n_kinds + 1> mine{};
  for (std::size_t k = 0; k < n_kinds; ++k) mine[k] = sum_of(n[k]);
  mine[n_kinds] = lists_faces || n_pieces == 0 ? 0 : 1;
  std::array<std::int64_t, n_kinds + 1> before = mine;
  std::array<std::int64_t, n_kinds + 1> all = mine;
  mpi::exclusive_sum(context_, std::span<std::int64_t>(before));
  mpi::all_reduce(context_, std::span<std::int64_t>(all), MPI_SUM);
  // Only now is it known that some rank has polyhedra.
  if (all[of_faces] > 0 && all[n_kinds] > 0)
    agree_after(context_, [&] {
      if (mine[n_kinds] > 0)
        refuse(ErrorCode::usage, fmt::format("{}: numbers of faces", path_),
               fmt::format("are 0, but must be {}: another rank has polyhedra", n_pieces));
    });
  if (n_grids_ > 0 && !has_steps_) refuse_together(ErrorCode::usage, path_, "has a grid already", "ask for a series");
  if (n_grids_ > 0 && (has_polyhedra_ || all[of_faces] > 0))
    refuse_together(ErrorCode::usage, path_, "cannot be a series of changing polyhedra: VTKHDF does not support it",
                    "write a file for each step");
  has_polyhedra_ = all[of_faces] > 0;
  const std::array<std::int64_t, 2> version{2, has_polyhedra_ ? 4 : 0};  // polyhedra came with 2.4
  if (n_grids_ == 0) file_.write_attribute("/VTKHDF", "Version", version);
  n_grids_ += 1;
  for (std::size_t k = 0; k < n_kinds; ++k) {
    Rows& rows = kinds_[k];
    rows.n = all[k];
    rows.first.resize(n_pieces + 1);
    std::exclusive_scan(n[k].begin(), n[k].end(), rows.first.begin(), before[k]);
    rows.first.back() = before[k] + mine[k];
  }
  make_column<std::int64_t>("NumberOfPoints", of_pieces);
  make_column<std::int64_t>("NumberOfCells", of_pieces);
  make_column<std::int64_t>("NumberOfConnectivityIds", of_pieces);
  make_column<double>("Points", of_points, 3);
  make_column<std::int64_t>("Connectivity", of_nodes);
  make_column<std::int64_t>("Offsets", of_offsets);
  make_column<std::uint8_t>("Types", of_cells);
  put<std::int64_t>("NumberOfPoints", of_pieces, 0, sizes.n_points);
  put<std::int64_t>("NumberOfCells", of_pieces, 0, sizes.n_cells);
  put<std::int64_t>("NumberOfConnectivityIds", of_pieces, 0, sizes.n_nodes);
  if (!has_polyhedra_) return;
  make_column<std::int64_t>("NumberOfFaces", of_pieces);
  make_column<std::int64_t>("NumberOfFaceConnectivityIds", of_pieces);
  make_column<std::int64_t>("NumberOfPolyhedronToFaceIds", of_pieces);
  make_column<std::int64_t>("FaceConnectivity", of_face_nodes);
  make_column<std::int64_t>("FaceOffsets", of_face_offsets);
  make_column<std::int64_t>("PolyhedronToFaces", of_faces);
  make_column<std::int64_t>("PolyhedronOffsets", of_offsets);
  put<std::int64_t>("NumberOfFaces", of_pieces, 0, sizes.n_faces);
  put<std::int64_t>("NumberOfFaceConnectivityIds", of_pieces, 0, sizes.n_face_nodes);
  put<std::int64_t>("NumberOfPolyhedronToFaceIds", of_pieces, 0, sizes.n_faces);
}

void VtkhdfFile::put_all(std::size_t piece, const VtkhdfArrays& arrays) {
  put<double>("Points", of_points, piece, arrays.points);
  put<std::int64_t>("Connectivity", of_nodes, piece, arrays.connectivity);
  put<std::int64_t>("Offsets", of_offsets, piece, arrays.offsets);
  put<std::uint8_t>("Types", of_cells, piece, arrays.types);
  if (!has_polyhedra_) return;
  put<std::int64_t>("FaceConnectivity", of_face_nodes, piece, arrays.face_nodes);
  put<std::int64_t>("FaceOffsets", of_face_offsets, piece, arrays.face_offsets);
  put<std::int64_t>("PolyhedronToFaces", of_faces, piece, arrays.cell_faces);
  put<std::int64_t>("PolyhedronOffsets", of_offsets, piece, arrays.cell_offsets);
}

void VtkhdfFile::put_piece(std::size_t piece, const VtkhdfArrays& arrays) {
  Status fault = capture([&] {
    check_piece(piece);
    const auto size_of = [&](Kind kind) { return kinds_[kind].first[piece + 1] - kinds_[kind].first[piece]; };
    const std::array<std::int64_t, 5> sizes{size_of(of_points), size_of(of_cells), size_of(of_nodes), size_of(of_faces),
                                            size_of(of_face_nodes)};
    const auto one = [&](std::size_t k) { return std::span(sizes).subspan(k, 1); };
    check(arrays, {one(0), one(1), one(2), one(3), one(4)});
    put_all(piece, arrays);
  });
  file_.keep_fault(std::move(fault));
}

void VtkhdfFile::write_grid(const VtkhdfSizes& sizes, const VtkhdfArrays& arrays) {
  make_grid(sizes);
  agree_after(context_, [&] { check(arrays, sizes); });
  if (sizes.n_points.empty()) return;
  put_all(0, arrays);
}

void VtkhdfFile::check_piece(std::size_t piece) const {
  const std::size_t n_pieces = kinds_[of_pieces].first.empty() ? 0 : kinds_[of_pieces].first.size() - 1;
  if (piece >= n_pieces)
    refuse(ErrorCode::usage, path_, fmt::format("piece {} is put, but this rank has {}", piece, n_pieces));
}

VtkhdfFile::Array& VtkhdfFile::find_array(Of of, const std::string& name, hid_t type, int width) {
  const auto [known, is_new] = arrays_.try_emplace({of, name});
  Array& array = known->second;
  const std::string subject = fmt::format("{}: array '{}'", path_, name);
  if (is_new && !times_.empty())
    refuse_together(ErrorCode::usage, subject, "is new", "give all arrays in the first step");
  if (!is_new && !has_steps_) refuse_together(ErrorCode::usage, subject, "is given twice", "ask for a series");
  if (!is_new && (array.width != width || array.number_bytes != H5Tget_size(type)))
    refuse_together(ErrorCode::usage, subject, "has another type or another number of components than before");
  array.width = width;
  array.number_bytes = H5Tget_size(type);
  return array;
}

VtkhdfFile::ArrayRows VtkhdfFile::make_rows_of(Array& array, Of of, const std::string& name, hid_t type) {
  array.grid = n_grids_;
  make(array.column, folder_of(of) + "/" + name, type, array.width > 1 ? array.width : 0, rows_of(of).n);
  return ArrayRows(array.column.rows, array.column.first, of, array.width, name);
}

VtkhdfFile::ArrayRows VtkhdfFile::make_array(Of of, const std::string& name, hid_t type, int width) {
  Array& array = find_array(of, name, type, width);
  array.is_streamed = true;
  return make_rows_of(array, of, name, type);
}

void VtkhdfFile::write_array(Of of, const std::string& name, hid_t type, int width, std::int64_t n_values,
                             const void* values) {
  Array& array = find_array(of, name, type, width);
  const std::vector<std::int64_t>& first = rows_of(of).first;
  const std::int64_t count = first.empty() ? 0 : first.back() - first.front();
  const std::uint64_t hash = hash_of(values, static_cast<std::size_t>(n_values) * array.number_bytes);
  const bool fits = n_values == count * width;
  const bool is_other = array.grid != n_grids_ || array.is_streamed || array.hash != hash;
  std::array<std::int64_t, 2> faults{fits ? 0 : 1, is_other ? 1 : 0};
  mpi::all_reduce(context_, std::span<std::int64_t>(faults), MPI_SUM);
  if (faults[0] > 0)
    agree_after(context_, [&] {
      if (!fits)
        refuse(ErrorCode::usage, fmt::format("{}: array '{}'", path_, name),
               fmt::format("has {} numbers, but this rank's pieces have {} rows of {}", n_values, count, width));
    });
  if (faults[1] == 0) return;
  array.hash = hash;
  array.is_streamed = false;
  const ArrayRows rows = make_rows_of(array, of, name, type);
  if (count > 0) file_.put_rows(rows.rows_, rows.first_ + first.front(), count, values);
}

bool VtkhdfFile::fits(const ArrayRows& array, std::size_t piece, std::int64_t n) {
  Status fault = capture([&] {
    check_piece(piece);
    const std::vector<std::int64_t>& first = rows_of(array.of_).first;
    const std::int64_t wanted = (first[piece + 1] - first[piece]) * array.width_;
    if (n != wanted)
      refuse(ErrorCode::usage, fmt::format("{}: array '{}'", path_, array.name_),
             fmt::format("has {} numbers for piece {}, but needs {}", n, piece, wanted));
  });
  if (!fault) return true;
  file_.keep_fault(std::move(fault));
  return false;
}

void VtkhdfFile::mark_ids(Of of, const std::string& name) {
  Array& array = arrays_.at({of, name});
  if (!std::exchange(array.is_marked, true))
    file_.write_attribute("/VTKHDF/" + folder_of(of) + "/" + name, "Attribute", "GlobalIds");
}

void VtkhdfFile::end_step(double time) {
  if (!has_steps_) refuse_together(ErrorCode::usage, path_, "is not a series", "ask for one");
  for (auto& [key, array] : arrays_) {
    if (array.grid != n_grids_)
      refuse_together(ErrorCode::usage, fmt::format("{}: array '{}'", path_, key.second),
                      "belongs to the previous grid", "give it again after a new grid");
    array.offsets.push_back(array.column.first);
  }
  times_.push_back(time);
  const auto first_of = [&](const char* name) { return columns_[name].first; };
  grids_.push_back({first_of("NumberOfPoints"), kinds_[of_pieces].n, first_of("Points"), first_of("Types"),
                    first_of("Connectivity")});
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
