#pragma once

#include <string>
#include <vector>

namespace barrio::apps {

/// How a program that was run beside this one has ended.
struct ChildEnd {
  int exit_code = 0;        ///< 128 + signal if one ended it, 127 if it cannot be started
  bool is_stopped = false;  ///< it was ended at its limit
  std::string errors;       ///< the end of what it wrote to standard error
};

/// Run a command line, with the variables it sets in front, without standard input and output, and wait for it. At the
/// limit, and if this process dies, it is told to end with all that it has started. Local.
/// @param unset  variables of this process that it does not get
ChildEnd run_child(const std::vector<std::string>& command, double limit_seconds,
                   const std::vector<std::string>& unset = {});

}  // namespace barrio::apps
