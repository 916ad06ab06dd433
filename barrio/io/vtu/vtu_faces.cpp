#include <fmt/format.h>

#include <algorithm>

#include "barrio/io/vtu/vtu_file.hpp"

// The faces of polyhedra in .vtu files, in the layouts of the versions of the format.

namespace barrio::io::detail {
namespace {

using Layout = VtuFaces::Layout;

class FacesReader {
 public:
  FacesReader(Scanner& in, const VtuEncoding& encoding, const VtuFaces& faces)
      : in_(in), encoding_(encoding), faces_(faces) {}

  VtkLoops apart(std::int64_t first, std::int64_t n) {
    const auto slice_of = [this](const VtuArray& array) {
      return [this, &array](std::int64_t from, std::int64_t count) { return numbers(array, from, count); };
    };
    const auto offsets_of = [this](const VtuArray& ends) {
      return [this, &ends](std::int64_t from, std::int64_t count) {
        if (from > 0) return numbers(ends, from - 1, count + 1);
        std::vector<std::int64_t> offsets = numbers(ends, 0, count);
        offsets.insert(offsets.begin(), 0);
        return offsets;
      };
    };
    return read_loops({.cell_offsets = offsets_of(faces_.cell_ends),
                       .cell_faces = slice_of(faces_.cell_faces),
                       .face_offsets = offsets_of(faces_.face_ends),
                       .face_points = slice_of(faces_.face_points)},
                      first, n, in_.path());
  }

  VtkLoops streams(std::int64_t first, std::int64_t n) {
    const std::vector<std::int64_t> ends = numbers(faces_.cell_ends, first, n);
    const std::int64_t begin = end_before(first);
    const std::int64_t end = std::max(begin, std::ranges::max(ends));
    const std::vector<std::int64_t> words = numbers(faces_.streams, begin, end - begin);
    std::int64_t at = begin;
    VtkLoops loops;
    for (const std::int64_t cell_end : ends) {
      if (cell_end > 0) {  // not of another cell
        if (cell_end < at) in_.refuse("has offsets of polyhedra that do not ascend");
        const auto stream = std::span<const std::int64_t>(words).subspan(at - begin, cell_end - at);
        if (!stream.empty() && !add_loops_of_stream(stream, loops.nodes))
          in_.refuse(fmt::format("has a polyhedron whose list of faces does not have the {} numbers that it takes",
                                 stream.size()));
        at = cell_end;
      }
      loops.end_cell();
    }
    return loops;
  }

 private:
  std::vector<std::int64_t> numbers(const VtuArray& array, std::int64_t first, std::int64_t n) {
    std::vector<std::int64_t> found;
    if (n > 0) read_vtu_numbers(in_, encoding_, array, first, n, found);
    return found;
  }

  /// Return where the stream of the last polyhedron before a cell ends.
  std::int64_t end_before(std::int64_t cell) {
    constexpr std::int64_t at_once = 1 << 16;  // other cells may lie between, any number of them
    while (cell > 0) {
      const std::int64_t n = std::min(cell, at_once);
      cell -= n;
      const std::int64_t last = std::ranges::max(numbers(faces_.cell_ends, cell, n));
      if (last > 0) return last;
    }
    return 0;
  }

  Scanner& in_;
  const VtuEncoding& encoding_;
  const VtuFaces& faces_;
};

}  // namespace

VtkLoops read_vtu_loops(Scanner& in, const VtuEncoding& encoding, const VtuFaces& faces, std::int64_t first,
                        std::int64_t n) {
  if (faces.layout == Layout::none)
    in.refuse("has polyhedra, but not the array 'polyhedron_to_faces' or 'faces'",
              "save the file again with a program that writes the faces of polyhedra");
  FacesReader reader(in, encoding, faces);
  return faces.layout == Layout::apart ? reader.apart(first, n) : reader.streams(first, n);
}

}  // namespace barrio::io::detail
