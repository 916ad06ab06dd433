#include "barrio/io/vtk/vtk_polyhedra.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/sort_unique.hpp"

namespace barrio::io::detail {
namespace {

[[noreturn]] void refuse_polyhedra(const std::string& path, std::string cause) {
  throw Error(ErrorCode::bad_input, {.subject = path, .cause = std::move(cause), .remedy = damaged_remedy});
}

/// Refuse offsets that are negative or descend.
void check_offsets(const std::vector<std::int64_t>& offsets, std::int64_t n, std::string_view what,
                   const std::string& path) {
  if (std::ssize(offsets) != n + 1 || offsets.front() < 0 || !std::ranges::is_sorted(offsets))
    refuse_polyhedra(path, fmt::format("has offsets of {} that do not ascend", what));
}

/// Faces by number, each once.
class FaceStore {
 public:
  /// @param faces  of cells, cell after cell
  FaceStore(const VtkFaceArrays& arrays, const std::vector<std::int64_t>& faces, const std::string& path)
      : wanted_(faces) {
    std::ranges::sort(wanted_);
    if (!wanted_.empty() && wanted_.front() < 0)
      refuse_polyhedra(path, "has a polyhedron with a face of negative number");
    // A face that is repeated many times would let a small file exhaust the memory.
    for (std::size_t i = 2; i < wanted_.size(); ++i)
      if (wanted_[i] == wanted_[i - 2])
        refuse_polyhedra(path, fmt::format("has a face, {}, that belongs to more than two polyhedra", wanted_[i]));
    sort_unique(wanted_);
    // The faces may lie anywhere: stretches of the arrays that hold many of them are read, and the gaps are not.
    const std::int64_t at_once = std::max<std::int64_t>(std::ssize(wanted_), 1 << 16);
    for (auto begin = wanted_.begin(); begin != wanted_.end();) {
      const auto end = std::lower_bound(begin, wanted_.end(), *begin + at_once);
      read({begin, end}, arrays, path);
      begin = end;
    }
  }

  [[nodiscard]] std::span<const std::int64_t> points_of(std::int64_t face) const& {
    return points_.of(std::ranges::lower_bound(wanted_, face) - wanted_.begin());
  }

 private:
  void read(std::span<const std::int64_t> faces, const VtkFaceArrays& arrays, const std::string& path) {
    const std::int64_t n = faces.back() - faces.front() + 1;
    const std::vector<std::int64_t> offsets = arrays.face_offsets(faces.front(), n);
    check_offsets(offsets, n, "faces", path);
    const std::vector<std::int64_t> points = arrays.face_points(offsets.front(), offsets.back() - offsets.front());
    for (const std::int64_t face : faces) {
      const std::size_t place = face - faces.front();
      const auto begin = points.begin() - offsets.front();
      points_.nodes.insert(points_.nodes.end(), begin + offsets[place], begin + offsets[place + 1]);
      points_.end_cell();
    }
  }

