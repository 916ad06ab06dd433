#include "barrio/exchange/detail/packet_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "barrio/base/assert.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/exchange/detail/open_rounds.hpp"
#include "barrio/mpi/point_to_point.hpp"

namespace barrio::exchange::detail {
namespace {

constexpr std::size_t header_bytes = sizeof(PacketHeader);
static_assert(header_bytes == 16);
// A neighbour is at most one round ahead, so two tags keep rounds apart.
constexpr int n_epoch_tags = 2;

std::byte* bytes_of(std::vector<std::uint64_t>& buffer) { return reinterpret_cast<std::byte*>(buffer.data()); }

}  // namespace

PacketCore::PacketCore(mpi::Context& context, std::vector<Rank> neighbours, std::uint32_t packet_bytes,
                       std::uint32_t ring_depth)
    : context_(context),
      neighbours_(std::move(neighbours)),
      packet_bytes_(std::max<std::size_t>((packet_bytes + 7U) & ~7U, header_bytes + 8)),
      ring_depth_(std::max<std::uint32_t>(ring_depth, 1)),
      tags_(context.take_tags(n_epoch_tags)),
      open_rounds_(open_rounds(context.comm())),
      senders_(neighbours_.size()),
      receivers_(neighbours_.size()),
      requests_(neighbours_.size() * (1 + ring_depth_), MPI_REQUEST_NULL),
      completed_(requests_.size()) {
  for (Sender& sender : senders_) sender.ring.resize(ring_depth_);
}

PacketCore::~PacketCore() {
  if (active_) std::erase(open_rounds_, this);
  // The sends of the last round may still be read by MPI. A core that dies in the middle of a round leaks its buffers,
  // and so does one that dies of an exception: neighbours may never take the messages in.
  if (active_ || std::uncaught_exceptions() > 0) {
    for (Sender& sender : senders_)
      for (Buffer& buffer : sender.ring) new Buffer(std::move(buffer));
    for (Receiver& receiver : receivers_) new Buffer(std::move(receiver.posted));
    return;
  }
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) {
    try {
      mpi::Pause pause(context_.wait_policy());
      for (int done = 0; !open_rounds_.empty() && done == 0;) {
        mpi::check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE),
                   "MPI_Testall");
        if (done == 0 && !take_some_elsewhere()) pause();
      }
      mpi::wait_all(requests_, context_.wait_policy());
    } catch (...) {
      context_.log().error("a message of the last round could not be completed");
    }
  }
}

std::size_t PacketCore::channel_of(Rank neighbour) const {
  const auto at = std::lower_bound(neighbours_.begin(), neighbours_.end(), neighbour);
  if (at == neighbours_.end() || *at != neighbour) {
    throw Error(ErrorCode::usage, {.subject = fmt::format("rank {}", neighbour),
                                   .cause = fmt::format("is not a neighbour of rank {}", context_.rank()),
                                   .remedy = "name it when the Neighborhood is made, on both ranks"});
  }
  return static_cast<std::size_t>(at - neighbours_.begin());
}

PacketCore::Buffer PacketCore::spare_buffer(std::size_t n_bytes) {
  Buffer buffer;
  if (!spares_.empty() && n_bytes <= packet_bytes_) {
    buffer = std::move(spares_.back());
    spares_.pop_back();
  }
  buffer.resize(n_bytes / 8);
  return buffer;
}

void PacketCore::post_receive(std::size_t channel, std::size_t n_bytes) {
  Receiver& receiver = receivers_[channel];
  receiver.posted = spare_buffer(n_bytes);
  receiver.posted_bytes = n_bytes;
  mpi::check(MPI_Irecv(receiver.posted.data(), mpi::detail::checked_bytes(n_bytes), MPI_BYTE, neighbours_[channel],
                       tag_, context_.comm(), &receive_request(channel)),
             "MPI_Irecv");
}

