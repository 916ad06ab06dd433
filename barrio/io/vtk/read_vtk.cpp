#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "barrio/base/slabs.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/io/common/structured_cells.hpp"
#include "barrio/io/vtk/vtk_file.hpp"
#include "barrio/io/vtk/vtk_polyhedra.hpp"
#include "barrio/mpi/agree.hpp"

// Legacy VTK in two passes, as Gmsh: rank 0 scans the file once with a bounded buffer and finds where each rank's share
// begins. Then every rank reads its own share. No rank holds the mesh.

namespace barrio::io::detail {
namespace {

using Dataset = VtkIndex::Dataset;
using Use = VtkIndex::Section::Use;

class VtkShareReader {
 public:
  VtkShareReader(const std::string& path, const VtkIndex& index, int share, int n_shares)
      : index_(index),
        in_(path, "check that the file is a complete legacy VTK file"),
        share_(share),
        n_shares_(n_shares) {
    grid_.n_points = index.head.n_points;
  }

  VtkGrid run(const std::vector<VtkPiece>& pieces, bool with_grid) {
    make_arrays();
    for (const VtkPiece& piece : pieces) {
      const std::size_t place = piece.section;
      in_.go_to(piece.offset);
      read(index_.sections[place], place, piece.n);
    }
    if (index_.is_structured() && with_grid) add_grid();
    unpack_streams(grid_, in_.path());
    split_lists(grid_, in_.path());
    return std::move(grid_);
  }

 private:
  /// Make the arrays, in the order of their sections, even if this share has no values.
  void make_arrays() {
    std::size_t n_named = 0;
    for (const VtkIndex::Section& section : index_.sections) {
      array_of_.push_back(0);
      if (section.use != Use::on_points && section.use != Use::on_cells) continue;
      auto& arrays = section.use == Use::on_points ? grid_.on_points : grid_.on_cells;
      array_of_.back() = arrays.size();
      arrays.push_back({.name = index_.names[n_named++], .n_components = section.n_components, .values = {}});
      if (!is_integer(section.number) && section.is_colour == 0) arrays.back().values = std::vector<double>();
    }
  }

  template <class T>
  void numbers(const VtkIndex::Section& section, std::int64_t n, std::vector<T>& out) {
    read_vtk_numbers(in_, section.number, index_.head.is_binary, n, out);
  }

  void read(const VtkIndex::Section& section, std::size_t place, std::int64_t n) {
    switch (section.use) {
      case Use::points: return numbers(section, n, grid_.coordinates);
      case Use::x_axis: return numbers(section, n, axes_[0]);
      case Use::y_axis: return numbers(section, n, axes_[1]);
      case Use::z_axis: return numbers(section, n, axes_[2]);
      case Use::cells: return mixed_cells(section, n);
      case Use::offsets:
        ends_.clear();
        cell_type_ = section.cell_type;
        return numbers(section, n, ends_);
      case Use::connectivity: return cells(section, n);
      case Use::types: return types(section, n);
      case Use::on_points: return values(section, n, grid_.on_points[array_of_[place]]);
      case Use::on_cells: return values(section, n, grid_.on_cells[array_of_[place]]);
    }
  }

  void values(const VtkIndex::Section& section, std::int64_t n, VtkArray& array) {
    if (section.is_colour == 0) return read_vtk_numbers(in_, section.number, index_.head.is_binary, n, array);
    std::vector<double> parts;
    numbers(section, n, parts);
    for (const double part : parts) {  // rounded as VTK does, from single precision
      const double byte = std::floor(255.0 * static_cast<double>(static_cast<float>(part)) + 0.5);
      std::get<0>(array.values).push_back(static_cast<std::int64_t>(byte > 0.0 ? std::min(byte, 255.0) : 0.0));
    }
  }

