#include "barrio/base/error.hpp"

#include <gtest/gtest.h>

#include <new>

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

}  // namespace
}  // namespace barrio
