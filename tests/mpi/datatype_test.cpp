#include "barrio/mpi/datatype.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "barrio/base/ids.hpp"

namespace barrio::mpi {
namespace {

struct Pair {
  std::int32_t a;
  double b;
};
enum class Small : std::uint8_t {};
static_assert(Trivial<Pair> && !Builtin<Pair>);
static_assert(!Trivial<std::string> && !Builtin<std::string>);
static_assert(Builtin<GlobalId> && Builtin<std::byte> && Builtin<bool> && !Builtin<int*>);

template <class T>
class DatatypeOf : public testing::Test {};
using AllTypes = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                                std::uint32_t, std::uint64_t, long, long long, unsigned long, float, double, bool, char,
                                std::byte, GlobalId, LocalId, Small>;
TYPED_TEST_SUITE(DatatypeOf, AllTypes);

TYPED_TEST(DatatypeOf, HasTheSizeOfTheType) {
  int bytes = 0;
  ASSERT_NE(datatype<TypeParam>(), MPI_DATATYPE_NULL);
  ASSERT_EQ(MPI_Type_size(datatype<TypeParam>(), &bytes), MPI_SUCCESS);
  EXPECT_EQ(static_cast<std::size_t>(bytes), sizeof(TypeParam));
}

TEST(Datatype, KeepsSignAndKind) {
  EXPECT_EQ(datatype<double>(), MPI_DOUBLE);
  EXPECT_EQ(datatype<float>(), MPI_FLOAT);
  EXPECT_EQ(datatype<std::int32_t>(), MPI_INT32_T);
  EXPECT_EQ(datatype<std::uint32_t>(), MPI_UINT32_T);
  EXPECT_EQ(datatype<std::int64_t>(), MPI_INT64_T);
  EXPECT_EQ(datatype<long long>(), MPI_INT64_T);
  EXPECT_EQ(datatype<std::uint8_t>(), MPI_UINT8_T);
  EXPECT_EQ(datatype<std::byte>(), MPI_BYTE);
  EXPECT_EQ(datatype<GlobalId>(), MPI_INT64_T);
  EXPECT_EQ(datatype<LocalId>(), MPI_INT32_T);
  EXPECT_EQ(datatype<Small>(), MPI_UINT8_T);
}

TEST(Datatype, ABlockOfBytesIsOneItem) {
  Datatype block = Datatype::bytes(sizeof(Pair) * 3);
  int bytes = 0;
  ASSERT_EQ(MPI_Type_size(block.get(), &bytes), MPI_SUCCESS);
  EXPECT_EQ(static_cast<std::size_t>(bytes), sizeof(Pair) * 3);
  Datatype moved = std::move(block);
  EXPECT_EQ(block.get(), MPI_DATATYPE_NULL);  // NOLINT(bugprone-use-after-move): tested here
  ASSERT_EQ(MPI_Type_size(moved.get(), &bytes), MPI_SUCCESS);
}

}  // namespace
}  // namespace barrio::mpi
