#pragma once

#include <string>
#include <utility>

#include "barrio/base/error.hpp"

namespace barrio::io::detail {

/// Refuse a file whose contents contradict each other. @throws Error{bad_input}
[[noreturn]] inline void refuse_damaged(const std::string& path, std::string cause,
                                        std::string remedy = "the file is damaged or was written wrongly") {
  throw Error(ErrorCode::bad_input, {.subject = path, .cause = std::move(cause), .remedy = std::move(remedy)});
}

}  // namespace barrio::io::detail
