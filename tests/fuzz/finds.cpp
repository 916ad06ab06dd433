#include "tests/fuzz/finds.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace barrio::test {

void find(const std::string& what) {
  fmt::print(stderr, "FIND: {}\n", what);
  std::fflush(stderr);
  std::abort();
}

void expect_in_good_order(const char* doing, const Error& error) {
  const bool is_refusal = error.code() == ErrorCode::bad_input || error.code() == ErrorCode::usage ||
                          (error.code() == ErrorCode::failed && error.subject() != "memory");
  if (!is_refusal) find(fmt::format("{} ends with code {}: {}", doing, exit_code(error.code()), error.what()));
}

std::string scratch_stem() {
  const char* folder = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  return fmt::format("{}/barrio-fuzz-{}", folder, ::getpid());
}

void write_bytes(const std::string& path, std::span<const std::uint8_t> bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() || std::fclose(file) != 0)
    find("the file cannot be written");
}

}  // namespace barrio::test
