#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace barrio::apps {

/// Where this program is.
std::filesystem::path folder_of_program();

/// Find a library of barrio's that is loaded into other programs. @return its path; empty if it is not there
std::filesystem::path preloaded_library(const std::string& name);

/// Whether the shell would start a program of this name. A name without a slash is looked for in PATH.
/// @return why not; empty if it would
std::string why_not_startable(const std::string& program);

/// Run a command line with the terminal of this one and wait for it; what interrupts both is left to it. Local.
/// @return its exit code, 128 + signal if one ended it, 127 if it cannot be started
int run_program(const std::vector<std::string>& command);

}  // namespace barrio::apps
