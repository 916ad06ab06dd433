#pragma once

#include <string>

#include "barrio/base/json.hpp"
#include "barrio/rankmap/measured_machine.hpp"

namespace barrio::apps {

/// Format the result of `barrio map --measure` as a table.
std::string render_measured(const rankmap::MeasuredMachine& measured);

/// Format the result of `barrio map --verify` in words. @param result  its document
std::string render_verification(const Json& result);

}  // namespace barrio::apps
