#pragma once

/// @file Assertions with a level of cost, which print values and end the whole job.

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

/// Most expensive level of checks that is compiled in. Each level includes the ones below it:
/// 0 none, 1 `cheap` (O(1), default), 2 `expensive` (O(n) local), 3 `comm` (the check communicates).
#ifndef BARRIO_ASSERT_LEVEL
#define BARRIO_ASSERT_LEVEL 1
#endif

namespace barrio::detail {

enum AssertLevel : int { none = 0, cheap = 1, expensive = 2, comm = 3 };

/// Print the failed expression with its values and end the job with exit code 70.
[[noreturn]] void assertion_failed(std::string_view expression, std::string_view file, int line, std::string_view names,
                                   const std::string& values) noexcept;

template <class... Values>
std::string format_values(const Values&... values) {
  std::string text;
  [[maybe_unused]] const char* separator = "";
  ((text += fmt::format("{}{}", std::exchange(separator, ", "), values)), ...);
  return text;
}

}  // namespace barrio::detail

/// Tell whether a level of checks is compiled in: BARRIO_ASSERTS(expensive).
#define BARRIO_ASSERTS(level) (BARRIO_ASSERT_LEVEL >= static_cast<int>(::barrio::detail::AssertLevel::level))

/// Check an invariant whose failure is a bug: BARRIO_ASSERT(cheap, i < n, i, n). A failure prints the rank, the
/// expression and the given values, then ends the whole job. Local, except at level `comm`.
#define BARRIO_ASSERT(level, expression, ...)                                             \
  do {                                                                                    \
    if constexpr (BARRIO_ASSERTS(level)) {                                                \
      if (!(expression)) [[unlikely]]                                                     \
        ::barrio::detail::assertion_failed(#expression, __FILE__, __LINE__, #__VA_ARGS__, \
                                           ::barrio::detail::format_values(__VA_ARGS__)); \
    }                                                                                     \
  } while (false)
