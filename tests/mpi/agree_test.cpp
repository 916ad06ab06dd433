#include "barrio/mpi/agree.hpp"

#include <gtest/gtest.h>

#include "tests/support/mpi_test.hpp"

namespace barrio::mpi {
namespace {

TEST(Agree, AThrowOnOneRankIsTheSameErrorOnAll) {
  Context& context = test::world();
  const Rank guilty = context.size() - 1;
  bool thrown = false;
  try {
    agree_after(context, [&] {
      if (context.rank() == guilty)
        throw Error(ErrorCode::bad_input, {.subject = "part 7", .cause = "is torn", .remedy = "mend it"});
    });
  } catch (const AgreedError& error) {
    thrown = true;
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_STREQ(error.what(), "part 7: is torn (mend it)");
    EXPECT_EQ(error.first_rank(), guilty);
  }
  EXPECT_TRUE(thrown);
}

TEST(Agree, TheLowestFailingRankSpeaks) {
  Context& context = test::world();
  try {
    agree_after(context,
                [&] { throw Error(ErrorCode::failed, {.subject = "rank", .cause = std::to_string(context.rank())}); });
    FAIL();
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.cause(), "0");
  }
}

TEST(Agree, GoesOnWhereAllSucceed) {
  EXPECT_NO_THROW(agree_after(test::world(), [] {}));
}

}  // namespace
}  // namespace barrio::mpi
