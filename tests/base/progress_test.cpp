#include "barrio/base/progress.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
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

TEST(Progress, RendersABarOfFixedWidth) {
  EXPECT_EQ(Progress::render("load", 0, 10, 1.0), "load [                              ]   0 %");
  EXPECT_EQ(Progress::render("load", 5, 10, 3.0), "load [===============               ]  50 %  3.00 s left");
  EXPECT_EQ(Progress::render("load", 9, 10, 900.0), "load [===========================   ]  90 %  100.00 s left");
  EXPECT_EQ(Progress::render("load", 10, 10, 3.0), "load [==============================] 100 %");
}

/// Return the text that a bar drew during the work, without the erasing.
template <class Work>
std::vector<std::string> frames_of(const char* wish, bool speaks, const Work& work) {
  ::setenv("BARRIO_PROGRESS", wish, 1);
  testing::internal::CaptureStderr();
  {
    Progress progress("work", speaks);
    work(progress);
  }
  const std::string all = testing::internal::GetCapturedStderr();
  ::unsetenv("BARRIO_PROGRESS");
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
  EXPECT_TRUE(counted.front().starts_with("probe [======================        ]  75 %  ")) << counted.front();
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
  TerminalAsStderr() : saved_(::dup(STDERR_FILENO)), master_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    std::fflush(stderr);
    if (master_ < 0 || ::grantpt(master_) != 0 || ::unlockpt(master_) != 0) return;
    const int terminal = ::open(::ptsname(master_), O_RDWR | O_NOCTTY);
    if (terminal < 0) return;
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
    const TerminalAsStderr terminal;
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
