#pragma once

/// @file Formulas of named variables, as case files and size options have them.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace barrio::cases {

/// Named formulas, fully expanded: none uses the name of another.
using Abbreviations = std::map<std::string, std::string>;

/// Replace the names of other formulas in a formula by these. Local.
[[nodiscard]] std::string expand(const std::string& text, const Abbreviations& abbreviations);

/// A formula of named variables, parsed by muParser: + - * / ^, comparisons, && and ||, a ? b : c, sin, cos, tan, exp,
/// log, sqrt, abs, min, max and others. Copies share one parser: use them on one thread.
class Formula {
 public:
  /// Parse a formula. @param names  of the variables; pi is known too
  /// @throws Error{bad_input} without a subject for a formula that cannot be parsed
  Formula(const std::string& text, std::span<const std::string> names, const Abbreviations& abbreviations);
  /// Evaluate it. @param values  one for each name
  [[nodiscard]] double operator()(std::span<const double> values) const;
  /// Return the formula as it was given, with the names of other formulas.
  [[nodiscard]] const std::string& text() const& noexcept { return text_; }

 private:
  struct Parser;
  std::string text_;
  std::shared_ptr<Parser> parser_;
};

}  // namespace barrio::cases
