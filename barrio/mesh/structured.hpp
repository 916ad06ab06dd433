#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/exchange/halo.hpp"
#include "barrio/geometry/index_box.hpp"
#include "barrio/mesh/tables.hpp"

namespace barrio::mesh {

using IndexBox = geometry::IndexBox<3>;

/// How ranks cut the index space: into how many boxes along i, j and k.
/// Source: Tautges et al. 2012, section VI; names as in its reference implementation.
enum class Decomposition {
  alljorkori,  ///< along j alone, or else k, or else i: the first with a cell for each rank
  alljkbal,    ///< along j and k, box counts in a ratio nearest to that of the cells
  sqij,        ///< along i and j, in counts as equal as possible
  sqjk,        ///< the same along j and k
  sqijk,       ///< along all three, so that the boxes have the least surface
};
std::string_view name(Decomposition decomposition) noexcept;
/// @throws Error{usage} with "did you mean"
Decomposition decomposition_of(std::string_view name);

struct StructuredOptions {
  std::array<std::int64_t, 3> n{8, 8, 8};  ///< cells along i, j, k; each >= 1
  std::array<double, 3> low{0.0, 0.0, 0.0};
  std::array<double, 3> high{1.0, 1.0, 1.0};
  /// Vertex coordinates along each axis: n + 1, ascending or descending, with both ends of a periodic axis.
  /// Empty: evenly from `low` to `high`.
  std::array<std::vector<double>, 3> along{};
  std::array<bool, 3> is_periodic{false, false, false};
  Decomposition decomposition = Decomposition::sqijk;
  int ghost_layers = 0;
};

/// A mesh of hexes in a regular index space, cut into one box per rank. Connectivity, coordinates, sharing and ghosts
/// are in closed form: nothing is stored per cell. Move-only.
///
/// The global id of a vertex is its place in the box of all vertices, that of a cell its place in the box of all cells;
/// along a periodic axis the last vertex is the first one. A vertex is shared by the ranks whose own cells use it; its
/// owner is drawn by a hash of its id as in `Mesh`, so that both agree.
class StructuredMesh {
 public:
  /// A neighbour and the shift by which its boxes appear here: 0 except across a periodic boundary.
  struct Neighbour {
    Rank rank;
    std::array<std::int64_t, 3> shift;
    IndexBox shared_vertices;  ///< of this rank's box
    IndexBox send_cells;       ///< own cells that are ghosts there
    IndexBox receive_cells;    ///< ghosts here that it owns, in this rank's index space
  };

  /// Collective only for a check: each neighbour gets one message with the box that this rank computed for it.
  /// @throws AgreedError{usage} for n < 1, fewer than 0 or more ghost layers than the thinnest box has cells, an
  /// invalid box, or coordinates along an axis that are not n + 1 or not monotone. Ranks that were given different
  /// options end the program by an assertion. Cost: O(neighbours) memory and that of `along`, one message to each
  /// neighbour.
  explicit StructuredMesh(mpi::Context& context, StructuredOptions options);

  [[nodiscard]] mpi::Context& context() const noexcept { return *context_; }
  [[nodiscard]] const StructuredOptions& options() const& noexcept { return options_; }
  /// Number of boxes along i, j, k. The product is at most the number of ranks; the other ranks are empty.
  [[nodiscard]] std::array<int, 3> grid() const noexcept { return grid_; }

  [[nodiscard]] IndexBox all_cells() const noexcept { return {{0, 0, 0}, options_.n}; }
  [[nodiscard]] IndexBox all_vertices() const noexcept;
  [[nodiscard]] IndexBox own_cells() const noexcept { return own_; }
  /// Own cells and ghosts: what a field on cells covers. Indices continue beyond the ends of a periodic axis.
  [[nodiscard]] IndexBox local_cells() const noexcept { return local_; }
  /// Vertices of own cells: what a field on vertices covers.
  [[nodiscard]] IndexBox own_vertices() const noexcept;
  /// By ascending rank and shift.
  [[nodiscard]] std::span<const Neighbour> neighbours() const& noexcept { return neighbours_; }
  std::span<const Neighbour> neighbours() const&& = delete;

  /// Global ids. @pre within local_cells(), within own_vertices()
  [[nodiscard]] GlobalId cell_id(const std::array<std::int64_t, 3>& at) const noexcept;
  [[nodiscard]] GlobalId vertex_id(const std::array<std::int64_t, 3>& at) const noexcept;
  [[nodiscard]] std::array<double, 3> coordinates(const std::array<std::int64_t, 3>& vertex) const noexcept;
  /// The eight corners of a cell as places in `own_vertices()`. Where one axis descends, or all three, they make the
  /// mirror image of a hex. @pre an own cell
  [[nodiscard]] std::array<std::int64_t, 8> corners(const std::array<std::int64_t, 3>& cell) const noexcept;
  /// Ranks that share a vertex, ascending, this one included; the first `n` of the array. @return n
  int sharers(const std::array<std::int64_t, 3>& vertex, std::array<Rank, 8>& ranks) const noexcept;
  [[nodiscard]] Rank owner(const std::array<std::int64_t, 3>& vertex) const noexcept;
  /// The rank that has a cell.
  [[nodiscard]] Rank rank_of_cell(std::array<std::int64_t, 3> cell) const noexcept;

