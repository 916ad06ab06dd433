#pragma once

#include <string>

#include "barrio/base/error.hpp"

namespace barrio::exchange::detail {

/// Report a call out of order on a round. @throws Error{usage} "a round: <cause> (<remedy>)"
[[noreturn]] inline void misuse(std::string cause, std::string remedy) {
  throw Error(ErrorCode::usage, {.subject = "a round", .cause = std::move(cause), .remedy = std::move(remedy)});
}

/// Report a message that is written when the round is not open. @throws Error{usage}
[[noreturn]] inline void refuse_late_message(Rank to) {
  misuse("cannot take a message to rank " + std::to_string(to) + " when it is not open",
         "call allocate() between begin and close()");
}

}  // namespace barrio::exchange::detail
