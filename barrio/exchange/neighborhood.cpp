#include "barrio/exchange/neighborhood.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <utility>

#include "barrio/base/assert.hpp"
#include "barrio/exchange/detail/node_core.hpp"
#include "barrio/exchange/detail/node_plan.hpp"
#include "barrio/exchange/detail/packet_core.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::exchange {

namespace {

void check_size(std::size_t n_bytes) {
  if (n_bytes > PacketRound::most_message_bytes)
    throw Error(ErrorCode::usage, {.subject = "message",
                                   .cause = fmt::format("{} bytes are more than the {} that one may have", n_bytes,
                                                        PacketRound::most_message_bytes),
                                   .remedy = "send it in pieces; a negative length is taken for a huge one"});
}

std::vector<Rank> checked(mpi::Context& context, std::span<const Rank> neighbours) {
  std::vector<Rank> sorted(neighbours.begin(), neighbours.end());
  std::sort(sorted.begin(), sorted.end());
  const auto refuse = [](Rank rank, const char* cause, const char* remedy = "") {
    throw Error(ErrorCode::usage, {.subject = fmt::format("neighbour {}", rank), .cause = cause, .remedy = remedy});
  };
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] < 0 || sorted[i] >= context.size()) refuse(sorted[i], "is not a rank of this job");
    if (sorted[i] == context.rank()) refuse(sorted[i], "is this rank itself");
    if (i > 0 && sorted[i] == sorted[i - 1])
      refuse(sorted[i], "is listed twice",
             "name each neighbour once; in a ring of two ranks left and right are the same");
  }
  return sorted;
}

detail::PacketSize first_packet(const mpi::Context& context, std::size_t chosen_bytes) {
  if (chosen_bytes != 0) return {chosen_bytes, chosen_bytes};
  // Small ones lie close together, and a round of one packet needs no second one; memory sets the upper bound.
  const std::size_t full = context.profile().packet_bytes;
  return {std::min<std::size_t>(1024, full), 8 * full};
}

/// With n ranks, two that are no neighbours have a common one if their degrees add up to n - 1 or more.
Termination resolved(mpi::Context& context, Termination wanted, std::size_t degree) {
  if (wanted != Termination::automatic) return wanted;
  const auto least_degree = mpi::min(context, static_cast<std::int64_t>(degree));
  return 2 * least_degree >= context.size() - 1 ? Termination::consensus : Termination::introductions;
}

std::unique_ptr<detail::RoundCore> make_core(mpi::Context& context, std::vector<Rank> neighbours,
                                             const NeighborhoodOptions& options) {
  const bool may_go_by_node = options.termination == Termination::neighbourhood;
  if (options.routing == Routing::by_node && !may_go_by_node)
    throw Error(ErrorCode::usage, {.subject = "Routing::by_node",
                                   .cause = "passes on what goes to neighbours, and to no other ranks",
                                   .remedy = "use it with Termination::neighbourhood"});
  const detail::PacketCoreOptions inner{
      .packet_bytes = options.packet_bytes != 0 ? options.packet_bytes : context.profile().packet_bytes,
      .first_packet = first_packet(context, options.packet_bytes),
      .ring_depth = options.ring_depth != 0 ? options.ring_depth : context.profile().ring_depth,
      .termination = resolved(context, options.termination, neighbours.size()),
      .keeps_discovered = options.keeps_discovered,
      .is_by_rank = options.delivery == Delivery::by_rank,
      .stall_warning_seconds = options.stall_warning_seconds};
  if (options.routing != Routing::direct && may_go_by_node) {
    detail::NodePlan plan = detail::make_node_plan(context, neighbours, options.node);
    if (options.routing == Routing::by_node || detail::is_cheaper_by_node(context, plan))
      return std::make_unique<detail::NodeCore>(context, std::move(neighbours), std::move(plan), inner);
  }
  return std::make_unique<detail::PacketCore>(context, std::move(neighbours), inner);
}

}  // namespace

Neighborhood::Neighborhood(mpi::Context& context, std::span<const Rank> neighbours, NeighborhoodOptions options)
    : core_(make_core(context, checked(context, neighbours), options)) {}

Neighborhood::~Neighborhood() = default;
Neighborhood::Neighborhood(Neighborhood&&) noexcept = default;
Neighborhood& Neighborhood::operator=(Neighborhood&&) noexcept = default;

std::span<const Rank> Neighborhood::neighbours() const& noexcept { return core_->neighbours(); }
mpi::Context& Neighborhood::context() const noexcept { return core_->context(); }
std::uint64_t Neighborhood::epoch() const noexcept { return core_->epoch(); }
const RoundStatistics& Neighborhood::statistics() const& noexcept { return core_->statistics(); }
std::uint64_t Neighborhood::memory_bytes() const noexcept { return core_->memory_bytes(); }

