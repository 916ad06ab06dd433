#pragma once

/// @file Names of objects, which any rank may hold and send on.

#include <compare>
#include <cstdint>

#include "barrio/base/ids.hpp"

namespace barrio::mobile {

/// Name of an object, the same on all ranks: the rank it was made for, the rank that made it, and a number. Made
/// without communication.
class ObjectId {
 public:
  static constexpr unsigned n_rank_bits = 20;               ///< of the word, for each of the two ranks
  static constexpr unsigned n_number_bits = 24;             ///< of the word, for the number
  static constexpr int max_ranks = (1 << n_rank_bits) - 1;  ///< of a job; also `rank()` of a name that is not set
  static constexpr std::uint32_t max_objects = 1U << n_number_bits;  ///< of one rank, made by one rank

  constexpr ObjectId() = default;
  /// Name the object `number`, from 0, that `maker` makes for `rank`. @pre ranks < max_ranks, number < max_objects
  constexpr ObjectId(Rank rank, Rank maker, std::uint32_t number) noexcept
      : word_(1 + ((((static_cast<std::uint64_t>(rank) << n_rank_bits) | static_cast<std::uint64_t>(maker))
                    << n_number_bits) |
                   number)) {}

  /// Return the rank that the object was made for; it has it unless it migrated. `max_ranks` if the name is not set.
  [[nodiscard]] constexpr Rank rank() const noexcept {
    return static_cast<Rank>((word_ - 1) >> (n_rank_bits + n_number_bits));
  }
  /// Return the rank that made the object. @pre it is set
  [[nodiscard]] constexpr Rank maker() const noexcept {
    return static_cast<Rank>(((word_ - 1) >> n_number_bits) & ((1U << n_rank_bits) - 1));
  }
  /// Return the number of the object, from 0 for each pair of maker and rank. @pre it is set
  [[nodiscard]] constexpr std::uint32_t number() const noexcept {
    return static_cast<std::uint32_t>((word_ - 1) & (max_objects - 1));
  }
  /// Tell whether it names an object; one made by default does not.
  [[nodiscard]] constexpr bool is_set() const noexcept { return word_ != 0; }
  /// Return the name as one word; 0 if it is not set.
  [[nodiscard]] constexpr std::uint64_t word() const noexcept { return word_; }
  /// Return the name with a word that `word()` has given.
  [[nodiscard]] static constexpr ObjectId of_word(std::uint64_t word) noexcept {
    ObjectId id;
    id.word_ = word;
    return id;
  }
  constexpr auto operator<=>(const ObjectId&) const = default;

 private:
  std::uint64_t word_ = 0;
};

/// Name of an object of type T. It may be sent in messages and kept in other objects; it does not own.
template <class T>
class MobilePtr {
 public:
  constexpr MobilePtr() = default;
  /// Name an object whose type is known to be T; this is not checked here.
  constexpr explicit MobilePtr(ObjectId id) noexcept : id_(id) {}
  /// Return the name without the type.
  [[nodiscard]] constexpr ObjectId id() const noexcept { return id_; }
  /// Return the rank that the object was made for; it has it unless it migrated. @pre it is set
  [[nodiscard]] constexpr Rank rank() const noexcept { return id_.rank(); }
  /// Tell whether it names an object; one made by default does not.
  constexpr explicit operator bool() const noexcept { return id_.is_set(); }
  constexpr auto operator<=>(const MobilePtr&) const = default;

 private:
  ObjectId id_;
};

}  // namespace barrio::mobile
