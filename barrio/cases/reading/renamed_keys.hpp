#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace barrio::cases {

/// Find the present spelling of a key or value that was spelt otherwise before 0.1.0. Local.
/// @return empty if it never was another word
inline std::string present_spelling(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> words{
      {{"ends", "boundary"}, {"given", "inflow"}, {"at_most", "max_error"}}};
  for (const auto& [before, now] : words)
    if (word == before) return std::string(now);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> beginnings{
      {{"most_", "max_"}, {"least_", "min_"}}};
  for (const auto& [before, now] : beginnings)
    if (word.starts_with(before)) return std::string(now).append(word.substr(before.size()));
  return {};
}

}  // namespace barrio::cases
