#pragma once

#include <string>

#include "barrio/base/json.hpp"

namespace barrio::apps {

/// Format the results of a probe as tables for people.
std::string probe_text(const Json& result);

}  // namespace barrio::apps