void PacketCore::begin() {
  BARRIO_ASSERT(cheap, !active_ && "one round at a time on a Neighborhood", epoch_);
  active_ = true;
  open_rounds_.push_back(this);
  closed_ = false;
  n_done_ = 0;
  tag_ = tags_.of_epoch(epoch_);
  for (std::size_t channel = 0; channel < neighbours_.size(); ++channel) {
    senders_[channel].used_bytes = 0;
    senders_[channel].n_packets = 0;
    receivers_[channel].n_packets = 0;
    receivers_[channel].is_done = false;
    post_receive(channel, packet_bytes_);
  }
}

std::byte* PacketCore::allocate(std::size_t channel, std::size_t n_bytes) {
  BARRIO_ASSERT(cheap, active_ && !closed_ && "allocate() belongs between begin and close()", channel);
  Sender& sender = senders_[channel];
  if (sender.used_bytes == 0) {
    wait_for_buffer(channel);
  }
  std::size_t capacity = sender.ring[sender.current].size() * 8;
  if (sender.used_bytes + n_bytes > capacity) {
    const std::size_t wanted = (header_bytes + n_bytes + 7) & ~std::size_t{7};
    const bool is_large = wanted > packet_bytes_;
    // The packet before a large one tells its size, so that the receiver posts enough.
    if (sender.used_bytes > header_bytes || is_large) {
      flush(channel, false, is_large ? wanted : 0);
      wait_for_buffer(channel);
    }
    if (is_large) sender.ring[sender.current].resize(wanted / 8);
    capacity = sender.ring[sender.current].size() * 8;
  }
  BARRIO_ASSERT(cheap, sender.used_bytes + n_bytes <= capacity, sender.used_bytes, n_bytes, capacity);
  std::byte* at = bytes_of(sender.ring[sender.current]) + sender.used_bytes;
  sender.used_bytes += n_bytes;
  return at;
}

void PacketCore::wait_for_buffer(std::size_t channel) {
  Sender& sender = senders_[channel];
  MPI_Request& request = send_request(channel, sender.current);
  mpi::Pause pause(context_.wait_policy());
  const bool blocks = context_.wait_policy().kind == mpi::WaitPolicy::Kind::block;
  while (request != MPI_REQUEST_NULL) {
    if (!blocks) {
      int done = 0;
      mpi::check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done != 0) break;
    }
    // The neighbour may itself wait for this rank to take packets in, so receiving goes on while waiting.
    progress(blocks ? requests_.size() : neighbours_.size(), pause);
  }
  sender.ring[sender.current].resize(packet_bytes_ / 8);
  sender.used_bytes = header_bytes;
}

void PacketCore::flush(std::size_t channel, bool is_last, std::uint64_t next_bytes) {
  Sender& sender = senders_[channel];
  sender.n_packets += 1;
  const PacketHeader header{static_cast<std::uint32_t>(sender.used_bytes - header_bytes), is_last ? 1U : 0U,
                            is_last ? sender.n_packets : next_bytes};
  Buffer& buffer = sender.ring[sender.current];
  std::memcpy(buffer.data(), &header, header_bytes);
  mpi::check(MPI_Isend(buffer.data(), mpi::detail::checked_bytes(sender.used_bytes), MPI_BYTE, neighbours_[channel],
                       tag_, context_.comm(), &send_request(channel, sender.current)),
             "MPI_Isend");
  context_.counters().messages_sent += 1;
  context_.counters().bytes_sent += sender.used_bytes;
  sender.current = (sender.current + 1) % ring_depth_;
  sender.used_bytes = 0;
}

void PacketCore::close() {
  BARRIO_ASSERT(cheap, active_ && !closed_, epoch_);
  for (std::size_t channel = 0; channel < neighbours_.size(); ++channel) {
    if (senders_[channel].used_bytes == 0) wait_for_buffer(channel);
    flush(channel, true, 0);
  }
  closed_ = true;
}

