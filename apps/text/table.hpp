#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace barrio::apps {

/// Format names and values in two columns, one pair a line.
std::string two_columns(const std::vector<std::pair<std::string, std::string>>& rows);

/// Format a checksum as 16 hexadecimal digits.
std::string hex(std::uint64_t checksum);

}  // namespace barrio::apps
