#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <toml.hpp>
#include <vector>

#include "barrio/base/error.hpp"

namespace barrio::apps {

/// A table of a case file. Local. All throw Error{bad_input} with the file and the line.
class CaseTable {
 public:
  /// @param file  for messages @param name  of the table, "" for the whole file
  CaseTable(std::string file, std::string name, const toml::value& table);

  /// Refuse other keys than these.
  void expect(const std::vector<std::string>& known) const;
  [[nodiscard]] bool has(const std::string& key) const;
  /// A table in it; an empty one if it is not there.
  [[nodiscard]] CaseTable table(const std::string& key) const;
  [[nodiscard]] std::vector<CaseTable> tables(const std::string& key) const;

  [[nodiscard]] double number(const std::string& key, double otherwise) const;
  [[nodiscard]] std::int64_t whole(const std::string& key, std::int64_t otherwise) const;
  [[nodiscard]] bool flag(const std::string& key, bool otherwise) const;
  [[nodiscard]] std::string text(const std::string& key, const std::string& otherwise) const;
  [[nodiscard]] std::vector<double> numbers(const std::string& key) const;
  [[nodiscard]] std::vector<std::int64_t> wholes(const std::string& key) const;
  /// One text, or a list of them.
  [[nodiscard]] std::vector<std::string> texts(const std::string& key) const;
  /// A formula, or a number written as one.
  [[nodiscard]] std::string formula(const std::string& key, const std::string& otherwise) const;
  [[nodiscard]] std::vector<std::string> formulas(const std::string& key) const;
  /// All keys in their order.
  [[nodiscard]] std::vector<std::string> keys() const;

  /// Say what is wrong with a key. @throws Error{bad_input}
  [[noreturn]] void refuse(const std::string& key, const std::string& cause, const std::string& remedy = {}) const;
  /// Run something whose errors are about the value of a key.
  template <class Phase>
  decltype(auto) about(const std::string& key, Phase&& phase) const;

 private:
  [[nodiscard]] const toml::value* find(const std::string& key) const;
  [[nodiscard]] std::string name_of(const std::string& key) const;
  std::string file_;
  std::string name_;
  toml::value table_;
};

/// Read a case file and lay other values over it. @param settings  "grid.levels=2", in the words of TOML
/// @throws Error{bad_input} for a text that is no TOML; {usage} for a setting that is none
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

}  // namespace barrio::apps