Termination Neighborhood::termination() const noexcept { return core_->termination(); }

Routing Neighborhood::routing() const noexcept { return core_->routing(); }

void Neighborhood::set_neighbours(std::span<const Rank> neighbours) {
  core_->set_neighbours(checked(core_->context(), neighbours));
}

void Neighborhood::add_neighbours(std::span<const Rank> neighbours) {
  const std::vector<Rank> more = checked(core_->context(), neighbours);
  std::vector<Rank> all;
  std::ranges::set_union(core_->neighbours(), more, std::back_inserter(all));
  core_->set_neighbours(std::move(all));
}

ByteRound Neighborhood::begin_byte_round() {
  return ByteRound(round_core(), detail::kind_of_bytes(detail::RoundCall::byte_messages));
}

void Neighborhood::validate() const {
  // Each rank tells its neighbours that it counts on them; what comes back must be the same set.
  const std::span<const Rank> mine = core_->neighbours();
  const std::vector<char> greeting(mine.size(), 1);
  const Parcels<char> heard = route(core_->context(), pack_by_rank<char>(mine, greeting));
  agree_after(core_->context(), [&] {
    const auto refuse = [](Rank lists, Rank listed) {
      throw Error(ErrorCode::internal,
                  {.subject = "neighbourhood",
                   .cause = fmt::format("rank {} lists rank {}, which does not list it", lists, listed),
                   .remedy = "make the neighbour lists mutual on both ranks"});
    };
    for (const Rank rank : heard.peers)
      if (!std::binary_search(mine.begin(), mine.end(), rank)) refuse(rank, core_->context().rank());
    for (const Rank rank : mine)
      if (!std::binary_search(heard.peers.begin(), heard.peers.end(), rank)) refuse(core_->context().rank(), rank);
  });
}

PacketRound::PacketRound(detail::RoundCore& core, const detail::MessageKind& kind)
    : core_(&core), kind_(kind), cursors_(core.cursors()) {
  core.begin(kind);
}
PacketRound::PacketRound(PacketRound&& other) noexcept
    : core_(std::exchange(other.core_, nullptr)), kind_(other.kind_), cursors_(other.cursors_) {}
PacketRound::~PacketRound() {
  if (core_ == nullptr || std::uncaught_exceptions() > 0) return;
  BARRIO_ASSERT(cheap, core_->is_over() && "a round was dropped before it was read to its end");
}
std::byte* PacketRound::make_room(std::size_t channel, std::size_t n_bytes) {
  check_size(n_bytes);
  return core_->make_room(channel, n_bytes);
}
std::byte* PacketRound::allocate_for(Rank to, std::size_t n_bytes) {
  const auto channel = core_->find_channel(to);
  if (channel) return allocate(*channel, n_bytes);
  check_size(n_bytes);
  return core_->allocate_elsewhere(to, n_bytes);
}
void PacketRound::close() { core_->close(); }
std::size_t PacketRound::n_channels() const noexcept { return core_->neighbours().size(); }
std::optional<PacketRound::Packet> PacketRound::next_packet() {
  std::optional<Packet> packet = core_->next_packet();
  if (!packet) cursors_ = core_->cursors();  // the end of a round may have brought new neighbours
  if (packet && packet->kind != kind_) [[unlikely]]
    refuse(*packet);
  return packet;
}

void PacketRound::refuse(const Packet& packet) {
  // The round goes on to its end, so that the next one can begin.
  Packet first = packet;
  while (const std::optional<Packet> more = core_->next_packet())
    if (more->kind != kind_ && more->from < first.from) first = *more;
  cursors_ = core_->cursors();
  detail::refuse_kind(fmt::format("what rank {} sent", first.from), first.kind, kind_);
}

void detail::refuse_length(PacketRound& packets, Rank from, std::size_t rest_bytes, std::size_t message_bytes) {
  while (packets.next_packet()) continue;
  throw Error(ErrorCode::usage,
              {.subject = fmt::format("a packet of rank {}", from),
               .cause = fmt::format("has {} bytes left where a message says it has {}", rest_bytes, message_bytes),
               .remedy = "write no further than the span that allocate() gives"});
}

std::span<std::byte> ByteRound::allocate(Rank to, std::size_t n_bytes) {
  using Reader = detail::ByteReader;
  const bool fits = n_bytes <= PacketRound::most_message_bytes;  // else the sum below might wrap round
  std::byte* at = packets_.allocate_for(to, fits ? Reader::header_bytes + Reader::padded(n_bytes) : n_bytes);
  const auto length = static_cast<std::uint64_t>(n_bytes);
  std::memcpy(at, &length, sizeof length);
  return {at + Reader::header_bytes, n_bytes};
}

}  // namespace barrio::exchange
