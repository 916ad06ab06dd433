#include "barrio/base/log.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

namespace barrio {
namespace {

/// Set BARRIO_LOG for the length of a scope.
class LogLevel {
 public:
  explicit LogLevel(const char* level) {
    if (const char* known = std::getenv("BARRIO_LOG")) before_ = known;
    if (level == nullptr) {
      ::unsetenv("BARRIO_LOG");
    } else {
      ::setenv("BARRIO_LOG", level, 1);
    }
  }
  LogLevel(const LogLevel&) = delete;
  LogLevel& operator=(const LogLevel&) = delete;
  ~LogLevel() {
    if (before_) {
      ::setenv("BARRIO_LOG", before_->c_str(), 1);
    } else {
      ::unsetenv("BARRIO_LOG");
    }
  }

 private:
  std::optional<std::string> before_;
};

std::string said(const char* level, Rank rank = 0, int size = 1) {
  const LogLevel chosen(level);
  testing::internal::CaptureStderr();
  Log log(rank, size);
  log.debug("d");
  log.info("i");
  log.notice("n");
  log.warning("w");
  log.error("e");
  return testing::internal::GetCapturedStderr();
}

TEST(Log, TakesItsLevelFromTheEnvironment) {
  const std::string errors = "barrio: error: e\n";
  const std::string warnings = "barrio: warning: w\n" + errors;
  const std::string infos = "barrio: i\nbarrio: notice: n\n" + warnings;
  EXPECT_EQ(said("off"), "");
  EXPECT_EQ(said("error"), errors);
  EXPECT_EQ(said("warning"), warnings);
  EXPECT_EQ(said("info"), infos);
  EXPECT_EQ(said("debug"), "barrio: d\n" + infos);
  EXPECT_EQ(said(nullptr), infos) << "unset is info";
  EXPECT_EQ(said("lound"),
            "barrio: notice: BARRIO_LOG=lound: must be one of debug, info, warning, error, off; using info\n" + infos);
}

TEST(Log, NamesTheRankAboveZeroAndKeepsItsInfoToItself) {
  EXPECT_EQ(said("info", 3, 8), "barrio: [rank 3/8] warning: w\nbarrio: [rank 3/8] error: e\n");
  EXPECT_EQ(said("error", 0, 8), "barrio: error: e\n");
}

TEST(Log, TakesTextAsItIs) {
  const LogLevel chosen("info");
  testing::internal::CaptureStderr();
  Log(0, 1).info("100 % of {} %v");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "barrio: 100 % of {} %v\n");
}

TEST(Log, TwoLogsLiveSideBySide) {
  const LogLevel chosen("info");
  testing::internal::CaptureStderr();
  Log first(1, 2);
  Log second(2, 3);
  first.warning("a");
  second.warning("b");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "barrio: [rank 1/2] warning: a\nbarrio: [rank 2/3] warning: b\n");
}

}  // namespace
}  // namespace barrio
