#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace barrio::apps {

/// Return a script for bash that completes commands and options, as the parser knows them. Local.
std::string bash_completion(const CLI::App& app);

}  // namespace barrio::apps
