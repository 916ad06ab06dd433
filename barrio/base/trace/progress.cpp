#include "barrio/base/progress.hpp"

#include <fmt/format.h>
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
constexpr int bar_width = 30;
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

std::string bar_of(const std::string& title, double part) {
  const int full = static_cast<int>(part * bar_width);
  return fmt::format("{} [{:=<{}}{: <{}}] {:3.0f} %", title, "", full, "", bar_width - full, part * 100.0);
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
  if (n_units_ > 0) return render(title_, n_done_.load(std::memory_order_relaxed), n_units_, now - begin_seconds_);
  if (expected_seconds_ > 0.0) {
    constexpr double ticks = 1000.0;
    const double part = std::min(1.0, (now - begin_seconds_) / expected_seconds_);
    return render(title_, static_cast<std::int64_t>(ticks * part), static_cast<std::int64_t>(ticks),
                  now - begin_seconds_);
  }
  const char* const region = trace_ == nullptr ? nullptr : trace_->current();
  double before = 0.0;
  for (const WorkStep& step : steps_) {
    if (region != nullptr && std::string_view(region) == step.region) part_ = std::max(part_, before);
    before += step.share;
  }
  if (steps_.empty())
    return fmt::format("{}: {}{}", title_, region == nullptr ? "" : fmt::format("{}, ", region),
                       format_seconds(now - start_seconds_));
  return render_step(title_, part_ / before, region, now - start_seconds_);
}

std::string Progress::render(const std::string& title, std::int64_t done, std::int64_t n_units,
                             double elapsed_seconds) {
  const double part =
      n_units <= 0 ? 1.0 : std::clamp(static_cast<double>(done) / static_cast<double>(n_units), 0.0, 1.0);
  std::string text = bar_of(title, part);
  if (part > 0.0 && part < 1.0) text += fmt::format("  {} left", format_seconds(elapsed_seconds * (1.0 - part) / part));
  return text;
}

std::string Progress::render_step(const std::string& title, double part, const char* region, double elapsed_seconds) {
  return fmt::format("{}  {}{}", bar_of(title, std::clamp(part, 0.0, 1.0)),
                     region == nullptr ? "" : fmt::format("{}, ", region), format_seconds(elapsed_seconds));
}

bool Progress::is_shown() {
  const char* const wish = std::getenv("BARRIO_PROGRESS");
  return wish != nullptr && *wish != '\0' ? std::string_view(wish) == "1" : ::isatty(STDERR_FILENO) == 1;
}

void Progress::make_way() { screen().clear(); }

}  // namespace barrio
