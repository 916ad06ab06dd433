#include "barrio/delaunay/parallel/part_shelf.hpp"

#include <algorithm>
#include <utility>

#include "barrio/base/memory.hpp"
#include "barrio/delaunay/parallel/part_bytes.hpp"

namespace barrio::delaunay::detail {
namespace {

std::uint64_t bytes_of(const Part& part) noexcept {
  return part.mesh.memory_bytes() + part.interfaces.capacity() * sizeof(Interface) +
         (part.angles.capacity() + part.chains.capacity() + part.chain_end.capacity()) * sizeof(std::int32_t) +
         part.shared.capacity() * sizeof(SharedVertex);
}

}  // namespace

PartShelf::PartShelf(std::uint64_t max_bytes, const std::string& scratch)
    : store_(std::in_place,
             mobile::StoreOptions{.folder = scratch,
                                  .max_waiting_bytes = std::min<std::uint64_t>(max_bytes / 8, 16U << 20U)}),
      max_bytes_(max_bytes) {}

void PartShelf::add(Part part) {
  Place& place = places_.emplace_back();
  place.part = std::move(part);
  place.n_bytes = bytes_of(place.part);
  place.last_use = ++clock_;
  used_bytes_ += place.n_bytes;
  make_room(0, places_.size() - 1);
}

Part& PartShelf::take(std::size_t i, std::uint64_t n_more_bytes) {
  Place& place = places_[i];
  place.last_use = ++clock_;
  make_room(n_more_bytes + (place.is_in_memory ? 0 : place.n_stored_bytes), i);
  if (!place.is_in_memory) {
    const mobile::Block block = store_->get(*place.stored);
    place.part = unpack(block.bytes());
    place.is_in_memory = true;
    place.n_bytes = bytes_of(place.part);
    used_bytes_ += place.n_bytes;
  }
  return place.part;
}

void PartShelf::give_back(std::size_t i, bool is_changed) {
  Place& place = places_[i];
  used_bytes_ -= place.n_bytes;
  place.n_bytes = bytes_of(place.part);
  used_bytes_ += place.n_bytes;
  if (is_changed && place.stored) {
    store_->drop(*place.stored);
    place.stored.reset();
  }
  make_room(0, i);
}

void PartShelf::prefetch(std::size_t i) {
  const Place& place = places_[i];
  if (!place.is_in_memory && used_bytes_ + 2 * place.n_stored_bytes <= max_bytes_) store_->prefetch(*place.stored);
}

/// Evict parts but one until there is room, or nothing left to evict.
void PartShelf::make_room(std::uint64_t n_bytes, std::size_t but) {
  while (used_bytes_ + n_bytes > max_bytes_) {
    Place* oldest = nullptr;
    for (std::size_t i = 0; i < places_.size(); ++i)
      if (i != but && places_[i].is_in_memory && (oldest == nullptr || places_[i].last_use < oldest->last_use))
        oldest = &places_[i];
    if (oldest == nullptr) return;
    evict(*oldest);
  }
}

void PartShelf::evict(Place& place) {
  if (!place.stored) {
    mobile::Block block(pack(place.part, nullptr));
    place.n_stored_bytes = pack(place.part, block.data());
    place.stored = store_->put(std::move(block));
  }
  place.part = {};
  place.is_in_memory = false;
  used_bytes_ -= place.n_bytes;
  constexpr std::uint64_t often = std::uint64_t{32} << 20U;
  evicted_bytes_ += place.n_bytes;
  if (evicted_bytes_ >= often) {
    return_free_memory();
    evicted_bytes_ = 0;
  }
  place.n_bytes = 0;
}

}  // namespace barrio::delaunay::detail
