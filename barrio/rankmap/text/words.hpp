#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"

namespace barrio::rankmap::detail {

/// The value that a word stands for in a table of pairs. @param what  of what kind, for the message
/// @throws Error{usage} naming all words of the table, two at least
template <class Table>
auto value_of_word(std::string_view what, std::string_view word, const Table& table) {
  std::vector<std::string> words;
  for (const auto& [known, value] : table) {
    if (known == word) return value;
    words.emplace_back(known);
  }
  std::string choices = words.front();
  for (std::size_t i = 1; i < words.size(); ++i) choices += (i + 1 < words.size() ? ", " : " or ") + words[i];
  throw Error(ErrorCode::usage, {.subject = fmt::format("{} '{}'", what, word),
                                 .cause = fmt::format("is unknown.{}", did_you_mean(word, words)),
                                 .remedy = "use " + choices});
}

}  // namespace barrio::rankmap::detail
