#include "barrio/exchange/rounds/node_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "barrio/base/assert.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/exchange/rounds/guard.hpp"
#include "barrio/exchange/rounds/misuse.hpp"
#include "barrio/exchange/rounds/packet.hpp"

namespace barrio::exchange::detail {
namespace {

/// Options of the inner rounds, which size packets of envelopes by earlier rounds, and hand them out in order of
/// arrival.
PacketCoreOptions inner_options(PacketCoreOptions options) {
  options.termination = Termination::neighbourhood;
  options.is_by_rank = false;
  return options;
}

/// Free a buffer that is far larger than was needed.
void shrink(Buffer& buffer, std::size_t used_bytes) {
  constexpr std::size_t most = 1U << 20U;
  if (8 * buffer.size() > std::max(4 * used_bytes, most)) buffer = Buffer();
}

constexpr MessageKind envelopes = kind_of_bytes(RoundCall::envelopes);

}  // namespace

NodeCore::NodeCore(mpi::Context& context, std::vector<Rank> neighbours, NodePlan plan, const PacketCoreOptions& options)
    : neighbours_(std::move(neighbours)),
      plan_(std::move(plan)),
      is_by_rank_(options.is_by_rank),
      cursors_(neighbours_.size()),
      stages_(plan_.far.size()),
      near_(context, plan_.near, inner_options(options)),
      locals_(context, plan_.locals, inner_options(options)),
      across_(context, plan_.peers, inner_options(options)) {
  std::size_t n_near = 0;
  std::size_t n_far = 0;
  for (const Rank rank : neighbours_) {
    const bool is_near = n_near < plan_.near.size() && plan_.near[n_near] == rank;
    places_.push_back(is_near ? n_near++ : plan_.near.size() + n_far++);
  }
  BARRIO_ASSERT(cheap, n_near == plan_.near.size() && n_far == plan_.far.size(), n_near, n_far);
  index_channels();
}

MessageKind NodeCore::begin(const MessageKind& kind, const RoundOptions& options) {
  if (is_active_)
    misuse("was begun before the previous one was read to its end", "run one round at a time on a Neighborhood");
  if (options.termination.value_or(Termination::neighbourhood) != Termination::neighbourhood)
    misuse("by node forwards messages to neighbours only", "use Routing::direct, or Termination::neighbourhood");
  inner_options_ = {.packet_bytes = options.packet_bytes};
  kind_ = near_.begin(kind, inner_options_);
  is_active_ = true;
  locals_.begin(envelopes, inner_options_);
  across_.begin(envelopes, inner_options_);
  // Keep buffers that suit rounds like the last one.
  for (Stage& stage : stages_) {
    shrink(stage.buffer, stage.used_bytes);
    stage.used_bytes = 0;
  }
  shrink(kept_, n_kept_bytes_);
  n_kept_bytes_ = 0;
  arrived_.clear();
  n_read_ = 0;
  rest_ = {};
  is_closed_ = false;
  return kind_;
}

std::byte* NodeCore::make_room(std::size_t channel, std::size_t n_bytes) {
  const std::size_t place = places_[channel];
  if (place < plan_.near.size()) return near_.allocate(place, n_bytes);
  if (!is_active_ || is_closed_) refuse_late_message(neighbours_[channel]);
  Stage& stage = stages_[place - plan_.near.size()];
  if (stage.used_bytes > 0) check_guard(stage.buffer.bytes() + stage.used_bytes, neighbours_[channel]);
  const std::size_t n_words = words_of(stage.used_bytes + n_bytes + guard_bytes);
  if (stage.buffer.size() < n_words)
    stage.buffer.reserve(std::max({n_words, stage.buffer.size() + stage.buffer.size() / 2, std::size_t{8}}),
                         words_of(stage.used_bytes));
  std::byte* const at = stage.buffer.bytes() + stage.used_bytes;
  stage.used_bytes += n_bytes;
  set_guard(at + n_bytes);
  return at;
}

std::byte* NodeCore::allocate_elsewhere(Rank to, std::size_t n_bytes) {
  if (to != context().rank())
    throw Error(ErrorCode::usage, {.subject = fmt::format("rank {}", to),
                                   .cause = fmt::format("is not a neighbour of rank {}", context().rank()),
                                   .remedy = "name it when the Neighborhood is made, on both ranks"});
  return near_.allocate_elsewhere(to, n_bytes);
}

void NodeCore::put(PacketCore& core, Rank next, const Envelope& envelope, const std::byte* contents) {
  const auto channel = core.find_channel(next);
  BARRIO_ASSERT(cheap, channel.has_value(), next, envelope.to, envelope.from);
  std::byte* const place = core.allocate(*channel, sizeof(Envelope) + padded(envelope.n_bytes));
  std::memcpy(place, &envelope, sizeof envelope);
  std::memcpy(place + sizeof envelope, contents, envelope.n_bytes);
}

void NodeCore::keep(const Envelope& envelope, const std::byte* contents) {
  const std::size_t end = n_kept_bytes_ + padded(envelope.n_bytes);
  if (kept_.size() < words_of(end))
    kept_.reserve(std::max(words_of(end), kept_.size() + kept_.size() / 2), words_of(n_kept_bytes_));
  if (envelope.n_bytes > 0) std::memcpy(kept_.bytes() + n_kept_bytes_, contents, envelope.n_bytes);
  arrived_.push_back({envelope.from, n_kept_bytes_, envelope.n_bytes, envelope.kind});
  n_kept_bytes_ = end;
}

template <class F>
void NodeCore::for_envelopes(PacketCore& core, F&& call) {
  while (const std::optional<PacketRound::Packet> packet = core.next_packet()) {
    for (std::span<const std::byte> rest = packet->payload; !rest.empty();) {
      Envelope envelope{};
      std::memcpy(&envelope, rest.data(), sizeof envelope);
      call(envelope, rest.data() + sizeof envelope);
      rest = rest.subspan(sizeof envelope + padded(envelope.n_bytes));
    }
  }
}

void NodeCore::close() {
  if (!is_active_ || is_closed_) misuse("is closed twice", "close a round only once");
  for (std::size_t i = 0; i < stages_.size(); ++i)
    if (stages_[i].used_bytes > 0) check_guard(stages_[i].buffer.bytes() + stages_[i].used_bytes, plan_.far[i].rank);
  is_closed_ = true;
  const Rank me = context().rank();
  near_.close();
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    Stage& stage = stages_[i];
    const NodePlan::Far& far = plan_.far[i];
    if (stage.used_bytes == 0 && kind_.call != RoundCall::cancelled) continue;
    const Envelope envelope{far.rank, me, far.their_agent, 0, stage.used_bytes, kind_};
    if (far.agent == me) {
      put(across_, far.their_agent, envelope, stage.buffer.bytes());
    } else {
      put(locals_, far.agent, envelope, stage.buffer.bytes());
    }
  }
  locals_.close();
  for_envelopes(locals_, [&](const Envelope& envelope, const std::byte* contents) {
    put(across_, envelope.their_agent, envelope, contents);
  });
  across_.close();
  locals_.begin(envelopes, inner_options_);
  for_envelopes(across_, [&](const Envelope& envelope, const std::byte* contents) {
    if (envelope.to == me) {
      keep(envelope, contents);
    } else {
      put(locals_, envelope.to, envelope, contents);
    }
  });
  locals_.close();
  if (!is_by_rank_) return;
  for_envelopes(locals_, [&](const Envelope& envelope, const std::byte* contents) { keep(envelope, contents); });
  while (const std::optional<PacketRound::Packet> packet = near_.next_packet())
    keep({me, packet->from, me, 0, packet->payload.size(), packet->kind}, packet->payload.data());
  std::ranges::stable_sort(arrived_, {}, &Arrived::from);
}

