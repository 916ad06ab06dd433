#pragma once

/// @file Structured meshes: hexes in a regular index space, one box per rank, nothing stored per cell.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/exchange/value_type.hpp"
#include "barrio/geometry/index_box.hpp"
#include "barrio/mesh/box_layout.hpp"
#include "barrio/mesh/tables.hpp"
#include "barrio/mpi/datatype.hpp"

namespace barrio::mesh {

/// Box of cells or vertices in the index space: low .. high - 1 along i, j and k.
using IndexBox = geometry::IndexBox<3>;
template <std::size_t D>
class BoxHalo;

/// Decomposition of the index space over ranks: the number of boxes along i, j and k.
/// Source: Tautges et al. 2012, section VI; names as in its reference implementation.
enum class Decomposition {
  alljorkori,  ///< along the first of j, k, i that has a cell for each rank
  alljkbal,    ///< along j and k; the box counts have nearly the ratio of the cell counts
  sqij,        ///< along i and j, in counts as equal as possible
  sqjk,        ///< the same along j and k
  sqijk,       ///< along all three, with the least surface of boxes
};
/// Return the name of a decomposition, that of its enumerator.
std::string_view name(Decomposition decomposition) noexcept;
/// Return the decomposition with a name.
/// @throws Error{usage} with "did you mean"
Decomposition decomposition_of(std::string_view name);

/// Options of a `StructuredMesh`, the same on all ranks.
struct StructuredOptions {
  std::array<std::int64_t, 3> n{8, 8, 8};     ///< cells along i, j, k; each >= 1
  std::array<double, 3> low{0.0, 0.0, 0.0};   ///< first vertex, model units; unused on axes with `along`
  std::array<double, 3> high{1.0, 1.0, 1.0};  ///< last vertex; below `low`: the axis descends
  /// Vertex coordinates along each axis: n + 1, ascending or descending, with both ends of a periodic axis. Empty:
  /// evenly spaced from `low` to `high`.
  std::array<std::vector<double>, 3> along{};
  std::array<bool, 3> is_periodic{false, false, false};  ///< axes whose two ends meet
  Decomposition decomposition = Decomposition::sqijk;    ///< into one box per rank
  int ghost_layers = 0;                                  ///< layers of cells; not more than the thinnest box has
};

/// A mesh of hexes in a regular index space, cut into one box per rank. Connectivity, coordinates, sharing and ghosts
/// are in closed form: nothing is stored per cell. Move-only.
///
/// The global id of a vertex is its place in the box of all vertices, that of a cell its place in the box of all cells;
/// along a periodic axis the last vertex is the first one. The sharers of a vertex are the ranks whose own cells use
/// it. Its owner is drawn by a hash of its id, as in `Mesh`, so both agree.
class StructuredMesh {
 public:
  /// A neighbour and the shift by which its boxes appear here: 0 except across a periodic boundary.
  struct Neighbour {
    Rank rank;                          ///< may be this rank, across a periodic boundary
    std::array<std::int64_t, 3> shift;  ///< in cells
    IndexBox shared_vertices;           ///< of this rank's box
  };

  /// Compute this rank's box and its neighbours. Collective only for a check: each neighbour gets one message with the
  /// box that this rank computed for it.
  /// @throws AgreedError{usage} for n < 1, a negative number of ghost layers, more ghost layers than the thinnest box
  /// has cells, an invalid box, or coordinates along an axis that are not n + 1 or not monotone. If ranks were given
  /// different options, an assertion ends the program.
  /// Cost: memory O(neighbours) and that of `along`, one message to each neighbour.
  explicit StructuredMesh(mpi::Context& context, StructuredOptions options);

  /// Return the context, which must outlive the mesh.
  [[nodiscard]] mpi::Context& context() const noexcept { return *context_; }
  /// Return the options of the mesh, as they were given.
  [[nodiscard]] const StructuredOptions& options() const& noexcept { return options_; }
  /// Return the number of boxes along i, j, k. The product is at most the number of ranks; the other ranks are empty.
  [[nodiscard]] std::array<int, 3> grid() const noexcept { return grid_; }

