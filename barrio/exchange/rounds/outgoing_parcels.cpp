#include "barrio/exchange/rounds/outgoing_parcels.hpp"

#include <algorithm>
#include <utility>

#include "barrio/exchange/rounds/guard.hpp"
#include "barrio/exchange/rounds/packet.hpp"

namespace barrio::exchange::detail {

namespace {

constexpr std::size_t first_words = 64;  // of a parcel's buffer
// Limits on the buffers kept from round to round: their number, and the words of each.
constexpr std::size_t max_spares = 8;
constexpr std::size_t max_spare_words = 8192;

}  // namespace

Buffer OutgoingParcels::take_spare() {
  if (spares_.empty()) return {};
  Buffer buffer = std::move(spares_.back());
  spares_.pop_back();
  return buffer;
}

std::byte* OutgoingParcels::allocate(Rank to, std::size_t n_bytes) {
  auto at = std::ranges::lower_bound(parcels_, to, {}, &Parcel::to);
  if (at == parcels_.end() || at->to != to) {
    at = parcels_.insert(at, {to, take_spare(), header_bytes});
  } else {
    check_guard(at->buffer.bytes() + at->used_bytes, to);
  }
  const std::size_t n_words = words_of(at->used_bytes + n_bytes + guard_bytes);
  const std::size_t n_words_now = at->buffer.size();
  if (n_words_now < n_words)
    at->buffer.reserve(std::max({n_words, first_words, n_words_now + n_words_now / 2}),
                       std::min(words_of(at->used_bytes), n_words_now));
  std::byte* const place = at->buffer.bytes() + at->used_bytes;
  at->used_bytes += n_bytes;
  set_guard(place + n_bytes);
  return place;
}

std::optional<Buffer> OutgoingParcels::seal(const MessageKind& kind, std::uint64_t epoch, Rank self) {
  for (Parcel& parcel : parcels_) {
    check_guard(parcel.buffer.bytes() + parcel.used_bytes, parcel.to);
    put_header(parcel.buffer, make_header(kind, parcel.used_bytes - header_bytes, 1, epoch));
  }
  const auto mine = std::ranges::find(parcels_, self, &Parcel::to);
  if (mine == parcels_.end()) return {};
  Buffer buffer = std::move(mine->buffer);
  parcels_.erase(mine);
  return buffer;
}

std::vector<Introduction> OutgoingParcels::introductions(int tag) const {
  std::vector<Introduction> lines;
  for (const Parcel& parcel : parcels_) {
    const auto n_lost =
        std::ranges::count_if(lost_, [&](const Lost& one) { return one.to == parcel.to && one.tag == tag; });
    lines.push_back({parcel.to, 0, static_cast<std::uint16_t>(n_lost), 8 * words_of(parcel.used_bytes)});
  }
  return lines;
}

void OutgoingParcels::end_round(int tag, std::span<const Rank> lost) {
  for (Parcel& parcel : parcels_) {
    if (std::ranges::binary_search(lost, parcel.to)) {
      lost_.push_back({parcel.to, tag});
      new Buffer(std::move(parcel.buffer));
    } else {  // its receiver has taken in the earlier lost ones
      std::erase_if(lost_, [&](const Lost& one) { return one.to == parcel.to && one.tag == tag; });
      if (spares_.size() < max_spares && parcel.buffer.size() <= max_spare_words)
        spares_.push_back(std::move(parcel.buffer));
    }
  }
  parcels_.clear();
}

void OutgoingParcels::leak() {
  for (Parcel& parcel : parcels_) new Buffer(std::move(parcel.buffer));
  parcels_.clear();
}

std::size_t OutgoingParcels::memory_bytes() const noexcept {
  std::size_t n_words = 0;
  for (const Parcel& parcel : parcels_) n_words += parcel.buffer.size();
  for (const Buffer& buffer : spares_) n_words += buffer.size();
  return 8 * n_words;
}

}  // namespace barrio::exchange::detail
