#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "barrio/base/slabs.hpp"
#include "barrio/io/common/file_rows.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/io/vtk/inspect_vtk.hpp"
#include "barrio/io/vtk/vtk_pieces.hpp"
#include "barrio/io/vtu/vtu_file.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

// Rank 0 reads the markup of the file and broadcasts it. Then every rank reads its own rows, wherever they are.

namespace barrio::io::detail {
namespace {

using files::Rows;
using Form = VtuArray::Form;

int digit_of(char c) noexcept {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : c == '=' ? 0 : -1;
}

/// Read bytes first .. first + n - 1 of the data that begin at a position.
std::vector<std::byte> read_bytes(Scanner& in, Form form, std::int64_t place, std::int64_t first, std::int64_t n) {
  const std::int64_t group = form == Form::raw ? 0 : first / 3;  // four letters encode three bytes
  const std::int64_t begin = form == Form::raw ? place + first : place + 4 * group;
  const std::int64_t n_letters = form == Form::raw ? n : 4 * ((first + n + 2) / 3 - group);
  in.go_to(begin);
  if (n < 0 || n_letters > in.bytes_left()) in.refuse("ends early");
  std::vector<std::byte> bytes(n_letters);
  in.binary(std::span<std::byte>(bytes));
  if (form == Form::raw) return bytes;
  std::size_t filled = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 4) {
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const int digit = digit_of(std::to_integer<char>(bytes[i + k]));
      if (digit < 0) in.refuse("has values that are not written in base64");
      word = word << 6U | digit;
    }
    for (const unsigned int shift : {16U, 8U, 0U}) bytes[filled++] = static_cast<std::byte>(word >> shift & 255U);
  }
  const std::int64_t lead = first - 3 * group;
  bytes.erase(bytes.begin(), bytes.begin() + lead);
  bytes.resize(n);
  return bytes;
}

std::vector<std::int64_t> read_sizes(Scanner& in, const VtuEncoding& encoding, const VtuArray& array, std::int64_t n) {
  std::vector<std::int64_t> sizes;
  append_vtk_numbers(read_bytes(in, array.form, array.offset, 0, n * encoding.size_bytes),
                     encoding.size_bytes == 8 ? VtkNumber::uint64 : VtkNumber::uint32, encoding.order, sizes);
  return sizes;
}

[[noreturn]] void too_few(const Scanner& in, const VtuArray& array, std::int64_t n_bytes, std::int64_t needed) {
  in.refuse(fmt::format("has {} bytes in the array '{}', but must have at least {}", n_bytes, array.name, needed));
}

/// Tell whether the size in front of the data is encoded on its own, and padded. VTK encodes both together, other
/// programs do not.
bool has_padded_size(Scanner& in, const VtuEncoding& encoding, const VtuArray& array, std::int64_t n_bytes) {
  if (array.form == Form::raw || n_bytes == 0) return false;
  std::array<std::byte, 1> last{};
  in.go_to(array.offset + 4 * ((encoding.size_bytes + 2) / 3) - 1);
  in.binary(std::span<std::byte>(last));
  return last[0] == std::byte{'='};
}

std::vector<std::byte> read_plain(Scanner& in, const VtuEncoding& encoding, const VtuArray& array, std::int64_t first,
                                  std::int64_t n) {
  const std::int64_t n_bytes = read_sizes(in, encoding, array, 1)[0];
  if (n_bytes < first + n) too_few(in, array, n_bytes, first + n);
  if (has_padded_size(in, encoding, array, n_bytes))
    return read_bytes(in, array.form, array.offset + 4 * ((encoding.size_bytes + 2) / 3), first, n);
  return read_bytes(in, array.form, array.offset, encoding.size_bytes + first, n);
}

