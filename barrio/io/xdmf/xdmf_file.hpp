#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/files/hdf5.hpp"
#include "barrio/io/vtk/vtk_left_out.hpp"
#include "barrio/io/vtk/vtk_numbers.hpp"

namespace barrio::io::detail {

inline constexpr const char* xdmf_remedy = "check that the file is a complete XDMF file";

/// Where the numbers of an XDMF DataItem are.
struct XdmfItem {
  enum class Form { text, hdf5, raw };
  Form form = Form::text;
  std::string file = {};                   ///< with its folder
  std::string dataset = {};                ///< in an HDF5 file
  std::vector<std::int64_t> starts = {};   ///< of the part of the dataset, along each dimension; empty for all of it
  std::vector<std::int64_t> lengths = {};  ///< of that part
  std::int64_t offset = 0;                 ///< byte in the file
  VtkNumber number = VtkNumber::float32;
  std::endian order = std::endian::native;
  std::vector<std::int64_t> dimensions = {};

  [[nodiscard]] std::int64_t n_numbers() const noexcept;
  bool operator==(const XdmfItem&) const = default;
};

/// Values on the points or cells of a grid.
struct XdmfArray {
  std::string name = {};
  int n_components = 1;  ///< 0: unknown before the cells are counted
  XdmfItem values = {};
};

/// A uniform grid.
struct XdmfGrid {
  enum class Points { xyz, xy, axes, even, apart };  ///< apart: x, y and z each in an array
  std::string name = {};
  int vtk_type = 0;          ///< 0: mixed
  std::int64_t n_nodes = 0;  ///< of each cell; 0: mixed
  static constexpr std::int64_t uncounted = -1;
  std::int64_t n_cells = 0;  ///< `uncounted` in a mixed list that does not state it
  std::int64_t n_points = 0;
  bool is_structured = false;
  std::array<std::int64_t, 3> dimensions{1, 1, 1};  ///< points along the axes of a structured grid
  std::vector<XdmfItem> nodes = {};                 ///< none in a structured grid
  Points points = Points::xyz;
  std::vector<XdmfItem> coordinates = {};
  std::array<double, 3> origin{};
  std::array<double, 3> spacing{1.0, 1.0, 1.0};
  std::vector<XdmfArray> on_points = {};
  std::vector<XdmfArray> on_cells = {};
};

/// Contents of an XDMF file without its arrays. O(grids + arrays).
struct XdmfIndex {
  std::vector<std::vector<XdmfGrid>> steps = {};  ///< the pieces of the mesh at each time step, or once
  bool has_steps = false;
  std::vector<double> times = {};  ///< of the steps, where all of them have one
  VtkLeftOut left_out;
};

/// A grid of the domain at each of its steps.
struct XdmfSeries {
  std::string name = {};
  bool has_steps = false;
  std::vector<double> times = {};                 ///< of those steps that have one
  std::vector<std::vector<XdmfGrid>> steps = {};  ///< at least one, of one grid or several
  [[nodiscard]] const std::vector<XdmfGrid>& at(std::size_t step) const {
    return steps[std::min(step, steps.size() - 1)];
  }
};

/// Add a description of what is not read, once.
void leave_out(VtkLeftOut& left_out, const std::string& what);

/// Find the number of components of the arrays on cells. Local.
/// @throws Error{bad_input} naming `path` if the number of values does not fit
void fit_cell_arrays(std::vector<XdmfGrid>& pieces, const std::string& path);

/// Make one mesh of the grids of the domain: the first one, with the attributes of others on the same cells.
XdmfIndex combine_grids(const std::vector<XdmfSeries>& all, VtkLeftOut left_out);

/// Tell whether a file that begins with `head` is an XDMF file.
bool is_xdmf(std::string_view head);

/// Copy the markup of an XDMF file; the byte where numbers begin stands for them. Local. @throws as read_markup
std::string read_xdmf_markup(const std::string& path);

/// Parse the result. Local. @throws Error{bad_input} naming `path` for what is damaged or not supported
XdmfIndex parse_xdmf(const std::string& markup, const std::string& path);

/// A kind of cells in XDMF files.
struct XdmfKind {
  std::string_view name;  ///< in small letters
  int code;               ///< in mixed lists
  int vtk_type;
  int n_nodes;  ///< 0: stated
};
/// Find a kind by its name, or by its code; null for others.
const XdmfKind* xdmf_kind(std::string_view name);
const XdmfKind* xdmf_kind(std::int64_t code);
inline constexpr int xdmf_polyhedron = 16;  ///< code of cells that are streams of faces

/// Reader of numbers of DataItems. Local.
class XdmfReader {
 public:
  explicit XdmfReader(std::string path) : path_(std::move(path)) {}
  /// Append numbers first .. first + n - 1. A text is scanned up to there; of other forms only these are read.
  /// @throws Error{bad_input} if there are fewer; {failed} if the file cannot be read
  template <class T>
  void read(const XdmfItem& item, std::int64_t first, std::int64_t n, std::vector<T>& out);

 private:
  template <class T>
  void read_hdf5(const XdmfItem& item, std::int64_t first, std::int64_t n, std::vector<T>& out);
  std::string path_;
  std::map<std::string, files::Handle> hdf5_;
};

}  // namespace barrio::io::detail
