#pragma once

#include <string>

#include "barrio/base/json.hpp"

namespace barrio::apps {

/// Tables of what a probe found, for people.
std::string probe_text(const Json& result);

}  // namespace barrio::apps