/// Read compressed bytes. Sizes in front of them: number of blocks, bytes of a block, bytes of the last one if it is
/// smaller, compressed bytes of each block.
std::vector<std::byte> read_compressed(Scanner& in, const VtuEncoding& encoding, const VtuArray& array,
                                       std::int64_t first, std::int64_t n) {
  const std::vector<std::int64_t> head = read_sizes(in, encoding, array, 3);
  const std::int64_t n_blocks = in.checked_count(head[0]);
  const std::int64_t width = in.checked_count(head[1]);
  const std::int64_t last = head[2] == 0 ? width : in.checked_count(head[2]);
  const std::vector<std::int64_t> sizes = read_sizes(in, encoding, array, 3 + n_blocks);
  // zlib compresses to a thousandth at best, so no file of plausible size can exhaust the memory.
  if (n_blocks > 0 && (width == 0 || last > width || width / 2048 > in.bytes_left() + (std::int64_t{1} << 20) ||
                       width > (std::int64_t{1} << 58) / n_blocks))
    in.refuse(fmt::format("has blocks of {} bytes in the array '{}', which makes no sense", width, array.name));
  const std::int64_t n_bytes = n_blocks == 0 ? 0 : (n_blocks - 1) * width + last;
  if (n_bytes < first + n) too_few(in, array, n_bytes, first + n);
  const std::int64_t head_bytes = (3 + n_blocks) * encoding.size_bytes;
  const std::int64_t place = array.offset + (array.form == Form::raw ? head_bytes : 4 * ((head_bytes + 2) / 3));
  std::vector<std::byte> bytes;
  std::vector<std::byte> block;
  std::int64_t at = 0;
  for (std::int64_t b = 0; b < n_blocks; ++b) {
    const std::int64_t size = in.checked_count(sizes[3 + b]);
    const std::int64_t begin = b * width;
    const std::int64_t end = begin + (b + 1 == n_blocks ? last : width);
    if (begin < first + n && end > first) {
      const std::vector<std::byte> packed = read_bytes(in, array.form, place, at, size);
      // Deflate expands a byte to at most 1032; do not allocate memory for a larger claim.
      if (end - begin > 1032 * size + 64)
        in.refuse(
            fmt::format("has {} bytes in the array '{}' that cannot expand to {}", size, array.name, end - begin));
      block.resize(end - begin);
      uLongf found = block.size();
      if (uncompress(reinterpret_cast<Bytef*>(block.data()), &found, reinterpret_cast<const Bytef*>(packed.data()),
                     packed.size()) != Z_OK ||
          found != block.size())
        in.refuse(fmt::format("has a block in the array '{}' that zlib cannot unpack", array.name));
      bytes.insert(bytes.end(), block.begin() + std::max<std::int64_t>(first - begin, 0),
                   block.begin() + std::min(first + n, end) - begin);
    }
    at = in.checked_count(at + size);
  }
  return bytes;
}

class VtuRowsReader {
 public:
  VtuRowsReader(const std::string& path, const VtuIndex& index, VtkGrid& grid)
      : index_(index), in_(path, vtu_remedy), grid_(grid) {}

  void run(Rows points, Rows cells, std::int64_t first_point) {
    std::int64_t before_points = 0;
    std::int64_t before_cells = 0;
    for (const VtuPiece& piece : index_.pieces) {
      const Rows of_points = overlap(points, before_points, piece.n_points);
      const Rows of_cells = overlap(cells, before_cells, piece.n_cells);
      if (of_points.count > 0) {
        numbers(piece.points, 3 * of_points.first, 3 * of_points.count, grid_.coordinates);
        read_arrays(piece.on_points, of_points, grid_.on_points);
      }
      if (of_cells.count > 0) {
        add_cells(piece, of_cells.first, of_cells.count, first_point + before_points);
        read_arrays(piece.on_cells, of_cells, grid_.on_cells);
      }
      before_points += piece.n_points;
      before_cells += piece.n_cells;
    }
  }

 private:
  template <class T>
  void numbers(const VtuArray& array, std::int64_t first, std::int64_t n, std::vector<T>& out) {
    read_vtu_numbers(in_, index_.encoding, array, first, n, out);
  }
  void read_arrays(const std::vector<VtuArray>& arrays, Rows rows, std::vector<VtkArray>& out) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const std::int64_t width = arrays[i].n_components;
      std::visit([&](auto& values) { numbers(arrays[i], rows.first * width, rows.count * width, values); },
                 out[i].values);
    }
  }

  void add_cells(const VtuPiece& piece, std::int64_t first, std::int64_t n, std::int64_t first_point) {
    // A cell ends at its own offset, and begins at that of the cell before.
    std::vector<std::int64_t> ends;
    if (first == 0) ends.push_back(0);
    numbers(piece.ends, std::max<std::int64_t>(first - 1, 0), first == 0 ? n : n + 1, ends);
    if (ends.front() < 0 || !std::ranges::is_sorted(ends)) in_.refuse("has offsets of cells that do not ascend");
    std::vector<std::int64_t> types;
    numbers(piece.types, first, n, types);
    const auto wrong = std::ranges::find_if(types, [](std::int64_t t) { return t < 0 || t > 255; });
    if (wrong != types.end()) in_.refuse(fmt::format("has a cell of type {}, which must be 0 to 255", *wrong));
    std::vector<std::int64_t> nodes;
    numbers(piece.nodes, ends.front(), ends.back() - ends.front(), nodes);
    count_on(nodes, piece, first_point);
    const bool has_polyhedra = std::ranges::find(types, vtk_polyhedron) != types.end();
    VtkLoops loops;
    if (has_polyhedra) loops = read_vtu_loops(in_, index_.encoding, piece.faces, first, n);
    count_on(loops.nodes, piece, first_point);
    for (std::size_t c = 0; c < types.size(); ++c) {
      const auto of_cell = std::span<const std::int64_t>(nodes).subspan(ends[c] - ends.front(), ends[c + 1] - ends[c]);
      grid_.add_cell(static_cast<int>(types[c]), types[c] == vtk_polyhedron ? loops.of(c) : of_cell);
    }
  }

  /// Turn points of a piece into points of the file.
  void count_on(std::vector<std::int64_t>& points, const VtuPiece& piece, std::int64_t first_point) {
    for (std::int64_t& point : points) {
      if (point < 0 || point >= piece.n_points)
        in_.refuse(fmt::format("has a cell with point {} in a piece of {} points", point, piece.n_points));
      point += first_point;
    }
  }

  const VtuIndex& index_;
  Scanner in_;
  VtkGrid& grid_;
};

}  // namespace

