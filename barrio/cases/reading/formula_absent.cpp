#include "barrio/base/error.hpp"
#include "barrio/cases/formula.hpp"

// Without muParser.

namespace barrio::cases {

struct Formula::Parser {};

std::string expand(const std::string& text, const Abbreviations&) { return text; }

Formula::Formula(const std::string& text, std::span<const std::string>, const Abbreviations&) : text_(text) {
  refuse(ErrorCode::usage, "", "formulas are not in this build", "build with muParser (Debian: libmuparser-dev)");
}

double Formula::operator()(std::span<const double>) const { return 0.0; }

}  // namespace barrio::cases
