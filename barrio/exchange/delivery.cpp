#include "barrio/exchange/detail/delivery.hpp"

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

std::byte* add_entry(std::vector<std::uint64_t>& words, Rank to, Rank from, std::size_t n_bytes) {
  const std::size_t at = words.size();
  words.resize(at + n_head_words + words_of(n_bytes));
  words[at] = head_of(to, from);
  words[at + 1] = n_bytes;
  return reinterpret_cast<std::byte*>(words.data() + at + n_head_words);
}

std::vector<std::uint64_t> deliver_by_router(mpi::Context& context, const std::vector<Outgoing>& outgoing,
                                             const Pack& pack) {
  std::size_t n_words = 0;
  for (const Outgoing& one : outgoing)
    if (one.to != context.rank()) n_words += n_head_words + words_of(one.n_bytes);
  std::vector<std::uint64_t> words;
  words.reserve(n_words);
  for (std::size_t i = 0; i < outgoing.size(); ++i)
    if (outgoing[i].to != context.rank())
      pack(i, add_entry(words, outgoing[i].to, context.rank(), outgoing[i].n_bytes));
  return route_words(context, std::move(words));
}

std::vector<std::uint64_t> deliver_directly(mpi::Context& context, const std::vector<Outgoing>& outgoing,
                                            const Pack& pack) {
  std::vector<std::uint64_t> words;
  Neighborhood hood(context, {}, {.termination = Termination::consensus, .keeps_discovered = false});
  ByteRound round = hood.begin_byte_round();
  for (std::size_t i = 0; i < outgoing.size(); ++i)
    if (outgoing[i].to != context.rank()) pack(i, round.allocate(outgoing[i].to, outgoing[i].n_bytes).data());
  round.close();
  for (const auto& [from, bytes] : round.received())
    std::memcpy(add_entry(words, context.rank(), from, bytes.size()), bytes.data(), bytes.size());
  return words;
}

}  // namespace

Route agree_on_route(mpi::Context& context, const Status& fault, const std::vector<Outgoing>& outgoing, Route wanted) {
  if (wanted != Route::automatic || context.size() == 1) {
    mpi::agree(context, fault);
    return wanted == Route::automatic ? Route::crystal : wanted;
  }
  std::array<std::uint64_t, 3> most{fault ? 1U : 0U, 0, 0};  // faults, messages, bytes
  for (const Outgoing& one : outgoing) {
    if (one.to == context.rank()) continue;
    most[1] += 1;
    most[2] += one.n_bytes;
  }
  mpi::all_reduce(context, std::span<std::uint64_t>(most), MPI_MAX);
  if (most[0] != 0) mpi::agree(context, fault);
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

Incoming deliver(mpi::Context& context, const std::vector<Outgoing>& outgoing, const Pack& pack, Route route) {
  BARRIO_ASSERT(cheap, route != Route::automatic);
  Incoming incoming;
  if (context.size() > 1)
    incoming.words = (route == Route::direct ? deliver_directly : deliver_by_router)(context, outgoing, pack);
  // What a rank sends to itself stays where it is.
  for (std::size_t i = 0; i < outgoing.size(); ++i)
    if (outgoing[i].to == context.rank())
      pack(i, add_entry(incoming.words, context.rank(), context.rank(), outgoing[i].n_bytes));
  const std::vector<std::uint64_t>& words = incoming.words;
  for (std::size_t at = 0; at < words.size(); at += n_head_words + words_of(words[at + 1]))
    incoming.places.push_back({static_cast<Rank>(words[at] & 0xffffffffU), at + n_head_words, words[at + 1]});
  std::ranges::sort(incoming.places, {}, &Incoming::Place::from);
  return incoming;
}

}  // namespace barrio::exchange::detail