  void mixed_cells(const VtkIndex::Section& section, std::int64_t n) {
    std::vector<std::int64_t> words;
    numbers(section, n, words);
    for (std::size_t at = 0; at < words.size();) {
      const std::size_t n_nodes = words[at];
      if (n_nodes >= words.size() - at)
        in_.refuse("changed its cells during the read");  // the index has checked that they fit
      grid_.add_cell(section.cell_type, std::span<const std::int64_t>(words).subspan(at + 1, n_nodes));
      at += 1 + n_nodes;
    }
  }

  void cells(const VtkIndex::Section& section, std::int64_t n) {
    std::vector<std::int64_t> nodes;
    numbers(section, n, nodes);
    if (!std::ranges::is_sorted(ends_) || ends_.back() - ends_.front() != n)
      in_.refuse("has offsets of cells that do not ascend");
    for (std::size_t i = 0; i + 1 < ends_.size(); ++i)
      grid_.add_cell(cell_type_,
                     std::span<const std::int64_t>(nodes).subspan(ends_[i] - ends_.front(), ends_[i + 1] - ends_[i]));
  }

  void types(const VtkIndex::Section& section, std::int64_t n) {
    std::vector<std::int64_t> found;
    numbers(section, n, found);
    const auto wrong = std::ranges::find_if(found, [](std::int64_t t) { return t < 0 || t > 255; });
    if (wrong != found.end()) in_.refuse(fmt::format("has a cell of type {}, which must be 0 to 255", *wrong));
    if (found.size() != grid_.types.size())
      in_.refuse(fmt::format("has {} cell types for {} cells", found.size(), grid_.types.size()));
    std::ranges::transform(found, grid_.types.begin(), [](std::int64_t t) { return static_cast<std::uint8_t>(t); });
  }

  void add_grid() {
    const PointGrid points{index_.head.dimensions};
    const Slabs cells{index_.head.n_cells, n_shares_};
    points.for_each_cell(cells.first(share_), cells.size(share_),
                         [&](std::span<const std::int64_t> corners) { grid_.add_cell(points.vtk_type(), corners); });
    if (index_.head.dataset == Dataset::structured_grid) return;
    const Slabs rows{grid_.n_points, n_shares_};
    grid_.coordinates.reserve(3 * rows.size(share_));
    for (std::int64_t row = rows.first(share_); row < rows.first(share_ + 1); ++row) {
      const auto place = points.place(row);
      for (std::size_t a = 0; a < 3; ++a)
        grid_.coordinates.push_back(index_.head.dataset == Dataset::rectilinear_grid
                                        ? axes_[a][place[a]]
                                        : index_.head.origin[a] +
                                              index_.head.spacing[a] * static_cast<double>(place[a]));
    }
  }

  const VtkIndex& index_;
  Scanner in_;
  int share_;
  int n_shares_;
  VtkGrid grid_;
  std::vector<std::size_t> array_of_;  ///< index of each section's array
  std::array<std::vector<double>, 3> axes_;
  std::vector<std::int64_t> ends_;  ///< of the cells whose nodes come next
  int cell_type_ = 0;
};

}  // namespace

VtkGrid read_vtk_share(const std::string& path, const VtkIndex& index, const std::vector<VtkPiece>& pieces, int share,
                       int n_shares, bool with_grid) {
  return VtkShareReader(path, index, share, n_shares).run(pieces, with_grid);
}

mesh::MeshTables read_vtk(mpi::Context& context, const std::string& path) {
  VtkIndex index;
  agree_after(context, [&] {
    if (context.is_root()) index = index_vtk(path, context.size());
  });
  index.share(context);
  if (index.is_structured()) check_size({index.head.dimensions}, path, context.size());
  index.left_out.tell(context, path);
  const std::vector<VtkPiece> pieces = index.pieces_of(context);
  VtkGrid grid;
  agree_after(context, [&] { grid = read_vtk_share(path, index, pieces, context.rank(), context.size()); });
  return tables_of_vtk(context, std::move(grid), path);
}

}  // namespace barrio::io::detail
