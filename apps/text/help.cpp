#include "apps/text/help.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace barrio::apps {
namespace {

constexpr std::size_t left_margin = 2;    // before the names
constexpr std::size_t name_columns = 30;  // as CLI11 has them
constexpr std::size_t min_meaning = 40;   // columns; where fewer are left, meanings stand below the names

/// Return how much of a word that is too long goes on this line.
std::size_t break_of(std::string_view word, std::size_t room) {
  const std::size_t at = word.substr(0, room).find_last_of(",|/;");
  return at == std::string_view::npos ? room : at + 1;
}

/// Break a command line between words, so that it can be copied as it is.
std::string wrapped_command(std::string_view line, std::size_t width) {
  std::string text;
  std::size_t column = 0;
  std::size_t begin = line.find_first_not_of(' ');
  text.append(begin == std::string_view::npos ? 0 : begin, ' ');
  column = text.size();
  bool is_first = true;
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    if (!is_first && column + 1 + word.size() + 2 > width) {
      text += " \\\n      ";
      column = 6;
    } else if (!is_first) {
      text += ' ';
      column += 1;
    }
    text += word;
    column += word.size();
    is_first = false;
    begin = line.find_first_not_of(' ', end);
  }
  return text;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t column, std::size_t indent, std::size_t width) {
  const std::size_t min_room = 10;
  width = std::max(width, indent + min_room);
  std::string lines;
  bool is_begin = true;
  const auto next_line = [&] {
    lines += '\n' + std::string(indent, ' ');
    column = indent;
    is_begin = true;
  };
  for (std::size_t begin = text.find_first_not_of(" \n"); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    std::string_view word = text.substr(begin, end - begin);
    if (!is_begin && column + 1 + word.size() > width) next_line();
    while (column + word.size() > width) {
      if (column >= width) {
        next_line();
        continue;
      }
      const std::size_t n = break_of(word, width - column);
      lines += word.substr(0, n);
      word.remove_prefix(n);
      next_line();
    }
    if (!is_begin) lines += ' ';
    column += word.size() + (is_begin ? 0 : 1);
    lines += word;
    is_begin = false;
    begin = text.find_first_not_of(" \n", end);
  }
  return lines;
}

std::size_t help_columns() {
  constexpr std::size_t default_columns = 80;
  constexpr int min_columns = 20;
  if (const char* const wish = std::getenv("COLUMNS"); wish != nullptr)
    if (const int n = std::atoi(wish); n >= min_columns) return n;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= min_columns) return size.ws_col;
  return default_columns;
}

std::string HelpFormatter::row(const std::string& name, const std::string& meaning) const {
  const bool is_narrow = width_ < name_columns + min_meaning;
  const std::size_t indent = is_narrow ? 3 * left_margin : name_columns;
  std::string text(left_margin, ' ');
  text += wrapped(name, left_margin, 3 * left_margin, width_);
  const std::size_t last = text.size() - (text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
  if (is_narrow || last + 1 > name_columns || text.find('\n') != std::string::npos) {
    text += '\n' + std::string(indent, ' ');
  } else {
    text.append(name_columns - last, ' ');
  }
  return text + wrapped(meaning, indent, indent, width_) + '\n';
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  return CLI::detail::find_and_replace(CLI::Formatter::make_help(app, std::move(name), mode), "\n\n\n", "\n\n");
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return wrapped(app->get_description(), 0, 0, width_) + '\n';
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  return wrapped(CLI::Formatter::make_usage(app, std::move(name)), 0, 3 * left_margin, width_) + '\n';
}

std::string HelpFormatter::make_subcommand(const CLI::App* sub) const {
  return row(sub->get_display_name(true), sub->get_description());
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  return row(make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option));
}

/// A line that begins with blanks is a command, to be copied; one that begins with a tab is a name and what it means,
/// with a tab between; the others are text.
std::string HelpFormatter::make_footer(const CLI::App* app) const {
  std::string text;
  const std::string footer = app->get_footer();
  for (std::size_t begin = 0; begin < footer.size();) {
    const std::size_t end = std::min(footer.find('\n', begin), footer.size());
    const std::string line = footer.substr(begin, end - begin);
    if (const std::size_t tab = line.find('\t', 1); line.starts_with('\t') && tab != std::string::npos) {
      text += row(line.substr(1, tab - 1), line.substr(tab + 1));
    } else {
      text += (line.starts_with(' ') ? wrapped_command(line, width_) : wrapped(line, 0, left_margin, width_)) + '\n';
    }
    begin = end + 1;
  }
  return text;
}

}  // namespace barrio::apps
