#include "barrio/io/text/markup.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "barrio/base/error.hpp"

namespace barrio::io::detail {

std::string read_markup(const std::string& path, const std::string& remedy,
                        MarkupText (*text_after)(const std::string& tag)) {
  constexpr std::size_t longest = std::size_t{64} << 20U;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error(ErrorCode::failed, {.subject = path,
                                    .cause = fmt::format("cannot be read: {}", std::strerror(errno)),
                                    .remedy = "check the name and its permissions"});
  const auto refuse_markup = [&](const std::string& cause) {
    throw Error(ErrorCode::bad_input, {.subject = path, .cause = cause, .remedy = remedy});
  };
  std::string markup;
  std::string tag;
  std::int64_t at = 0;
  const auto next = [&] {
    at += 1;
    return file.rdbuf()->sbumpc();
  };
  auto text = MarkupText::left_out;
  for (int c = next(); c != EOF; c = next()) {
    if (c != '<') {
      if (text == MarkupText::words) markup.push_back(static_cast<char>(c));
      if (markup.size() > longest) refuse_markup("has markup that ends early");
      continue;
    }
    tag.assign(1, '<');
    const auto is_whole = [&] {
      if (tag.starts_with("<!--")) return tag.ends_with("-->");
      if (tag.starts_with("<![CDATA[")) return tag.ends_with("]]>");
      if (tag.back() == '>' && tag.starts_with("<!DOCTYPE") && tag.find('[') != std::string::npos) {
        const auto before = tag.find_last_not_of(" \t\r\n", tag.size() - 2);
        return tag[before] == ']';  // else the end of a declaration within
      }
      return tag.back() == '>';
    };
    while (!is_whole()) {
      c = next();
      if (c == EOF || tag.size() + markup.size() > longest) refuse_markup("has markup that ends early");
      tag.push_back(static_cast<char>(c));
    }
    markup += tag;
    text = tag.ends_with("/>") ? MarkupText::left_out : text_after(tag);
    if (text == MarkupText::rest) {
      while (c != EOF && c != '_') c = next();  // the values follow it
      if (c == EOF) refuse_markup("ends before its appended data");
    }
    if (text == MarkupText::place || text == MarkupText::rest) markup += fmt::format("{}", at);
    if (text == MarkupText::rest) return markup;
  }
  return markup;
}

}  // namespace barrio::io::detail
