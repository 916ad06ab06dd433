#include "barrio/exchange/byte_values.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

namespace barrio::exchange {
namespace {

using Value = std::optional<std::vector<std::byte>>;

MessageWriter written(const std::vector<Value>& values) {
  ByteValues out;
  for (const Value& value : values) {
    if (value) {
      out.add(*value);
    } else {
      out.add_nothing();
    }
  }
  EXPECT_EQ(out.size(), values.size());
  MessageWriter message;
  out.put_into(message);
  return message;
}

std::vector<Value> read(const MessageWriter& message) {
  MessageReader in(message.bytes());
  const ByteValuesView view(in);
  EXPECT_TRUE(in.done());
  std::vector<Value> values(view.size());
  for (std::size_t i = view.size(); i-- > 0;)  // not in the order of writing
    if (view.has(i)) values[i].emplace(view[i].begin(), view[i].end());
  return values;
}

std::vector<std::byte> bytes(std::size_t n, int first) {
  std::vector<std::byte> out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(static_cast<std::byte>(static_cast<std::size_t>(first) + i));
  return out;
}

TEST(ByteValues, ComeAsTheyWent) {
  const std::vector<std::vector<Value>> cases{
      {},
      {std::nullopt},
      {std::nullopt, std::nullopt},
      {bytes(0, 0)},
      {bytes(0, 0), std::nullopt, bytes(0, 0)},
      {bytes(3, 1)},
      {bytes(8, 1), bytes(8, 9), bytes(8, 17)},
      {bytes(8, 1), bytes(8, 9), bytes(7, 17), bytes(8, 30)},
      {std::nullopt, bytes(5, 1), bytes(0, 0), bytes(1, 7)},
  };
  for (const auto& values : cases) EXPECT_EQ(read(written(values)), values);
}

TEST(ByteValues, OfAnyLengthsComeAsTheyWent) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int trial = 0; trial < 200; ++trial) {
    const int longest = std::uniform_int_distribution(0, 6)(random);
    std::vector<Value> values(std::uniform_int_distribution<std::size_t>(0, 40)(random));
    for (Value& value : values)
      if (const int n = std::uniform_int_distribution(-1, longest)(random); n >= 0)
        value = bytes(static_cast<std::size_t>(n), static_cast<int>(random() % 100));
    EXPECT_EQ(read(written(values)), values);
  }
}

TEST(ByteValues, OfOneLengthShareIt) {
  const std::vector<Value> alike(100, bytes(8, 1));
  EXPECT_LE(written(alike).bytes().size(), 100U * 8U + 48U);
  std::vector<Value> varied = alike;
  varied.back() = bytes(9, 1);
  EXPECT_GE(written(varied).bytes().size(), 100U * 12U);
}

TEST(ByteValues, StandBesideOthersInOneMessage) {
  MessageWriter message;
  message.put(std::vector<std::int32_t>{1, 2, 3});
  for (const std::size_t n : {0U, 5U, 8U}) {
    ByteValues values;
    values.add(bytes(n, 1));
    values.put_into(message);
  }
  MessageReader in(message.bytes());
  EXPECT_EQ(in.get<std::int32_t>().size(), 3U);
  for (const std::size_t n : {0U, 5U, 8U}) {
    const ByteValuesView view(in);
    ASSERT_EQ(view.size(), 1U);
    EXPECT_EQ(view[0].size(), n);
  }
  EXPECT_TRUE(in.done());
}

}  // namespace
}  // namespace barrio::exchange
