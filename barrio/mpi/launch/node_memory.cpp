#include "barrio/mpi/node_memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "barrio/mpi/check.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mpi {
namespace {

constexpr std::uint64_t no_limit = std::uint64_t{1} << 63U;

/// Read the number in a file of one number; `no_limit` if there is none, as in "max".
std::uint64_t number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? number : no_limit;
}

/// Return what a limit of bytes leaves. @param folder  of a cgroup
std::uint64_t left_by(const std::string& folder, const char* limit_name, const char* usage_name) {
  const std::uint64_t limit = number_in(folder + limit_name);
  const std::uint64_t usage = number_in(folder + usage_name);
  if (limit >= no_limit || usage >= no_limit) return no_limit;
  return limit - std::min(limit, usage);
}

/// Return what the cgroups of this process leave: its own, and those that contain it.
std::uint64_t left_by_cgroups() {
  std::uint64_t left = no_limit;
  std::ifstream file("/proc/self/cgroup");  // "0::/user.slice/job" in version 2, "4:memory:/job" in version 1
  for (std::string line; std::getline(file, line);) {
    const bool is_second = line.starts_with("0::");
    const std::size_t first = is_second ? 3 : line.find(":memory:");
    if (first == std::string::npos) continue;
    std::string name = line.substr(is_second ? first : first + std::string(":memory:").size());
    const std::string root = is_second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    for (;;) {
      left = std::min(left, is_second ? left_by(root + name, "/memory.max", "/memory.current")
                                      : left_by(root + name, "/memory.limit_in_bytes", "/memory.usage_in_bytes"));
      if (name.size() <= 1) break;
      name.resize(name.rfind('/'));
    }
  }
  return left;
}

}  // namespace

std::uint64_t available_bytes() {
  std::uint64_t available = left_by_cgroups();
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view key = "MemAvailable:";
    constexpr std::uint64_t kibibyte = 1024;
    if (line.starts_with(key))
      available = std::min<std::uint64_t>(available, kibibyte * std::stoull(line.substr(key.size())));
  }
  return available;
}

std::uint64_t available_bytes_per_rank(Context& context) {
  const Comm node = Comm::split_by_host(context.comm(), context.rank());
  std::uint64_t least = available_bytes();
  check(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_UINT64_T, MPI_MIN, node.get()), "MPI_Allreduce");
  int n_ranks = 1;
  check(MPI_Comm_size(node.get(), &n_ranks), "MPI_Comm_size");
  return min(context, least / static_cast<std::uint64_t>(n_ranks));
}

}  // namespace barrio::mpi
