#include "barrio/base/json.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>

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

[[noreturn]] void fail_to_write(const std::string& path, const std::string& temporary, int reason) {
  ::unlink(temporary.c_str());
  throw Error(ErrorCode::failed,
              {.subject = path,
               .cause = fmt::format("cannot be written: {}", std::strerror(reason)),
               .remedy = "choose another place with -o, or make room and rights for it"});
}

}  // namespace

Json json_document(std::string_view schema, int schema_version) {
  return Json{{"schema", schema},      {"schema_version", schema_version},
              {"barrio", version()},   {"commit", commit()},
              {"compiler", compiler()}, {"build", build_type()},
              {"host", host_name()},   {"time", utc_now()}};
}

Json to_json(const Error& error) {
  return Json{{"code", exit_code(error.code())},
              {"subject", error.subject()},
              {"cause", error.cause()},
              {"remedy", error.remedy()}};
}

void write_file_atomically(const std::string& path, std::string_view text) {
  const std::string temporary = fmt::format("{}.part{}", path, ::getpid());
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) fail_to_write(path, temporary, errno);
  while (!text.empty()) {
    const ssize_t n = ::write(file, text.data(), text.size());
    if (n < 0) {
      const int reason = errno;
      ::close(file);
      fail_to_write(path, temporary, reason);
    }
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  const bool flushed = ::fsync(file) == 0 || errno == EINVAL;  // EINVAL: a pipe or a device
  const int reason = errno;
  if (::close(file) != 0 || !flushed) fail_to_write(path, temporary, flushed ? errno : reason);
  if (::rename(temporary.c_str(), path.c_str()) != 0) fail_to_write(path, temporary, errno);
}

Json read_json_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw Error(ErrorCode::failed, {.subject = path,
                                    .cause = fmt::format("cannot be read: {}", std::strerror(errno)),
                                    .remedy = "check the name"});
  }
  std::stringstream text;
  text << file.rdbuf();
  try {
    return Json::parse(text.str());
  } catch (const nlohmann::json::parse_error& error) {
    throw Error(ErrorCode::bad_input,
                {.subject = path, .cause = fmt::format("is not JSON: {}", error.what())});
  }
}

Json read_json_document(const std::string& path, std::string_view schema, int newest_version) {
  Json document = read_json_file(path);
  const std::string found = document.is_object() ? document.value("schema", "") : "";
  if (found != schema) {
    throw Error(ErrorCode::bad_input,
                {.subject = path,
                 .cause = found.empty() ? fmt::format("has no schema; {} was expected", schema)
                                        : fmt::format("is a {}, not a {}", found, schema)});
  }
  const int found_version = document.value("schema_version", 0);
  if (found_version > newest_version) {
    throw Error(ErrorCode::bad_input,
                {.subject = path,
                 .cause = fmt::format("has schema version {}, newer than {}", found_version,
                                      newest_version),
                 .remedy = "use a newer barrio"});
  }
  return document;
}

}  // namespace barrio
