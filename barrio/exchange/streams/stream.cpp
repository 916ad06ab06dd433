#include "barrio/exchange/stream.hpp"

#include <fmt/format.h>

#include <utility>

#include "barrio/exchange/streams/stream_core.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::exchange {

PacketStream::PacketStream(mpi::Context& context, const detail::MessageKind& kind, const StreamOptions& options)
    : core_(std::make_unique<detail::StreamCore>(context, kind, options)) {}

void detail::check_alike(mpi::Context& context, std::size_t packet_bytes) {
  const std::size_t min = mpi::min(context, packet_bytes);
  const std::size_t max = mpi::max(context, packet_bytes);
  if (min == max) return;
  throw AgreedError(ErrorCode::usage,
                    {.subject = "a stream",
                     .cause = fmt::format("has packets of {} bytes on one rank, of {} on another", min, max),
                     .remedy = "make it with the same options on all ranks"});
}

PacketStream::~PacketStream() = default;
PacketStream::PacketStream(PacketStream&& other) noexcept = default;

void PacketStream::select(Rank to) {
  cursor_ = &core_->cursor_of(to);
  last_rank_ = to;
}

std::byte* PacketStream::make_room(std::size_t n_bytes) {
  return core_->make_room(static_cast<Rank>(last_rank_), n_bytes);
}

void PacketStream::flush() { core_->flush(); }

bool PacketStream::poll(Packet& packet) {
  if (!core_->next(packet)) return false;
  if (packet.kind != core_->kind()) [[unlikely]]
    detail::refuse_kind(fmt::format("message from rank {}", packet.from), packet.kind, core_->kind());
  return true;
}

void PacketStream::begin_drain() { core_->begin_drain(); }
bool PacketStream::is_quiet(bool has_failed) { return core_->is_quiet(has_failed); }
bool PacketStream::has_failed() const noexcept { return core_->has_failed(); }
void PacketStream::end_drain(const Status& status) {
  core_->end_drain();
  if (core_->has_failed()) mpi::agree(core_->context(), status);
}

std::uint64_t PacketStream::waiting_bytes() const noexcept { return core_->waiting_bytes(); }
std::uint64_t PacketStream::memory_bytes() const noexcept { return core_->memory_bytes(); }
const StreamStatistics& PacketStream::statistics() const noexcept { return core_->statistics(); }
std::uint64_t PacketStream::n_waves() const noexcept { return core_->n_waves(); }
mpi::Context& PacketStream::context() const noexcept { return core_->context(); }

}  // namespace barrio::exchange
