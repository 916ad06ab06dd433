#include "barrio/base/progress.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace barrio {
namespace {

TEST(Progress, RendersABarOfFixedWidth) {
  EXPECT_EQ(Progress::render("load", 0, 10, 1.0), "load [                              ]   0 %");
  EXPECT_EQ(Progress::render("load", 5, 10, 3.0), "load [===============               ]  50 %  3.00 s left");
  EXPECT_EQ(Progress::render("load", 9, 10, 900.0), "load [===========================   ]  90 %  100.00 s left");
  EXPECT_EQ(Progress::render("load", 10, 10, 3.0), "load [==============================] 100 %");
}

TEST(Progress, StaysInItsWidthWhereTheCountIsWrong) {
  const std::string full = Progress::render("x", 1, 1, 0.0);
  EXPECT_EQ(Progress::render("x", 12, 10, 1.0), full);
  EXPECT_EQ(Progress::render("x", 0, 0, 1.0), full) << "no steps: all are done";
  EXPECT_EQ(Progress::render("x", 3, -1, 1.0), full);
  EXPECT_EQ(Progress::render("x", -5, 10, 1.0), Progress::render("x", 0, 10, 1.0));
}

/// Make stderr the terminal side of a pseudo terminal; what was drawn is read from the other side.
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
    return n > 0 ? std::string(text.data(), static_cast<std::size_t>(n)) : std::string();
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
  std::string again;
  std::string end;
  {
    const TerminalAsStderr terminal;
    if (!terminal.ready()) GTEST_SKIP() << "this system gives no pseudo terminal";
    {
      Progress silent("silent", 10, false);
      Progress progress("load", 10, true);
      progress.update(1);
      early = terminal.drawn();
      std::this_thread::sleep_for(std::chrono::milliseconds(550));
      silent.update(5);
      progress.update(5);
      late = terminal.drawn();
      progress.update(6);
      again = terminal.drawn();
    }
    end = terminal.drawn();
  }
  EXPECT_EQ(early, "");
  EXPECT_EQ(late.find("\r\033[Kload [===============               ]  50 %"), 0U) << late;
  EXPECT_EQ(late.find("silent"), std::string::npos);
  EXPECT_EQ(again, "") << "redrawn at most ten times a second";
  EXPECT_EQ(end, "\r\033[K");
}

TEST(Progress, IsSilentWhereStderrIsNoTerminal) {
#ifdef BARRIO_MPI_SMPI
  GTEST_SKIP() << "a simulated rank sleeps in simulated time, the bar looks at the real clock";
#endif
  testing::internal::CaptureStderr();
  {
    Progress progress("load", 10, true);
    std::this_thread::sleep_for(std::chrono::milliseconds(550));
    progress.update(5);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace barrio
