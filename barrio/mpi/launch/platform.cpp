#include "barrio/mpi/platform.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <vector>

#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/report.hpp"

extern char** environ;  // NOLINT: the name is POSIX's

namespace barrio::mpi {
namespace {

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
  return "unknown processor";
}

/// Collect the variables that change how messages travel, sorted by name.
std::string tuning_variables() {
  // The variables that Open MPI's launcher sets in every job have none of these prefixes.
  static constexpr std::array<std::string_view, 5> prefixes{"OMPI_MCA_btl", "OMPI_MCA_pml", "OMPI_MCA_mtl", "UCX_",
                                                            "MPIR_CVAR_"};
  std::vector<std::string> found;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    // MPICH's launcher sets this one in every job; it names the host.
    if (text.starts_with("MPIR_CVAR_CH3_INTERFACE_HOSTNAME")) continue;
    if (std::ranges::any_of(prefixes, [&](std::string_view prefix) { return text.starts_with(prefix); }))
      found.emplace_back(text);
  }
  std::ranges::sort(found);
  std::string all;
  for (const std::string& text : found) all += (all.empty() ? "" : " ") + text;
  return all;
}

bool names(const char* variable, std::string_view word) {
  const char* const value = std::getenv(variable);
  return value != nullptr && std::string_view(value).find(word) != std::string_view::npos;
}

/// Tell how ranks of one node reach each other, as far as the environment tells.
std::string transport_on_node() {
#ifdef OPEN_MPI
  constexpr bool is_open_mpi = true;
#else
  constexpr bool is_open_mpi = false;  // Open MPI's variables mean nothing to it
#endif
  const bool is_tcp_only = is_open_mpi && names("OMPI_MCA_btl", "tcp") && !names("OMPI_MCA_btl", "vader") &&
                           !names("OMPI_MCA_btl", "sm") && !names("OMPI_MCA_btl", "^");
  const bool is_ucx_tcp = names("UCX_TLS", "tcp") && !names("UCX_TLS", "sm") && !names("UCX_TLS", "shm") &&
                          !names("UCX_TLS", "posix") && !names("UCX_TLS", "sysv");
  const bool uses_ucx = names("MPIR_CVAR_NOLOCAL", "1") || names("OMPI_MCA_pml", "ucx");
  return is_tcp_only || (is_ucx_tcp && uses_ucx) ? "tcp" : "shm";
}

const Json& member(const Json& json, const char* name) {
  if (!json.is_object() || !json.contains(name))
    throw Error(ErrorCode::bad_input, {.subject = "profile",
                                       .cause = fmt::format("has no '{}'", name),
                                       .remedy = "measure it again: barrio --ranks 2 probe"});
  return json[name];
}

template <class T>
T number(const Json& json, const char* name, T least, T most) {
  const Json& found = member(json, name);
  const double value = found.is_number() ? found.get<double>() : -1.0;
  if (!(value >= static_cast<double>(least) && value <= static_cast<double>(most)))
    throw Error(ErrorCode::bad_input,
                {.subject = "profile",
                 .cause = fmt::format("'{}' is {}; it must be between {} and {}", name, found.dump(), least, most),
                 .remedy = "measure it again: barrio --ranks 2 probe"});
  return found.get<T>();
}

std::string text(const Json& json, const char* name) {
  const Json& found = member(json, name);
  return found.is_string() ? found.get<std::string>() : found.dump();
}

constexpr double max_seconds = 1e3;

}  // namespace

Platform find_platform(Context& context) {
  const Comm host = Comm::split_by_host(context.comm(), context.rank());
  const bool is_apart = max(context, host.size() < context.size() ? 1 : 0) > 0;
  std::string line;
  if (context.is_root()) {
    const Platform mine{
        .mpi = mpi_library(),
        .transport = is_apart ? "network" : transport_on_node(),
        .settings = tuning_variables(),
        .host_kind = fmt::format("{}, {} cores", processor(), ::sysconf(_SC_NPROCESSORS_ONLN)),
    };
    line = to_json(mine).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  broadcast(context, line);
  return platform_from_json(Json::parse(line));
}

Platform platform_on_node(Platform platform) {
  platform.transport = transport_on_node();
  return platform;
}

Json to_json(const Platform& platform) {
  return {{"mpi", platform.mpi},
          {"transport", platform.transport},
          {"settings", platform.settings},
          {"host_kind", platform.host_kind}};
}

Platform platform_from_json(const Json& json) {
  return {.mpi = text(json, "mpi"),
          .transport = text(json, "transport"),
          .settings = text(json, "settings"),
          .host_kind = text(json, "host_kind")};
}

Json to_json(const Profile& profile) {
  Json times = Json::array();
  for (std::size_t i = 0; i < Profile::n_sizes && profile.is_measured; ++i) {
    const MessageTimes& one = profile.times[i];
    times.push_back({{"bytes", Profile::size_bytes(i)},
                     {"alone", one.alone},
                     {"untested", one.untested},
                     {"one_test", one.one_test},
                     {"few_tests", one.few_tests}});
  }
  return {{"packet_bytes", profile.packet_bytes},
          {"ring_depth", profile.ring_depth},
          {"spin_polls", profile.spin_polls},
          {"n_tests", profile.n_tests},
          {"eager_bytes", profile.eager_bytes},
          {"detached_bytes", profile.detached_bytes},
          {"test_seconds", profile.test_seconds},
          {"near_cost", profile.near_cost},
          {"times", std::move(times)}};
}

Profile profile_from_json(const Json& json) {
  Profile profile;
  profile.packet_bytes = number<std::uint32_t>(json, "packet_bytes", 64, 1U << 26U);
  profile.ring_depth = number<std::uint32_t>(json, "ring_depth", 1, 1024);
  profile.spin_polls = number<std::uint32_t>(json, "spin_polls", 0, 1U << 30U);
  profile.n_tests = number<std::uint32_t>(json, "n_tests", 0, 1U << 20U);
  profile.eager_bytes = number<std::uint64_t>(json, "eager_bytes", 0, std::uint64_t{1} << 40U);
  profile.detached_bytes = number<std::uint64_t>(json, "detached_bytes", 0, std::uint64_t{1} << 40U);
  profile.test_seconds = number<double>(json, "test_seconds", 0.0, max_seconds);
  profile.near_cost = number<double>(json, "near_cost", 0.0, 1.0);
  const Json& times = member(json, "times");
  if (!times.is_array() || times.size() != Profile::n_sizes)
    throw Error(ErrorCode::bad_input,
                {.subject = "profile",
                 .cause = fmt::format("'times' must have {} entries, one per size", Profile::n_sizes),
                 .remedy = "measure it again: barrio --ranks 2 probe"});
  for (std::size_t i = 0; i < Profile::n_sizes; ++i) {
    const auto seconds = [&](const char* name) { return number<double>(times[i], name, 0.0, max_seconds); };
    profile.times[i] = {seconds("alone"), seconds("untested"), seconds("one_test"), seconds("few_tests")};
  }
  profile.is_measured = true;
  return profile;
}

}  // namespace barrio::mpi
