#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace barrio::apps {

/// Names that stand for a formula, in which none of them is left.
using Abbreviations = std::map<std::string, std::string>;

/// Write out the names in a formula that stand for another one. Local.
[[nodiscard]] std::string expand(const std::string& text, const Abbreviations& abbreviations);

/// A formula of named numbers, as muParser reads it: + - * / ^, comparisons, && and ||, a ? b : c, sin, cos, tan, exp,
/// log, sqrt, abs, min, max and others. Copies share one parser: for one thread.
class Formula {
 public:
  /// @param names  of the numbers that are given with each evaluation; pi is known too
  /// @throws Error{bad_input} without a subject for a formula that cannot be read
  Formula(const std::string& text, std::span<const std::string> names, const Abbreviations& abbreviations);
  /// @param values  as many as there are names
  [[nodiscard]] double operator()(std::span<const double> values) const;
  [[nodiscard]] const std::string& text() const& noexcept { return text_; }

 private:
  struct Parser;
  std::string text_;
  std::shared_ptr<Parser> parser_;
};

}  // namespace barrio::apps
