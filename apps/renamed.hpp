#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace barrio::apps {

/// Find the present spelling of an option that was spelt otherwise before 0.1.0. Local.
/// @return empty if it never was another word
inline std::string present_spelling(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> words{
      {{"--all-or-nothing", "--require-conforming"},
       {"--origin-field", "--parent-field"},
       {"--finest", "--min-size"},
       {"--largest", "--max-size"}}};
  for (const auto& [before, now] : words)
    if (word == before) return std::string(now);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> beginnings{
      {{"--most-", "--max-"}, {"--least-", "--min-"}}};
  for (const auto& [before, now] : beginnings)
    if (word.starts_with(before)) return std::string(now).append(word.substr(before.size()));
  return {};
}

/// Say why an option does not exist any more. Local. @return empty for all other words
inline std::string_view why_dropped(std::string_view word) {
  if (word == "--full-parts")
    return "does not exist any more: it made files larger, and no faster to load; leave it out";
  return {};
}

}  // namespace barrio::apps