  std::vector<std::int64_t> wanted_;
  VtkLoops points_;  ///< of the wanted faces, not closed
};

/// Return the faces of a prism: the base, the top, the sides, all outwards. VTK numbers the base counter-clockwise as
/// seen from the top, then the top.
std::vector<std::vector<std::int64_t>> faces_of_prism(std::span<const std::int64_t> nodes) {
  const auto n = static_cast<std::ptrdiff_t>(nodes.size() / 2);
  std::vector<std::vector<std::int64_t>> faces{{nodes.begin(), nodes.begin() + n}, {nodes.begin() + n, nodes.end()}};
  std::ranges::reverse(faces[0]);
  for (std::size_t i = 0; i < nodes.size() / 2; ++i) {
    const std::size_t next = (i + 1) % (nodes.size() / 2);
    const std::size_t above = nodes.size() / 2;
    faces.push_back({nodes[i], nodes[next], nodes[above + next], nodes[above + i]});
  }
  return faces;
}

/// Drop what collapsed in the faces of a cell that has a point at several corners: edges of no length, faces of fewer
/// than three points, and pairs of faces with the same points.
void drop_collapsed(std::vector<std::vector<std::int64_t>>& faces) {
  for (std::vector<std::int64_t>& face : faces) {
    face.erase(std::ranges::unique(face).begin(), face.end());
    while (face.size() > 1 && face.front() == face.back()) face.pop_back();
  }
  std::erase_if(faces, [](const auto& face) { return face.size() < 3; });
  for (std::size_t i = 0; i < faces.size();) {
    const auto twin = std::find_if(faces.begin() + static_cast<std::ptrdiff_t>(i) + 1, faces.end(), [&](auto& other) {
      return other.size() == faces[i].size() && std::ranges::is_permutation(other, faces[i]);
    });
    if (twin == faces.end()) {
      ++i;
      continue;
    }
    faces.erase(twin);
    faces.erase(faces.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

/// Append a prism as loops, also one that has a point at several corners.
void add_loops_of_prism(std::span<const std::int64_t> nodes, std::vector<std::int64_t>& loops) {
  auto faces = faces_of_prism(nodes);
  std::vector<std::int64_t> distinct(nodes.begin(), nodes.end());
  sort_unique(distinct);
  if (distinct.size() < nodes.size()) drop_collapsed(faces);
  for (const std::vector<std::int64_t>& face : faces) add_loop(face, loops);
}

/// Replace the nodes of the cells for which `wants(cell)` is true by the loops that `make(nodes, loops)` appends. They
/// become polyhedra.
template <class Wants, class Make>
void replace_nodes(VtkGrid& grid, Wants&& wants, Make&& make) {
  VtkLoops all;
  for (std::size_t c = 0; c < grid.types.size(); ++c) {
    const auto nodes = grid.nodes_of(c);
    if (wants(c)) {
      make(nodes, all.nodes);
      grid.types[c] = vtk_polyhedron;
    } else {
      all.nodes.insert(all.nodes.end(), nodes.begin(), nodes.end());
    }
    all.end_cell();
  }
  grid.offsets = std::move(all.offsets);
  grid.nodes = std::move(all.nodes);
}

}  // namespace

void add_loop(std::span<const std::int64_t> face, std::vector<std::int64_t>& loops) {
  while (face.size() > 1 && (face.back() == face.front() || face.back() == face[face.size() - 2]))
    face = face.first(face.size() - 1);
  if (face.empty()) return;
  loops.insert(loops.end(), face.begin(), face.end());
  loops.push_back(face.front());
}

bool add_loops_of_stream(std::span<const std::int64_t> stream, std::vector<std::int64_t>& loops) {
  if (stream.empty()) return false;
  std::size_t at = 1;
  for (std::int64_t face = 0; face < stream[0]; ++face) {
    if (at == stream.size() || stream[at] < 0 || stream[at] >= std::ssize(stream) - static_cast<std::ptrdiff_t>(at))
      return false;
    const std::size_t n = stream[at];
    add_loop(stream.subspan(at + 1, n), loops);
    at += 1 + n;
  }
  return at == stream.size();
}

VtkLoops read_loops(const VtkFaceArrays& arrays, std::int64_t first, std::int64_t n, const std::string& path) {
  const std::vector<std::int64_t> offsets = arrays.cell_offsets(first, n);
  check_offsets(offsets, n, "polyhedra", path);
  const std::vector<std::int64_t> faces = arrays.cell_faces(offsets.front(), offsets.back() - offsets.front());
  const FaceStore store(arrays, faces, path);
  VtkLoops loops;
  for (std::int64_t c = 0; c < n; ++c) {
    for (std::int64_t f = offsets[c]; f < offsets[c + 1]; ++f)
      add_loop(store.points_of(faces[f - offsets.front()]), loops.nodes);
    loops.end_cell();
  }
  return loops;
}

void unpack_streams(VtkGrid& grid, const std::string& path) {
  const auto is_polyhedron = [&](std::size_t c) { return grid.types[c] == vtk_polyhedron; };
  if (std::ranges::find(grid.types, vtk_polyhedron) == grid.types.end()) return;
  replace_nodes(grid, is_polyhedron, [&](std::span<const std::int64_t> stream, std::vector<std::int64_t>& loops) {
    if (!add_loops_of_stream(stream, loops))
      refuse_polyhedra(path,
                       fmt::format("has a polyhedron whose list of faces does not have the {} numbers that it takes",
                                   stream.size()));
  });
}

void make_polyhedra_of_prisms(VtkGrid& grid) {
  // A prism with another number of nodes is left, and will be refused.
  const auto is_prism = [&](std::size_t c) {
    return (grid.types[c] == vtk_pentagonal_prism && grid.nodes_of(c).size() == 10) ||
           (grid.types[c] == vtk_hexagonal_prism && grid.nodes_of(c).size() == 12);
  };
  for (std::size_t c = 0; c < grid.types.size(); ++c) grid.n_prisms += is_prism(c) ? 1 : 0;
  if (grid.n_prisms > 0) replace_nodes(grid, is_prism, add_loops_of_prism);
}

}  // namespace barrio::io::detail
