#include "barrio/exchange/detail/delivery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "barrio/base/assert.hpp"
#include "barrio/exchange/detail/packet.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::exchange::detail {
namespace {

using Pack = std::function<void(std::size_t entry, std::byte* into)>;

std::uint64_t head_of(Rank to, Rank from) {
  return static_cast<std::uint64_t>(to) << 32U | static_cast<std::uint64_t>(from);
}

std::byte* add_entry(std::vector<std::uint64_t>& words, Rank to, Rank from, std::uint64_t kind, std::size_t n_bytes) {
  const std::size_t at = words.size();
  words.resize(at + n_head_words + words_of(n_bytes));
  words[at] = head_of(to, from);
  words[at + 1] = kind << n_length_bits | n_bytes;
  return reinterpret_cast<std::byte*>(words.data() + at + n_head_words);
}

std::vector<std::uint64_t> deliver_by_router(mpi::Context& context, std::uint64_t kind,
                                             const std::vector<BytesTo>& outgoing, const Pack& pack) {
  std::size_t n_words = 0;
  for (const BytesTo& one : outgoing)
    if (one.to != context.rank()) n_words += n_head_words + words_of(one.n_bytes);
  std::vector<std::uint64_t> words;
  words.reserve(n_words);
  for (std::size_t i = 0; i < outgoing.size(); ++i)
    if (outgoing[i].to != context.rank())
      pack(i, add_entry(words, outgoing[i].to, context.rank(), kind, outgoing[i].n_bytes));
  return route_words(context, std::move(words));
}

std::vector<std::uint64_t> deliver_directly(mpi::Context& context, std::uint64_t kind,
                                            const std::vector<BytesTo>& outgoing, const Pack& pack) {
  std::vector<std::uint64_t> words;
  Neighborhood hood(context, {}, {.termination = Termination::consensus, .keeps_discovered = false});
  ByteRound round = hood.begin_byte_round();
  for (std::size_t i = 0; i < outgoing.size(); ++i)
    if (outgoing[i].to != context.rank()) {
      std::byte* const place = round.allocate(outgoing[i].to, sizeof kind + outgoing[i].n_bytes).data();
      std::memcpy(place, &kind, sizeof kind);
      pack(i, place + sizeof kind);
    }
  round.close();
  for (const auto& [from, message] : round.received()) {
    std::uint64_t theirs = 0;
    std::memcpy(&theirs, message.data(), sizeof theirs);
    const std::span<const std::byte> bytes = message.subspan(sizeof theirs);
    std::memcpy(add_entry(words, context.rank(), from, theirs, bytes.size()), bytes.data(), bytes.size());
  }
  return words;
}

}  // namespace

Route agree_on_route(mpi::Context& context, Status fault, const ItemKind& kind, const std::vector<BytesTo>& outgoing,
                     Route wanted) {
  // Faults, messages, bytes; the largest kind and the complement of the smallest.
  std::array<std::uint64_t, 5> most{fault ? 1U : 0U, 0, 0, kind.hash, ~kind.hash};
  for (const BytesTo& one : outgoing) {
    if (one.to == context.rank()) continue;
    most[1] += 1;
    most[2] += one.n_bytes;
  }
  mpi::all_reduce(context, std::span<std::uint64_t>(most), MPI_MAX);
  if (most[0] == 0 && most[3] != ~most[4] && kind.hash != most[3])
    fault = Error(ErrorCode::usage, {.subject = fmt::format("rank {}", context.rank()),
                                     .cause = fmt::format("delivers items of {}, and other ranks others", kind.name),
                                     .remedy = "call with the same type on all ranks"});
  if (most[0] != 0 || most[3] != ~most[4]) mpi::agree(context, fault);
  if (wanted != Route::automatic) return wanted;
  // A message costs as much as moving `message_bytes`; in each of its stages the router sorts all that a rank has and
  // sends half of it; the consensus of the direct route and its communicator cost about `n_consensus` times
  // as many messages as there are stages.
  // All fitted on 4 and 8 ranks that share memory.
  constexpr std::uint64_t message_bytes = 16384;
  constexpr std::uint64_t n_consensus = 8;
  const auto n_stages = static_cast<std::uint64_t>(std::bit_width(static_cast<unsigned>(context.size() - 1)));
  const std::uint64_t by_router = n_stages * (message_bytes + most[2]);
  const std::uint64_t directly = (n_consensus * n_stages + most[1]) * message_bytes + most[2];
  return directly < by_router ? Route::direct : Route::crystal;
}

DeliveredBytes deliver(mpi::Context& context, const ItemKind& kind, const std::vector<BytesTo>& outgoing,
                       const Pack& pack, Route route) {
  const std::uint64_t mine = entry_kind(kind.hash);
  BARRIO_ASSERT(cheap, route != Route::automatic);
  DeliveredBytes incoming;
  if (context.size() > 1)
    incoming.words = (route == Route::direct ? deliver_directly : deliver_by_router)(context, mine, outgoing, pack);
  // What a rank sends to itself stays where it is.
  for (std::size_t i = 0; i < outgoing.size(); ++i)
    if (outgoing[i].to == context.rank())
      pack(i, add_entry(incoming.words, context.rank(), context.rank(), mine, outgoing[i].n_bytes));
  const std::vector<std::uint64_t>& words = incoming.words;
  Rank stranger = context.size();
  for (std::size_t at = 0; at < words.size(); at += n_head_words + words_of(entry_bytes(words[at + 1]))) {
    const auto from = static_cast<Rank>(words[at] & 0xffffffffU);
    if (entry_kind(words[at + 1]) != mine) stranger = std::min(stranger, from);
    incoming.places.push_back({from, at + n_head_words, entry_bytes(words[at + 1])});
  }
  if (stranger < context.size())
    throw Error(ErrorCode::usage,
                {.subject = fmt::format("what rank {} sent", stranger),
                 .cause = fmt::format("are no items of {}, which rank {} delivers", kind.name, context.rank()),
                 .remedy = "call with the same type in the same order on all ranks"});
  std::ranges::sort(incoming.places, {}, &DeliveredBytes::Place::from);
  return incoming;
}

}  // namespace barrio::exchange::detail
