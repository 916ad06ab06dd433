#include "barrio/exchange/neighborhood.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "barrio/base/abort.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/rounds/misuse.hpp"
#include "barrio/exchange/rounds/node_core.hpp"
#include "barrio/exchange/rounds/node_plan.hpp"
#include "barrio/exchange/rounds/packet_core.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::exchange {

namespace {

void check_size(std::size_t n_bytes) {
  if (n_bytes > PacketRound::max_message_bytes)
    throw Error(ErrorCode::usage, {.subject = "message",
                                   .cause = fmt::format("has {} bytes, more than the maximum of {}", n_bytes,
                                                        PacketRound::max_message_bytes),
                                   .remedy = "send it in pieces; a negative length counts as a huge one"});
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
  // Small packets lie close together, and a round of one packet needs no second one; memory sets the upper bound.
  const std::size_t full = context.profile().packet_bytes;
  return {std::min<std::size_t>(1024, full), 8 * full};
}

std::unique_ptr<detail::RoundCore> make_core(mpi::Context& context, std::vector<Rank> neighbours,
                                             const NeighborhoodOptions& options) {
  const bool may_go_by_node = options.termination == Termination::neighbourhood;
  if (options.routing == Routing::by_node && !may_go_by_node)
    throw Error(ErrorCode::usage, {.subject = "Routing::by_node",
                                   .cause = "forwards messages to neighbours only",
                                   .remedy = "use it with Termination::neighbourhood"});
  const detail::PacketCoreOptions inner{
      .packet_bytes = options.packet_bytes != 0 ? options.packet_bytes : context.profile().packet_bytes,
      .first_packet = first_packet(context, options.packet_bytes),
      .ring_depth = options.ring_depth != 0 ? options.ring_depth : context.profile().ring_depth,
      .termination = options.termination,
      .keeps_discovered = options.keeps_discovered,
      .is_by_rank = options.delivery == Delivery::by_rank,
      .stall_warning_seconds = options.stall_warning_seconds,
      .stall_limit_seconds = options.stall_limit_seconds};
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

std::vector<Rank> Neighborhood::drop_idle_neighbours(std::uint64_t n_rounds) { return core_->drop_idle(n_rounds); }

std::size_t Neighborhood::channel_of(Rank rank) const {
  if (const auto channel = core_->find_channel(rank)) return *channel;
  throw Error(ErrorCode::usage, {.subject = fmt::format("rank {}", rank),
                                 .cause = fmt::format("is not a neighbour of rank {}", core_->context().rank())});
}

ByteRound Neighborhood::begin_byte_round(const RoundOptions& options) {
  return {round_core(), detail::kind_of_bytes(detail::RoundCall::byte_messages), options};
}

SizedRound Neighborhood::begin_sized_round(std::size_t message_bytes, const RoundOptions& options) {
  return {round_core(), message_bytes, options};
}

void Neighborhood::cancel_round() { core_->cancel(); }

std::vector<Rank> mutual_neighbours(mpi::Context& context, std::span<const Rank> named) {
  std::vector<Rank> all(named.begin(), named.end());
  sort_unique(all);
  std::erase(all, context.rank());
  agree_after(context, [&] {
    for (const Rank rank : all)
      if (rank < 0 || rank >= context.size())
        throw Error(ErrorCode::usage,
                    {.subject = fmt::format("neighbour {}", rank), .cause = "is not a rank of this job"});
  });
  const std::vector<char> greeting(all.size(), 1);
  const Parcels<char> heard = route(context, pack_by_rank<char>(all, greeting));
  all.insert(all.end(), heard.peers.begin(), heard.peers.end());
  sort_unique(all);
  return all;
}

void Neighborhood::validate() const {
  // Each rank sends its neighbours its likeness; those that it receives must be from the same ranks, and equal.
  const std::span<const Rank> mine = core_->neighbours();
  const detail::Likeness likeness = core_->likeness();
  const std::vector<detail::Likeness> greeting(mine.size(), likeness);
  const Parcels<detail::Likeness> heard = route(core_->context(), pack_by_rank<detail::Likeness>(mine, greeting));
  const Rank me = core_->context().rank();
  agree_after(core_->context(), [&] {
    const auto refuse = [](std::string cause, std::string remedy) {
      throw Error(ErrorCode::usage,
                  {.subject = "neighbourhood", .cause = std::move(cause), .remedy = std::move(remedy)});
    };
    const auto refuse_list = [&](Rank lists, Rank listed) {
      refuse(fmt::format("rank {} lists rank {}, which does not list it", lists, listed),
             "make the neighbour lists mutual on both ranks; mutual_neighbours() does it");
    };
    for (const Rank rank : heard.peers)
      if (!std::binary_search(mine.begin(), mine.end(), rank)) refuse_list(rank, me);
    for (const Rank rank : mine)
      if (!std::binary_search(heard.peers.begin(), heard.peers.end(), rank)) refuse_list(me, rank);
    for (std::size_t i = 0; i < heard.n_peers(); ++i)
      if (const auto [what, theirs, ours] = detail::first_difference(heard.of(i).front(), likeness); !what.empty())
        refuse(fmt::format("{} on rank {} is {}, on rank {} it is {}", what, heard.peers[i], theirs, me, ours),
               what == "its tag" ? "make Neighborhoods, plans and meshes in the same order on all ranks"
                                 : "give the same options and do the same rounds on all ranks");
  });
}

detail::Difference detail::first_difference(const Likeness& theirs, const Likeness& ours) {
  if (theirs.first_tag != ours.first_tag)
    return {"its tag", fmt::to_string(theirs.first_tag), fmt::to_string(ours.first_tag)};
  if (theirs.termination != ours.termination)
    return {"its termination", std::string(name(theirs.termination)), std::string(name(ours.termination))};
  if (theirs.packet_bytes != ours.packet_bytes)
    return {"the size of its packets", fmt::to_string(theirs.packet_bytes), fmt::to_string(ours.packet_bytes)};
  if (theirs.first_packet_min != ours.first_packet_min || theirs.first_packet_max != ours.first_packet_max)
    return {"the size of its first packets", fmt::format("{} to {}", theirs.first_packet_min, theirs.first_packet_max),
            fmt::format("{} to {}", ours.first_packet_min, ours.first_packet_max)};
  if (theirs.epoch != ours.epoch)
    return {"its number of rounds", fmt::to_string(theirs.epoch), fmt::to_string(ours.epoch)};
  return {};
}

PacketRound::PacketRound(detail::RoundCore& core, const detail::MessageKind& kind, const RoundOptions& options)
    : core_(&core),
      kind_(core.begin(kind, options)),
      cursors_(core.cursors()),
      table_(&core.channels()),
      n_channels_(core.neighbours().size()) {}
PacketRound::PacketRound(PacketRound&& other) noexcept
    : core_(std::exchange(other.core_, nullptr)),
      kind_(other.kind_),
      cursors_(other.cursors_),
      table_(std::exchange(other.table_, &detail::no_channels())),
      n_channels_(std::exchange(other.n_channels_, 0)),
      last_rank_(std::exchange(other.last_rank_, none)),
      last_channel_(other.last_channel_) {}
void PacketRound::refresh() {
  cursors_ = core_->cursors();
  n_channels_ = core_->neighbours().size();
  last_rank_ = none;
}
PacketRound::~PacketRound() {
  if (core_ == nullptr || std::uncaught_exceptions() > 0 || core_->is_over()) return;
  abort_job(
      ErrorCode::usage,
      "error: a round was dropped before it was read to its end; read received() to its end, or cancel the round with "
      "Neighborhood::cancel_round()");
}
detail::RoundCore& PacketRound::core() const {
  if (core_ == nullptr) detail::misuse("is used after it was moved from", "use the round that it was moved into");
  return *core_;
}
std::byte* PacketRound::make_room(detail::RoundCore& core, std::size_t channel, std::size_t n_bytes) {
  check_size(n_bytes);
  return core.make_room(channel, n_bytes);
}
std::byte* PacketRound::allocate_elsewhere(Rank to, std::size_t n_bytes) {
  check_size(n_bytes);
  return core().allocate_elsewhere(to, n_bytes);
}
void PacketRound::refuse_channel(std::size_t channel) const {
  (void)core();
  throw Error(ErrorCode::usage, {.subject = fmt::format("channel {}", channel),
                                 .cause = fmt::format("must be less than {}, the number of neighbours", n_channels_),
                                 .remedy = "Neighborhood::channel_of(rank) finds the one to a rank"});
}
void PacketRound::close() { core().close(); }
std::optional<PacketRound::Packet> PacketRound::next_packet() {
  std::optional<Packet> packet = core().next_packet();
  if (!packet) refresh();
  if (packet && packet->kind != kind_) [[unlikely]]
    refuse(*packet);
  return packet;
}

std::optional<PacketRound::Packet> PacketRound::poll() {
  const std::optional<Packet> packet = core().poll();
  if (packet && packet->kind != kind_) [[unlikely]]
    detail::refuse_kind(fmt::format("message from rank {}", packet->from), packet->kind, kind_);
  return packet;
}

void PacketRound::refuse(const Packet& packet) {
  // Read the round to its end, so that the next one can begin.
  Packet first = packet;
  while (const std::optional<Packet> more = core_->next_packet())
    if (more->kind != kind_ && more->from < first.from) first = *more;
  refresh();
  detail::refuse_kind(fmt::format("message from rank {}", first.from), first.kind, kind_);
}

void detail::refuse_length(PacketRound& packets, Rank from, std::size_t rest_bytes, std::size_t message_bytes) {
  while (packets.next_packet()) continue;
  throw Error(ErrorCode::usage, {.subject = fmt::format("a packet from rank {}", from),
                                 .cause = fmt::format("has {} bytes left where the head of a message claims {}",
                                                      rest_bytes, message_bytes),
                                 .remedy = "do not write past the span that allocate() returns"});
}

detail::Unread detail::next_unread(PacketRound& packets) {
  while (const std::optional<PacketRound::Packet> packet = packets.next_packet())
    if (!packet->payload.empty())
      return {packet->from, packet->payload.data(), packet->payload.data() + packet->payload.size()};
  return {};
}

detail::Unread detail::poll_unread(PacketRound& packets) {
  while (const std::optional<PacketRound::Packet> packet = packets.poll())
    if (!packet->payload.empty())
      return {packet->from, packet->payload.data(), packet->payload.data() + packet->payload.size()};
  return {};
}

namespace {

detail::MessageKind sized_kind(std::size_t message_bytes) {
  if (message_bytes == 0 || message_bytes > std::numeric_limits<std::uint32_t>::max())
    throw Error(ErrorCode::usage, {.subject = "a sized round",
                                   .cause = fmt::format("cannot have messages of {} bytes", message_bytes),
                                   .remedy = "give 1 to 4294967295, the same on all ranks"});
  return detail::make_kind(detail::RoundCall::sized_messages, detail::MessageKind::Family::any,
                           static_cast<std::uint32_t>(message_bytes));
}

}  // namespace

SizedRound::SizedRound(detail::RoundCore& core, std::size_t message_bytes, const RoundOptions& options)
    : RoundOfBytes(core, sized_kind(message_bytes), options, {message_bytes}) {}

void SizedRound::check_size(std::size_t n_bytes) const {
  if (n_bytes == message_bytes()) return;
  throw Error(ErrorCode::usage,
              {.subject = "message",
               .cause = fmt::format("has {} bytes, but messages of this round have {}", n_bytes, message_bytes()),
               .remedy = "begin_byte_round() takes messages of any length"});
}

}  // namespace barrio::exchange