PacketRound::Packet NodeCore::next_envelope() {
  Envelope envelope{};
  std::memcpy(&envelope, rest_.data(), sizeof envelope);
  const std::span<const std::byte> contents = rest_.subspan(sizeof envelope, envelope.n_bytes);
  rest_ = rest_.subspan(sizeof envelope + padded(envelope.n_bytes));
  return {envelope.from, contents, envelope.kind};
}

std::optional<PacketRound::Packet> NodeCore::next_packet() {
  if (!is_active_) return {};
  if (!is_closed_) misuse("is read before it was closed", "call close() first");
  if (n_read_ < arrived_.size()) {
    const Arrived& one = arrived_[n_read_++];
    return PacketRound::Packet{one.from, {kept_.bytes() + one.first_byte, one.n_bytes}, one.kind};
  }
  if (!rest_.empty()) return next_envelope();
  if (std::optional<PacketRound::Packet> packet = near_.next_packet()) return packet;
  while (const std::optional<PacketRound::Packet> packet = locals_.next_packet()) {
    rest_ = packet->payload;
    if (!rest_.empty()) return next_envelope();
  }
  is_active_ = false;
  return {};
}

void NodeCore::cancel() {
  if (!is_active_) return;
  if (!is_closed_) {
    kind_.call = RoundCall::cancelled;
    for (Stage& stage : stages_) stage.used_bytes = 0;
    near_.discard_unsent();
    close();
  }
  while (next_packet()) continue;
}

std::vector<Rank> NodeCore::drop_idle(std::uint64_t /*n_rounds*/) {
  set_neighbours({});
  return {};
}

void NodeCore::set_neighbours(std::vector<Rank> neighbours) {
  if (neighbours == neighbours_) return;
  throw Error(ErrorCode::usage, {.subject = "a Neighborhood with Routing::by_node",
                                 .cause = "cannot change its neighbours: ranks of other nodes forward their messages",
                                 .remedy = "make a new one, which is collective, or use Routing::direct"});
}

std::uint64_t NodeCore::memory_bytes() const noexcept {
  std::uint64_t bytes = near_.memory_bytes() + locals_.memory_bytes() + across_.memory_bytes();
  bytes += barrio::memory_bytes(neighbours_) + barrio::memory_bytes(places_) + barrio::memory_bytes(cursors_) +
           channels().memory_bytes();
  bytes += barrio::memory_bytes(arrived_) + 8 * kept_.size();
  for (const Stage& stage : stages_) bytes += sizeof stage + 8 * stage.buffer.size();
  return bytes;
}

const RoundStatistics& NodeCore::statistics() const noexcept {
  statistics_ = near_.statistics();
  for (const PacketCore* core : {&locals_, &across_}) {
    const RoundStatistics& more = core->statistics();
    statistics_.packets_sent += more.packets_sent;
    statistics_.packets_received += more.packets_received;
    statistics_.bytes_sent += more.bytes_sent;
    statistics_.bytes_received += more.bytes_received;
    statistics_.waits_for_room += more.waits_for_room;
  }
  return statistics_;
}

}  // namespace barrio::exchange::detail
