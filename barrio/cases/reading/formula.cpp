#include "barrio/cases/formula.hpp"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cctype>
#include <numbers>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"

namespace barrio::cases {

struct Formula::Parser {
  mu::Parser parser;
  std::vector<double> values;
};

namespace {

std::string cause_of(const mu::ParserError& error, std::span<const std::string> names,
                     const Abbreviations& abbreviations) {
  const std::string& token = error.GetToken();
  if (error.GetCode() != mu::ecUNASSIGNABLE_TOKEN || token.empty())
    return fmt::format("formula '{}' cannot be read: {}", error.GetExpr(), error.GetMsg());
  std::vector<std::string> known(names.begin(), names.end());
  for (const auto& [name, formula] : abbreviations) known.push_back(name);
  return fmt::format("formula '{}' has '{}', which is not known here.{}", error.GetExpr(), token,
                     did_you_mean(token, known));
}

}  // namespace

std::string expand(const std::string& text, const Abbreviations& abbreviations) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  std::string expanded;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    if (is_digit(text[i]) || text[i] == '.') {  // with the letter of its exponent, which is not a name
      while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
      if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) ++end;
      expanded += text.substr(i, end - i);
    } else if (is_letter(text[i])) {
      while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
      const std::string name = text.substr(i, end - i);
      const auto found = abbreviations.find(name);
      expanded += found == abbreviations.end() ? name : "(" + found->second + ")";
    } else {
      expanded += text[i] == '\n' ? ' ' : text[i];
      end = i + 1;
    }
    i = end;
  }
  return expanded;
}

Formula::Formula(const std::string& text, std::span<const std::string> names, const Abbreviations& abbreviations)
    : text_(text), parser_(std::make_shared<Parser>()) {
  parser_->values.resize(names.size());
  try {
    parser_->parser.DefineConst("pi", std::numbers::pi);
    for (std::size_t i = 0; i < names.size(); ++i) parser_->parser.DefineVar(names[i], &parser_->values[i]);
    parser_->parser.SetExpr(expand(text, abbreviations));
    (void)parser_->parser.Eval();
  } catch (const mu::ParserError& error) {
    refuse(ErrorCode::bad_input, "", cause_of(error, names, abbreviations));
  }
}

double Formula::operator()(std::span<const double> values) const {
  std::ranges::copy(values, parser_->values.begin());
  return parser_->parser.Eval();
}

}  // namespace barrio::cases
