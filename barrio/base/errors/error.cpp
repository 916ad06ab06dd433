#include "barrio/base/error.hpp"

#include <fmt/format.h>

#include <new>
#include <utility>

namespace barrio {

Error::Error(ErrorCode code, ErrorText text) : code_(code), text_(std::move(text)) {
  what_ = fmt::format("{}: {}", text_.subject, text_.cause);
  if (!text_.remedy.empty()) what_ += fmt::format(" ({})", text_.remedy);
}

AgreedError::AgreedError(const Error& error, std::optional<Rank> first_rank) : Error(error), first_rank_(first_rank) {}

void refuse(ErrorCode code, std::string subject, std::string cause, std::string remedy) {
  throw Error(code, {.subject = std::move(subject), .cause = std::move(cause), .remedy = std::move(remedy)});
}

void refuse_together(ErrorCode code, std::string subject, std::string cause, std::string remedy) {
  throw AgreedError(code, {.subject = std::move(subject), .cause = std::move(cause), .remedy = std::move(remedy)});
}

Error current_error() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return {ErrorCode::failed,
            {.subject = "memory",
             .cause = "an allocation failed",
             .remedy = "use more ranks on more nodes, or a smaller case"}};
  } catch (const std::exception& error) {
    return {ErrorCode::internal, {.subject = "internal error", .cause = error.what()}};
  } catch (...) {
    return {ErrorCode::internal, {.subject = "internal error", .cause = "an unknown exception"}};
  }
}

}  // namespace barrio
