#pragma once

#include <string>
#include <vector>

namespace barrio::apps {

/// End of a program that was run beside this one.
struct ChildEnd {
  int exit_code = 0;        ///< 128 + signal if one ended it, 127 if it cannot be started
  bool is_stopped = false;  ///< whether it was stopped at its time limit
  std::string errors;       ///< the end of its standard error
};

/// Run a command line, with variable assignments in front and without standard input and output, and wait for it. At
/// the time limit, and if this process dies, it is told to end with everything that it started. Local.
/// @param unset  variables of this process that the program does not get
ChildEnd run_child(const std::vector<std::string>& command, double limit_seconds,
                   const std::vector<std::string>& unset = {});

}  // namespace barrio::apps
