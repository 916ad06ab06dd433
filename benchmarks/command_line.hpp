#pragma once

// Shared by all benchmarks, since the simulator's compiler defines `exit` as a macro, and CLI11 has a member `exit`.
#ifdef BARRIO_MPI_SMPI
#undef exit
#endif
#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "barrio/base/error.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::bench {

/// Parse the command line of a benchmark on all ranks; rank 0 prints help. @return false after printing help
/// @throws AgreedError{usage} for an unknown option
inline bool parse(CLI::App& app, const char* name, mpi::Context& context, int argc, char** argv) {
  const std::string_view words(name);
  app.name(words.starts_with("barrio ") ? std::string(words) : "barrio " + std::string(words));  // not its path
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {
    if (context.is_root()) app.exit(wanted);
    return false;
  } catch (const CLI::ParseError& error) {
    throw AgreedError(ErrorCode::usage, {.subject = name, .cause = error.what(), .remedy = "see --help"});
  }
  return true;
}

}  // namespace barrio::bench
