#pragma once

/// @file Ghost exchange of fields on the boxes of a `BoxLayout`.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "barrio/exchange/repeated_exchange.hpp"
#include "barrio/exchange/value_type.hpp"
#include "barrio/mesh/box_layout.hpp"
#include "barrio/mpi/datatype.hpp"

namespace barrio::mesh {

/// Options of a `BoxHalo`, the same on all ranks.
struct BoxHaloOptions {
  int ghosts = 1;  ///< layers of ghost cells around each box, at its corners too
  /// The arrays of values extend beyond non-periodic ends of the domain, for the caller's boundary values.
  bool has_outside = true;
  /// Options of the messages. Without contents or a message class in them, the halo names its own.
  exchange::RepeatedExchangeOptions exchange = {};
};

/// Return the places that the values of a box cover: its own, grown by the ghost layers. Local.
template <std::size_t D>
[[nodiscard]] geometry::IndexBox<D> places_with_ghosts(const BoxLayout<D>& layout, std::size_t box, Centering centering,
                                                       const BoxHaloOptions& options) noexcept;

/// Values of one field on this rank's boxes: one borrowed array per box, over its places with ghosts.
class BoxField {
 public:
  /// Make a field that stores the components of a place together.
  /// @param values  of each box: shape (places, n_components); places run along the first axis first
  template <mpi::Trivial T>
  static BoxField by_place(Centering centering, std::span<const std::span<T>> values, int n_components = 1) {
    return BoxField(centering, exchange::value_type<T>(), n_components, false, bytes_of(values));
  }
  /// Make a field that stores one array of places per component.
  /// @param values  of each box: shape (n_components, places)
  template <mpi::Trivial T>
  static BoxField by_component(Centering centering, std::span<const std::span<T>> values, int n_components) {
    return BoxField(centering, exchange::value_type<T>(), n_components, true, bytes_of(values));
  }
  /// Make a field by place of values whose type is known at run time.
  BoxField(Centering centering, exchange::ValueType type, int n_components, bool is_by_component,
           std::vector<std::span<std::byte>> boxes)
      : centering_(centering),
        type_(std::move(type)),
        n_components_(n_components),
        is_by_component_(is_by_component),
        boxes_(std::move(boxes)) {}

  /// Return where the values lie: in cells, at vertices or on faces.
  [[nodiscard]] Centering centering() const noexcept { return centering_; }
  /// Return the bytes of one place in one array.
  [[nodiscard]] std::size_t place_bytes() const noexcept {
    return type_.n_bytes * static_cast<std::size_t>(is_by_component_ ? 1 : n_components_);
  }
  /// Return the number of arrays over its places that each box stores, one after the other.
  [[nodiscard]] std::size_t n_arrays() const noexcept { return is_by_component_ ? n_components_ : 1; }
  /// Return type and number of the values of a place.
  [[nodiscard]] const exchange::ValueType& type() const& noexcept { return type_; }
  /// Return the number of values at a place.
  [[nodiscard]] int n_components() const noexcept { return n_components_; }
  /// Return the borrowed bytes of each of this rank's boxes, all its arrays in one span.
  [[nodiscard]] std::span<const std::span<std::byte>> boxes() const& noexcept { return boxes_; }

 private:
  template <class T>
  static std::vector<std::span<std::byte>> bytes_of(std::span<const std::span<T>> values) {
    std::vector<std::span<std::byte>> all;
    for (const std::span<T> one : values) all.push_back(std::as_writable_bytes(one));
    return all;
  }
  Centering centering_;
  exchange::ValueType type_;
  int n_components_;
  bool is_by_component_;
  std::vector<std::span<std::byte>> boxes_;
};

/// Repeatable exchange that brings the ghosts of fields on the boxes of a layout up to date. It fills those ghosts that
/// a nearby box has: one on this rank, on another rank or across a periodic end. A box's own values stay as they are,
/// also at its border. Each round sends one message to each neighbouring rank, for all fields together; boxes of one
/// rank copy.
///
/// The values may be used while they travel: the ghosts of a box are complete once it was handed out as ready.
template <std::size_t D>
class BoxHalo {
 public:
  /// Plan the exchange. Local. The layout is shared; the values are borrowed as long as the halo lives.
  /// @param fields  the same on all ranks except for the values
  /// @throws Error{usage} if there are not as many arrays as boxes, an array does not have the size of its places with
  /// ghosts, or the ghosts are deeper than the layout's reach allows; and as RepeatedExchange
  /// Cost: O(neighbours) for each box, squared for vertices and faces; memory O(bytes of a round)
  BoxHalo(std::shared_ptr<const BoxLayout<D>> layout, std::vector<BoxField> fields, const BoxHaloOptions& options = {});
  BoxHalo(BoxHalo&&) noexcept;
  BoxHalo& operator=(BoxHalo&&) = delete;
  ~BoxHalo();

  /// Tell whether fields have the types, components and places of those of the halo.
  [[nodiscard]] bool fits(std::span<const BoxField> fields) const noexcept;
  /// Exchange other arrays of the same fields from the next round on. Local. @pre no round is under way
  /// @throws Error{usage} as the constructor, and if number, type or components of the fields differ
  void set_fields(std::vector<BoxField> fields);

  /// Send the values that others need and start to receive. Local. Until end(), do not write places that a box has
  /// itself, and do not use ghosts of boxes that were not handed out.
  void begin();
  /// Make progress while the caller computes; most calls cost a nanosecond.
  /// @return whether end() has nothing to wait for
  bool progress();
  /// Wait until all ghosts have arrived. Local, blocks.
  void end();
  /// Bring all ghosts up to date in one call: begin() and end(). Local, blocks.
  void exchange() {
    begin();
    end();
  }

  /// Return the boxes whose ghosts do not come from other ranks: these are complete after begin().
  [[nodiscard]] std::span<const std::int32_t> interior() const& noexcept;
  /// Return the boxes that have ghosts from other ranks.
  [[nodiscard]] std::span<const std::int32_t> fringe() const& noexcept;
  /// Take a box of the fringe whose ghosts have become complete in this round, to compute it while others wait. Local,
  /// between begin() and end().
  /// @return nothing if there is none now
  [[nodiscard]] std::optional<std::int32_t> next_ready();
  /// Take such a box, and wait for it if necessary. Local, blocks.
  /// @return nothing if all of the fringe was handed out
  [[nodiscard]] std::optional<std::int32_t> wait_for_ready();

  /// Return the boxes and their neighbours.
  [[nodiscard]] const BoxLayout<D>& layout() const& noexcept;
  /// Return the statistics of the rounds on this rank since the halo was made.
  [[nodiscard]] const exchange::RepeatedExchangeStatistics& statistics() const& noexcept;
  /// Return the number of messages that this rank sends in a round.
  [[nodiscard]] std::size_t n_messages() const noexcept;
  /// Return the bytes of the messages that this rank sends in a round.
  [[nodiscard]] std::uint64_t n_bytes_sent() const noexcept;
  /// Return the bytes that this rank holds for the halo, message buffers included, without the borrowed values.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

extern template class BoxHalo<2>;
extern template class BoxHalo<3>;

}  // namespace barrio::mesh
