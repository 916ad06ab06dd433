#include "barrio/cases/reading/case_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "barrio/base/text.hpp"
#include "barrio/cases/reading/renamed_keys.hpp"

namespace barrio::cases {
namespace {

std::string plain_name(toml::value_t type) {
  switch (type) {
    case toml::value_t::boolean: return "true or false";
    case toml::value_t::integer:
    case toml::value_t::floating: return "a number";
    case toml::value_t::string: return "a text";
    case toml::value_t::array: return "a list";
    case toml::value_t::table: return "a table";
    default: return "a date or time";
  }
}

/// Return the first line of a message of toml11, which has several lines with a picture of the place.
std::string first_line_of(const std::string& message) {
  std::string line = message.substr(0, message.find('\n'));
  for (const std::string prefix : {"[error] ", "toml::"})
    if (line.starts_with(prefix)) line = line.substr(prefix.size());
  return line;
}

toml::value parse_text(const std::string& text, const std::string& name, ErrorCode code) {
  std::istringstream stream(text);
  try {
    return toml::parse(stream, name);
  } catch (const toml::exception& error) {
    refuse(code, fmt::format("{}, line {}", name, error.location().line()),
           fmt::format("is not TOML: {}", first_line_of(error.what())), "see https://toml.io");
  } catch (const std::exception& error) {
    refuse(code, name, fmt::format("is not TOML: {}", first_line_of(error.what())), "see https://toml.io");
  }
}

void lay_over(toml::value& table, const toml::value& other) {
  for (const auto& [key, value] : other.as_table()) {
    toml::value& there = table[key];
    if (there.is_table() && value.is_table())
      lay_over(there, value);
    else
      there = value;
  }
}

}  // namespace

CaseTable parse_case(const std::string& file, const std::string& text, const std::vector<std::string>& settings) {
  toml::value table = parse_text(text, file, ErrorCode::bad_input);
  for (const std::string& setting : settings)
    lay_over(table, parse_text(setting, fmt::format("--set '{}'", setting), ErrorCode::usage));
  return {file, "", table};
}

CaseTable::CaseTable(std::string file, std::string name, const toml::value& table)
    : file_(std::move(file)), name_(std::move(name)), table_(table) {}

std::string CaseTable::name_of(const std::string& key) const {
  return name_.empty() ? key : fmt::format("{}.{}", name_, key);
}

void CaseTable::refuse(const std::string& key, const std::string& cause, const std::string& remedy) const {
  std::string where = file_;
  const auto& table = table_.as_table();
  if (const auto found = table.find(key);
      found != table.end() && found->second.location().line() > 0 && found->second.location().file_name() == file_)
    where += fmt::format(", line {}", found->second.location().line());
  barrio::refuse(ErrorCode::bad_input, fmt::format("{}, {}", where, name_of(key)), cause, remedy);
}

const toml::value* CaseTable::find(const std::string& key) const {
  const auto& table = table_.as_table();
  const auto found = table.find(key);
  return found == table.end() ? nullptr : &found->second;
}

bool CaseTable::has(const std::string& key) const { return find(key) != nullptr; }

CaseTable CaseTable::table(const std::string& key) const {
  const toml::value* const value = find(key);
  if (value == nullptr) return {file_, name_of(key), toml::value(toml::table{})};
  if (!value->is_table()) refuse(key, fmt::format("is {}, but must be a table", plain_name(value->type())));
  return {file_, name_of(key), *value};
}

std::vector<CaseTable> CaseTable::tables(const std::string& key) const {
  const toml::value* const value = find(key);
  if (value == nullptr) return {};
  if (value->is_table()) return {table(key)};
  if (!value->is_array())
    refuse(key, fmt::format("is {}, but must be a table or a list of tables", plain_name(value->type())));
  std::vector<CaseTable> all;
  for (const toml::value& one : value->as_array()) {
    if (!one.is_table()) refuse(key, fmt::format("has {}, but must have tables only", plain_name(one.type())));
    all.emplace_back(file_, name_of(key), one);
  }
  return all;
}

double CaseTable::number(const std::string& key, double otherwise) const {
  const toml::value* const value = find(key);
  if (value == nullptr) return otherwise;
  if (value->is_integer()) return static_cast<double>(value->as_integer());
  if (!value->is_floating()) refuse(key, fmt::format("is {}, but must be a number", plain_name(value->type())));
  return value->as_floating();
}

std::int64_t CaseTable::whole(const std::string& key, std::int64_t otherwise) const {
  const toml::value* const value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_integer())
    refuse(key,
           fmt::format("is {}, but must be a whole number",
                       value->is_floating() ? fmt::format("{}", value->as_floating()) : plain_name(value->type())));
  return value->as_integer();
}

