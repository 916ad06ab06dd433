#include "barrio/mpi/stored_profile.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "barrio/mpi/collectives.hpp"

namespace barrio::mpi {
namespace {

constexpr int schema_version = 1;

/// List the differences of a stored platform from this one, for people; empty if there are none.
std::string difference_of(const Platform& a, const Platform& b) {
  std::string difference;
  const auto compare = [&](const char* what, const std::string& stored, const std::string& here) {
    if (stored == here) return;
    difference += fmt::format("{}{} '{}', here '{}'", difference.empty() ? "" : "; ", what, stored, here);
  };
  compare("MPI", a.mpi, b.mpi);
  compare("transport", a.transport, b.transport);
  compare("settings", a.settings, b.settings);
  compare("host", a.host_kind, b.host_kind);
  return difference;
}

/// Read the platform of an entry; empty if the entry is damaged. Others may be intact.
std::optional<Platform> platform_of(const Json& entry) {
  try {
    return platform_from_json(entry.value("platform", Json::object()));
  } catch (const std::exception&) {
    return {};
  }
}

/// Lock that keeps other processes of this user from storing a profile, where the file system has locks.
class Lock {
 public:
  explicit Lock(const std::string& path) : file_(::open((path + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)) {
    if (file_ >= 0) static_cast<void>(::flock(file_, LOCK_EX));
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    if (file_ >= 0) ::close(file_);
  }

 private:
  int file_;
};

/// Result of rank 0's search, broadcast byte by byte.
struct Found {
  bool is_used = false;
  Profile profile = {};
};

Found look_up(Context& context, const std::string& path, const Platform& here) {
  try {
    const Json document = read_json_document(path, "barrio.profiles", schema_version);
    std::string nearest;
    for (const Json& entry : document.value("profiles", Json::array())) {
      const std::optional<Platform> platform = platform_of(entry);
      if (!platform) continue;
      const std::string difference = difference_of(*platform, here);
      if (difference.empty()) return {true, profile_from_json(entry.value("profile", Json::object()))};
      if (nearest.empty() || difference.size() < nearest.size()) nearest = difference;
    }
    context.log().notice(
        fmt::format("{}: has no profile of this platform ({}). To measure one, run barrio --ranks 2 probe", path,
                    nearest.empty() ? "it is empty" : nearest));
  } catch (const std::exception& error) {
    const Error* const ours = dynamic_cast<const Error*>(&error);
    context.log().notice(
        fmt::format("{}: ignored: {}", path, ours != nullptr ? ours->cause() : std::string(error.what())));
  }
  return {};
}

}  // namespace

std::string stored_profiles_path() {
  if (const char* chosen = std::getenv("BARRIO_PROFILE"); chosen != nullptr && *chosen != '\0')
    return std::string_view(chosen) == "off" ? "" : chosen;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    return std::string(cache) + "/barrio/profiles.json";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return std::string(home) + "/.cache/barrio/profiles.json";
  return "";
}

void use_stored_profile(Context& context) {
  std::string path;
  if (context.is_root()) {
    path = stored_profiles_path();
    std::error_code ignored;
    const bool is_wanted = std::getenv("BARRIO_PROFILE") != nullptr && !path.empty();
    if (!is_wanted && !path.empty() && !std::filesystem::exists(path, ignored)) path.clear();
  }
  int is_there = path.empty() ? 0 : 1;
  broadcast(context, std::span(&is_there, 1));
  if (is_there == 0) return;
  const Platform here = find_platform(context);
  Found found;
  if (context.is_root()) found = look_up(context, path, here);
  broadcast(context, std::span(&found, 1));
  if (found.is_used) context.set_profile(found.profile);
}

void store_profile(const std::string& path, const Platform& platform, const Profile& profile) {
  Json document = json_document("barrio.profiles", schema_version);
  document["profiles"] = Json::array();
  std::error_code ignored;
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty())
    std::filesystem::create_directories(folder, ignored);
  const Lock lock(path);
  if (std::filesystem::file_size(path, ignored) > 0 && !ignored) {
    // Do not overwrite another kind of file, or one of a newer barrio.
    const Json old = read_json_document(path, "barrio.profiles", schema_version);
    for (const Json& entry : old.value("profiles", Json::array())) {
      const std::optional<Platform> known = platform_of(entry);
      if (known && *known != platform) document["profiles"].push_back(entry);
    }
  }
  document["profiles"].push_back({{"platform", to_json(platform)}, {"profile", to_json(profile)}});
  write_file_atomically(path, document.dump(1) + "\n");
}

}  // namespace barrio::mpi
