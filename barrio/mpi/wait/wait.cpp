#include "barrio/mpi/wait.hpp"

#include <chrono>
#include <climits>
#include <cstdlib>
#include <string_view>

#include "barrio/mpi/check.hpp"
#include "barrio/mpi/node.hpp"
#include "barrio/mpi/wait/give_way.h"

namespace barrio::mpi {

namespace {

/// Return the ranks of this job on this node, as the launcher tells; 0 if it does not.
int ranks_on_node() {
  for (const char* variable : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_STEP_TASKS_PER_NODE"})
    if (const char* text = std::getenv(variable)) return std::atoi(text);  // Slurm writes 4(x2): use the first number
  return 0;
}

/// Tell whether MPI itself yields in each poll that finds nothing. A second yield would delay messages that the poll
/// has found but not yet returned.
bool mpi_yields() {
  const char* const text = std::getenv("OMPI_MCA_mpi_oversubscribe");
  return text != nullptr && std::string_view(text) == "1";
}

}  // namespace

WaitPolicy wait_policy_from_environment() {
#ifdef BARRIO_MPI_SMPI
  WaitPolicy policy{.kind = WaitPolicy::Kind::block};
#else
  WaitPolicy policy;
#endif
  // Polling on a core that another rank needs delays the very message that it waits for.
  if (ranks_on_node() > usable_cores() && !mpi_yields()) policy.spin_polls = 0;
  if (const char* text = std::getenv("BARRIO_WAIT")) {
    const std::string_view kind = text;
    if (kind == "spin") policy.kind = WaitPolicy::Kind::spin;
    if (kind == "yield") policy.kind = WaitPolicy::Kind::yield;
    if (kind == "block") policy.kind = WaitPolicy::Kind::block;
  }
  return policy;
}

double seconds_now() noexcept {
#ifdef BARRIO_MPI_SMPI
  return MPI_Wtime();
#else
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
#endif
}

bool is_wait_kind(std::string_view text) noexcept { return text == "spin" || text == "yield" || text == "block"; }

void Pause::operator()() noexcept {
  if (policy_.kind == WaitPolicy::Kind::spin) return;
  if (++polls_ >= policy_.spin_polls) barrio_give_way();
}

void wait(MPI_Request& request, const WaitPolicy& policy, MPI_Status* status) {
  if (policy.kind == WaitPolicy::Kind::block) {
    check(MPI_Wait(&request, status), "MPI_Wait");
    return;
  }
  if (request == MPI_REQUEST_NULL) return;  // the simulator's MPI_Test is never true here
  Pause pause(policy);
  for (int done = 0;; pause()) {
    check(MPI_Test(&request, &done, status), "MPI_Test");
    if (done != 0) return;
  }
}

void wait_all(std::span<MPI_Request> requests, const WaitPolicy& policy) {
  const int n = as_count(requests.size());
  if (policy.kind == WaitPolicy::Kind::block) {
    check(MPI_Waitall(n, requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    return;
  }
  Pause pause(policy);
  for (int done = 0;; pause()) {
    check(MPI_Testall(n, requests.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    if (done != 0) return;
  }
}

bool wait_for(MPI_Request& request, const WaitPolicy& policy, double limit_seconds, const std::function<void()>& work) {
  const double give_up = MPI_Wtime() + limit_seconds;
  Pause pause(policy);
  for (int done = 0;; pause()) {
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return true;
    if (MPI_Wtime() > give_up) return false;
    if (work) work();
  }
}

}  // namespace barrio::mpi
