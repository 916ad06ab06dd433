#pragma once

#include <fmt/format.h>

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/base/line_reader.hpp"
#include "barrio/base/text.hpp"

namespace barrio::rankmap::detail {

/// Return a word in small letters.
inline std::string lower(std::string_view word) {
  std::string text(word);
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Read a word as a whole number in [least, most]. @throws Error{bad_input} as LineReader::integer
inline int read_int(const LineReader& reader, std::string_view word, std::string_view what, int least, int most) {
  return static_cast<int>(reader.integer(word, what, least, most));
}

/// Return the value of a word in a table of pairs. @param what  kind of the value, for the message
/// @throws Error{usage} naming all words of the table, which has at least two
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