bool CaseTable::flag(const std::string& key, bool otherwise) const {
  const toml::value* const value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) refuse(key, fmt::format("is {}, but must be true or false", plain_name(value->type())));
  return value->as_boolean();
}

std::string CaseTable::text(const std::string& key, const std::string& otherwise) const {
  const toml::value* const value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_string()) refuse(key, fmt::format("is {}, but must be a text", plain_name(value->type())));
  return value->as_string().str;
}

std::vector<double> CaseTable::numbers(const std::string& key) const {
  const toml::value* const value = find(key);
  if (value == nullptr) return {};
  if (!value->is_array()) refuse(key, fmt::format("is {}, but must be a list", plain_name(value->type())));
  std::vector<double> all;
  for (const toml::value& one : value->as_array()) {
    if (!one.is_integer() && !one.is_floating())
      refuse(key, fmt::format("has {}, but must have numbers only", plain_name(one.type())));
    all.push_back(one.is_integer() ? static_cast<double>(one.as_integer()) : one.as_floating());
  }
  return all;
}

std::vector<std::int64_t> CaseTable::wholes(const std::string& key) const {
  const toml::value* const value = find(key);
  if (value == nullptr) return {};
  if (!value->is_array()) refuse(key, fmt::format("is {}, but must be a list", plain_name(value->type())));
  std::vector<std::int64_t> all;
  for (const toml::value& one : value->as_array()) {
    if (!one.is_integer()) refuse(key, fmt::format("has {}, but must have whole numbers only", plain_name(one.type())));
    all.push_back(one.as_integer());
  }
  return all;
}

std::vector<std::string> CaseTable::texts(const std::string& key) const {
  const toml::value* const value = find(key);
  if (value == nullptr) return {};
  if (!value->is_array()) return {text(key, "")};
  std::vector<std::string> all;
  for (const toml::value& one : value->as_array()) {
    if (!one.is_string()) refuse(key, fmt::format("has {}, but must have texts only", plain_name(one.type())));
    all.push_back(one.as_string().str);
  }
  return all;
}

namespace {

/// Return a text, or a number with all its digits as text; empty for anything else.
std::string formula_of(const toml::value& value) {
  if (value.is_string()) return value.as_string().str;
  if (value.is_integer()) return fmt::format("{}", value.as_integer());
  if (value.is_floating()) return fmt::format("{}", value.as_floating());
  return {};
}

}  // namespace

std::string CaseTable::formula(const std::string& key, const std::string& otherwise) const {
  const toml::value* const value = find(key);
  if (value == nullptr) return otherwise;
  std::string formula = formula_of(*value);
  if (formula.empty()) refuse(key, fmt::format("is {}, but must be a formula", plain_name(value->type())));
  return formula;
}

std::vector<std::string> CaseTable::formulas(const std::string& key) const {
  const toml::value* const value = find(key);
  if (value == nullptr) return {};
  if (!value->is_array()) return {formula(key, "")};
  std::vector<std::string> all;
  for (const toml::value& one : value->as_array()) {
    all.push_back(formula_of(one));
    if (all.back().empty()) refuse(key, fmt::format("has {}, but must have formulas only", plain_name(one.type())));
  }
  return all;
}

std::vector<std::string> CaseTable::keys() const {
  std::vector<std::pair<std::uint32_t, std::string>> by_line;
  for (const auto& [key, value] : table_.as_table()) by_line.emplace_back(value.location().line(), key);
  std::ranges::sort(by_line);
  std::vector<std::string> all;
  for (auto& [line, key] : by_line) all.push_back(std::move(key));
  return all;
}

void CaseTable::expect(const std::vector<std::string>& known) const {
  for (const std::string& key : keys()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    if (const std::string now = present_spelling(key); std::ranges::find(known, now) != known.end())
      refuse(key, fmt::format("is spelt {}", now));
    refuse(key, fmt::format("is unknown.{}", did_you_mean(key, known)),
           fmt::format("the keys are {}", fmt::join(known, ", ")));
  }
}

}  // namespace barrio::cases
