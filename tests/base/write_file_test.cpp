#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "tests/support/mpi_test.hpp"

// A directory without permissions does not stop root, so these tests use faults that stop every user.
namespace barrio {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

class WriteFile : public testing::Test {
 protected:
  WriteFile() : folder_(test::scratch() / "write") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  fs::path folder_;
};

/// A limit on the size of this process's files, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t limit_bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = limit_bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(WriteFile, ReplacesAFileAndLeavesNothingElse) {
  const fs::path path = folder_ / "out.json";
  write_file_atomically(path, "old");
  EXPECT_EQ(contents(path), "old");
  const std::string large(3'000'000, 'x');
  write_file_atomically(path, large);
  EXPECT_EQ(contents(path), large);
  write_file_atomically(path, "");
  EXPECT_EQ(contents(path), "");
  EXPECT_EQ(names_in(folder_), std::vector<std::string>{"out.json"});
}

TEST_F(WriteFile, SaysThatTheFolderIsMissing) {
  const fs::path path = folder_ / "absent" / "out.json";
  const Status status = capture([&] { write_file_atomically(path, "new"); });
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code(), ErrorCode::failed);
  EXPECT_EQ(status->what(), path.string() +
                                ": cannot be written: No such file or directory "
                                "(choose another path, or free space and check permissions)");
  EXPECT_FALSE(fs::exists(folder_ / "absent"));
}

TEST_F(WriteFile, RefusesAFolderAsTargetAndRemovesItsTemporary) {
  const fs::path path = folder_ / "is_a_folder";
  fs::create_directory(path);
  std::ofstream(path / "inside") << "kept";
  const Status status = capture([&] { write_file_atomically(path, "new"); });
  ASSERT_TRUE(status);
  EXPECT_EQ(status->cause(), "cannot be written: Is a directory");
  EXPECT_EQ(names_in(folder_), std::vector<std::string>{"is_a_folder"});
  EXPECT_EQ(contents(path / "inside"), "kept");
}

TEST_F(WriteFile, AWriteThatFailsHalfWayLeavesTheOldFile) {
  const fs::path path = folder_ / "out.json";
  write_file_atomically(path, "old");
  Status status;
  {
    const FileSizeLimit limit(100'000);
    status = capture([&] { write_file_atomically(path, std::string(200'000, 'x')); });
  }
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code(), ErrorCode::failed);
  EXPECT_EQ(status->subject(), path);
  EXPECT_EQ(status->cause(), "cannot be written: File too large");
  EXPECT_EQ(contents(path), "old");
  EXPECT_EQ(names_in(folder_), std::vector<std::string>{"out.json"});
}

TEST_F(WriteFile, AFullDeviceIsReportedAndStaysADevice) {
  if (!fs::is_character_file("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  // Our own device, where permitted: wrong code under test must not delete the system's.
  const fs::path device = folder_ / "full";
  struct stat full{};
  ASSERT_EQ(::stat("/dev/full", &full), 0);
  if (::mknod(device.c_str(), S_IFCHR | 0666, full.st_rdev) != 0) GTEST_SKIP() << "only root may make a device";
  const int opened = ::open(device.c_str(), O_WRONLY);
  if (opened < 0) GTEST_SKIP() << "this file system holds no devices";
  ::close(opened);

  const Status status = capture([&] { write_file_atomically(device, "new"); });
  ASSERT_TRUE(status);
  EXPECT_EQ(status->cause(), "cannot be written: No space left on device");
  EXPECT_TRUE(fs::is_character_file(device));
  EXPECT_EQ(names_in(folder_), std::vector<std::string>{"full"});
}

TEST_F(WriteFile, WritesIntoAPipeInsteadOfReplacingIt) {
  const fs::path path = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  write_file_atomically(path, "through the pipe");
  std::array<char, 100> text{};
  const ssize_t n = ::read(reader, text.data(), text.size());
  ::close(reader);
  EXPECT_EQ(std::string(text.data(), n > 0 ? static_cast<std::size_t>(n) : 0), "through the pipe");
  EXPECT_TRUE(fs::is_fifo(path));
  EXPECT_EQ(names_in(folder_), std::vector<std::string>{"pipe"});
}

}  // namespace
}  // namespace barrio
