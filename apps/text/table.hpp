#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace barrio::apps {

/// Lay out lines of "name: value" so that the values stand in one column.
std::string two_columns(const std::vector<std::pair<std::string, std::string>>& rows);

/// A checksum as people compare it: 16 hexadecimal digits.
std::string hex(std::uint64_t checksum);

}  // namespace barrio::apps
