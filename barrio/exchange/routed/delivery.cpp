#include "barrio/exchange/detail/delivery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "barrio/base/assert.hpp"
#include "barrio/exchange/detail/buffer.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/exchange/rounds/packet.hpp"
#include "barrio/exchange/tuple_list.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/point_to_point.hpp"

namespace barrio::exchange::detail {
namespace {

std::uint64_t head_of(Rank to, Rank from) {
  return static_cast<std::uint64_t>(to) << 32U | static_cast<std::uint64_t>(from);
}

/// Append the head of an entry and room for it. @return the start of the room, in words
std::size_t add_entry(std::vector<std::uint64_t>& words, Rank to, Rank from, std::uint64_t kind, std::size_t n_bytes) {
  const std::size_t at = words.size();
  words.resize(at + n_head_words + words_of(n_bytes));
  words[at] = head_of(to, from);
  words[at + 1] = kind << n_length_bits | n_bytes;
  return at + n_head_words;
}

/// Entries for the router; those for this rank itself are kept apart.
struct Packed {
  std::vector<std::uint64_t> others;
  std::vector<std::uint64_t> own;
};
Packed pack_entries(Rank me, std::uint64_t kind, const std::vector<BytesTo>& outgoing, const PackAll& pack) {
  Packed packed;
  std::size_t n_words = 0;
  for (const BytesTo& one : outgoing)
    if (one.to != me) n_words += n_head_words + words_of(one.n_bytes);
  packed.others.reserve(n_words);
  std::vector<std::byte*> places;
  for (const BytesTo& one : outgoing) {
    std::vector<std::uint64_t>& words = one.to == me ? packed.own : packed.others;
    const std::size_t at = add_entry(words, one.to, me, kind, one.n_bytes);
    places.push_back(reinterpret_cast<std::byte*>(words.data() + at));  // words do not move: there is room for all
  }
  pack(places);
  return packed;
}

/// Send each entry to its receiver, in a round that ends by a consensus, and append the received entries.
void deliver_directly(mpi::Context& context, const std::vector<std::uint64_t>& entries,
                      std::vector<std::uint64_t>& words) {
  Neighborhood hood(context, {}, {.termination = Termination::consensus, .keeps_discovered = false});
  ByteRound round = hood.begin_byte_round();
  for (std::size_t at = 0; at < entries.size();) {
    const std::size_t n = n_head_words + words_of(entry_bytes(entries[at + 1]));
    round.send(static_cast<Rank>(entries[at] >> 32U), std::as_bytes(std::span(entries).subspan(at, n)));
    at += n;
  }
  round.close();
  for (const auto& [from, message] : round.received()) {
    const std::size_t at = words.size();
    words.resize(at + message.size() / sizeof(std::uint64_t));
    std::memcpy(words.data() + at, message.data(), message.size());
  }
}

[[noreturn]] void refuse_items(Rank from, const ItemKind& kind, Rank me) {
  throw Error(ErrorCode::usage,
              {.subject = fmt::format("message from rank {}", from),
               .cause = fmt::format("does not hold items of {}, which rank {} delivers", kind.name, me),
               .remedy = "call with the same type in the same order on all ranks"});
}

Error other_items(Rank me, const ItemKind& kind) {
  return {ErrorCode::usage,
          {.subject = fmt::format("rank {}", me),
           .cause = fmt::format("delivers items of {}, other ranks items of another type", kind.name),
           .remedy = "call with the same type on all ranks"}};
}

/// Announcement of each rank to each other one before a counted delivery.
struct Announced {
  std::uint64_t n_bytes_and_one;  // 0: no entry
  std::uint64_t kind;
};
constexpr std::uint64_t has_fault = ~std::uint64_t{0};

}  // namespace

Status find_fault(std::span<const Rank> to, int n_ranks) {
  if (to.empty()) return {};
  if (const auto [low, high] = std::ranges::minmax(to); low >= 0 && high < n_ranks) return {};
  const auto wrong = std::ranges::find_if(to, [n_ranks](Rank rank) { return rank < 0 || rank >= n_ranks; });
  return Error(ErrorCode::usage, {.subject = fmt::format("row {} of a tuple list", wrong - to.begin()),
                                  .cause = fmt::format("is for rank {}, but ranks are 0 to {}", *wrong, n_ranks - 1)});
}

Route agree_on_route(mpi::Context& context, Status fault, const ItemKind& kind, const std::vector<BytesTo>& outgoing,
                     Route wanted) {
  // Number of faults, messages and bytes; the largest kind and the complement of the smallest.
  std::array<std::uint64_t, 5> most{fault ? 1U : 0U, 0, 0, kind.hash, ~kind.hash};
  for (const BytesTo& one : outgoing) {
    if (one.to == context.rank()) continue;
    most[1] += 1;
    most[2] += one.n_bytes;
  }
  mpi::all_reduce(context, std::span<std::uint64_t>(most), MPI_MAX);
  if (most[0] == 0 && most[3] != ~most[4] && kind.hash != most[3]) fault = other_items(context.rank(), kind);
  if (most[0] != 0 || most[3] != ~most[4]) mpi::agree(context, fault);
  if (wanted != Route::automatic) return wanted;
  // A message costs as much as moving `message_bytes`. In each stage the router sorts all data of a rank and sends half
  // of it. The consensus of the direct route and its communicator cost about `n_consensus` messages per stage. All
  // fitted on 4 and 8 ranks that share memory.
  constexpr std::uint64_t message_bytes = 16384;
  constexpr std::uint64_t n_consensus = 8;
  const std::uint64_t n_stages = std::bit_width(static_cast<unsigned>(context.size() - 1));
  const std::uint64_t by_router = n_stages * (message_bytes + most[2]);
  const std::uint64_t directly = (n_consensus * n_stages + most[1]) * message_bytes + most[2];
  return directly < by_router ? Route::direct : Route::crystal;
}

DeliveredBytes deliver(mpi::Context& context, const ItemKind& kind, const std::vector<BytesTo>& outgoing,
                       const PackAll& pack, Route route) {
  BARRIO_ASSERT(cheap, route == Route::crystal || route == Route::direct);
  const std::uint64_t mine = entry_kind(kind.hash);
  Packed packed = pack_entries(context.rank(), mine, outgoing, pack);
  DeliveredBytes incoming;
  incoming.words = std::move(packed.own);
  std::vector<std::uint64_t>& words = incoming.words;
  if (context.size() > 1 && route == Route::direct) deliver_directly(context, packed.others, words);
  if (context.size() > 1 && route == Route::crystal) append(words, route_words(context, std::move(packed.others)));
  Rank stranger = context.size();
  for (std::size_t at = 0; at < words.size(); at += n_head_words + words_of(entry_bytes(words[at + 1]))) {
    const auto from = static_cast<Rank>(words[at] & 0xffffffffU);
    if (entry_kind(words[at + 1]) != mine) stranger = std::min(stranger, from);
    incoming.places.push_back({from, at + n_head_words, entry_bytes(words[at + 1])});
  }
  if (stranger < context.size()) refuse_items(stranger, kind, context.rank());
  std::ranges::sort(incoming.places, {}, &DeliveredBytes::Place::from);
  return incoming;
}

std::vector<BytesFrom> announce(mpi::Context& context, Status fault, const ItemKind& kind,
                                const std::vector<BytesTo>& outgoing) {
  std::vector<Announced> out(context.size(), {0, fault ? has_fault : kind.hash});
  if (!fault)
    for (const BytesTo& one : outgoing) out[one.to].n_bytes_and_one = one.n_bytes + 1;
  const std::vector<Announced> in = mpi::all_to_all(context, std::span<const Announced>(out));
  // All ranks receive the same kinds, so all see the same fault.
  const auto [least, most] = std::ranges::minmax(in, {}, &Announced::kind);
  if (least.kind != most.kind) {
    if (!fault && most.kind != has_fault && kind.hash != most.kind) fault = other_items(context.rank(), kind);
    mpi::agree(context, fault);
  } else if (fault) {
    mpi::agree(context, fault);
  }
  std::vector<BytesFrom> incoming;
  for (Rank from = 0; from < context.size(); ++from) {
    const std::uint64_t n = in[from].n_bytes_and_one;
    if (n > 0) incoming.push_back({from, n - 1});
  }
  return incoming;
}

MPI_Request& Counted::next_received(std::size_t n_bytes) {
  context_.counters().messages_received += 1;
  context_.counters().bytes_received += n_bytes;
  return requests_.emplace_back(MPI_REQUEST_NULL);
}

MPI_Request& Counted::next_sent(std::size_t n_bytes) {
  context_.counters().messages_sent += 1;
  context_.counters().bytes_sent += n_bytes;
  return requests_.emplace_back(MPI_REQUEST_NULL);
}

void Counted::receive_words(std::uint64_t* into, std::size_t n_bytes, Rank from) {
  if (n_bytes == 0) return;
  mpi::check(MPI_Irecv(into, mpi::as_count(words_of(n_bytes)), MPI_UINT64_T, from, counted_tag, context_.comm(),
                       &next_received(n_bytes)),
             "MPI_Irecv");
}

void Counted::receive(std::byte* into, MPI_Datatype type, std::size_t n_bytes, Rank from) {
  mpi::check(MPI_Irecv(into, 1, type, from, counted_tag, context_.comm(), &next_received(n_bytes)), "MPI_Irecv");
}

void Counted::send_words(const std::byte* words, std::size_t n_bytes, Rank to) {
  if (n_bytes == 0) return;
  mpi::check(MPI_Isend(words, mpi::as_count(words_of(n_bytes)), MPI_UINT64_T, to, counted_tag, context_.comm(),
                       &next_sent(n_bytes)),
             "MPI_Isend");
}

void Counted::send_bytes(const std::byte* bytes, std::size_t n_bytes, Rank to) {
  if (n_bytes == 0) return;
  mpi::check(MPI_Isend(bytes, mpi::as_count(n_bytes), MPI_BYTE, to, counted_tag, context_.comm(), &next_sent(n_bytes)),
             "MPI_Isend");
}

void Counted::wait() { mpi::wait_all(requests_, context_.wait_policy()); }

DeliveredBytes deliver_counted(mpi::Context& context, Status fault, const ItemKind& kind,
                               const std::vector<BytesTo>& outgoing, const PackAll& pack) {
  const Rank me = context.rank();
  DeliveredBytes incoming;
  std::size_t n_words = 0;
  for (const BytesFrom& one : announce(context, std::move(fault), kind, outgoing)) {
    incoming.places.push_back({one.from, n_words, one.n_bytes});
    n_words += words_of(one.n_bytes);
  }
  incoming.room = Buffer(n_words);
  std::uint64_t* own = nullptr;
  for (const DeliveredBytes::Place& place : incoming.places)
    if (place.from == me) own = incoming.room.data() + place.first_word;
  std::size_t n_sent_words = 0;
  for (const BytesTo& one : outgoing)
    if (one.to != me) n_sent_words += words_of(one.n_bytes);
  Buffer sent(n_sent_words);
  std::vector<std::byte*> places;
  std::uint64_t* next = sent.data();
  for (const BytesTo& one : outgoing) {
    places.push_back(reinterpret_cast<std::byte*>(one.to == me ? own : next));
    if (one.to != me) next += words_of(one.n_bytes);
  }
  pack(places);
  Counted counted(context, incoming.places.size() + outgoing.size());  // the last allocation
  for (const DeliveredBytes::Place& place : incoming.places)
    if (place.from != me) counted.receive_words(incoming.room.data() + place.first_word, place.n_bytes, place.from);
  for (std::size_t i = 0; i < outgoing.size(); ++i)
    if (outgoing[i].to != me) counted.send_words(places[i], outgoing[i].n_bytes, outgoing[i].to);
  counted.wait();
  return incoming;
}

}  // namespace barrio::exchange::detail
