#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/files/hdf5.hpp"
#include "barrio/io/vtk/vtk_left_out.hpp"
#include "barrio/io/vtk/vtk_numbers.hpp"
#include "barrio/io/vtk/vtk_polyhedra.hpp"

namespace barrio::io::detail {

inline constexpr const char* vtu_remedy = "check that the file is a complete .vtu file";

/// Encoding of the values of a .vtu file.
struct VtuEncoding {
  std::endian order = std::endian::little;
  std::int64_t size_bytes = 4;  ///< of the sizes before binary values
  bool is_compressed = false;   ///< by zlib
};

/// An array of one piece: the location and form of its values.
struct VtuArray {
  enum class Form { text, raw, base64 };
  std::string name;
  VtkNumber number = VtkNumber::float64;
  int n_components = 1;
  Form form = Form::text;
  std::int64_t offset = 0;  ///< byte in the file
  bool is_id = false;       ///< marked as global ids
};

/// Arrays with the faces of the polyhedra of a piece.
struct VtuFaces {
  enum class Layout {
    none,
    streams,  ///< up to version 1.0 of the format: one array of streams
    apart     ///< since version 2.3: as `VtkFaceArrays`, but offsets are ends, without a first 0
  };
  Layout layout = Layout::none;
  VtuArray cell_ends;  ///< in the streams, -1 for other cells; or in `cell_faces`
  VtuArray streams;
  VtuArray cell_faces;
  VtuArray face_ends;
  VtuArray face_points;
};

struct VtuPiece {
  std::int64_t n_points = 0;
  std::int64_t n_cells = 0;
  VtuArray points;
  VtuArray nodes;
  VtuArray ends;
  VtuArray types;
  VtuFaces faces;
  std::vector<VtuArray> on_points;
  std::vector<VtuArray> on_cells;
};

/// Index of a .vtu file. Its size grows with the number of arrays and pieces, not with the mesh.
struct VtuIndex {
  VtuEncoding encoding;
  std::vector<VtuPiece> pieces;     ///< at least one; those with points or cells have the same arrays in the same order
  std::vector<VtuArray> on_points;  ///< of the first piece that has points
  std::vector<VtuArray> on_cells;
  VtkLeftOut left_out;
  std::int64_t n_points = 0;  ///< of all pieces
  std::int64_t n_cells = 0;
};

/// Copy the markup of a .vtu file. For an inline array it holds the byte where the values begin, not the values;
/// appended values are left out. Local; memory does not grow with the mesh.
/// @throws Error{bad_input} if the markup ends early or is vast; {failed} if the file cannot be read
std::string read_vtu_markup(const std::string& path);

/// Parse the result of `read_vtu_markup`. Local. @throws Error{bad_input} naming `path`
VtuIndex parse_vtu(const std::string& markup, const std::string& path);

/// Append numbers first .. first + n - 1 of an array. Local. A text is scanned up to there; of other forms only the
/// needed bytes are read.
/// @throws Error{bad_input} if the array is shorter
template <class T>
void read_vtu_numbers(Scanner& in, const VtuEncoding& encoding, const VtuArray& array, std::int64_t first,
                      std::int64_t n, std::vector<T>& out);

/// Read the closed loops of n cells of a piece from `first` on, with points of the piece. Local.
/// @throws Error{bad_input} if the piece has no faces, or faces that do not fit together
/// Cost: memory O(n, faces of these cells)
VtkLoops read_vtu_loops(Scanner& in, const VtuEncoding& encoding, const VtuFaces& faces, std::int64_t first,
                        std::int64_t n);

/// Return the type of number that a .vtu file names; nothing for texts and unknown names.
std::optional<VtkNumber> vtu_number(std::string_view type);

/// Add arrays without values to a grid.
void add_vtu_arrays(const std::vector<VtuArray>& arrays, std::vector<VtkArray>& out);

/// Append rows of a file to a grid that has the arrays of the file. Local.
/// @param first_point  row, in the grid, of the file's first point
void add_vtu_rows(const std::string& path, const VtuIndex& index, files::Rows points, files::Rows cells,
                  std::int64_t first_point, VtkGrid& grid);

/// Read one share. Local.
VtkGrid read_vtu_share(const std::string& path, const VtuIndex& index, int share, int n_shares);

}  // namespace barrio::io::detail