template <class T>
void read_vtu_numbers(Scanner& in, const VtuEncoding& encoding, const VtuArray& array, std::int64_t first,
                      std::int64_t n, std::vector<T>& out) {
  const std::int64_t width = bytes_of(array.number);
  if (first < 0 || n < 0 || first > (std::int64_t{1} << 58) || n > (std::int64_t{1} << 58))
    in.refuse(fmt::format("has no numbers from {} on in the array '{}'", first, array.name));
  in.go_to(array.offset);
  if (array.form == Form::text) {
    if (n > in.bytes_left() / 2 + 1) in.refuse("ends early");
    in.skip_words(first);
    return read_vtk_numbers(in, array.number, false, n, out);
  }
  // Inline values follow blanks that are not part of them.
  VtuArray trimmed = array;
  if (array.form == Form::base64) trimmed.offset = in.skip_blank_bytes();
  const std::vector<std::byte> bytes = encoding.is_compressed
                                           ? read_compressed(in, encoding, trimmed, first * width, n * width)
                                           : read_plain(in, encoding, trimmed, first * width, n * width);
  append_vtk_numbers(bytes, array.number, encoding.order, out);
}

void add_vtu_arrays(const std::vector<VtuArray>& arrays, std::vector<VtkArray>& out) {
  for (const VtuArray& array : arrays) {
    out.push_back({.name = array.name, .n_components = array.n_components, .values = {}, .is_id = array.is_id});
    if (!is_integer(array.number)) out.back().values = std::vector<double>();
  }
}

void add_vtu_rows(const std::string& path, const VtuIndex& index, Rows points, Rows cells, std::int64_t first_point,
                  VtkGrid& grid) {
  VtuRowsReader(path, index, grid).run(points, cells, first_point);
}

VtkGrid read_vtu_share(const std::string& path, const VtuIndex& index, int share, int n_shares) {
  VtkGrid grid;
  grid.n_points = index.n_points;
  std::int64_t first_point = 0;
  for (const VtuPiece& piece : index.pieces) {
    grid.first_points.push_back(first_point);
    first_point += piece.n_points;
  }
  add_vtu_arrays(index.on_points, grid.on_points);
  add_vtu_arrays(index.on_cells, grid.on_cells);
  add_vtu_rows(path, index, slab_of({index.n_points, n_shares}, share), slab_of({index.n_cells, n_shares}, share), 0,
               grid);
  split_lists(grid, path);
  return grid;
}

mesh::MeshTables read_vtu(mpi::Context& context, const std::string& path) {
  std::string markup;
  agree_after(context, [&] {
    if (context.is_root()) markup = read_vtu_markup(path);
  });
  mpi::broadcast(context, markup);
  VtkGrid grid;
  VtuIndex index;
  agree_after(context, [&] {
    index = parse_vtu(markup, path);
    grid = read_vtu_share(path, index, context.rank(), context.size());
  });
  index.left_out.tell(context, path);
  unite_pieces(context, grid, path);
  return tables_of_vtk(context, std::move(grid), path);
}

Json inspect_vtu(const std::string& path, const InspectOptions& options) {
  const VtuIndex index = parse_vtu(read_vtu_markup(path), path);
  const int n = n_shares_of(std::filesystem::file_size(path));
  VtkShares shares{"VTU", n, index.n_points, [&](int share, bool) { return read_vtu_share(path, index, share, n); }};
  shares.left_out = index.left_out;
  return inspect_vtk_shares(path, shares, options);
}

}  // namespace barrio::io::detail
