#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "barrio/exchange/repeated_exchange.hpp"
#include "barrio/mesh/box_layout.hpp"
#include "barrio/mpi/datatype.hpp"

namespace barrio::mesh {

struct BoxHaloOptions {
  int ghosts = 1;  ///< layers of ghost cells around each box, at its corners too
  /// Whether the arrays of values go beyond ends of the domain that are not periodic, for the caller's boundary values.
  bool has_outside = true;
  exchange::RepeatedExchangeOptions exchange = {};
};

/// What the values of a box with its ghosts stand on: its places, grown by the ghost layers. Local.
template <std::size_t D>
[[nodiscard]] geometry::IndexBox<D> places_with_ghosts(const BoxLayout<D>& layout, std::size_t box, Centering centering,
                                                       const BoxHaloOptions& options) noexcept;

/// The values of one field on this rank's boxes: borrowed arrays, one a box, over its places with ghosts.
class BoxField {
 public:
  /// @param values  of each box: shape (places, n_components); places run along the first axis first
  template <mpi::Trivial T>
  static BoxField by_place(Centering centering, std::span<const std::span<T>> values, int n_components = 1) {
    return BoxField(centering, sizeof(T) * n_components, 1, bytes_of(values));
  }
  /// @param values  of each box: shape (n_components, places)
  template <mpi::Trivial T>
  static BoxField by_component(Centering centering, std::span<const std::span<T>> values, int n_components) {
    return BoxField(centering, sizeof(T), n_components, bytes_of(values));
  }

  [[nodiscard]] Centering centering() const noexcept { return centering_; }
  /// Of a place in one array.
  [[nodiscard]] std::size_t place_bytes() const noexcept { return place_bytes_; }
  /// Arrays over the places that each box has, one after the other.
  [[nodiscard]] std::size_t n_arrays() const noexcept { return n_arrays_; }
  [[nodiscard]] std::span<const std::span<std::byte>> boxes() const& noexcept { return boxes_; }

 private:
  BoxField(Centering centering, std::size_t place_bytes, std::size_t n_arrays, std::vector<std::span<std::byte>> boxes)
      : centering_(centering), place_bytes_(place_bytes), n_arrays_(n_arrays), boxes_(std::move(boxes)) {}
  template <class T>
  static std::vector<std::span<std::byte>> bytes_of(std::span<const std::span<T>> values) {
    std::vector<std::span<std::byte>> all;
    for (const std::span<T> one : values) all.push_back(std::as_writable_bytes(one));
    return all;
  }
  Centering centering_;
  std::size_t place_bytes_;
  std::size_t n_arrays_;
  std::vector<std::span<std::byte>> boxes_;
};

/// Bring the ghosts of fields on the boxes of a layout up to date, as often as wanted: those for which there is a box,
/// near by, on another rank or across a periodic end. Values that a box has itself stay as they are, those at its
/// border too. One message a neighbouring rank and round, of all fields together; boxes of one rank copy.
///
/// The values may be used while they travel: the ghosts of a box are there once it was handed out as ready.
template <std::size_t D>
class BoxHalo {
 public:
  /// Local. The layout is shared, the values are borrowed as long as the halo lives.
  /// @param fields  the same on all ranks but for the values
  /// @throws Error{usage} for another number of arrays than boxes, an array of another size than its places with ghosts
  /// have, or ghosts deeper than the layout's reach allows; and as RepeatedExchange
  /// Cost: O(neighbours), of vertices and faces squared for each box; memory O(bytes of a round)
  BoxHalo(std::shared_ptr<const BoxLayout<D>> layout, std::vector<BoxField> fields, const BoxHaloOptions& options = {});
  BoxHalo(BoxHalo&&) noexcept;
  BoxHalo& operator=(BoxHalo&&) = delete;
  ~BoxHalo();

  /// Send what others need and start to receive. Local. Until end() do not write places that a box has itself, nor use
  /// ghosts of boxes that were not handed out.
  void begin();
  /// Make progress while the caller computes; most calls cost a nanosecond. @return whether end() has nothing to wait
  /// for
  bool progress();
  /// Wait until all ghosts are there. Local, blocks.
  void end();
  void exchange() {
    begin();
    end();
  }

  /// Boxes whose ghosts do not come from other ranks: they are there after begin().
  [[nodiscard]] std::span<const std::int32_t> interior() const& noexcept;
  /// The others.
  [[nodiscard]] std::span<const std::int32_t> fringe() const& noexcept;
  /// A box of the fringe whose ghosts have become complete in this round, to be computed while others wait. Local,
  /// between begin() and end(). @return nothing if there is none now
  [[nodiscard]] std::optional<std::int32_t> next_ready();
  /// The same, and wait for one. Local, blocks. @return nothing if all of the fringe was handed out
  [[nodiscard]] std::optional<std::int32_t> wait_for_ready();

  [[nodiscard]] const BoxLayout<D>& layout() const& noexcept;
  [[nodiscard]] const exchange::RepeatedExchangeStatistics& statistics() const& noexcept;
  /// Messages that this rank sends in a round, and their bytes.
  [[nodiscard]] std::size_t n_messages() const noexcept;
  [[nodiscard]] std::uint64_t n_bytes_sent() const noexcept;
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

extern template class BoxHalo<2>;
extern template class BoxHalo<3>;

}  // namespace barrio::mesh
