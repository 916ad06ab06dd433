#pragma once

#include <string>

#include "barrio/base/json.hpp"

namespace barrio::apps {

/// Format the results of a probe as tables for people.
std::string probe_text(const Json& result);

/// Say how much other work disturbed a transport or setting.
std::string disturbance_text(const Json& found);

}  // namespace barrio::apps
