#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/geometry/index_box.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::mesh {

/// Where the values of a box of cells stand.
enum class Centering {
  cell,
  vertex,
  face_i,  ///< faces across the first axis
  face_j,
  face_k,
};

/// The places of a box of cells: its cells; the corners of these, the first at the low corner of the first cell; or the
/// faces across an axis, likewise. Local. @pre the axis of a face is one of D
template <std::size_t D>
[[nodiscard]] geometry::IndexBox<D> places(geometry::IndexBox<D> cells, Centering centering) noexcept;

/// Whether places stand between cells along an axis, so that there is one more of them than of cells.
[[nodiscard]] constexpr bool is_between_cells(Centering centering, std::size_t axis) noexcept {
  return centering == Centering::vertex ||
         (centering != Centering::cell && static_cast<std::size_t>(centering) == axis + 2);
}

template <std::size_t D>
struct BoxLayoutOptions {
  std::array<bool, D> is_periodic{};
  /// How many cells beyond a box others are its neighbours. Ghosts of cells may be as deep, those of vertices and faces
  /// one layer less.
  int reach = 2;
};

/// Boxes of an index space, any number of them a rank, wherever the caller puts them, and which of them are near one
/// another. They need not cover the domain. Each rank knows its own boxes and their neighbours, no more.
///
/// A vertex or face between boxes belongs to one of them: to that of the cell with the highest indices around it. So it
/// depends on the cells that there are, and not on how they are cut.
template <std::size_t D>
class BoxLayout {
 public:
  using Box = geometry::IndexBox<D>;
  using Index = typename Box::Index;

  /// A box that has cells within reach of one of this rank's boxes.
  struct Neighbour {
    std::int32_t box;    ///< which of this rank's boxes
    Rank rank;           ///< that has the other one; this rank too
    std::int32_t other;  ///< which of that rank's boxes
    Index shift;         ///< by which it appears here: 0 except across a periodic end
    Box cells;           ///< of the other box, moved by `shift`
  };

  /// Find the neighbours of each box. Collective.
  /// @param boxes  of this rank; none is legal. @param domain, options  the same on all ranks
  /// @throws AgreedError{usage} for a box without cells or beyond the domain, two boxes that have a cell in common, a
  /// negative reach, or one that goes round a periodic axis
  /// Cost: two routed exchanges, a reduction and an agreement; memory O(own boxes and neighbours)
  BoxLayout(mpi::Context& context, const Box& domain, std::vector<Box> boxes, const BoxLayoutOptions<D>& options = {});
  /// The same where neighbours are known, in any order. Local but for its tag, which all ranks take. @pre they are
  /// those that the other one would find
  BoxLayout(mpi::Context& context, const Box& domain, std::vector<Box> boxes, std::vector<Neighbour> neighbours,
            const BoxLayoutOptions<D>& options);

  [[nodiscard]] mpi::Context& context() const noexcept { return *context_; }
  [[nodiscard]] const Box& domain() const noexcept { return domain_; }
  [[nodiscard]] const std::array<bool, D>& is_periodic() const noexcept { return options_.is_periodic; }
  [[nodiscard]] int reach() const noexcept { return options_.reach; }
  [[nodiscard]] std::span<const Box> boxes() const& noexcept { return boxes_; }
  std::span<const Box> boxes() const&& = delete;
  /// Neighbours of one of this rank's boxes, by rank, box and shift.
  [[nodiscard]] std::span<const Neighbour> neighbours_of(std::size_t box) const& noexcept {
    return std::span(neighbours_).subspan(first_[box], first_[box + 1] - first_[box]);
  }
  std::span<const Neighbour> neighbours_of(std::size_t box) const&& = delete;
  /// Of the exchanges on it, which begin in one order on all ranks.
  [[nodiscard]] int tag() const noexcept { return tags_.first; }

  /// Check that both sides of each pair know each other alike. Collective.
  void validate() const;
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
  std::vector<std::size_t> first_;  // neighbour of each box
  mpi::TagBlock tags_;
};

extern template class BoxLayout<2>;
extern template class BoxLayout<3>;

}  // namespace barrio::mesh
