#pragma once

#include <string>

#include "barrio/base/json.hpp"
#include "barrio/rankmap/measured_machine.hpp"

namespace barrio::apps {

/// What `barrio map --measure` found, as a table.
std::string render_measured(const rankmap::MeasuredMachine& measured);

/// What `barrio map --verify` found, in words. @param result  its document
std::string render_verification(const Json& result);

}  // namespace barrio::apps
