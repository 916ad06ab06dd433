#include "barrio/base/log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "barrio/base/progress.hpp"

namespace barrio {
namespace {
spdlog::level::level_enum level_from_environment() {
  const char* text = std::getenv("BARRIO_LOG");
  if (text == nullptr) return spdlog::level::info;
  const std::string level = text;
  if (level == "debug") return spdlog::level::debug;
  if (level == "warning") return spdlog::level::warn;
  if (level == "error") return spdlog::level::err;
  if (level == "off") return spdlog::level::off;
  return spdlog::level::info;
}
}  // namespace

// The logger is made by hand: spdlog's registry is process-wide, and two contexts must not share names.
Log::Log(Rank rank, int size)
    : logger_(std::make_shared<spdlog::logger>("barrio", std::make_shared<spdlog::sinks::stderr_sink_mt>())),
      speaks_(rank == 0) {
  const std::string prefix = size > 1 ? fmt::format("[rank {}/{}] ", rank, size) : std::string{};
  logger_->set_pattern(rank == 0 ? "barrio: %v" : "barrio: " + prefix + "%v");
  logger_->set_level(level_from_environment());
  logger_->flush_on(spdlog::level::trace);
  static constexpr std::array<std::string_view, 5> levels{"debug", "info", "warning", "error", "off"};
  const char* text = std::getenv("BARRIO_LOG");
  if (text != nullptr && std::ranges::find(levels, std::string_view(text)) == levels.end())
    notice(fmt::format("BARRIO_LOG={}: must be one of {}; using info", text, fmt::join(levels, ", ")));
}

void Log::debug(std::string_view text) {
  Progress::make_way();
  logger_->debug("{}", text);
}
void Log::info(std::string_view text) {
  if (!speaks_) return;
  Progress::make_way();
  logger_->info("{}", text);
}
void Log::notice(std::string_view text) {
  if (!speaks_) return;
  Progress::make_way();
  logger_->info("notice: {}", text);
}
void Log::warning(std::string_view text) {
  Progress::make_way();
  logger_->warn("warning: {}", text);
}
void Log::error(std::string_view text) {
  Progress::make_way();
  logger_->error("error: {}", text);
}

}  // namespace barrio
