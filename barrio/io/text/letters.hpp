#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace barrio::io::detail {

/// Return a letter as a small one; other characters stay.
inline char lower(char c) noexcept { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

inline std::string lower(std::string_view text) {
  std::string letters(text);
  for (char& c : letters) c = lower(c);
  return letters;
}

}  // namespace barrio::io::detail
