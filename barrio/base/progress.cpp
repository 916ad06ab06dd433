#include "barrio/base/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "barrio/base/text.hpp"
#include "barrio/base/trace.hpp"

namespace barrio {
namespace {
constexpr double first_draw_seconds = 0.5;
constexpr double redraw_seconds = 0.1;
constexpr int bar_width = 30;
}  // namespace

Progress::Progress(std::string title, std::int64_t n_steps, bool speaks)
    : title_(std::move(title)),
      n_steps_(n_steps),
      draws_(speaks && ::isatty(STDERR_FILENO) == 1),
      start_seconds_(Trace::steady_seconds()),
      next_draw_seconds_(start_seconds_ + first_draw_seconds) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::update(std::int64_t done) {
  if (!draws_) return;
  const double now = Trace::steady_seconds();
  if (now < next_draw_seconds_) return;
  next_draw_seconds_ = now + redraw_seconds;
  drawn_ = true;
  std::fputs(("\r\033[K" + render(title_, done, n_steps_, now - start_seconds_)).c_str(), stderr);
  std::fflush(stderr);
}

std::string Progress::render(const std::string& title, std::int64_t done, std::int64_t n_steps,
                             double elapsed_seconds) {
  const double part =
      n_steps <= 0 ? 1.0 : std::clamp(static_cast<double>(done) / static_cast<double>(n_steps), 0.0, 1.0);
  const int full = static_cast<int>(part * bar_width);
  std::string text = fmt::format("{} [{:=<{}}{: <{}}] {:3.0f} %", title, "", full, "", bar_width - full, part * 100.0);
  if (part > 0.0 && part < 1.0) text += fmt::format("  {} left", format_seconds(elapsed_seconds * (1.0 - part) / part));
  return text;
}

}  // namespace barrio
