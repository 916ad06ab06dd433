#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/exchange/detail/buffer.hpp"
#include "barrio/exchange/detail/message_kind.hpp"
#include "barrio/exchange/options.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::exchange::detail {

/// Bytes to one rank, written when all places are known.
struct BytesTo {
  Rank to;
  std::size_t n_bytes;
};

/// Bytes that one rank has announced.
struct BytesFrom {
  Rank from;
  std::size_t n_bytes;
};

/// Received bytes, by ascending sender: one entry per sender.
struct DeliveredBytes {
  struct Place {
    Rank from;
    std::size_t first_word;
    std::size_t n_bytes;
  };
  std::vector<std::uint64_t> words;  // of the router and of single messages
  Buffer room;                       // of a counted delivery
  std::vector<Place> places;
  [[nodiscard]] const std::byte* bytes_of(const Place& place) const& noexcept {
    return reinterpret_cast<const std::byte*>((room.size() > 0 ? room.data() : words.data()) + place.first_word);
  }
};

/// Kind of the items of a delivery. It goes with each entry, so ranks that pass items of another kind get an error.
struct ItemKind {
  std::uint64_t hash;
  std::string name;  ///< "int64"
};

/// Return the kind of items that are rows of these columns, or of one type.
template <class... Columns>
ItemKind items_of() {
  ItemKind kind{0, {}};
  Hash64 hash;
  const auto add = [&](const MessageKind& column) {
    hash.add(std::bit_cast<std::uint64_t>(column));
    kind.name += (kind.name.empty() ? "" : ", ") + type_name(column);
  };
  (add(kind_of<Columns>(RoundCall::messages)), ...);
  kind.hash = hash.value();
  return kind;
}

/// Agree that the destinations are valid and the items alike; with `Route::automatic` also choose the cheaper route.
/// Collective.
/// @throws AgreedError on all ranks if any of them has a fault, or items of another kind than the others
Route agree_on_route(mpi::Context& context, Status fault, const ItemKind& kind, const std::vector<BytesTo>& outgoing,
                     Route wanted);

/// Send words by the crystal router. Each entry has a head, (destination, source), (kind, length in bytes), then its
/// bytes padded to words.
std::vector<std::uint64_t> route_words(mpi::Context& context, std::vector<std::uint64_t> words);
/// Append words to others, without a copy if there are none yet.
void append(std::vector<std::uint64_t>& words, std::vector<std::uint64_t> more);
constexpr std::size_t n_head_words = 2;
constexpr unsigned n_length_bits = 40;
constexpr std::uint64_t entry_bytes(std::uint64_t word) { return word & ((std::uint64_t{1} << n_length_bits) - 1); }
constexpr std::uint64_t entry_kind(std::uint64_t word) { return word >> n_length_bits; }

/// Write the bytes of all entries, each to its place, straight into the messages. Called once.
using PackAll = std::function<void(std::span<std::byte* const> places)>;

/// Deliver bytes to ranks that do not expect them. Collective.
/// @param outgoing  ascending by rank, without repetition
/// @param route  as agreed: crystal or direct
/// @throws Error{usage}, once all entries have arrived, on ranks that were sent items of another kind
DeliveredBytes deliver(mpi::Context& context, const ItemKind& kind, const std::vector<BytesTo>& outgoing,
                       const PackAll& pack, Route route);

/// Deliver by `Route::counted`, with the checks of `agree_on_route`. @throws AgreedError as agree_on_route, before
/// anything is packed
DeliveredBytes deliver_counted(mpi::Context& context, Status fault, const ItemKind& kind,
                               const std::vector<BytesTo>& outgoing, const PackAll& pack);

/// Announce, the first step of a counted delivery, the number of bytes to each rank. Collective. @return the bytes from
/// each sender, by ascending rank. @throws AgreedError as agree_on_route
std::vector<BytesFrom> announce(mpi::Context& context, Status fault, const ItemKind& kind,
                                const std::vector<BytesTo>& outgoing);

/// Find the first row whose destination is not a rank, and return its fault.
Status find_fault(std::span<const Rank> to, int n_ranks);

// Tag of counted deliveries, below those of objects; message order between two ranks keeps calls apart.
constexpr int counted_tag = 3;

/// Messages of a counted delivery; empty ones are not sent. They are counted in words where possible, since MPI counts
/// in an int.
class Counted {
 public:
  Counted(mpi::Context& context, std::size_t n_max) : context_(context) { requests_.reserve(n_max); }
  void receive_words(std::uint64_t* into, std::size_t n_bytes, Rank from);
  void send_words(const std::byte* words, std::size_t n_bytes, Rank to);
  void send_bytes(const std::byte* bytes, std::size_t n_bytes, Rank to);
  /// Receive one value of `type`, which may lie in several pieces.
  void receive(std::byte* into, MPI_Datatype type, std::size_t n_bytes, Rank from);
  void wait();

 private:
  MPI_Request& next_received(std::size_t n_bytes);
  MPI_Request& next_sent(std::size_t n_bytes);
  mpi::Context& context_;
  std::vector<MPI_Request> requests_;
};

/// `Route::automatic` takes `counted` on up to this many ranks.
constexpr int max_counted_ranks = 256;

}  // namespace barrio::exchange::detail
