#include "barrio/exchange/rounds/guard.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

#include "barrio/base/error.hpp"

namespace barrio::exchange::detail {
namespace {

constexpr std::uint64_t pattern = 0xB0A7'D06B'1765'5E1D;
static_assert(guard_bytes == 0 || guard_bytes == sizeof pattern);

}  // namespace

void set_guard(std::byte* message_end) {
  if constexpr (has_guards) std::memcpy(message_end, &pattern, sizeof pattern);
}

void check_guard(const std::byte* message_end, Rank to) {
  if constexpr (has_guards) {
    if (std::memcmp(message_end, &pattern, sizeof pattern) == 0) return;
    throw Error(ErrorCode::usage,
                {.subject = fmt::format("a message to rank {}", to),
                 .cause = "was written past its allocated bytes",
                 .remedy = "allocate() as many bytes as you write; an address sanitizer finds the place"});
  }
}

}  // namespace barrio::exchange::detail
