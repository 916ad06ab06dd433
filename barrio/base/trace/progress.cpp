#include "barrio/base/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "barrio/base/text.hpp"

namespace barrio {
namespace {

constexpr std::chrono::milliseconds first_draw{500};
constexpr std::chrono::milliseconds redraw{100};
constexpr std::string_view erase = "\r\033[K";

/// State of the terminal: the bar and lines of text take turns.
struct Screen {
  std::mutex mutex;
  bool has_bar = false;

  void show(const std::string& bar) {
    const std::lock_guard lock(mutex);
    has_bar = true;
    std::fputs((std::string(erase) + bar).c_str(), stderr);
    std::fflush(stderr);
  }
  void clear() {
    const std::lock_guard lock(mutex);
    if (!has_bar) return;
    has_bar = false;
    std::fputs(erase.data(), stderr);
    std::fflush(stderr);
  }
};

Screen& screen() {
  static Screen one;
  return one;
}

/// Start a thread that blocks all signals: those are for the program.
template <class Body>
std::thread quiet_thread(const Body& body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(body);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

/// Columns that the end of the text keeps, so that the bar stays as wide as it is when seconds change.
constexpr std::size_t end_columns = 16;

/// Write the title, a bar that takes the columns that are left, and the text after it.
std::string bar_of(const std::string& title, double part, const std::string& after, int width) {
  constexpr int min_bar = 10;
  constexpr int max_bar = 60;
  const std::string percent = fmt::format("{:3.0f} %", part * 100.0);
  const int columns = std::max(width - 1, 1);  // in the last one a terminal would wrap
  const int text = static_cast<int>(title.size() + percent.size() + std::max(after.size(), end_columns)) + 4;
  const int bar = std::min(columns - text, max_bar);
  const int full = static_cast<int>(part * bar);
  std::string line = bar >= min_bar
                         ? fmt::format("{} [{:=<{}}{: <{}}] {}{}", title, "", full, "", bar - full, percent, after)
                         : fmt::format("{} {}{}", title, percent, after);
  if (line.size() > static_cast<std::size_t>(columns)) line.resize(columns);
  return line;
}

}  // namespace

Progress::Progress(std::string title, bool speaks)
    : title_(std::move(title)), start_seconds_(Trace::steady_seconds()), begin_seconds_(start_seconds_) {
  if (speaks && is_shown()) thread_ = quiet_thread([this] { draw(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
  }
  ended_.notify_one();
  thread_.join();
  screen().clear();
}

void Progress::begin(const std::string& title, std::int64_t n_units) {
  const std::lock_guard lock(mutex_);
  title_ = title;
  n_units_ = n_units;
  begin_seconds_ = Trace::steady_seconds();
  update(0);
}

void Progress::expect(double seconds) {
  const std::lock_guard lock(mutex_);
  expected_seconds_ = seconds;
}

void Progress::follow(const Trace& trace, std::span<const WorkStep> steps) {
  const std::lock_guard lock(mutex_);
  trace_ = &trace;
  steps_ = steps;
  part_ = 0.0;
}

void Progress::draw() {
  std::unique_lock lock(mutex_);
  if (ended_.wait_for(lock, first_draw, [this] { return is_ended_; })) return;
  do {
    screen().show(text());
  } while (!ended_.wait_for(lock, redraw, [this] { return is_ended_; }));
}

std::string Progress::text() {
  const double now = Trace::steady_seconds();
  const int width = columns();
  if (n_units_ > 0)
    return render(title_, n_done_.load(std::memory_order_relaxed), n_units_, now - begin_seconds_, width);
  if (expected_seconds_ > 0.0) {
    constexpr double ticks = 1000.0;
    const double part = std::min(1.0, (now - begin_seconds_) / expected_seconds_);
    return render(title_, static_cast<std::int64_t>(ticks * part), static_cast<std::int64_t>(ticks),
                  now - begin_seconds_, width);
  }
  const char* const region = trace_ == nullptr ? nullptr : trace_->current();
  const char* const told = step_.load(std::memory_order_acquire);
  const double part_of_step = std::clamp(part_of_step_.load(std::memory_order_relaxed), 0.0, 1.0);
  double before = 0.0;
  for (const WorkStep& step : steps_) {
    if (told != nullptr && std::string_view(told) == step.region)
      part_ = std::max(part_, before + part_of_step * step.share);
    if (region != nullptr && std::string_view(region) == step.region) part_ = std::max(part_, before);
    before += step.share;
  }
  if (steps_.empty())
    return fmt::format("{}: {}{}", title_, region == nullptr ? "" : fmt::format("{}, ", region),
                       format_seconds(now - start_seconds_));
  return render_step(title_, part_ / before, region, now - start_seconds_, width);
}

std::string Progress::render(const std::string& title, std::int64_t done, std::int64_t n_units, double elapsed_seconds,
                             int width) {
  const double part =
      n_units <= 0 ? 1.0 : std::clamp(static_cast<double>(done) / static_cast<double>(n_units), 0.0, 1.0);
  const std::string left = part > 0.0 && part < 1.0
                               ? fmt::format("  {} left", format_seconds(elapsed_seconds * (1.0 - part) / part))
                               : std::string();
  return bar_of(title, part, left, width);
}

std::string Progress::render_step(const std::string& title, double part, const char* region, double elapsed_seconds,
                                  int width) {
  constexpr std::size_t region_columns = 20;  // as many as most names have, so that the bar keeps its width
  const std::string name = region == nullptr ? "" : fmt::format("{}, ", region);
  return bar_of(title, std::clamp(part, 0.0, 1.0),
                fmt::format("  {: <{}}", name + format_seconds(elapsed_seconds), region_columns), width);
}

int Progress::columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* const wish = std::getenv("COLUMNS");  // to ranks, stderr is a pipe to their launcher
  const int n = wish == nullptr ? 0 : std::atoi(wish);
  return n > 0 && n <= 1000 ? n : default_width;
}

bool Progress::is_shown() {
  const char* const wish = std::getenv("BARRIO_PROGRESS");
  return wish != nullptr && *wish != '\0' ? std::string_view(wish) == "1" : ::isatty(STDERR_FILENO) == 1;
}

void Progress::make_way() { screen().clear(); }

}  // namespace barrio
