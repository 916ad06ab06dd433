#include "barrio/io/vtk/vtk_cutter.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/slabs.hpp"

namespace barrio::io::detail {
namespace {

using Use = VtkIndex::Section::Use;

/// Return where the numbers of a section begin: in text files they may follow its keyword on the same line.
std::int64_t begin_numbers(Scanner& in, bool is_binary) {
  is_binary ? in.drop_rest() : in.return_rest();
  return in.offset();
}

/// Forward walk over the numbers of a section.
class Walk {
 public:
  Walk(Scanner& in, bool is_binary, VtkNumber number, std::int64_t n)
      : in_(in), is_binary_(is_binary), width_(is_binary ? bytes_of(number) : 2), begin_(begin_numbers(in, is_binary)) {
    // A number of a text takes at least a digit and a blank, so the announced count can be checked before use.
    if (n > (in.bytes_left() + (is_binary ? 0 : 1)) / width_) in.refuse("ends early");
  }
  /// Move to a number. @return the byte where it begins
  std::int64_t go_to(std::int64_t number) {
    if (is_binary_)
      in_.go_to(begin_ + width_ * number);
    else
      in_.skip_words(number - passed_);
    passed_ = number;
    return in_.offset();
  }
  /// Read the integer at this position.
  std::int64_t integer(VtkNumber number) {
    std::vector<std::int64_t> one;
    read_vtk_numbers(in_, number, is_binary_, 1, one);
    ++passed_;
    return one[0];
  }

 private:
  Scanner& in_;
  bool is_binary_;
  std::int64_t width_;
  std::int64_t begin_;
  std::int64_t passed_ = 0;
};

}  // namespace

VtkCutter::VtkCutter(Scanner& in, VtkIndex& index, int n_shares) : in_(in), index_(index), n_shares_(n_shares) {
  index.pieces.resize(n_shares);
}

void VtkCutter::cut(const VtkIndex::Section& section, std::span<const std::int64_t> runs) {
  std::int64_t n_rows = 0;
  for (const std::int64_t n : runs) n_rows += n;
  const std::int64_t width = section.n_components;
  Walk walk(in_, index_.head.is_binary, section.number, n_rows * width);
  std::int64_t before = 0;
  for (const std::int64_t n : runs) {
    const Slabs slabs{n, n_shares_};
    for (Rank share = 0; share < n_shares_; ++share)
      if (const std::int64_t size = slabs.size(share); size > 0)
        index_.pieces[share].push_back({n_sections(), walk.go_to((before + slabs.first(share)) * width), size * width});
    before += n;
  }
  walk.go_to(n_rows * width);
  index_.sections.push_back(section);
}

void VtkCutter::give_to_all(const VtkIndex::Section& section, std::int64_t n) {
  Walk walk(in_, index_.head.is_binary, section.number, n);
  for (auto& pieces : index_.pieces) pieces.push_back({n_sections(), walk.go_to(0), n});
  walk.go_to(n);
  index_.sections.push_back(section);
}

void VtkCutter::pass_over(VtkNumber number, std::int64_t n) { Walk(in_, index_.head.is_binary, number, n).go_to(n); }

void VtkCutter::cut_mixed_cells(std::int64_t n_cells, std::int64_t n_numbers, int cell_type) {
  if (n_cells > n_numbers) in_.refuse(fmt::format("announces {} cells in {} numbers", n_cells, n_numbers));
  Walk walk(in_, index_.head.is_binary, VtkNumber::int32, n_numbers);
  const Slabs slabs{n_cells, n_shares_};
  std::int64_t at = 0;
  for (Rank share = 0; share < n_shares_; ++share) {
    if (slabs.size(share) == 0) continue;
    VtkPiece piece{n_sections(), walk.go_to(at), -at};
    for (std::int64_t row = slabs.first(share); row < slabs.first(share + 1); ++row) {
      walk.go_to(at);
      const std::int64_t left = n_numbers - at - 1;
      const std::int64_t n_nodes = left < 0 ? 0 : walk.integer(VtkNumber::int32);
      if (left < 0 || n_nodes < 0 || n_nodes > left)
        in_.refuse(fmt::format("has a cell of {} nodes where {} numbers are left of the list", n_nodes,
                               std::max<std::int64_t>(left, 0)));
      at += 1 + n_nodes;
    }
    piece.n += at;
    index_.pieces[share].push_back(piece);
  }
  if (at != n_numbers) in_.refuse(fmt::format("announces {} numbers for its cells and has {}", n_numbers, at));
  walk.go_to(n_numbers);
  index_.sections.push_back({Use::cells, VtkNumber::int32, 1, cell_type});
}

std::vector<std::int64_t> VtkCutter::cut_offsets(std::int64_t n_cells, VtkNumber number, std::int64_t n_nodes,
                                                 int cell_type) {
  Walk walk(in_, index_.head.is_binary, number, n_cells + 1);
  const Slabs slabs{n_cells, n_shares_};
  std::vector<std::int64_t> first_nodes;
  for (Rank share = 0; share < n_shares_; ++share) {
    const std::int64_t n = slabs.size(share);
    if (n == 0) continue;
    index_.pieces[share].push_back({n_sections(), walk.go_to(slabs.first(share)), n + 1});
    first_nodes.push_back(walk.integer(number));
  }
  walk.go_to(n_cells);
  first_nodes.push_back(walk.integer(number));
  if (first_nodes.front() != 0 || first_nodes.back() != n_nodes || !std::ranges::is_sorted(first_nodes))
    in_.refuse(fmt::format("has offsets of cells that do not ascend from 0 to {}", n_nodes));
  index_.sections.push_back({Use::offsets, number, 1, cell_type});
  return first_nodes;
}

void VtkCutter::cut_nodes(std::int64_t n_cells, VtkNumber number, const std::vector<std::int64_t>& first_nodes) {
  Walk walk(in_, index_.head.is_binary, number, first_nodes.back());
  const Slabs slabs{n_cells, n_shares_};
  std::size_t i = 0;
  for (Rank share = 0; share < n_shares_; ++share) {
    if (slabs.size(share) == 0) continue;
    index_.pieces[share].push_back({n_sections(), walk.go_to(first_nodes[i]), first_nodes[i + 1] - first_nodes[i]});
    ++i;
  }
  walk.go_to(first_nodes.back());
  index_.sections.push_back({Use::connectivity, number, 1, 0});
}

}  // namespace barrio::io::detail
