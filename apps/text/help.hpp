#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace barrio::apps {

/// Break text into lines between words, of at most `width` columns. Lines but the first begin with `indent` blanks. A
/// word that is too long is broken after a comma or a bar, else where the line ends. Local.
/// @param column  column at which the text begins
std::string wrapped(std::string_view text, std::size_t column, std::size_t indent, std::size_t width);

/// Return the columns for help: COLUMNS, else those of the terminal on standard output, else 80. Local.
std::size_t help_columns();

/// Layout of --help: names on the left, and what they mean beside or below them, within the width of the terminal.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::size_t width) : width_(width) {}
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_subcommand(const CLI::App* sub) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_footer(const CLI::App* app) const override;

 private:
  [[nodiscard]] std::string row(const std::string& name, const std::string& meaning) const;
  std::size_t width_;
};

}  // namespace barrio::apps
