#include "apps/text/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace barrio::apps {

std::string two_columns(const std::vector<std::pair<std::string, std::string>>& rows) {
  std::size_t width = 0;
  for (const auto& [name, text] : rows) width = std::max(width, name.size());
  std::string out;
  for (const auto& [name, text] : rows) out += fmt::format("  {:<{}}  {}\n", name, width, text);
  return out;
}

std::string hex(std::uint64_t checksum) { return fmt::format("{:016x}", checksum); }

}  // namespace barrio::apps
