#include "barrio/base/text.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/support/mpi_test.hpp"

namespace barrio {
namespace {

TEST(EditDistance, CountsInsertDeleteReplaceAndSwap) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("mesh", "mesh"), 0U);
  EXPECT_EQ(edit_distance("mesh", "meshes"), 2U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("mehs", "mesh"), 1U) << "a swap of neighbours is one edit";
  EXPECT_EQ(edit_distance("ca", "abc"), 3U) << "no part is edited twice (optimal string alignment)";
}

TEST(EditDistance, IsSymmetricAndBoundedForRandomWords) {
  std::mt19937_64 random(test::seed());
  const auto word = [&] {
    std::string text(random() % 9, ' ');
    for (char& letter : text) letter = static_cast<char>('a' + random() % 3);
    return text;
  };
  for (int i = 0; i < 500; ++i) {
    const std::string a = word();
    const std::string b = word();
    const std::size_t distance = edit_distance(a, b);
    EXPECT_EQ(distance, edit_distance(b, a)) << a << ' ' << b;
    EXPECT_EQ(distance == 0, a == b) << a << ' ' << b;
    EXPECT_LE(distance, std::max(a.size(), b.size())) << a << ' ' << b;
    EXPECT_GE(distance, std::max(a.size(), b.size()) - std::min(a.size(), b.size())) << a << ' ' << b;
  }
}

TEST(NearestWord, FindsWhatWasMeantAndNothingElse) {
  const std::vector<std::string> commands{"partition", "convert", "info", "load"};
  EXPECT_EQ(nearest_word("partiton", commands), "partition");
  EXPECT_EQ(nearest_word("covnert", commands), "convert");
  EXPECT_EQ(nearest_word("inof", commands), "info");
  EXPECT_EQ(nearest_word("delaunay", commands), "");
  EXPECT_EQ(nearest_word("x", commands), "");
  EXPECT_EQ(nearest_word("info", {}), "");
  const std::vector<std::string> equals{"axe", "aye"};
  EXPECT_EQ(nearest_word("abe", equals), "axe") << "of equals, the first";
}

TEST(DidYouMean, IsASentenceOrNothing) {
  const std::vector<std::string> commands{"partition", "convert"};
  EXPECT_EQ(did_you_mean("partitoin", commands), " Did you mean 'partition'?");
  EXPECT_EQ(did_you_mean("zzz", commands), "");
}

TEST(FormatBytes, TakesTheLargestBinaryUnit) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.0 KiB");
  EXPECT_EQ(format_bytes(1536U * 1024U), "1.5 MiB");
  EXPECT_EQ(format_bytes(std::uint64_t{3} << 30U), "3.0 GiB");
  EXPECT_EQ(format_bytes(std::numeric_limits<std::uint64_t>::max()), "16384.0 PiB");
}

TEST(FormatSeconds, TakesAFittingUnit) {
  EXPECT_EQ(format_seconds(0.0), "0 ns");
  EXPECT_EQ(format_seconds(12e-9), "12 ns");
  EXPECT_EQ(format_seconds(12.34e-6), "12.3 us");
  EXPECT_EQ(format_seconds(0.0123), "12.3 ms");
  EXPECT_EQ(format_seconds(-0.5), "-500.0 ms");
  EXPECT_EQ(format_seconds(1.0), "1.00 s");
  EXPECT_EQ(format_seconds(119.5), "119.50 s");
  EXPECT_EQ(format_seconds(150.0), "2.5 min");
}

TEST(FormatCount, GroupsDigitsByThree) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1 000");
  EXPECT_EQ(format_count(84213), "84 213");
  EXPECT_EQ(format_count(123456789), "123 456 789");
  EXPECT_EQ(format_count(-999), "-999");
  EXPECT_EQ(format_count(-1000), "-1 000");
  EXPECT_EQ(format_count(std::numeric_limits<std::int64_t>::min()), "-9 223 372 036 854 775 808");
}

}  // namespace
}  // namespace barrio
