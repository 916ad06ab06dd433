#pragma once

/// @file Run a program under MPI: initialise, call its body, report errors, finalise.

#include <functional>

#include "barrio/base/error.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::mpi {

/// Options of `run()`.
struct RunOptions {
  int thread_level = MPI_THREAD_FUNNELED;  ///< of MPI, to be requested; a lower level that MPI provides is accepted
  ContextOptions context = {};             ///< of the context given to the body
  bool uses_stored_profile = true;         ///< see `use_stored_profile`; if false the one in `context` stays
  double finish_warning_seconds = 60.0;    ///< wait for other ranks after which a rank whose body has returned warns
};

/// Run a program under MPI: initialise, call `body`, finalise. Returns the exit code for `main`.
///
/// - An `AgreedError` that leaves `body` was thrown by every rank: rank 0 prints it, MPI is finalised, and every rank
///   returns its code.
/// - A launcher of another MPI is refused before `body` runs, with code 2; see `find_launcher_fault`.
/// - Any other exception ends the whole job before the stack unwinds: `[rank r/n] message` on stderr, then MPI_Abort
///   with the error's code (70 if it has none). No destructor waits for ranks that do not know of the fault.
int run(int& argc, char**& argv, const std::function<void(Context&)>& body, const RunOptions& options = {});

/// Print an error as the command line does: "barrio: error: subject: cause", with the remedy on a line of its own.
void print_error(const Error& error, int size = 1);

}  // namespace barrio::mpi

namespace barrio {
using mpi::run;
}
