#include "barrio/rankmap/machines/job_hosts.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "barrio/mpi/check.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::rankmap {
namespace {

/// Parse "name count\n" for each run.
std::vector<HostRun> runs_in(std::string_view text) {
  std::vector<HostRun> runs;
  while (!text.empty()) {
    const std::size_t end = text.find('\n'), blank = text.rfind(' ', end);
    HostRun run{std::string(text.substr(0, blank)), 0};
    std::from_chars(text.data() + blank + 1, text.data() + end, run.count);
    runs.push_back(std::move(run));
    text.remove_prefix(end + 1);
  }
  return runs;
}

std::string text_of(const std::vector<HostRun>& runs) {
  std::string text;
  for (const HostRun& run : runs) text += fmt::format("{} {}\n", run.name, run.count);
  return text;
}

}  // namespace

std::string host_name() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  mpi::check(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
  return std::string(name.data(), length);
}

std::vector<HostRun> find_hosts(mpi::Context& context) {
  // Merge along a tree over neighbouring ranks: runs stay runs.
  std::string text = mpi::reduce_to_root(context, text_of({{host_name(), 1}}), [](std::string low, std::string high) {
    std::vector<HostRun> runs = runs_in(low);
    for (HostRun& run : runs_in(high)) {
      if (!runs.empty() && runs.back().name == run.name)
        runs.back().count += run.count;
      else
        runs.push_back(std::move(run));
    }
    return text_of(runs);
  });
  mpi::broadcast(context, text);
  return runs_in(text);
}

bool is_same_host(std::string_view a, std::string_view b) noexcept {
  if (a == b) return true;
  const std::string_view shorter = a.size() < b.size() ? a : b, longer = a.size() < b.size() ? b : a;
  return longer.starts_with(shorter) && longer[shorter.size()] == '.';
}

}  // namespace barrio::rankmap
