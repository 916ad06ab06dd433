#include "barrio/mobile/moving/directory.hpp"

namespace barrio::mobile::detail {

Directory::Way Directory::route(ObjectId id, std::uint32_t epoch, bool was_made, Location& to) const {
  const auto found = places_.find(id.word());
  if (found == places_.end()) return was_made ? Way::has_no_object : Way::stays;
  to = found->second.location;
  if (to.epoch <= epoch) return Way::stays;
  return to.rank < 0 ? Way::has_no_object : Way::goes_on;
}

bool Directory::learn(ObjectId id, Location location) {
  const auto found = places_.find(id.word());
  if (found != places_.end() && found->second.location.epoch >= location.epoch) return false;
  const bool must_stay = home(id) == here_ || (found != places_.end() && found->second.must_stay);
  if (!must_stay && n_learned_ >= max_learned_) {
    std::erase_if(places_, [](const auto& one) { return !one.second.must_stay; });
    n_learned_ = 0;
  }
  set(id, location, must_stay);
  return true;
}

void Directory::left(ObjectId id, Location location) { set(id, location, true); }

void Directory::set(ObjectId id, Location location, bool must_stay) {
  erase(id);
  places_.insert({id.word(), {location, must_stay}});
  (must_stay ? n_left_ : n_learned_) += 1;
}

void Directory::erase(ObjectId id) {
  const auto found = places_.find(id.word());
  if (found == places_.end()) return;
  (found->second.must_stay ? n_left_ : n_learned_) -= 1;
  places_.erase(found);
}

void Directory::forget() {
  std::erase_if(places_, [&](const auto& one) {
    return home(ObjectId::of_word(one.first)) != here_ || one.second.location.rank < 0;
  });
  n_left_ = places_.size();
  n_learned_ = 0;
}

std::size_t Directory::memory_bytes() const noexcept {
  constexpr std::size_t node = sizeof(void*) + sizeof(std::uint64_t) + sizeof(Known);
  return places_.size() * node + places_.bucket_count() * sizeof(void*);
}

}  // namespace barrio::mobile::detail
