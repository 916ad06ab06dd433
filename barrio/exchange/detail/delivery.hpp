#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/exchange/transfer_options.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::exchange::detail {

/// What one rank is to be sent: bytes that `Delivery::pack` writes.
struct Outgoing {
  Rank to;
  std::size_t n_bytes;
};

/// What has come, by ascending sender: one entry a sender.
struct Incoming {
  struct Place {
    Rank from;
    std::size_t first_word;
    std::size_t n_bytes;
  };
  std::vector<std::uint64_t> words;
  std::vector<Place> places;
  [[nodiscard]] const std::byte* bytes_of(const Place& place) const& noexcept {
    return reinterpret_cast<const std::byte*>(words.data() + place.first_word);
  }
};

/// Ask all ranks if the destinations are good and, with `Route::automatic`, which route is the cheaper. Collective.
/// @throws AgreedError on all ranks if any of them has a fault
Route agree_on_route(mpi::Context& context, const Status& fault, const std::vector<Outgoing>& outgoing, Route wanted);

/// Words of the crystal router, with a head of their own: (destination, source), length in bytes, then the bytes padded
/// to words.
std::vector<std::uint64_t> route_words(mpi::Context& context, std::vector<std::uint64_t> words);
constexpr std::size_t n_head_words = 2;

/// Deliver bytes to ranks that do not expect them. Collective.
/// @param outgoing  ascending by rank, without repetition
/// @param pack  called once for each entry: write the bytes of this one, straight into the message
/// @param route  as agreed; not automatic
Incoming deliver(mpi::Context& context, const std::vector<Outgoing>& outgoing,
                 const std::function<void(std::size_t entry, std::byte* into)>& pack, Route route);

}  // namespace barrio::exchange::detail
