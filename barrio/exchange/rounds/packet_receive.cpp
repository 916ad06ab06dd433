// The receiving side of PacketCore.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "barrio/base/assert.hpp"
#include "barrio/exchange/rounds/packet.hpp"
#include "barrio/exchange/rounds/packet_core.hpp"
#include "barrio/mpi/point_to_point.hpp"

namespace barrio::exchange::detail {

void PacketCore::count_received(std::size_t n_bytes) noexcept {
  context_.counters().messages_received += 1;
  context_.counters().bytes_received += n_bytes;
  statistics_.packets_received += 1;
  statistics_.bytes_received += n_bytes;
}

Buffer PacketCore::take_spare(std::size_t channel, std::size_t n_words) {
  Receiver& receiver = receivers_[channel];
  if (receiver.spare.size() >= n_words) return std::move(receiver.spare);
  if (receiver.n_more_spares > 0) {
    std::vector<Buffer>& more = more_spares_[channel];
    if (more.back().size() >= n_words) {
      Buffer buffer = std::move(more.back());
      more.pop_back();
      receiver.n_more_spares -= 1;
      return buffer;
    }
  }
  return Buffer(n_words);
}

void PacketCore::post_receive(std::size_t channel, std::size_t n_bytes) {
  Receiver& receiver = receivers_[channel];
  receiver.posted = take_spare(channel, words_of(n_bytes));
  may_be_more_ = true;
  mpi::check(MPI_Irecv(receiver.posted.data(), mpi::as_count(receiver.posted.size()), MPI_UINT64_T,
                       neighbours_[channel], tag_, context_.comm(), &receive_request(channel)),
             "MPI_Irecv");
}

void PacketCore::take_packet(std::size_t channel) {
  if (state_.has_last(channel) && !closed_) {  // a second wave that came before this rank sent its last packets
    early_passes_.push_back(channel);
    return;
  }
  Receiver& receiver = receivers_[channel];
  const PacketHeader header = header_of(receiver.posted);
  if (header.kind.termination != kind_.termination) [[unlikely]]  // the two wait for different messages
    refuse_kind(fmt::format("message from rank {}", neighbours_[channel]), header.kind, kind_);
  last_heard_ = MPI_Wtime();
  count_received(detail::packet_bytes(header));
  if (state_.has_last(channel)) {
    if (header.last == 0) {
      post_receive(channel, header.count_or_next_bytes);
    } else {
      take_pass(channel);
    }
    return;
  }
  receiver.n_packets += 1;
  receiver.n_bytes += detail::packet_bytes(header) - header_bytes;
  Buffer buffer = std::move(receiver.posted);
  if (header.last == 0) {
    post_receive(channel, header.count_or_next_bytes > 0 ? header.count_or_next_bytes : packet_bytes_);
  } else {
    BARRIO_ASSERT(cheap, header.count_or_next_bytes == receiver.n_packets, header.count_or_next_bytes,
                  receiver.n_packets);
    state_.take_last(channel, introductions_in(buffer, header));
    if (state_.introduces()) post_receive(channel, pass_bytes);
  }
  arrived_.push_back({neighbours_[channel], std::move(buffer), channel});
  if (state_.wants_pass()) send_passes();
}

void PacketCore::take_pass(std::size_t channel) {
  Arrived pass{neighbours_[channel], std::move(receivers_[channel].posted), channel};
  for (const Introduction& line : state_.take_pass(channel, introductions_in(pass.buffer, header_of(pass.buffer)))) {
    discard(line.rank, line.n_lost);
    incoming_.push_back({line.rank, Buffer(words_of(line.n_bytes))});
    requests_.push_back(MPI_REQUEST_NULL);
    may_be_more_ = true;
    mpi::check(MPI_Irecv(incoming_.back().buffer.data(), mpi::as_count(incoming_.back().buffer.size()), MPI_UINT64_T,
                         line.rank, parcel_tag(), context_.comm(), &requests_.back()),
               "MPI_Irecv");
  }
  recycle(pass);
}

void PacketCore::recycle(Arrived& read) {
  if (read.channel == no_channel) return;
  Receiver& receiver = receivers_[read.channel];
  const bool is_announced = read.buffer.size() * 8 > std::max(packet_bytes_, first_packet_bytes(receiver));
  if (is_announced) return;
  if (receiver.spare.size() < read.buffer.size()) std::swap(receiver.spare, read.buffer);
  if (read.buffer.size() * 8 < packet_bytes_ || receiver.n_more_spares + 1 >= ring_depth_) return;
  more_spares_[read.channel].push_back(std::move(read.buffer));
  receiver.n_more_spares += 1;
}

void PacketCore::take_parcel(std::size_t place) {
  Arrived& parcel = incoming_[place];
  last_heard_ = MPI_Wtime();
  count_received(detail::packet_bytes(header_of(parcel.buffer)));
  arrived_.push_back({parcel.from, std::move(parcel.buffer)});
  statistics_.parcels_received += 1;
  state_.take_parcel();
}

std::optional<PacketCore::Arrived> PacketCore::take_unannounced(Rank from) {
  int found = 0;
  MPI_Status status;
  mpi::check(MPI_Iprobe(from, parcel_tag(), context_.comm(), &found, &status), "MPI_Iprobe");
  if (found == 0) return {};
  int n_words = 0;
  mpi::check(MPI_Get_count(&status, MPI_UINT64_T, &n_words), "MPI_Get_count");
  Arrived parcel{status.MPI_SOURCE, Buffer(static_cast<std::size_t>(n_words))};
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(
      MPI_Irecv(parcel.buffer.data(), n_words, MPI_UINT64_T, parcel.from, parcel_tag(), context_.comm(), &request),
      "MPI_Irecv");
  mpi::wait(request, context_.wait_policy());
  last_heard_ = MPI_Wtime();
  return parcel;
}

void PacketCore::discard(Rank from, std::size_t n_parcels) {
  mpi::Pause pause(context_.wait_policy());
  while (n_parcels > 0)
    if (take_unannounced(from)) {
      n_parcels -= 1;
    } else {
      pause();
    }
}

}  // namespace barrio::exchange::detail
