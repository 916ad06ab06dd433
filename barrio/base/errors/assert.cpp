#include "barrio/base/assert.hpp"

#include "barrio/base/abort.hpp"

namespace barrio::detail {

void assertion_failed(std::string_view expression, std::string_view file, int line, std::string_view names,
                      const std::string& values) noexcept {
  try {
    std::string text = fmt::format("assertion failed: {} at {}:{}", expression, file, line);
    if (!values.empty()) text += fmt::format("; ({}) = ({})", names, values);
    abort_job(ErrorCode::internal, text + "; this is a bug in barrio, please report it");
  } catch (...) {
    abort_job(ErrorCode::internal, expression);
  }
}

}  // namespace barrio::detail
