#include "barrio/exchange/detail/message_kind.hpp"

#include <fmt/format.h>

#include <string_view>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"

namespace barrio::exchange::detail {

std::string_view name(RoundCall call) noexcept {
  switch (call) {
    case RoundCall::messages: return "a round";
    case RoundCall::byte_messages: return "a byte round";
    case RoundCall::sized_messages: return "a sized round";
    case RoundCall::envelopes: return "a round by node";
    case RoundCall::broadcast: return "neighbor_broadcast";
    case RoundCall::broadcastv: return "neighbor_broadcastv";
    case RoundCall::scatter: return "neighbor_scatter";
    case RoundCall::gather: return "neighbor_gather";
    case RoundCall::allgather: return "neighbor_allgather";
    case RoundCall::allgatherv: return "neighbor_allgatherv";
    case RoundCall::alltoall: return "neighbor_alltoall";
    case RoundCall::alltoallv: return "neighbor_alltoallv";
    case RoundCall::alltoallw: return "neighbor_alltoallw";
    case RoundCall::reduce: return "neighbor_reduce";
    case RoundCall::allreduce: return "neighbor_allreduce";
    case RoundCall::gather_scatter: return "a gather-scatter";
    case RoundCall::stream: return "a stream";
    case RoundCall::cancelled: return "a cancelled round";
  }
  return "an unknown round";
}

std::string_view name(Termination termination) noexcept {
  switch (termination) {
    case Termination::neighbourhood: return "neighbourhood";
    case Termination::introductions: return "introductions";
    case Termination::allreduce: return "allreduce";
    case Termination::consensus: return "consensus";
    case Termination::automatic: break;
  }
  return "automatic";
}

std::string type_name(const MessageKind& kind) {
  using Family = MessageKind::Family;
  switch (kind.family) {
    case Family::signed_integer: return fmt::format("int{}", 8 * kind.n_bytes);
    case Family::unsigned_integer: return fmt::format("uint{}", 8 * kind.n_bytes);
    case Family::floating_point: return fmt::format("float{}", 8 * kind.n_bytes);
    case Family::other:
      return fmt::format("a type of {} bytes (hash of its name {:04x})", kind.n_bytes, std::uint16_t{kind.name_hash});
    case Family::any: break;
  }
  return kind.n_bytes == 0 ? "bytes" : fmt::format("messages of {} bytes", kind.n_bytes);
}

std::string describe(const MessageKind& kind) { return fmt::format("{} of {}", name(kind.call), type_name(kind)); }

void refuse_kind(const std::string& subject, const MessageKind& theirs, const MessageKind& mine) {
  if (theirs.call == RoundCall::cancelled)
    throw Error(ErrorCode::usage, {.subject = subject,
                                   .cause = "comes from a round that its sender has cancelled",
                                   .remedy = "cancel a round on all ranks or on none"});
  if (theirs.termination != mine.termination)
    throw Error(ErrorCode::usage,
                {.subject = subject,
                 .cause = fmt::format("belongs to a round that ends by {}, but this rank's round ends by {}",
                                      name(termination_of(theirs)), name(termination_of(mine))),
                 .remedy = "begin a round with the same options on all ranks"});
  throw Error(ErrorCode::usage,
              {.subject = subject,
               .cause = fmt::format("belongs to {}, but this rank is in {}", describe(theirs), describe(mine)),
               .remedy = "make the same calls with the same type in the same order on all ranks"});
}

std::uint16_t name_hash(const char* name) noexcept {
  Hash64 hash;
  for (const char letter : std::string_view(name)) hash.add(static_cast<std::uint64_t>(letter));
  return static_cast<std::uint16_t>(hash.value());
}

}  // namespace barrio::exchange::detail
