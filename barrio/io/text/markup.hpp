#pragma once

#include <cstdint>
#include <string>

namespace barrio::io::detail {

/// Treatment of the text after a tag of an XML file.
enum class MarkupText {
  left_out,
  place,  ///< the byte where it begins stands for it
  words,  ///< it is copied
  rest    ///< the byte after the next '_' stands for all that follows, binary values
};

/// Copy the markup of an XML file without the values between its tags. Local; memory does not grow with the values.
/// @param text_after  decides by a tag, from '<' to '>'
/// @throws Error{bad_input} naming `path` with `remedy` if the markup ends early or is vast; {failed} if the file
/// cannot be read
std::string read_markup(const std::string& path, const std::string& remedy,
                        MarkupText (*text_after)(const std::string& tag));

}  // namespace barrio::io::detail
