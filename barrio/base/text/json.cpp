#include "barrio/base/json.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>

#include "barrio/base/temporary_file.hpp"
#include "barrio/base/version.hpp"

namespace barrio {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

/// Write a whole text, flush it to disk where there is one, and close the file. @return 0 or the system's error number
int write_and_close(int file, std::string_view text) noexcept {
  if (file < 0) return errno;
  int reason = 0;
  while (!text.empty() && reason == 0) {
    const ssize_t n = ::write(file, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(n);
    } else if (errno != EINTR) {
      reason = errno;
    }
  }
  if (reason == 0 && ::fsync(file) != 0 && errno != EINVAL && errno != EROFS) reason = errno;  // devices cannot sync
  if (::close(file) != 0 && reason == 0) reason = errno;
  return reason;
}

}  // namespace

Json json_document(std::string_view schema, int schema_version) {
  return Json{{"schema", schema},       {"schema_version", schema_version},
              {"barrio", version()},    {"commit", commit()},
              {"compiler", compiler()}, {"build", build_type()},
              {"host", host_name()},    {"time", utc_now()}};
}

Json to_json(const Error& error) {
  return Json{{"code", exit_code(error.code())},
              {"subject", error.subject()},
              {"cause", error.cause()},
              {"remedy", error.remedy()}};
}

void write_file_atomically(const std::string& path, std::string_view text) {
  const auto expect = [&](int reason) {
    if (reason != 0) throw cannot_write(path, std::strerror(reason));
  };
  // Write straight to a device or a pipe (/dev/stdout, /dev/null): a rename would replace it by a file.
  struct stat known{};
  const bool exists = ::stat(path.c_str(), &known) == 0;
  if (exists && !S_ISREG(known.st_mode) && !S_ISDIR(known.st_mode)) {
    expect(write_and_close(::open(path.c_str(), O_WRONLY | O_CLOEXEC), text));
    return;
  }
  TemporaryFile temporary(path, TemporaryFile::Writers::several);
  expect(write_and_close(temporary.descriptor(), text));
  expect(temporary.complete());
}

Json read_json_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw Error(ErrorCode::failed, {.subject = path,
                                    .cause = fmt::format("cannot be read: {}", std::strerror(errno)),
                                    .remedy = "check the name"});
  }
  if (struct stat known{}; ::stat(path.c_str(), &known) == 0 && S_ISDIR(known.st_mode)) {
    throw Error(ErrorCode::bad_input,
                {.subject = path, .cause = "is a folder, not a file", .remedy = "name a file in it"});
  }
  std::stringstream text;
  text << file.rdbuf();
  try {
    return Json::parse(text.str());
  } catch (const nlohmann::json::exception& error) {  // not only parse_error: a number out of range
    throw Error(ErrorCode::bad_input, {.subject = path, .cause = fmt::format("is not JSON: {}", error.what())});
  }
}

Json read_json_document(const std::string& path, std::string_view schema, int newest_version) {
  Json document = read_json_file(path);
  const auto named = document.find("schema");  // end() also if the document is not an object
  const std::string found = named != document.end() && named->is_string() ? named->get<std::string>() : "";
  if (found != schema) {
    throw Error(ErrorCode::bad_input, {.subject = path,
                                       .cause = found.empty() ? fmt::format("has no schema; {} was expected", schema)
                                                              : fmt::format("is a {}, not a {}", found, schema)});
  }
  const auto numbered = document.find("schema_version");
  if (numbered == document.end() || !numbered->is_number_integer()) {
    throw Error(ErrorCode::bad_input, {.subject = path, .cause = "has no schema version"});
  }
  const auto found_version = numbered->get<std::int64_t>();
  if (found_version > newest_version) {
    throw Error(ErrorCode::bad_input,
                {.subject = path,
                 .cause = fmt::format("has schema version {}, newer than {}", found_version, newest_version),
                 .remedy = "use a newer barrio"});
  }
  return document;
}

}  // namespace barrio
