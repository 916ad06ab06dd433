#include <unistd.h>

#include <cstdint>

#include "barrio/base/abort.hpp"
#include "barrio/mpi/stored_profile.hpp"
#include "bindings.hpp"

namespace barrio::python {
namespace {

/// End the job after a failed assertion or a missing rank, as `mpi::run` does for C++ programs.
void end_job(int code) noexcept {
  int is_running = 0;
  int is_over = 0;
  MPI_Initialized(&is_running);
  MPI_Finalized(&is_over);
  if (is_running == 0 || is_over != 0) return;
  ::usleep(200'000);  // MPICH's launcher drops output printed just before an abort
  MPI_Abort(MPI_COMM_WORLD, code);
}

void install_abort_hook() {
  if (abort_hook().end_job != nullptr) return;
  AbortHook hook{.end_job = &end_job};
  MPI_Comm_rank(MPI_COMM_WORLD, &hook.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &hook.size);
  set_abort_hook(hook);
}

}  // namespace

void throw_usage(std::string subject, std::string cause, std::string remedy) {
  throw Error(ErrorCode::usage,
              {.subject = std::move(subject), .cause = std::move(cause), .remedy = std::move(remedy)});
}

std::unique_ptr<mpi::Context> make_context(const CommArgument& argument) {
  // Before the first use of the handle: it has another meaning in another MPI.
  nb::module_::import_("barrio._mpi").attr("check_library")();
  int is_running = 0;
  int is_over = 0;
  MPI_Initialized(&is_running);
  MPI_Finalized(&is_over);
  if (is_running == 0 || is_over != 0)
    throw_usage("MPI", is_over != 0 ? "has ended already" : "is not initialised",
                "call barrio between MPI.Init() and MPI.Finalize()");

  const auto place = nb::cast<std::uintptr_t>(nb::module_::import_("mpi4py.MPI").attr("_addressof")(argument.comm));
  const MPI_Comm comm = *reinterpret_cast<const MPI_Comm*>(place);  // NOLINT: the address of mpi4py's handle
  if (comm == MPI_COMM_NULL)
    throw_usage("communicator", "is MPI.COMM_NULL", "give a communicator that contains this process");
  int is_inter = 0;
  MPI_Comm_test_inter(comm, &is_inter);
  if (is_inter != 0)
    throw_usage("communicator", "is an intercommunicator", "give an intracommunicator, such as comm.Merge()");
  install_abort_hook();
  const nb::gil_scoped_release unlocked;
  auto context = std::make_unique<mpi::Context>(comm);
  mpi::use_stored_profile(*context);
  return context;
}

}  // namespace barrio::python
