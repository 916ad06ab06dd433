#include "barrio/mpi/cores.hpp"
#include "barrio/mpi/check.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

namespace barrio::mpi {
namespace {

using Words = std::array<std::uint64_t, sizeof(cpu_set_t) / sizeof(std::uint64_t)>;

std::vector<int> cores_of(const Words& words) {
  std::vector<int> cores;
  for (std::size_t i = 0; i < words.size(); ++i)
    for (int bit = 0; bit < 64; ++bit)
      if ((words[i] >> static_cast<unsigned>(bit) & 1U) != 0) cores.push_back(static_cast<int>(64 * i) + bit);
  return cores;
}

/// Cores of this thread without any CoresScope, and the number of scopes that hold it.
thread_local std::shared_ptr<const std::vector<int>> without_scopes;
thread_local int n_scopes = 0;

/// Return the cores of this thread, scopes aside; empty if the system does not tell them, as with more cores than a
/// mask holds.
Words allowed_cores() {
  cpu_set_t mask;
  if (without_scopes) {
    CPU_ZERO(&mask);
    for (const int core : *without_scopes) CPU_SET(core, &mask);
    return std::bit_cast<Words>(mask);
  }
  CPU_ZERO(&mask);
  if (::sched_getaffinity(0, sizeof mask, &mask) != 0) CPU_ZERO(&mask);
  return std::bit_cast<Words>(mask);
}

int with_limit(int n_cores) {
  const double limit = processor_time_limit();
  return limit > 0.0 ? std::min(n_cores, std::max(1, static_cast<int>(std::floor(limit + 0.01)))) : n_cores;
}

}  // namespace

double processor_time_limit() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");  // "max 100000" or "200000 100000": microseconds per period
  std::string quota;
  double period = 0.0;
  if (!(file >> quota >> period) || quota == "max" || !(period > 0.0)) return 0.0;
  return std::strtod(quota.c_str(), nullptr) / period;
}

NodeCores find_node_cores(Context& context, int n_computing) {
  const Comm node = Comm::split_by_host(context.comm(), context.rank());
  const Words mine = allowed_cores();
  Words all = mine;
  check(MPI_Allreduce(MPI_IN_PLACE, all.data(), as_count(all.size()), MPI_UINT64_T, MPI_BOR, node.get()),
        "MPI_Allreduce");
  std::array<int, 2> threads{n_computing, n_computing > 0 ? 1 : 0};
  check(MPI_Allreduce(MPI_IN_PLACE, threads.data(), 2, MPI_INT, MPI_SUM, node.get()), "MPI_Allreduce");
  const std::vector<int> my_cores = cores_of(mine);
  NodeCores found{.mine = with_limit(static_cast<int>(my_cores.size())),
                  .all = with_limit(static_cast<int>(cores_of(all).size())),
                  .n_computing = threads[0],
                  .n_ranks_compute = threads[1]};
  // A rank with cores of its own keeps its threads on them; ranks that share cores leave the last ones free.
  const int n_busy = mine == all ? found.n_computing : n_computing;
  if (my_cores.empty()) return found;
  const auto first = std::clamp<std::ptrdiff_t>(n_busy, 0, std::ssize(my_cores) - 1);
  found.spare.assign(my_cores.begin() + first, my_cores.end());
  found.busy.assign(my_cores.begin(), my_cores.begin() + first);
  return found;
}

bool run_on_cores(const std::vector<int>& cores) noexcept {
  if (cores.empty()) return false;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int core : cores) CPU_SET(core, &mask);
  return ::sched_setaffinity(0, sizeof mask, &mask) == 0;
}

CoresScope::CoresScope(const std::vector<int>& cores) : thread_(std::this_thread::get_id()) {
  if (cores.empty()) return;
  std::vector<int> before = cores_of(allowed_cores());
  is_held_ = run_on_cores(cores);
  if (!is_held_) return;
  if (n_scopes++ == 0) without_scopes = std::make_shared<const std::vector<int>>(std::move(before));
}

CoresScope::~CoresScope() {
  if (!is_held_ || std::this_thread::get_id() != thread_ || --n_scopes > 0) return;
  run_on_cores(*without_scopes);
  without_scopes.reset();
}

}  // namespace barrio::mpi