void PacketCore::take_packet(std::size_t channel) {
  Receiver& receiver = receivers_[channel];
  PacketHeader header{};
  std::memcpy(&header, receiver.posted.data(), header_bytes);
  receiver.n_packets += 1;
  context_.counters().messages_received += 1;
  context_.counters().bytes_received += header_bytes + header.payload_bytes;
  arrived_.push_back({channel, std::move(receiver.posted)});
  receiver.posted.clear();
  if (header.is_last != 0) {
    BARRIO_ASSERT(cheap, header.count_or_next_bytes == receiver.n_packets, header.count_or_next_bytes,
                  receiver.n_packets);
    receiver.is_done = true;
    n_done_ += 1;
  } else {
    post_receive(channel, header.count_or_next_bytes > 0 ? header.count_or_next_bytes : packet_bytes_);
  }
}

bool PacketCore::take_some(std::size_t n_watched, bool blocks) {
  int n = 0;
  if (blocks) {
    mpi::check(MPI_Waitsome(static_cast<int>(n_watched), requests_.data(), &n, completed_.data(), MPI_STATUSES_IGNORE),
               "MPI_Waitsome");
  } else {
    mpi::check(MPI_Testsome(static_cast<int>(n_watched), requests_.data(), &n, completed_.data(), MPI_STATUSES_IGNORE),
               "MPI_Testsome");
  }
  if (n == MPI_UNDEFINED || n == 0) return false;
  for (int i = 0; i < n; ++i) {
    const auto request = static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)]);
    if (request < neighbours_.size()) take_packet(request);
  }
  return true;
}

bool PacketCore::take_some_elsewhere() {
  bool is_some = false;
  for (PacketCore* other : open_rounds_)
    if (other != this && other->take_some(other->neighbours_.size(), false)) is_some = true;
  return is_some;
}

void PacketCore::progress(std::size_t n_watched, mpi::Pause& pause) {
  // With other rounds open this rank must not sleep for this one alone.
  const bool blocks = context_.wait_policy().kind == mpi::WaitPolicy::Kind::block && open_rounds_.size() == 1;
  if (take_some(n_watched, blocks) || take_some_elsewhere()) {
    pause.reset();
  } else {
    pause();
  }
}

std::optional<PacketRound::Packet> PacketCore::next_packet() {
  if (!active_) return {};
  BARRIO_ASSERT(cheap, closed_ && "received() belongs after close()", epoch_);
  if (in_reading_) {
    if (in_reading_->size() * 8 == packet_bytes_ && spares_.size() < 2 * neighbours_.size())
      spares_.push_back(std::move(*in_reading_));
    in_reading_.reset();
  }
  mpi::Pause pause(context_.wait_policy());
  while (arrived_.empty() && n_done_ < neighbours_.size()) progress(neighbours_.size(), pause);
  if (arrived_.empty()) {
    active_ = false;
    std::erase(open_rounds_, this);
    epoch_ += 1;
    return {};
  }
  const std::size_t channel = arrived_.front().channel;
  in_reading_ = std::move(arrived_.front().buffer);
  arrived_.pop_front();
  PacketHeader header{};
  std::memcpy(&header, in_reading_->data(), header_bytes);
  return PacketRound::Packet{neighbours_[channel], {bytes_of(*in_reading_) + header_bytes, header.payload_bytes}};
}

std::uint64_t PacketCore::memory_bytes() const noexcept {
  std::uint64_t bytes = barrio::memory_bytes(neighbours_) + barrio::memory_bytes(requests_);
  for (const Sender& sender : senders_)
    for (const Buffer& buffer : sender.ring) bytes += barrio::memory_bytes(buffer);
  for (const Receiver& receiver : receivers_) bytes += barrio::memory_bytes(receiver.posted);
  for (const Buffer& buffer : spares_) bytes += barrio::memory_bytes(buffer);
  return bytes;
}

}  // namespace barrio::exchange::detail
