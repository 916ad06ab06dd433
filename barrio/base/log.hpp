#pragma once

/// @file Log lines on stderr, from rank 0 or with the rank in front.

#include <memory>
#include <string_view>

#include "barrio/base/ids.hpp"

namespace spdlog {
class logger;
}

namespace barrio {

/// Log lines on stderr. Local. Info and notices come from rank 0 only. Warnings and errors come from any rank; those of
/// ranks above 0 have `[rank r/n]` in front. The level is read from BARRIO_LOG (debug, info, warning, error, off;
/// default info).
class Log {
 public:
  /// Make the log of one rank, with the level in BARRIO_LOG. @param rank, size  this rank and the number of ranks
  explicit Log(Rank rank = 0, int size = 1);

  /// Log a detail, shown only if BARRIO_LOG is `debug`. Any rank.
  void debug(std::string_view text);
  /// Log an event of the normal course. Rank 0 only.
  void info(std::string_view text);
  /// Log an event that the user may not expect but that is handled. Rank 0 only.
  void notice(std::string_view text);
  /// Log a problem after which the work goes on. Any rank.
  void warning(std::string_view text);
  /// Log a fault. Any rank.
  void error(std::string_view text);

 private:
  friend class QuietLog;
  std::shared_ptr<spdlog::logger> logger_;
  bool speaks_;
};

/// Hold back info and notices of a log within the enclosing block, as about a mesh that no user knows of. Local.
class QuietLog {
 public:
  /// Begin to hold back. The log outlives this.
  explicit QuietLog(Log& log) noexcept : log_(log), speaks_(log.speaks_) { log_.speaks_ = false; }
  QuietLog(const QuietLog&) = delete;
  QuietLog& operator=(const QuietLog&) = delete;
  ~QuietLog() { log_.speaks_ = speaks_; }

 private:
  Log& log_;
  bool speaks_;
};

}  // namespace barrio
