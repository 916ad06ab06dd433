#pragma once

#include <tl/expected.hpp>

#include "barrio/base/error.hpp"

namespace barrio {

/// Return a value or the Error that stood in its way, from a local routine that may fail in the normal course.
template <class T>
using Result = tl::expected<T, Error>;

/// Build the failing side of a Result.
inline tl::unexpected<Error> fail(ErrorCode code, ErrorText text) {
  return tl::unexpected<Error>(Error(code, std::move(text)));
}

/// Take the value or throw the Error.
template <class T>
T take(Result<T>&& result) {
  if (!result) throw std::move(result.error());
  return std::move(*result);
}

}  // namespace barrio
