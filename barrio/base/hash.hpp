#pragma once

/// @file Hash of 64-bit words, used by every checksum.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

namespace barrio {

/// Mix 64 bits: the output function of SplitMix64.
/// Source: Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators".
constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// Hash of a sequence of 64-bit words, "SplitMix64 fold": h = mix64(h ^ word), starting from a seed.
/// This is the hash behind every `checksum()` of barrio. A checksum adds, modulo 2^64, the hash of (global id,
/// canonical words) of each owned item, so it does not depend on order or rank count.
class Hash64 {
 public:
  /// Begin a hash; another seed gives another hash of the same words.
  explicit constexpr Hash64(std::uint64_t seed = 0) noexcept : state_(mix64(seed)) {}

  /// Add one word.
  constexpr Hash64& add(std::uint64_t word) noexcept {
    state_ = mix64(state_ ^ word);
    return *this;
  }
  /// Add one signed word, by its bit pattern.
  constexpr Hash64& add(std::int64_t word) noexcept { return add(static_cast<std::uint64_t>(word)); }
  /// Add the bit pattern, with -0.0 taken as +0.0.
  constexpr Hash64& add(double number) noexcept { return add(std::bit_cast<std::uint64_t>(number + 0.0)); }
  /// Add the length, then the characters.
  constexpr Hash64& add_text(std::string_view text) noexcept {
    add(std::int64_t{std::ssize(text)});
    for (const char letter : text) add(std::int64_t{letter});
    return *this;
  }
  /// Add the words one by one; their number is not added.
  template <class T>
  constexpr Hash64& add_all(std::span<const T> words) noexcept {
    for (const T& word : words) add(word);
    return *this;
  }
  /// Return the hash of all that was added so far.
  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return state_; }

 private:
  std::uint64_t state_;
};

}  // namespace barrio
