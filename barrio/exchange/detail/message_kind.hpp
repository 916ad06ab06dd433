#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>

#include "barrio/exchange/options.hpp"

namespace barrio::exchange::detail {

/// Contents of a round: messages of the caller, or one of the collectives among neighbours.
enum class RoundCall : std::uint8_t {
  messages,
  byte_messages,
  sized_messages,  ///< of a size that is given at run time
  envelopes,       ///< of other rounds, on their way by node
  broadcast,
  broadcastv,
  scatter,
  gather,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  reduce,
  allreduce,
  gather_scatter,
  stream,     ///< messages outside rounds
  cancelled,  ///< round that its rank has cancelled
};

/// Return the name in messages: "neighbor_allgather".
std::string_view name(RoundCall call) noexcept;
/// Return the name in messages: "introductions".
std::string_view name(Termination termination) noexcept;

/// Kind of the messages of a round. It is in the header of each packet, so ranks in different rounds get an error
/// instead of wrong values.
struct MessageKind {
  enum class Family : std::uint8_t { any, signed_integer, unsigned_integer, floating_point, other };
  RoundCall call;
  Family family;
  std::uint16_t name_hash : 13;   ///< of the type's name, for `Family::other`
  std::uint16_t termination : 3;  ///< of the round; its core fills it in
  std::uint32_t n_bytes;          ///< of one value; 0 for bytes that the caller packs
  bool operator==(const MessageKind&) const = default;
};
static_assert(sizeof(MessageKind) == 8);
constexpr unsigned n_name_hash_bits = 13;

constexpr MessageKind make_kind(RoundCall call, MessageKind::Family family, std::uint32_t n_bytes) {
  MessageKind kind{};
  kind.call = call;
  kind.family = family;
  kind.n_bytes = n_bytes;
  return kind;
}
/// Return the kind of bytes that the caller packs.
constexpr MessageKind kind_of_bytes(RoundCall call) { return make_kind(call, MessageKind::Family::any, 0); }
/// Return the kind with this termination of its round.
constexpr MessageKind with_termination(MessageKind kind, Termination termination) {
  kind.termination = static_cast<std::uint16_t>(termination) & 7U;
  return kind;
}
constexpr Termination termination_of(const MessageKind& kind) { return static_cast<Termination>(kind.termination); }

/// Describe the type: "int64", "float32", "a type of 24 bytes".
std::string type_name(const MessageKind& kind);
/// Describe call and type: "neighbor_allgather of int64".
std::string describe(const MessageKind& kind);

/// Report that a rank sends messages of another kind than this one expects. @throws Error{usage}
[[noreturn]] void refuse_kind(const std::string& subject, const MessageKind& theirs, const MessageKind& mine);

std::uint16_t name_hash(const char* name) noexcept;

/// Return the kind of messages of type T. An enumeration counts as its underlying integer. Classes are told apart by
/// their linker names.
template <class T>
MessageKind kind_of(RoundCall call) {
  using Family = MessageKind::Family;
  constexpr auto n_bytes = static_cast<std::uint32_t>(sizeof(T));
  if constexpr (std::is_enum_v<T>) {
    return kind_of<std::underlying_type_t<T>>(call);
  } else if constexpr (std::is_floating_point_v<T>) {
    return make_kind(call, Family::floating_point, n_bytes);
  } else if constexpr (std::is_integral_v<T>) {
    return make_kind(call, std::is_signed_v<T> ? Family::signed_integer : Family::unsigned_integer, n_bytes);
  } else {
    static const std::uint16_t hash = name_hash(typeid(T).name());
    MessageKind kind = make_kind(call, Family::other, n_bytes);
    kind.name_hash = hash & ((1U << n_name_hash_bits) - 1);
    return kind;
  }
}

}  // namespace barrio::exchange::detail
