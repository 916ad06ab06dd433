#include "barrio/base/hash.hpp"

#include <gtest/gtest.h>

#include <array>
#include <span>

namespace barrio {
namespace {

// The n-th number of a SplitMix64 generator is mix64(seed + n * gamma).
constexpr std::uint64_t gamma = 0x9e3779b97f4a7c15U;

TEST(Mix64, GivesTheReferenceNumbersOfSplitMix64) {
  // Seed 0: output of the reference C code (Vigna 2015), which many test suites use to seed xoshiro.
  static constexpr std::array<std::uint64_t, 5> of_zero{0xe220a8397b1dcdafU, 0x6e789e6aa1b965f4U, 0x06c45d188009454fU,
                                                        0xf88bb8a8724c81ecU, 0x1b39896a51a8749bU};
  // Seed 1234567: the known answers of the Rosetta Code task "Pseudo-random numbers/Splitmix64".
  static constexpr std::array<std::uint64_t, 5> of_1234567{
      6457827717110365317U, 3203168211198807973U, 9817491932198370423U, 4593380528125082431U, 16408922859458223821U};
  for (std::uint64_t n = 0; n < 5; ++n) {
    EXPECT_EQ(mix64(n * gamma), of_zero[n]);
    EXPECT_EQ(mix64(1234567 + n * gamma), of_1234567[n]);
  }
  static_assert(mix64(0) == 0xe220a8397b1dcdafU);
}

TEST(Hash64, FoldsWordsAsItsCommentSays) {
  EXPECT_EQ(Hash64().value(), mix64(0));
  EXPECT_EQ(Hash64(9).value(), mix64(9));
  EXPECT_EQ(Hash64(9).add(std::uint64_t{5}).value(), mix64(mix64(9) ^ 5U));
  // A pinned value: checksums are written to files and compared between versions.
  EXPECT_EQ(Hash64(42).add(std::uint64_t{1}).add(std::int64_t{-2}).add(1.5).value(), 0xaecdacfda64c70e3U);
}

TEST(Hash64, KnowsOrderButNotTheSignOfZero) {
  const auto of = [](auto... words) {
    Hash64 hash;
    (hash.add(words), ...);
    return hash.value();
  };
  EXPECT_NE(of(std::uint64_t{1}, std::uint64_t{2}), of(std::uint64_t{2}, std::uint64_t{1}));
  EXPECT_NE(of(std::uint64_t{0}), of(std::uint64_t{0}, std::uint64_t{0}));
  EXPECT_EQ(of(0.0), of(-0.0));
  EXPECT_NE(of(1.0), of(-1.0));
  EXPECT_EQ(of(std::int64_t{-1}), of(~std::uint64_t{0}));
}

TEST(Hash64, AddAllAddsEach) {
  static constexpr std::array<double, 3> numbers{0.5, -0.0, 3.0};
  EXPECT_EQ(Hash64().add_all(std::span<const double>(numbers)).value(), Hash64().add(0.5).add(0.0).add(3.0).value());
  EXPECT_EQ(Hash64().add_all(std::span<const double>()).value(), Hash64().value());
}

}  // namespace
}  // namespace barrio