  /// Return the box of the cells of all ranks: from 0 to n.
  [[nodiscard]] IndexBox all_cells() const noexcept { return {{0, 0, 0}, options_.n}; }
  /// Return the box of the vertices of all ranks: n + 1 along an axis, n along a periodic one.
  [[nodiscard]] IndexBox all_vertices() const noexcept;
  /// Return this rank's box of cells, without ghosts; it may be empty.
  [[nodiscard]] IndexBox own_cells() const noexcept { return own_; }
  /// Return the own cells and ghosts, which a field on cells covers. Indices continue beyond the ends of a periodic
  /// axis.
  [[nodiscard]] IndexBox local_cells() const noexcept { return local_; }
  /// Return the vertices of own cells, which a field on vertices covers.
  [[nodiscard]] IndexBox own_vertices() const noexcept;
  /// Return the neighbours, by ascending rank and shift.
  [[nodiscard]] std::span<const Neighbour> neighbours() const& noexcept { return neighbours_; }
  /// Refuse a temporary: its neighbours end with it.
  std::span<const Neighbour> neighbours() const&& = delete;

  /// Return the global id of a cell.
  /// @pre within local_cells()
  [[nodiscard]] GlobalId cell_id(const std::array<std::int64_t, 3>& at) const noexcept;
  /// Return the global id of a vertex.
  /// @pre within own_vertices()
  [[nodiscard]] GlobalId vertex_id(const std::array<std::int64_t, 3>& at) const noexcept;
  /// Compute the coordinates of a vertex, model units. Local.
  /// @pre 0 to n along each axis
  [[nodiscard]] std::array<double, 3> coordinates(const std::array<std::int64_t, 3>& vertex) const noexcept;
  /// Return the eight corners of a cell as places in `own_vertices()`. If one axis or all three descend, they form the
  /// mirror image of a hex.
  /// @pre an own cell
  [[nodiscard]] std::array<std::int64_t, 8> corners(const std::array<std::int64_t, 3>& cell) const noexcept;
  /// Find the ranks that share a vertex, ascending, this one included: the first `n` of the array.
  /// @return n
  int sharers(const std::array<std::int64_t, 3>& vertex, std::array<Rank, 8>& ranks) const noexcept;
  /// Return the rank that owns a vertex, one of its sharers. Local: any rank may ask.
  [[nodiscard]] Rank owner(const std::array<std::int64_t, 3>& vertex) const noexcept;
  /// Return the rank that has a cell.
  [[nodiscard]] Rank rank_of_cell(std::array<std::int64_t, 3> cell) const noexcept;

  /// Return the number of own vertices that other ranks share.
  [[nodiscard]] std::int64_t n_shared_vertices() const noexcept;
  /// Make explicit coordinates of the own vertices, shape (own_vertices().size(), 3).
  [[nodiscard]] std::vector<double> make_coordinates() const;

  /// Return the layout of this rank's box, if it has one, and of those near it. Use it for a `BoxHalo` of several
  /// fields, of fields on vertices and faces, or one that travels while the caller computes. It reaches one cell beyond
  /// the ghost layers, if boxes are as thick.
  [[nodiscard]] std::shared_ptr<const BoxLayout<3>> layout() const noexcept { return layout_; }
  /// Bring the ghosts of a field on cells up to date. All ranks take part. The mesh keeps a halo for each type and
  /// number of components, made at the first call.
  /// @param[in,out] values  shape (local_cells().size(), n_components)
  /// @throws Error{usage} for a field of another size
  template <mpi::Trivial T>
  void exchange(std::span<T> values, int n_components = 1) const {
    exchange_bytes(std::as_writable_bytes(values), barrio::exchange::value_type<T>(), n_components);
  }

  /// Make the same mesh as tables, with each rank's slabs and with the ranks' boxes as parts: for files, for joining
  /// with other cells, and for a `Mesh`. Hexes of a box with descending axes are turned to the right orientation.
  /// Collective, without messages.
  /// @throws AgreedError{usage} if an axis is periodic
  [[nodiscard]] MeshTables to_tables() const;

  /// Check that both ranks of each pair of neighbours see the same shared vertices and ghosts. Collective.
  void validate() const;
  /// Return the bytes that this rank holds, without the halos that `exchange` makes.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  [[nodiscard]] IndexBox box_of(const std::array<int, 3>& at) const noexcept;
  [[nodiscard]] std::array<int, 3> place_of(Rank rank) const noexcept;
  [[nodiscard]] Rank rank_at(const std::array<int, 3>& at) const noexcept;
  void check_axis(std::size_t axis) const;
  void find_neighbours();
  void exchange_bytes(std::span<std::byte> values, const barrio::exchange::ValueType& type, int n_components) const;

  mpi::Context* context_;
  StructuredOptions options_;
  std::array<int, 3> grid_{1, 1, 1};
  IndexBox own_;
  IndexBox local_;
  std::vector<Neighbour> neighbours_;
  std::shared_ptr<const BoxLayout<3>> layout_;
  mutable std::vector<std::shared_ptr<BoxHalo<3>>> halos_;  // one for each type and number of components
};

}  // namespace barrio::mesh
