#include "barrio/mpi/run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string_view>

#include "barrio/base/abort.hpp"
#include "barrio/mpi/check.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/launcher.hpp"
#include "barrio/mpi/stored_profile.hpp"
#include "barrio/mpi/wait.hpp"

extern "C" int barrio_mpi_call_behind_fence(int (*call)(void*), void* argument);

namespace barrio::mpi {
namespace {

constexpr std::string_view out_of_memory_message =
    "error: memory: an allocation failed\n  remedy: use more ranks on more nodes, or a smaller case";

/// Wait until the launcher has read the output: MPICH's drops it if the process ends first.
void let_launcher_read() noexcept { ::usleep(200'000); }

void end_job(int code) noexcept {
  let_launcher_read();
  MPI_Abort(MPI_COMM_WORLD, code);
}

/// Tell whether memory is exhausted, by the exception in flight. There may be none for a message then.
bool is_short_of_memory() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return true;
  } catch (...) {
    return false;
  }
}

[[noreturn]] void on_terminate() noexcept {
  if (std::current_exception()) {
    if (is_short_of_memory()) abort_job(ErrorCode::failed, out_of_memory_message);
    const Error error = current_error();
    std::string message = fmt::format("error: {}: {}", error.subject(), error.cause());
    if (!error.remedy().empty()) message += fmt::format("\n  remedy: {}", error.remedy());
    abort_job(error.code(), message);
  }
  abort_job(ErrorCode::internal, "error: std::terminate was called");
}

// Only an AgreedError is caught here. For any other exception the search for a handler ends at the fence below this
// frame, so the terminate handler runs while the throwing frame is still alive. No destructor of a distributed object
// runs, so none can wait for a rank that never arrives.
int guarded(Context& context, const std::function<void(Context&)>& body) {
  try {
    body(context);
    return exit_code(ErrorCode::ok);
  } catch (const AgreedError& error) {
    if (context.is_root()) print_error(error, context.size());
    return exit_code(error.code());
  }
}

/// Wait until the bodies of all ranks have returned. A rank that waits too long warns: the others may be in a
/// collective call that it left out.
void wait_for_others(Context& context, double warning_seconds) {
#ifdef BARRIO_MPI_SMPI
  barrier(context);  // polls cost simulated time
  (void)warning_seconds;
#else
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(MPI_COMM_WORLD, &request), "MPI_Ibarrier");
  if (!wait_for(request, context.wait_policy(), warning_seconds)) {
    context.log().warning(
        fmt::format("has done its work and has waited {:g} s for the other ranks. If they wait for this rank, it has "
                    "left out a collective call",
                    warning_seconds));
    wait(request, context.wait_policy());
  }
#endif
}

/// Print the fault once, by the launcher's first process: the launcher may end the others as soon as one has failed.
int refuse_launcher(const Error& fault) {
  if (is_first_of_launcher()) print_error(fault);
  let_launcher_read();
  MPI_Finalize();
  return exit_code(fault.code());
}

struct Guarded {
  Context& context;
  const std::function<void(Context&)>& body;
};

}  // namespace

void print_error(const Error& error, int size) {
  std::string text = fmt::format("barrio: error: {}: {}", error.subject(), error.cause());
  if (const auto* agreed = dynamic_cast<const AgreedError*>(&error);
      agreed != nullptr && agreed->first_rank() && size > 1)
    text += fmt::format(" [rank {}/{}]", *agreed->first_rank(), size);
  if (!error.remedy().empty()) text += fmt::format("\n  remedy: {}", error.remedy());
  std::fputs((text + "\n").c_str(), stderr);
  std::fflush(stderr);
}

int run(int& argc, char**& argv, const std::function<void(Context&)>& body, const RunOptions& options) {
  int provided = 0;
  if (MPI_Init_thread(&argc, &argv, options.thread_level, &provided) != MPI_SUCCESS) {
    std::fputs("barrio: error: MPI cannot be initialised\n", stderr);
    return exit_code(ErrorCode::failed);
  }
  if (const auto fault = find_launcher_fault()) return refuse_launcher(*fault);
  AbortHook hook{.end_job = &end_job};
  MPI_Comm_rank(MPI_COMM_WORLD, &hook.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &hook.size);
  const AbortHook outer_hook = set_abort_hook(hook);
  let_long_files_fail();
  const std::terminate_handler outer_handler = std::set_terminate(&on_terminate);
  int code = 0;
  {
    Context context(MPI_COMM_WORLD, options.context);
    if (options.uses_stored_profile) use_stored_profile(context);
    Guarded call{context, body};
    code = barrio_mpi_call_behind_fence(
        [](void* argument) {
          const auto* it = static_cast<const Guarded*>(argument);
          return guarded(it->context, it->body);
        },
        &call);
    wait_for_others(context, options.finish_warning_seconds);
  }
  std::set_terminate(outer_handler);
  set_abort_hook(outer_hook);
  MPI_Finalize();
  return code;
}

}  // namespace barrio::mpi
