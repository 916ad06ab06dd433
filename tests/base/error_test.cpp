#include "barrio/base/error.hpp"

#include <gtest/gtest.h>

#include <new>

#include "barrio/base/result.hpp"

namespace barrio {
namespace {

TEST(Error, SaysSubjectCauseAndRemedyInOneLine) {
  const Error error(ErrorCode::bad_input, {.subject = "wing.h5m", .cause = "is truncated", .remedy = "copy it again"});
  EXPECT_STREQ(error.what(), "wing.h5m: is truncated (copy it again)");
  EXPECT_EQ(exit_code(error.code()), 3);
}

TEST(Error, CaptureTurnsAnyExceptionIntoAStatus) {
  EXPECT_FALSE(capture([] {}));
  EXPECT_EQ(capture([] { throw std::bad_alloc(); })->code(), ErrorCode::failed);
  EXPECT_EQ(capture([] { throw 7; })->code(), ErrorCode::internal);
  const Status status = capture([] { throw Error(ErrorCode::usage, {.subject = "--ranks", .cause = "is negative"}); });
  EXPECT_EQ(status->subject(), "--ranks");
}

TEST(Result, HoldsAValueOrTheErrorInItsWay) {
  const auto half = [](int n) -> Result<int> {
    if (n % 2 != 0) return fail(ErrorCode::bad_input, {.subject = "n", .cause = "is odd"});
    return n / 2;
  };
  EXPECT_EQ(take(half(8)), 4);
  EXPECT_THROW(take(half(7)), Error);
}

}  // namespace
}  // namespace barrio
