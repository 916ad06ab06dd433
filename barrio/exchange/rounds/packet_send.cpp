// The sending side of PacketCore.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "barrio/base/assert.hpp"
#include "barrio/base/error.hpp"
#include "barrio/exchange/rounds/guard.hpp"
#include "barrio/exchange/rounds/misuse.hpp"
#include "barrio/exchange/rounds/packet.hpp"
#include "barrio/exchange/rounds/packet_core.hpp"
#include "barrio/mpi/point_to_point.hpp"

namespace barrio::exchange::detail {
namespace {

// Small packets may arrive unexpected, and MPI keeps them at the receiver. After this many bytes one is sent
// synchronously: it completes only when it, and all packets before it, are taken in.
constexpr std::size_t credit_bytes = std::size_t{64} * 1024;
constexpr std::size_t packet_overhead_bytes = 64;

}  // namespace

std::size_t PacketCore::used_bytes(std::size_t channel) noexcept {
  const Sender& sender = senders_[channel];
  const SendCursor& cursor = cursors_[channel];
  if (cursor.at == nullptr) return 0;
  return cursor.at - ring_buffer(channel, sender.current).bytes();
}

std::byte* PacketCore::make_room(std::size_t channel, std::size_t n_bytes) {
  if (!active_ || closed_) refuse_late_message(channel < neighbours_.size() ? neighbours_[channel] : -1);
  const SendCursor& cursor = cursors_[channel];
  const Sender& sender = senders_[channel];
  if (cursor.at == nullptr) {
    wait_for_buffer(channel, next_packet_bytes(sender));
  } else {
    check_guard(cursor.at, neighbours_[channel]);
  }
  if (static_cast<std::size_t>(sender.end - cursor.at) < n_bytes) {
    const std::size_t wanted = 8 * words_of(header_bytes + n_bytes);
    const bool is_large = wanted > packet_bytes_;
    // The packet before a large one tells its size, so the receiver posts a large enough buffer.
    flush(channel, is_large ? wanted : 0);
    wait_for_buffer(channel, is_large ? wanted : packet_bytes_);
  }
  return take_place(channel, n_bytes);
}

std::byte* PacketCore::take_place(std::size_t channel, std::size_t n_bytes) {
  SendCursor& cursor = cursors_[channel];
  std::byte* const place = std::exchange(cursor.at, cursor.at + n_bytes);
  set_guard(cursor.at);
  cursor.end = has_guards ? cursor.at : senders_[channel].end;  // with guards each message comes through here
  return place;
}

std::byte* PacketCore::allocate_elsewhere(Rank to, std::size_t n_bytes) {
  if (!active_ || closed_) refuse_late_message(to);
  if (to != context_.rank() && termination_ == Termination::neighbourhood) {
    throw Error(ErrorCode::usage,
                {.subject = fmt::format("rank {}", to),
                 .cause = fmt::format("is not a neighbour of rank {}", context_.rank()),
                 .remedy = "name it when the Neighborhood is made, on both ranks, or let it meet new ones "
                           "(Termination::introductions, allreduce or consensus)"});
  }
  if (to < 0 || to >= context_.size())
    throw Error(ErrorCode::usage, {.subject = fmt::format("rank {}", to), .cause = "is not a rank of this job"});
  return outgoing_.allocate(to, n_bytes);
}

bool PacketCore::is_free(std::size_t channel, std::size_t place) {
  MPI_Request& request = send_request(channel, place);
  int done = 1;
  if (request != MPI_REQUEST_NULL) mpi::check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

void PacketCore::wait_for_send(std::size_t place) {
  mpi::Pause pause(context_.wait_policy());
  while (requests_[place] != MPI_REQUEST_NULL) {
    if (!may_block()) {
      int done = 0;
      mpi::check(MPI_Test(&requests_[place], &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done != 0) break;
    }
    // The neighbour may itself wait for this rank to take packets in, so receive while waiting.
    progress(true, pause);
  }
}

void PacketCore::wait_for_buffer(std::size_t channel, std::size_t n_bytes) {
  Sender& sender = senders_[channel];
  // Short rounds reuse one buffer, which is still in the cache.
  if (sender.n_packets == 0 && sender.current != 0 && is_free(channel, 0)) sender.current = 0;
  if (!is_free(channel, sender.current)) {
    statistics_.waits_for_room += 1;
    wait_for_send(send_place(channel, sender.current));
  }
  Buffer& buffer = ring_buffer(channel, sender.current);
  const bool is_far_too_large = buffer.size() * 8 > std::max(4 * n_bytes, max_kept_bytes());
  const std::size_t n_words = words_of(n_bytes + guard_bytes);
  if (is_far_too_large || buffer.size() < n_words) buffer = Buffer(n_words);
  if (n_bytes > max_kept_bytes()) sender.has_large_buffers = sender.has_sent_large = true;
  sender.end = buffer.bytes() + n_bytes;
  cursors_[channel].at = buffer.bytes() + header_bytes;
  (void)take_place(channel, 0);  // the first guard
}

void PacketCore::release_large_buffers(std::size_t channel) {
  Sender& sender = senders_[channel];
  if (std::exchange(sender.has_sent_large, false)) return;
  sender.has_large_buffers = false;
  for (std::size_t place = 0; place < ring_depth_; ++place) {
    Buffer& buffer = ring_buffer(channel, place);
    if (buffer.size() * 8 <= max_kept_bytes()) continue;
    if (is_free(channel, place)) {
      buffer = Buffer();
    } else {
      sender.has_large_buffers = true;
    }
  }
}

void PacketCore::send(const Buffer& buffer, std::size_t n_bytes, Rank to, int tag, MPI_Request& request,
                      bool is_synchronous) {
  mpi::check((is_synchronous ? MPI_Issend : MPI_Isend)(buffer.data(), mpi::as_count(words_of(n_bytes)), MPI_UINT64_T,
                                                       to, tag, context_.comm(), &request),
             is_synchronous ? "MPI_Issend" : "MPI_Isend");
  context_.counters().messages_sent += 1;
  context_.counters().bytes_sent += n_bytes;
  statistics_.packets_sent += 1;
  statistics_.bytes_sent += n_bytes;
}

void PacketCore::send_current(std::size_t channel, const PacketHeader& header, std::size_t n_bytes,
                              bool is_synchronous) {
  Sender& sender = senders_[channel];
  Buffer& buffer = ring_buffer(channel, sender.current);
  put_header(buffer, header);
  sender.n_bytes += n_bytes - header_bytes;
  send(buffer, n_bytes, neighbours_[channel], tag_, send_request(channel, sender.current), is_synchronous);
  sender.current = (sender.current + 1) % ring_depth_;
  cursors_[channel] = {};
}

void PacketCore::flush(std::size_t channel, std::uint64_t next_bytes) {
  Sender& sender = senders_[channel];
  sender.n_packets += 1;
  const std::size_t used = used_bytes(channel);
  sender.n_unexpected_bytes += used + packet_overhead_bytes;
  const bool is_synchronous = sender.n_unexpected_bytes > credit_bytes;
  if (is_synchronous) sender.n_unexpected_bytes = 0;
  send_current(channel, make_header(kind_, used - header_bytes, 0, next_bytes), used, is_synchronous);
}

void PacketCore::flush_last(std::size_t channel, std::span<const Introduction> strangers) {
  Sender& sender = senders_[channel];
  if (cursors_[channel].at == nullptr) wait_for_buffer(channel, next_packet_bytes(sender));
  const std::size_t wanted = 8 * words_of(used_bytes(channel)) + strangers.size_bytes();
  if (!strangers.empty() && wanted > next_packet_bytes(sender)) {  // they go into a packet of their own
    const std::size_t alone = header_bytes + strangers.size_bytes();
    flush(channel, alone > packet_bytes_ ? alone : 0);
    wait_for_buffer(channel, std::max(alone, packet_bytes_));
  }
  sender.n_packets += 1;
  const std::size_t used = used_bytes(channel);
  const PacketHeader header = make_header(kind_, used - header_bytes, strangers.size() + 1, sender.n_packets);
  const std::size_t n_bytes = add_introductions(ring_buffer(channel, sender.current), used, strangers);
  send_current(channel, header, n_bytes, false);
}

void PacketCore::close() {
  context_.check_thread("closes a round");
  if (!active_ || closed_) misuse("is closed twice", "close a round only once");
  // Check all before the first is sent: a refusal leaves the round open and unchanged.
  for (std::size_t channel = 0; has_guards && channel < neighbours_.size(); ++channel)
    if (cursors_[channel].at != nullptr) check_guard(cursors_[channel].at, neighbours_[channel]);
  if (std::optional<Buffer> mine = outgoing_.seal(kind_, epoch_, context_.rank()))
    arrived_.push_back({context_.rank(), std::move(*mine)});
  std::vector<Introduction> strangers;
  if (state_.introduces()) strangers = outgoing_.introductions(parcel_tag());
  for (std::size_t channel = 0; channel < neighbours_.size(); ++channel) flush_last(channel, strangers);
  for (const OutgoingParcels::Parcel& parcel : outgoing_.all()) {
    parcel_sends_.push_back(MPI_REQUEST_NULL);
    statistics_.parcels_sent += 1;
    // A synchronous send completes when the receiver takes it in: the barrier of a consensus relies on it.
    const bool is_synchronous = termination_ == Termination::consensus;
    send(parcel.buffer, parcel.used_bytes, parcel.to, parcel_tag(), parcel_sends_.back(), is_synchronous);
  }
  closed_ = true;
  state_.close(strangers);
  for (const std::size_t channel : std::exchange(early_passes_, {})) take_packet(channel);
  if (state_.wants_pass()) send_passes();
}

void PacketCore::send_passes() {
  for (std::size_t channel = 0; channel < neighbours_.size(); ++channel) {
    Sender& sender = senders_[channel];
    // The previous round's pass was taken in, or the neighbour could not have ended that round; MPI may not know it
    // yet.
    mpi::wait(pass_request(channel), context_.wait_policy());
    const std::vector<Introduction> lines = state_.pass_to(channel);
    const std::size_t n_bytes = header_bytes + lines.size() * sizeof(Introduction);
    sender.pass.reserve(words_of(std::max(n_bytes, pass_bytes)), 0);
    put_header(sender.pass, make_header(kind_, 0, lines.size() + 1, 0));
    add_introductions(sender.pass, header_bytes, lines);
    if (n_bytes > pass_bytes) {  // a packet without content tells the size
      Buffer small(words_of(header_bytes));
      put_header(small, make_header(kind_, 0, 0, n_bytes));
      send(small, header_bytes, neighbours_[channel], tag_, pass_request(channel));
      mpi::wait(pass_request(channel), context_.wait_policy());
    }
    send(sender.pass, n_bytes, neighbours_[channel], tag_, pass_request(channel));
  }
}

}  // namespace barrio::exchange::detail
