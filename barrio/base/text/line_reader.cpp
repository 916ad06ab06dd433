#include "barrio/base/line_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "barrio/base/error.hpp"

namespace barrio {
namespace {

constexpr std::string_view blanks = " \t\r\v\f";

// A word that is safe to print: it may be binary rubbish.
std::string shown(std::string_view word) {
  std::string text(word.substr(0, 24));
  std::ranges::replace_if(text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return word.size() > 24 ? text + "..." : text;
}

}  // namespace

LineReader::LineReader(std::string path) : path_(std::move(path)) {
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(path_, ignored);
  std::ifstream file(path_, std::ios::binary);
  if (!file || is_folder) {
    throw Error(ErrorCode::failed,
                {.subject = path_,
                 .cause = fmt::format("cannot be read: {}", is_folder ? "it is a folder" : std::strerror(errno)),
                 .remedy = "check the name"});
  }
  std::ostringstream text;
  text << file.rdbuf();
  text_ = std::move(text).str();
}

bool LineReader::next_line() {
  if (next_ >= text_.size()) {
    line_ = {};
    word_end_ = 0;
    return false;
  }
  const std::size_t end = std::min(text_.find('\n', next_), text_.size());
  line_ = std::string_view(text_).substr(next_, end - next_);
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  next_ = end + 1;
  word_end_ = 0;
  ++line_number_;
  return true;
}

std::vector<std::string_view> LineReader::words() const {
  std::vector<std::string_view> found;
  std::size_t begin = line_.find_first_not_of(blanks);
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(line_.find_first_of(blanks, begin), line_.size());
    found.push_back(line_.substr(begin, end - begin));
    begin = line_.find_first_not_of(blanks, end);
  }
  return found;
}

std::string_view LineReader::next_word() {
  for (;;) {
    const std::size_t begin = line_.find_first_not_of(blanks, word_end_);
    if (begin != std::string_view::npos) {
      word_end_ = std::min(line_.find_first_of(blanks, begin), line_.size());
      return line_.substr(begin, word_end_ - begin);
    }
    if (!next_line()) return {};
  }
}

std::int64_t LineReader::integer(std::string_view word, std::string_view what, std::int64_t least,
                                 std::int64_t most) const {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (problem == std::errc::invalid_argument || end != word.data() + word.size())
    fail(fmt::format("{} is '{}', not a whole number", what, shown(word)));
  if (problem != std::errc{} || value < least || value > most)
    fail(fmt::format("{} is {}, not in {}..{}", what, shown(word), least, most));
  return value;
}

double LineReader::real(std::string_view word, std::string_view what) const {
  const std::string_view digits = word.starts_with('+') ? word.substr(1) : word;
  double value = 0.0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem == std::errc::invalid_argument || end != digits.data() + digits.size())
    fail(fmt::format("{} is '{}', not a number", what, shown(word)));
  if (problem != std::errc{} || !std::isfinite(value))
    fail(fmt::format("{} is {}; a finite number was expected", what, shown(word)));
  return value + 0.0;  // no negative zero
}

double LineReader::amount(std::string_view word, std::string_view what) const {
  const double value = real(word, what);
  if (!(value >= 0.0 && value <= 1e18))
    fail(fmt::format("{} is {}; a finite number >= 0 was expected", what, shown(word)));
  return value;
}

void LineReader::fail(std::string cause, std::string remedy) const {
  throw Error(
      ErrorCode::bad_input,
      {.subject = fmt::format("{}:{}", path_, line_number_), .cause = std::move(cause), .remedy = std::move(remedy)});
}

}  // namespace barrio
