#include "barrio/base/temporary_file.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "barrio/base/error.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const TemporaryFile& file, const std::string& text) {
  const int descriptor = file.descriptor();
  ASSERT_EQ(::write(descriptor, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(descriptor);
}

TEST(TemporaryFile, TakesItsNameOrGoes) {
  const fs::path path = test::scratch() / "result";
  {
    const TemporaryFile file(path.string());
    put(file, "half");
    EXPECT_EQ(file.name(), path.string() + ".part");
  }
  EXPECT_FALSE(fs::exists(path.string() + ".part"));
  EXPECT_FALSE(fs::exists(path));
  TemporaryFile file(path.string());
  put(file, "whole");
  EXPECT_EQ(file.complete(), 0);
  EXPECT_EQ(text_of(path), "whole");
  EXPECT_FALSE(fs::exists(path.string() + ".part"));
}

TEST(TemporaryFile, ASymbolicLinkStaysOne) {
  const fs::path folder = test::scratch() / "links";
  fs::create_directories(folder / "deep");
  std::ofstream(folder / "deep" / "old") << "old";
  fs::create_symlink("deep/old", folder / "to_old");
  fs::create_symlink(folder / "deep" / "new", folder / "to_none");
  fs::create_symlink("to_none", folder / "to_link");
  for (const char* name : {"to_old", "to_link"}) {
    SCOPED_TRACE(name);
    const fs::path path = folder / name;
    check_writable(path.string());
    TemporaryFile file(path.string());
    EXPECT_EQ(file.name(), TemporaryFile::name_for(path.string()));
    put(file, name);
    EXPECT_EQ(file.complete(), 0);
    EXPECT_TRUE(fs::is_symlink(path));
    EXPECT_EQ(text_of(path), name);
  }
  EXPECT_EQ(text_of(folder / "deep" / "old"), "to_old");
  EXPECT_EQ(text_of(folder / "deep" / "new"), "to_link");
  EXPECT_TRUE(fs::is_symlink(folder / "to_none"));
}

TEST(TemporaryFile, ReplacesWhatAKilledJobHasLeft) {
  const fs::path path = test::scratch() / "killed";
  std::array<int, 2> made{};
  ASSERT_EQ(::pipe(made.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const TemporaryFile file(path.string());
    const char done = file.descriptor() >= 0 ? 'y' : 'n';
    if (::write(made[1], &done, 1) == 1) ::pause();
    ::_exit(1);
  }
  char done = 'n';
  ASSERT_EQ(::read(made[0], &done, 1), 1);
  try {
    const TemporaryFile mine(path.string());
    ADD_FAILURE() << "two jobs write one file";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::failed);
    EXPECT_NE(error.cause().find("another job is writing to " + path.string() + ".part"), std::string::npos)
        << error.cause();
  }
  EXPECT_TRUE(fs::exists(path.string() + ".part"));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  std::ofstream left(path.string() + ".part");  // of a process of that job that ends a little later
  EXPECT_TRUE(fs::exists(path.string() + ".part"));
  TemporaryFile mine(path.string());
  put(mine, "mine");
  left << "of the killed job, and longer";
  left.close();
  EXPECT_EQ(mine.complete(), 0);
  EXPECT_EQ(text_of(path), "mine");
}

TEST(TemporaryFile, TellsThatItWasReplaced) {
  const fs::path path = test::scratch() / "replaced";
  std::ofstream(path) << "old";
  TemporaryFile file(path.string());
  fs::remove(path.string() + ".part");
  std::ofstream(path.string() + ".part") << "of another job";
  EXPECT_EQ(file.complete(), ESTALE);
  EXPECT_EQ(text_of(path), "old");
  EXPECT_EQ(text_of(path.string() + ".part"), "of another job");
  fs::create_directory(test::scratch() / "folder.part");
  EXPECT_THROW(TemporaryFile((test::scratch() / "folder").string()), Error);
  EXPECT_THROW(TemporaryFile((test::scratch() / "nowhere" / "file").string()), Error);
}

}  // namespace
}  // namespace barrio
