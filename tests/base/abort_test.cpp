#include "barrio/base/abort.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "barrio/base/assert.hpp"

namespace barrio {
namespace {

// The statements of death tests run in a forked copy of this process, which must not end the real MPI job: each
// removes the hook that the test main installed.
template <class Act>
[[noreturn]] void without_hook(Act&& act) {
  set_abort_hook({});
  act();
  std::_Exit(0);
}

TEST(AbortJob, WithoutAHookEndsThisProcessWithTheCode) {
  EXPECT_EXIT(without_hook([] { abort_job(ErrorCode::failed, "error: disk: is full"); }), testing::ExitedWithCode(1),
              "^\\[rank 0/1\\] error: disk: is full\n$");
  EXPECT_EXIT(without_hook([] { abort_job(ErrorCode::internal, "x"); }), testing::ExitedWithCode(70), "");
}

TEST(AbortJob, NamesTheRankAndCallsTheHookWithTheCode) {
  EXPECT_EXIT(without_hook([] {
                set_abort_hook({.end_job = [](int code) noexcept { std::_Exit(code + 100); }, .rank = 2, .size = 5});
                abort_job(ErrorCode::bad_input, "torn");
              }),
              testing::ExitedWithCode(103), "^\\[rank 2/5\\] torn\n$");
}

TEST(AbortJob, EndsTheProcessIfTheHookReturns) {
  EXPECT_EXIT(without_hook([] {
                set_abort_hook({.end_job = [](int) noexcept {}, .rank = 1, .size = 2});
                abort_job(ErrorCode::bad_input, "torn");
              }),
              testing::ExitedWithCode(3), "\\[rank 1/2\\] torn");
}

TEST(AbortHook, SettingOneReturnsTheOneBefore) {
  const AbortHook of_test_main = set_abort_hook({.end_job = nullptr, .rank = 4, .size = 9});
  EXPECT_EQ(abort_hook().rank, 4);
  EXPECT_EQ(abort_hook().size, 9);
  const AbortHook mine = set_abort_hook(of_test_main);
  EXPECT_EQ(mine.rank, 4);
  EXPECT_EQ(abort_hook().end_job, of_test_main.end_job);
}

TEST(Assert, PrintsExpressionPlaceAndValuesAndExits70) {
  EXPECT_EXIT(without_hook([] {
                const int i = 7;
                const std::string name = "cell";
                BARRIO_ASSERT(cheap, i < 3 && name.empty(), i, name);
              }),
              testing::ExitedWithCode(70),
              "^\\[rank 0/1\\] assertion failed: i < 3 && name.empty\\(\\) at .*abort_test.cpp:[0-9]+; "
              "\\(i, name\\) = \\(7, cell\\); this is a bug in barrio, please report it\n$");
}

TEST(Assert, NeedsNoValues) {
  EXPECT_EXIT(without_hook([] { BARRIO_ASSERT(cheap, 1 > 2); }), testing::ExitedWithCode(70),
              "assertion failed: 1 > 2 at .*abort_test.cpp:[0-9]+; this is a bug");
}

TEST(Assert, SeparatesAnEmptyValueToo) {
  EXPECT_EQ(detail::format_values(std::string(), 3, ""), ", 3, ");
  EXPECT_EQ(detail::format_values(), "");
}

TEST(Assert, EvaluatesATrueExpressionOnceAndGoesOn) {
  int n_evaluated = 0;
  BARRIO_ASSERT(cheap, ++n_evaluated == 1);
  EXPECT_EQ(n_evaluated, BARRIO_ASSERT_LEVEL >= 1 ? 1 : 0);
}

TEST(Assert, DearAndCommunicatingChecksCostNothingBelowTheirLevel) {
  int n_evaluated = 0;
  BARRIO_ASSERT(expensive, ++n_evaluated > 0);
  EXPECT_EQ(n_evaluated, BARRIO_ASSERT_LEVEL >= 2 ? 1 : 0);
  BARRIO_ASSERT(comm, ++n_evaluated > 0);
  EXPECT_EQ(n_evaluated, BARRIO_ASSERT_LEVEL >= 3 ? 2 : 0);
}

}  // namespace
}  // namespace barrio
