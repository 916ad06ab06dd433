#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <toml.hpp>
#include <vector>

#include "barrio/base/error.hpp"

namespace barrio::cases {

/// A table of a case file. Local. All functions throw Error{bad_input} with file and line.
class CaseTable {
 public:
  /// Construct. @param file  for messages @param name  of the table, "" for the whole file
  CaseTable(std::string file, std::string name, const toml::value& table);

  /// Refuse other keys than these.
  void expect(const std::vector<std::string>& known) const;
  [[nodiscard]] bool has(const std::string& key) const;
  /// Return a table in this one; an empty one if the key is missing.
  [[nodiscard]] CaseTable table(const std::string& key) const;
  [[nodiscard]] std::vector<CaseTable> tables(const std::string& key) const;

  [[nodiscard]] double number(const std::string& key, double otherwise) const;
  [[nodiscard]] std::int64_t whole(const std::string& key, std::int64_t otherwise) const;
  [[nodiscard]] bool flag(const std::string& key, bool otherwise) const;
  [[nodiscard]] std::string text(const std::string& key, const std::string& otherwise) const;
  [[nodiscard]] std::vector<double> numbers(const std::string& key) const;
  [[nodiscard]] std::vector<std::int64_t> wholes(const std::string& key) const;
  /// Return one text, or a list of texts, as a list.
  [[nodiscard]] std::vector<std::string> texts(const std::string& key) const;
  /// Return a formula; a number becomes one.
  [[nodiscard]] std::string formula(const std::string& key, const std::string& otherwise) const;
  [[nodiscard]] std::vector<std::string> formulas(const std::string& key) const;
  /// Return all keys in the order of the file.
  [[nodiscard]] std::vector<std::string> keys() const;

  /// Refuse the value of a key. @throws Error{bad_input}
  [[noreturn]] void refuse(const std::string& key, const std::string& cause, const std::string& remedy = {}) const;
  /// Run a phase, and report its errors as errors of a key.
  template <class Phase>
  decltype(auto) about(const std::string& key, Phase&& phase) const;

 private:
  [[nodiscard]] const toml::value* find(const std::string& key) const;
  [[nodiscard]] std::string name_of(const std::string& key) const;
  std::string file_;
  std::string name_;
  toml::value table_;
};

/// Read a case file, and replace values in it. @param settings  such as "grid.levels=2", in TOML
/// @throws Error{bad_input} for a text that is not TOML; {usage} for an invalid setting
[[nodiscard]] CaseTable parse_case(const std::string& file, const std::string& text,
                                   const std::vector<std::string>& settings);

template <class Phase>
decltype(auto) CaseTable::about(const std::string& key, Phase&& phase) const {
  try {
    return phase();
  } catch (const Error& error) {
    refuse(key, error.cause(), error.remedy());
  }
}

}  // namespace barrio::cases
