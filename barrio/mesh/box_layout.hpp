#pragma once

/// @file Boxes of an index space, distributed over ranks, and their neighbours.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/geometry/index_box.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::mesh {

/// Location of the values of a box of cells.
enum class Centering {
  cell,    ///< in each cell
  vertex,  ///< at the corners of cells
  face_i,  ///< faces across the first axis
  face_j,  ///< faces across the second axis
  face_k,  ///< faces across the third axis; only for D = 3
};

/// Return the places of a box of cells: its cells; their corners, the first at the low corner of the first cell; or the
/// faces across an axis, likewise. Local.
/// @pre the axis of a face is one of D
template <std::size_t D>
[[nodiscard]] geometry::IndexBox<D> places(geometry::IndexBox<D> cells, Centering centering) noexcept;

/// Tell whether places lie between cells along an axis; there is then one more place than cells.
[[nodiscard]] constexpr bool is_between_cells(Centering centering, std::size_t axis) noexcept {
  return centering == Centering::vertex ||
         (centering != Centering::cell && static_cast<std::size_t>(centering) == axis + 2);
}

/// Options of a `BoxLayout`, the same on all ranks.
template <std::size_t D>
struct BoxLayoutOptions {
  std::array<bool, D> is_periodic{};  ///< axes whose two ends meet; by default none
  /// Distance, in cells, up to which other boxes are neighbours of a box. Ghosts of cells may be as deep, those of
  /// vertices and faces one layer less.
  int reach = 2;
};

/// Boxes of an index space, any number of them per rank, anywhere, with the boxes near each of them. They need not
/// cover the domain. Each rank knows only its own boxes and their neighbours.
///
/// A vertex or face between boxes belongs to one of them: the box of the cell with the highest indices around it.
/// Ownership therefore depends on which cells exist, not on how they are cut.
template <std::size_t D>
class BoxLayout {
 public:
  using Box = geometry::IndexBox<D>;  ///< cells low .. high - 1 along each axis
  using Index = typename Box::Index;  ///< index of a cell along each axis

  /// A box that has cells within reach of one of this rank's boxes.
  struct Neighbour {
    std::int32_t box;    ///< one of this rank's boxes
    Rank rank;           ///< that has the other box; may be this rank
    std::int32_t other;  ///< one of that rank's boxes
    Index shift;         ///< by which it appears here: 0 except across a periodic end
    Box cells;           ///< of the other box, moved by `shift`
  };

  /// Find the neighbours of each box. Collective.
  /// @param boxes  of this rank; may be empty
  /// @param domain, options  the same on all ranks
  /// @throws AgreedError{usage} for a box without cells or beyond the domain, two boxes that have a cell in common, a
  /// negative reach, or a reach that goes round a periodic axis
  /// Cost: two routed exchanges, a reduction and an agreement; memory O(own boxes and neighbours)
  BoxLayout(mpi::Context& context, const Box& domain, std::vector<Box> boxes, const BoxLayoutOptions<D>& options = {});
  /// Construct a layout from known neighbours, in any order. Local except for its tag, which all ranks take.
  /// @pre the other constructor would find the same neighbours
  BoxLayout(mpi::Context& context, const Box& domain, std::vector<Box> boxes, std::vector<Neighbour> neighbours,
            const BoxLayoutOptions<D>& options);

  /// Return the context, which must outlive the layout.
  [[nodiscard]] mpi::Context& context() const noexcept { return *context_; }
  /// Return the box of the whole index space; the boxes need not cover it.
  [[nodiscard]] const Box& domain() const noexcept { return domain_; }
  /// Return for each axis whether its two ends meet.
  [[nodiscard]] const std::array<bool, D>& is_periodic() const noexcept { return options_.is_periodic; }
  /// Return the distance, in cells, up to which boxes are neighbours.
  [[nodiscard]] int reach() const noexcept { return options_.reach; }
  /// Return this rank's boxes, in the order in which they were given.
  [[nodiscard]] std::span<const Box> boxes() const& noexcept { return boxes_; }
  /// Refuse a temporary: its boxes end with it.
  std::span<const Box> boxes() const&& = delete;
  /// Return the neighbours of one of this rank's boxes, by rank, box and shift.
  [[nodiscard]] std::span<const Neighbour> neighbours_of(std::size_t box) const& noexcept {
    return std::span(neighbours_).subspan(first_[box], first_[box + 1] - first_[box]);
  }
  /// Refuse a temporary: its neighbours end with it.
  std::span<const Neighbour> neighbours_of(std::size_t box) const&& = delete;
  /// Return the tags of exchanges on this layout; their first rounds must begin in the same order on all ranks.
  [[nodiscard]] const mpi::TagBlock& tags() const& noexcept { return tags_; }

  /// Check that both boxes of each pair list each other alike. Collective.
  void validate() const;
  /// Return the bytes that this rank holds for its boxes and their neighbours.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  void check() const;
  void find_neighbours();
  void sort_neighbours();

  mpi::Context* context_;
  Box domain_;
  BoxLayoutOptions<D> options_;
  std::vector<Box> boxes_;
  std::vector<Neighbour> neighbours_;
  std::vector<std::size_t> first_;  // first neighbour of each box
  mpi::TagBlock tags_;
};

extern template class BoxLayout<2>;
extern template class BoxLayout<3>;

}  // namespace barrio::mesh
