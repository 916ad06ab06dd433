#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "barrio/base/ids.hpp"
#include "barrio/mobile/mobile_ptr.hpp"

namespace barrio::mobile::detail {

/// Place of an object after some number of moves. Whoever says that it is, was, or will soon be true.
struct Location {
  Rank rank = -1;           // -1: the object was destroyed
  std::uint32_t epoch = 0;  // moves of the object up to there
};

/// Places of objects that have moved, as one rank knows them. Pure: sends nothing.
///
/// A message to an object carries the epoch of the place that it was sent to. At that rank three cases remain: the
/// object is here; this rank knows of a later place, and the message goes there; or the object is still to come, since
/// a rank that an object left knows of a later place. So each hop is to a later epoch, and their number is bounded by
/// the moves meanwhile.
/// Source: Fowler, "The complexity of using forwarding addresses for decentralized object finding", PODC 1986.
class Directory {
 public:
  /// @param max_learned  places that are kept of objects that neither were made for this rank nor have been here
  explicit Directory(Rank here, int n_ranks, std::size_t max_learned = std::size_t{1} << 16U)
      : here_(here), n_ranks_(n_ranks), max_learned_(max_learned) {}

  /// Return the rank that always knows where an object is: the one it was made for, if this job has it.
  [[nodiscard]] Rank home(ObjectId id) const noexcept { return id.rank() % n_ranks_; }

  /// Return the place to send a message to. @pre the object is not here
  [[nodiscard]] Location guess(ObjectId id) const {
    const auto found = places_.find(id.word());
    return found != places_.end() ? found->second.location : Location{home(id), 0};
  }
  enum class Way { stays, goes_on, has_no_object };
  /// Decide on a message that was sent here for an object which is not. @param epoch  of the place it was sent to
  /// @param was_made  the object was made by this rank for itself @param[out] to  the next place, if it goes on
  [[nodiscard]] Way route(ObjectId id, std::uint32_t epoch, bool was_made, Location& to) const;
  /// Take note of a place. @return whether it is news
  bool learn(ObjectId id, Location location);
  /// Take note that an object that was here is at a later place, or was destroyed.
  void left(ObjectId id, Location location);
  /// Take note that an object is here.
  void arrived(ObjectId id) { erase(id); }
  /// Forget the places of objects of other ranks, and those that have ended. All ranks do so while no message is on its
  /// way.
  void forget();

  /// Call `visit(id, location)` with each place that is known, in any order.
  template <class Visit>
  void each(Visit&& visit) const {
    for (const auto& [word, known] : places_) visit(ObjectId::of_word(word), known.location);
  }
  /// Count the places of objects that have been here.
  [[nodiscard]] std::size_t n_left() const noexcept { return n_left_; }
  [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  struct Known {
    Location location;
    bool must_stay;  // of an object that was made for this rank, or has been here
  };
  void erase(ObjectId id);
  void set(ObjectId id, Location location, bool must_stay);
  Rank here_;
  int n_ranks_;
  std::size_t max_learned_;
  std::unordered_map<std::uint64_t, Known> places_;
  std::size_t n_left_ = 0;
  std::size_t n_learned_ = 0;
};

}  // namespace barrio::mobile::detail
