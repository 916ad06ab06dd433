#pragma once

#include <span>
#include <string>
#include <vector>

#include "barrio/files/writer.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::io::detail {

/// One piece of a VTKHDF file: points and cells of this rank that stand together.
struct VtkhdfPiece {
  std::vector<LocalId> points;
  std::vector<LocalId> cells;
};

/// The arrays over points and cells of a VTKHDF file. All verbs are collective.
class VtkhdfArrays {
 public:
  /// All rows of the file, and where those of this rank begin.
  struct Rows {
    std::int64_t n = 0;
    std::int64_t first = 0;
  };
  /// Both are borrowed.
  VtkhdfArrays(files::FileWriter& file, std::span<const VtkhdfPiece> pieces, Rows points, Rows cells)
      : file_(&file), pieces_(pieces), points_(points), cells_(cells) {}

  /// Write an array that stays the same in all time steps.
  /// @param[in] of_local  shape (n_local(dim), n_components)
  template <class T>
  void write_once(const std::string& name, mesh::Dim dim, int n_components, const std::vector<T>& of_local);
  void write_once(const mesh::FieldData& field);
  /// Append the present values of a vertex field.
  void write_step(const mesh::FieldData& field, std::size_t step);
  /// Say for each step where the values of each array begin.
  /// @param fields  those that were written step by step
  void write_offsets(std::span<const mesh::FieldData* const> fields, std::size_t n_steps);

 private:
  /// Values of this rank's points or cells, piece by piece.
  template <class T>
  [[nodiscard]] std::vector<T> by_piece(mesh::Dim dim, int n_components, const std::vector<T>& of_local) const;

  files::FileWriter* file_;
  std::span<const VtkhdfPiece> pieces_;
  Rows points_;
  Rows cells_;
  std::vector<std::string> written_once_;  // "PointData/name" or "CellData/name"
};

template <class T>
std::vector<T> VtkhdfArrays::by_piece(mesh::Dim dim, int n_components, const std::vector<T>& of_local) const {
  const std::size_t width = n_components;
  std::vector<T> all;
  for (const VtkhdfPiece& piece : pieces_)
    for (const LocalId id : dim == mesh::Dim::vertex ? piece.points : piece.cells)
      for (std::size_t k = 0; k < width; ++k) all.push_back(of_local[index(id) * width + k]);
  return all;
}

template <class T>
void VtkhdfArrays::write_once(const std::string& name, mesh::Dim dim, int n_components,
                              const std::vector<T>& of_local) {
  const bool is_of_points = dim == mesh::Dim::vertex;
  const Rows& rows = is_of_points ? points_ : cells_;
  const std::string& path = written_once_.emplace_back((is_of_points ? "PointData/" : "CellData/") + name);
  file_->write_rows<T>("/VTKHDF/" + path, rows.n, n_components > 1 ? n_components : 0, rows.first,
                       by_piece(dim, n_components, of_local));
}

}  // namespace barrio::io::detail
