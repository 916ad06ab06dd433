#pragma once

/// @file Reader of small text files whose errors name file and line.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace barrio {

/// Reader of a small text file, line by line and word by word, whose errors name file and line. Local.
class LineReader {
 public:
  /// Read the whole file. @throws Error{failed} if it cannot be read
  explicit LineReader(std::string path);

  /// Read the next line. @return false at the end of the file; `line_number()` stays at the last line then
  bool next_line();
  /// Return the line read last, without its line end. Empty before the first one and after the last. It lives as long
  /// as the reader.
  [[nodiscard]] std::string_view line() const noexcept { return line_; }
  /// Return the number of that line, 1-based; 0 before the first.
  [[nodiscard]] int line_number() const noexcept { return line_number_; }
  /// Return the words of this line, separated by blanks and tabs. They live as long as the reader.
  [[nodiscard]] std::vector<std::string_view> words() const;

  /// Take the next word of the file, across line ends. @return an empty word at the end of the file
  std::string_view next_word();

  /// Read a word as a whole number in [least, most]. @throws Error{bad_input} naming file, line and `what`
  [[nodiscard]] std::int64_t integer(std::string_view word, std::string_view what, std::int64_t least,
                                     std::int64_t most) const;
  /// Read a word as a finite number in [0, 1e18]. @throws Error{bad_input} naming file, line and `what`
  [[nodiscard]] double amount(std::string_view word, std::string_view what) const;

  /// Read a word as a finite number. @throws Error{bad_input} naming file, line and `what`
  [[nodiscard]] double real(std::string_view word, std::string_view what) const;

  /// Throw an error about this line. @throws Error{bad_input} with subject "path:line"
  [[noreturn]] void fail(std::string cause, std::string remedy = {}) const;

  /// Return the path as it was given.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Return the size of the whole file.
  [[nodiscard]] std::size_t size_bytes() const noexcept { return text_.size(); }

 private:
  std::string path_;
  std::string text_;
  std::string_view line_;
  std::size_t next_ = 0;      // start of the next line
  std::size_t word_end_ = 0;  // end of the part of this line that next_word() has used
  int line_number_ = 0;
};

}  // namespace barrio
