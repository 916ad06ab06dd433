#pragma once

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "barrio/base/error.hpp"

namespace barrio::io::detail {

/// Forward reader of a mesh file, by lines, words, numbers or bytes, with stdio's buffer. Local.
/// If the file ends early, or its text is not of the requested kind, every function throws Error{bad_input} that names
/// the file, the fault and the byte.
class Scanner {
 public:
  /// @param remedy  advice about a file that cannot be parsed
  /// @param comment  character that begins a comment, in front of a word and up to the end of the line, in functions
  /// that read by words; 0: no comments
  /// @throws Error{failed} if the file cannot be opened
  Scanner(std::string path, std::string remedy, char comment = '\0');

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::int64_t offset() const;
  void go_to(std::int64_t offset);
  /// Return the bytes from here to the end of the file.
  [[nodiscard]] std::int64_t bytes_left() const { return n_bytes_ - offset(); }

  /// Read the next line, without its end. @return false at the end of the file
  bool next_line();
  [[nodiscard]] const std::string& line() const noexcept { return line_; }
  void need_line();
  /// Read the next line that is not blank. @return false at the end of the file
  bool next_text_line();
  /// Read the next number on the line.
  template <class Number>
  Number number() {
    skip_blanks();
    Number parsed{};
    const char* end = parse(std::string_view(line_).substr(start_), parsed);
    if (end == nullptr) no_number();
    start_ = end - line_.data();
    return parsed;
  }
  /// Read the next word on the line; empty at its end.
  std::string_view field();
  [[nodiscard]] std::string rest() const { return line_.substr(start_); }
  /// Move to the next line that has a word if this one has no more. @return false at the end of the file
  bool seek_field();
  /// Continue the reading of words or bytes with the rest of the line, unless it is blank.
  void return_rest();
  /// Continue the reading after the line, whatever is left of it.
  void drop_rest() noexcept { start_ = line_.size(); }

  /// Read the next word of the file, across lines.
  std::string_view word();
  template <class Number>
  Number number_word() {
    std::string_view text = word();
    if (text.starts_with('+')) text.remove_prefix(1);
    Number parsed{};
    const char* const end = text.data() + text.size();
    if (parse(text, parsed) != end && !(has_fortran_exponent() && parse(text, parsed) == end))
      refuse("a number was expected in '" + std::string(text.substr(0, 60)) + "'");
    return parsed;
  }
  void skip_words(std::int64_t n);
  /// Skip blanks and ends of lines. @return the byte after them
  std::int64_t skip_blank_bytes();

  template <class T>
  T binary() {
    T item;
    binary(std::span<T>(&item, 1));
    return item;
  }
  template <class T>
  void binary(std::span<T> items) {
    if (std::fread(items.data(), sizeof(T), items.size(), file_.get()) != items.size()) refuse("ends early");
  }
  void skip(std::int64_t n_bytes);

  /// Check a count that the file states. @return n. @throws Error{bad_input} if no file can have so many
  std::int64_t checked_count(std::int64_t n) const;
  [[noreturn]] void refuse(const std::string& cause) const { refuse(cause, remedy_); }
  [[noreturn]] void refuse(const std::string& cause, const std::string& remedy) const;

 private:
  [[noreturn]] void no_number() const;
  /// Read the number at the start of a text. Integers beyond 64 bits become the largest, or the lowest; reals that are
  /// too small become 0. @return its end; null if there is none
  template <class Number>
  const char* parse(std::string_view text, Number& parsed) const {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
    if (error == std::errc::invalid_argument) return nullptr;
    if (error == std::errc()) return end;
    const std::string_view number = text.substr(0, end - text.data());
    if (std::is_integral_v<Number> && sizeof(Number) == 8)
      parsed = number.starts_with('-') ? std::numeric_limits<Number>::lowest() : std::numeric_limits<Number>::max();
    else if (std::is_integral_v<Number> || !is_below_one(number))
      refuse("the number '" + std::string(number.substr(0, 60)) + "' is too large");
    else
      parsed = Number{};
    return end;
  }
  /// Tell whether the last word has an exponent after a D, as Fortran writes them. The D then becomes an E.
  bool has_fortran_exponent();
  /// Skip blanks, ends of lines and comments. @return the next byte, which is consumed; EOF at the end
  int skip_to_word();
  /// Tell whether a nonzero real is below 1 in magnitude.
  static bool is_below_one(std::string_view number);
  void skip_blanks();
  static constexpr std::size_t longest_line = 1U << 20U;
  std::string path_;
  std::string remedy_;
  char comment_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::int64_t n_bytes_ = 0;
  std::string line_;
  std::string word_;
  std::size_t start_ = 0;
  std::int64_t n_end_bytes_ = 0;  // of the end of the line
  bool is_cut_ = false;           // the file ended before the line did
};

}  // namespace barrio::io::detail
