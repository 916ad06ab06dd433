#include "barrio/io/text/scanner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace barrio::io::detail {
namespace {

constexpr std::string_view blanks = " \t\r\n\v\f";
bool is_blank(char c) noexcept { return blanks.find(c) != std::string_view::npos; }
/// @param c  a character or EOF, as `getc` returns it
bool is_blank(int c) noexcept { return c != EOF && is_blank(static_cast<char>(c)); }

/// Tell whether a character ends a word; markup does too.
bool ends_word(int c) noexcept { return c == EOF || c == '<' || is_blank(c); }

}  // namespace

Scanner::Scanner(std::string path, std::string remedy, char comment)
    : path_(std::move(path)),
      remedy_(std::move(remedy)),
      comment_(comment),
      file_(std::fopen(path_.c_str(), "rb"), &std::fclose) {
  const bool is_at_end = file_ && ::fseeko(file_.get(), 0, SEEK_END) == 0;
  if (is_at_end) n_bytes_ = ::ftello(file_.get());
  if (!is_at_end || n_bytes_ < 0) {
    throw Error(ErrorCode::failed,
                {.subject = path_, .cause = fmt::format("cannot be read: {}", std::strerror(errno))});
  }
  go_to(0);
}

std::int64_t Scanner::offset() const { return ::ftello(file_.get()); }

void Scanner::go_to(std::int64_t offset) {
  if (::fseeko(file_.get(), offset, SEEK_SET) != 0) refuse("ends early");
}

bool Scanner::next_line() {
  line_.clear();
  is_cut_ = false;
  start_ = 0;
  n_end_bytes_ = 0;
  for (int c = ::getc_unlocked(file_.get()); c != EOF; c = ::getc_unlocked(file_.get())) {
    if (c == '\n') {
      n_end_bytes_ = 1;
      if (!line_.empty() && line_.back() == '\r') {
        line_.pop_back();
        n_end_bytes_ = 2;
      }
      return true;
    }
    line_.push_back(static_cast<char>(c));
    if (line_.size() > longest_line) refuse("has a line that is too long for a text mesh");
  }
  is_cut_ = true;
  return !line_.empty();
}

void Scanner::need_line() {
  if (!next_line()) refuse("ends early");
}

bool Scanner::next_text_line() {
  while (next_line()) {
    skip_blanks();
    if (start_ < line_.size()) return true;
  }
  return false;
}

bool Scanner::seek_field() {
  skip_blanks();
  return start_ < line_.size() || next_text_line();
}

void Scanner::return_rest() {
  skip_blanks();
  if (start_ == line_.size()) return;
  go_to(offset() - n_end_bytes_ - static_cast<std::int64_t>(line_.size() - start_));
  drop_rest();
}

void Scanner::skip_blanks() {
  while (start_ < line_.size() && is_blank(line_[start_])) ++start_;
}

void Scanner::no_number() const {
  if (is_cut_) refuse("ends early");
  refuse(fmt::format("a number was expected in '{}'", line_.substr(0, 60)));
}

bool Scanner::is_below_one(std::string_view number) {
  const std::size_t letter = std::min(number.find_first_of("eE"), number.size());
  const std::string_view digits = number.substr(0, letter);
  std::string_view power = number.substr(std::min(letter + 1, number.size()));
  if (power.starts_with('+')) power.remove_prefix(1);
  std::int64_t exponent = 0;
  if (std::from_chars(power.data(), power.data() + power.size(), exponent).ec == std::errc::result_out_of_range)
    return power.starts_with('-');
  // Compare the exponent with the number of digits from the point to the first nonzero digit.
  const std::int64_t point = std::min(digits.find('.'), digits.size());
  const std::int64_t first = std::min(digits.find_first_of("123456789"), digits.size());
  return exponent < first - point;
}

std::string_view Scanner::field() {
  skip_blanks();
  const std::size_t first = start_;
  while (start_ < line_.size() && !is_blank(line_[start_])) ++start_;
  return std::string_view(line_).substr(first, start_ - first);
}

int Scanner::skip_to_word() {
  int c = ::getc_unlocked(file_.get());
  while (is_blank(c) || (c == comment_ && comment_ != '\0')) {
    if (c == comment_)
      while (c != '\n' && c != EOF) c = ::getc_unlocked(file_.get());
    if (c != EOF) c = ::getc_unlocked(file_.get());
  }
  return c;
}

bool Scanner::has_fortran_exponent() {
  const std::size_t letter = word_.find_first_of("dD");
  if (letter == std::string::npos || letter == 0) return false;
  word_[letter] = 'e';
  return true;
}

std::string_view Scanner::word() {
  word_.clear();
  int c = skip_to_word();
  for (; !ends_word(c); c = ::getc_unlocked(file_.get())) {
    word_.push_back(static_cast<char>(c));
    if (word_.size() > longest_line) refuse("has a word that is too long for a text mesh");
  }
  if (word_.empty()) refuse("ends early");
  // Leave the end of the line unread, so that the next line begins where a human reader sees it begin.
  if (c != EOF) std::ungetc(c, file_.get());
  return word_;
}

void Scanner::skip_words(std::int64_t n) {
  if (n <= 0) return;
  int c = ' ';
  for (; n > 0; --n) {
    c = skip_to_word();
    if (c == EOF || c == '<') refuse("ends early");
    while (!ends_word(c)) c = ::getc_unlocked(file_.get());
  }
  if (c != EOF) std::ungetc(c, file_.get());
}

std::int64_t Scanner::skip_blank_bytes() {
  const int c = skip_to_word();
  if (c != EOF) std::ungetc(c, file_.get());
  return offset();
}

void Scanner::skip(std::int64_t n_bytes) {
  if (n_bytes <= 0) return;
  if (n_bytes > bytes_left()) refuse("ends early");  // seeking past the end gives no error
  go_to(offset() + n_bytes);
}

std::int64_t Scanner::checked_count(std::int64_t n) const {
  if (n < 0 || n > (std::int64_t{1} << 48)) refuse(fmt::format("a count of {} makes no sense", n));
  return n;
}

void Scanner::refuse(const std::string& cause, const std::string& remedy) const {
  throw Error(ErrorCode::bad_input,
              {.subject = path_, .cause = fmt::format("{}, near byte {}", cause, offset()), .remedy = remedy});
}

}  // namespace barrio::io::detail