  /// Number of own vertices that other ranks share.
  [[nodiscard]] std::int64_t n_shared_vertices() const noexcept;
  /// Explicit coordinates of the own vertices, shape (own_vertices().size(), 3).
  [[nodiscard]] std::vector<double> make_coordinates() const;

  /// Bring the ghosts of a field on cells up to date. All ranks take part.
  /// @param[in,out] values  shape (local_cells().size(), n_components)
  template <mpi::Trivial T>
  void exchange(std::span<T> values, int n_components = 1) const;

  /// The same mesh as tables, each rank its slabs, with the ranks' boxes as parts: for files, for joining with other
  /// cells, and for a `Mesh`. Hexes of a box with descending axes are turned the right way. Collective, without a
  /// message. @throws AgreedError{usage} if an axis is periodic
  [[nodiscard]] MeshTables to_tables() const;

  /// Check that both sides of each pair of neighbours see the same shared vertices and ghosts. Collective.
  void validate() const;
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  [[nodiscard]] IndexBox box_of(const std::array<int, 3>& at) const noexcept;
  [[nodiscard]] std::array<int, 3> place_of(Rank rank) const noexcept;
  [[nodiscard]] Rank rank_at(const std::array<int, 3>& at) const noexcept;
  void check_axis(std::size_t axis) const;
  void find_neighbours();

  mpi::Context* context_;
  StructuredOptions options_;
  std::array<int, 3> grid_{1, 1, 1};
  IndexBox own_;
  IndexBox local_;
  std::vector<Neighbour> neighbours_;
  mpi::TagBlock tags_;
};

template <mpi::Trivial T>
void StructuredMesh::exchange(std::span<T> values, int n_components) const {
  const std::size_t width = n_components;
  const std::size_t n = neighbours_.size();
  std::vector<std::vector<T>> out(n);
  std::vector<std::vector<T>> in(n);
  std::vector<MPI_Request> requests(2 * n, MPI_REQUEST_NULL);
  const auto for_each_row = [&](const IndexBox& box, auto&& visit) {
    for (std::int64_t k = box.low[2]; k < box.high[2]; ++k)
      for (std::int64_t j = box.low[1]; j < box.high[1]; ++j)
        visit(static_cast<std::size_t>(local_.place({box.low[0], j, k})) * width,
              static_cast<std::size_t>(box.extent(0)) * width);
  };
  // A rank may be a neighbour several times, across periodic boundaries: the shift tells the messages apart.
  const auto tag = [&](const std::array<std::int64_t, 3>& shift, int sign) {
    int code = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int64_t turned = sign * shift[k];
      code = 3 * code + (turned > 0 ? 2 : (turned < 0 ? 0 : 1));
    }
    return tags_.first + code;
  };
  for (std::size_t i = 0; i < n; ++i) {
    const Neighbour& neighbour = neighbours_[i];
    in[i].resize(static_cast<std::size_t>(neighbour.receive_cells.size()) * width);
    if (in[i].empty()) continue;
    mpi::check(MPI_Irecv(in[i].data(), mpi::as_count(in[i].size() * sizeof(T)), MPI_BYTE, neighbour.rank,
                         tag(neighbour.shift, -1), context_->comm(), &requests[i]),
               "MPI_Irecv");
  }
  for (std::size_t i = 0; i < n; ++i) {
    const Neighbour& neighbour = neighbours_[i];
    if (neighbour.send_cells.empty()) continue;
    out[i].reserve(static_cast<std::size_t>(neighbour.send_cells.size()) * width);
    for_each_row(neighbour.send_cells, [&](std::size_t first, std::size_t count) {
      out[i].insert(out[i].end(), &values[first], &values[first] + count);
    });
    mpi::check(MPI_Isend(out[i].data(), mpi::as_count(out[i].size() * sizeof(T)), MPI_BYTE, neighbour.rank,
                         tag(neighbour.shift, 1), context_->comm(), &requests[n + i]),
               "MPI_Isend");
    context_->counters().messages_sent += 1;
    context_->counters().bytes_sent += out[i].size() * sizeof(T);
  }
  mpi::wait_all(requests, context_->wait_policy());
  for (std::size_t i = 0; i < n; ++i) {
    if (in[i].empty()) continue;
    const T* from = in[i].data();
    for_each_row(neighbours_[i].receive_cells, [&](std::size_t first, std::size_t count) {
      std::copy(from, from + count, &values[first]);
      from += count;
    });
  }
}

}  // namespace barrio::mesh
