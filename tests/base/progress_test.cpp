#include "barrio/base/progress.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "barrio/base/log.hpp"

namespace barrio {
namespace {

TEST(Progress, RendersABar) {
  constexpr int width = 60;
  EXPECT_EQ(Progress::render("load", 0, 10, 1.0, width), "load [                              ]   0 %");
  EXPECT_EQ(Progress::render("load", 5, 10, 3.0, width), "load [===============               ]  50 %  3.00 s left");
  EXPECT_EQ(Progress::render("load", 9, 10, 900.0, width),
            "load [===========================   ]  90 %  100.00 s left");
  EXPECT_EQ(Progress::render("load", 10, 10, 3.0, width), "load [==============================] 100 %");
}

/// Return the columns of the bar in a line; 0 without a bar.
std::size_t bar_of(const std::string& line) {
  const std::size_t end = line.find(']');
  return end == std::string::npos ? 0 : end - line.find('[') - 1;
}

TEST(Progress, FitsIntoTheTerminal) {
  std::size_t last = 0;
  for (int width = 1; width <= 300; ++width) {
    const std::string step = Progress::render_step("barrio adapt", 0.37, "adapt.exchange", 12.3, width);
    EXPECT_LT(step.size(), std::max(static_cast<std::size_t>(width), std::size_t{2})) << width;
    EXPECT_GE(bar_of(step), last) << width;
    last = bar_of(step);
    for (const std::int64_t done : {0, 1, 99, 100}) {
      const std::string line = Progress::render("barrio probe", done, 100, 7.7, width);
      EXPECT_LT(line.size(), std::max(static_cast<std::size_t>(width), std::size_t{2})) << width;
      EXPECT_EQ(bar_of(line), bar_of(Progress::render("barrio probe", 50, 100, 7.7, width))) << "a steady bar";
    }
  }
  EXPECT_EQ(last, 60U) << "a bar is long enough";
  EXPECT_EQ(bar_of(Progress::render("barrio probe", 5, 10, 1.0, 40)), 0U);
  EXPECT_EQ(Progress::render("barrio probe", 5, 10, 1.0, 40), "barrio probe  50 %  1.00 s left");
  EXPECT_GE(bar_of(Progress::render("load", 5, 10, 1.0, 40)), 10U);
}

/// Return the text that a bar drew during the work, without the erasing.
template <class Work>
std::vector<std::string> frames_of(const char* wish, bool speaks, const Work& work) {
  ::setenv("BARRIO_PROGRESS", wish, 1);
  ::setenv("COLUMNS", "66", 1);
  testing::internal::CaptureStderr();
  {
    Progress progress("work", speaks);
    work(progress);
  }
  const std::string all = testing::internal::GetCapturedStderr();
  ::unsetenv("BARRIO_PROGRESS");
  ::unsetenv("COLUMNS");
  constexpr std::string_view erase = "\r\033[K";
  std::vector<std::string> frames;
  for (std::size_t at = all.find(erase); at != std::string::npos;) {
    const std::size_t next = all.find(erase, at + erase.size());
    frames.push_back(all.substr(at + erase.size(), next == std::string::npos ? next : next - at - erase.size()));
    at = next;
  }
  return frames;
}

void pass(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

TEST(Progress, FollowsTheRegionsOfATrace) {
#ifdef BARRIO_MPI_SMPI
  GTEST_SKIP() << "a simulated rank sleeps in simulated time, the bar looks at the real clock";
#endif
  Trace trace(Trace::Mode::off);
  constexpr std::array steps{WorkStep{"read", 0.4}, WorkStep{"cut", 0.5}, WorkStep{"write", 0.1}};
  const auto frames = frames_of("1", true, [&](Progress& progress) {
    progress.follow(trace, steps);
    const Region read(trace, {"read"});
    pass(1.3);
    const Region cut(trace, {"cut"});
    const Region inner(trace, {"cut.pieces"});
    pass(0.7);
    EXPECT_STREQ(trace.current(), "cut.pieces");
    Log().notice("a line of text");
  });
  EXPECT_EQ(trace.current(), nullptr);
  ASSERT_GE(frames.size(), 4U);
  EXPECT_TRUE(frames.front().starts_with("work [                              ]   0 %  read, ")) << frames.front();
  // A region without steps does not move the bar; a short one may never be drawn.
  EXPECT_EQ(std::ranges::count_if(frames, [](const auto& f) { return f.find("cut.pieces, ") != f.npos; }) > 0, true);
  EXPECT_EQ(std::ranges::count_if(frames, [](const auto& f) { return f.find("a line of text\n") != f.npos; }), 1);
  EXPECT_EQ(frames.back().find('['), std::string::npos) << "the bar is erased: " << frames.back();
}

TEST(Progress, ShowsThePartOfAStep) {
#ifdef BARRIO_MPI_SMPI
  GTEST_SKIP() << "a simulated rank sleeps in simulated time, the bar looks at the real clock";
#endif
  Trace trace(Trace::Mode::off);
  constexpr std::array steps{WorkStep{"read", 0.1}, WorkStep{"cut", 0.8}, WorkStep{"write", 0.1}};
  const auto frames = frames_of("1", true, [&](Progress& progress) {
    progress.follow(trace, steps);
    const Region cut(trace, {"cut"});
    for (const double part : {0.0, 0.25, 0.5, 0.3, 0.75, 1.0}) {  // what goes back is not shown
      progress.update("cut", part);
      pass(0.3);
    }
    const Region write(trace, {"write"});
    pass(0.3);
  });
  std::vector<int> percents;
  for (const std::string& frame : frames)
    if (const std::size_t end = frame.find(" %"); end != std::string::npos)
      percents.push_back(std::stoi(frame.substr(end - 3, 3)));
  ASSERT_GE(percents.size(), 5U);
  EXPECT_TRUE(std::ranges::is_sorted(percents));
  EXPECT_TRUE(std::ranges::any_of(percents, [](int n) { return n > 45 && n < 75; }));
  EXPECT_EQ(percents.back(), 90);
}

TEST(Progress, CountsAndExpects) {
#ifdef BARRIO_MPI_SMPI
  GTEST_SKIP() << "a simulated rank sleeps in simulated time, the bar looks at the real clock";
#endif
  const auto counted = frames_of("1", true, [](Progress& progress) {
    progress.begin("probe", 4);
    progress.update(3);
    pass(1.3);
  });
  ASSERT_FALSE(counted.empty());
  EXPECT_TRUE(counted.front().starts_with("probe [==========================         ]  75 %  ")) << counted.front();
  const auto expected = frames_of("1", true, [](Progress& progress) {
    progress.expect(2.0);
    pass(1.3);
  });
  ASSERT_FALSE(expected.empty());
  EXPECT_TRUE(expected.front().starts_with("work [=======")) << expected.front();
}

TEST(Progress, IsSilentWhereNobodyLooks) {
#ifdef BARRIO_MPI_SMPI
  GTEST_SKIP() << "a simulated rank sleeps in simulated time, the bar looks at the real clock";
#endif
  const auto work = [](Progress&) { pass(1.3); };
  EXPECT_TRUE(frames_of("0", true, work).empty());
  EXPECT_TRUE(frames_of("1", false, work).empty()) << "not rank 0";
  EXPECT_TRUE(frames_of("1", true, [](Progress&) { pass(0.1); }).empty()) << "short work";
}

TEST(Progress, StaysInItsWidthWhereTheCountIsWrong) {
  const std::string full = Progress::render("x", 1, 1, 0.0);
  EXPECT_EQ(Progress::render("x", 12, 10, 1.0), full);
  EXPECT_EQ(Progress::render("x", 0, 0, 1.0), full) << "no steps: all are done";
  EXPECT_EQ(Progress::render("x", 3, -1, 1.0), full);
  EXPECT_EQ(Progress::render("x", -5, 10, 1.0), Progress::render("x", 0, 10, 1.0));
}

/// Make stderr the terminal side of a pseudo terminal. The other side reads the output.
class TerminalAsStderr {
 public:
  explicit TerminalAsStderr(int columns) : saved_(::dup(STDERR_FILENO)), master_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    std::fflush(stderr);
    if (master_ < 0 || ::grantpt(master_) != 0 || ::unlockpt(master_) != 0) return;
    const int terminal = ::open(::ptsname(master_), O_RDWR | O_NOCTTY);
    if (terminal < 0) return;
    const winsize size{.ws_row = 24, .ws_col = static_cast<unsigned short>(columns), .ws_xpixel = 0, .ws_ypixel = 0};
    ::ioctl(terminal, TIOCSWINSZ, &size);
    ::dup2(terminal, STDERR_FILENO);
    ::close(terminal);
    ready_ = true;
  }
  TerminalAsStderr(const TerminalAsStderr&) = delete;
  TerminalAsStderr& operator=(const TerminalAsStderr&) = delete;
  ~TerminalAsStderr() {
    std::fflush(stderr);
    ::dup2(saved_, STDERR_FILENO);
    ::close(saved_);
    if (master_ >= 0) ::close(master_);
  }
  [[nodiscard]] bool ready() const { return ready_; }
  [[nodiscard]] std::string drawn() const {
    std::fflush(stderr);
    ::fcntl(master_, F_SETFL, O_NONBLOCK);
    std::array<char, 4096> text{};
    const ssize_t n = ::read(master_, text.data(), text.size());
    return n > 0 ? std::string(text.data(), n) : std::string();
  }

 private:
  int saved_;
  int master_;
  bool ready_ = false;
};

TEST(Progress, DrawsOnATerminalAfterHalfASecondAndErasesItself) {
#ifdef BARRIO_MPI_SMPI
  GTEST_SKIP() << "a simulated rank sleeps in simulated time, the bar looks at the real clock";
#endif
  std::string early;
  std::string late;
  std::string end;
  {
    constexpr int columns = 60;
    const TerminalAsStderr terminal(columns);
    if (!terminal.ready()) GTEST_SKIP() << "this system gives no pseudo terminal";
    {
      Progress silent("silent", false);
      silent.begin("silent", 10);
      Progress progress("load", true);
      progress.begin("load", 10);
      progress.update(5);
      pass(0.05);
      early = terminal.drawn();
      pass(1.0);
      late = terminal.drawn();
    }
    end = terminal.drawn();
  }
  EXPECT_EQ(early, "");
  EXPECT_EQ(late.find("\r\033[Kload [===============               ]  50 %"), 0U) << late;
  EXPECT_EQ(late.find("silent"), std::string::npos);
  EXPECT_TRUE(end.ends_with("\r\033[K")) << end;
}

TEST(Progress, IsSilentWhereStderrIsNoTerminal) {
#ifdef BARRIO_MPI_SMPI
  GTEST_SKIP() << "a simulated rank sleeps in simulated time, the bar looks at the real clock";
#endif
  testing::internal::CaptureStderr();
  {
    Progress progress("load", true);
    pass(1.3);
    progress.update(5);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace barrio
