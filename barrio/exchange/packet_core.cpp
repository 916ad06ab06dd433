#include "barrio/exchange/detail/packet_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <utility>

#include "barrio/base/assert.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/exchange/detail/open_rounds.hpp"
#include "barrio/mpi/point_to_point.hpp"

namespace barrio::exchange::detail {
namespace {

constexpr std::size_t header_bytes = sizeof(PacketHeader);
static_assert(header_bytes == 16 && sizeof(Introduction) == 16);
// A rank is at most one round ahead of those it exchanges packets with, so two tags would keep rounds apart. With more
// of them a packet from a rank that is no neighbour is not mistaken for one from a round to come, in which it may be.
constexpr int n_epoch_tags = 16;
constexpr int n_tags = 2 * n_epoch_tags;  // the same again for parcels of strangers that nobody has announced
constexpr std::uint32_t polls_per_look_at_the_clock = 64;
// Small packets may be on their way without being expected, and MPI keeps them at the receiver. After so many bytes of
// them a synchronous one waits until it is taken in, and with it those before.
constexpr std::size_t credit_bytes = 64U * 1024U;
constexpr std::size_t packet_overhead_bytes = 64;
// A second wave without lines fits with room to spare; a longer one is announced.
constexpr std::size_t pass_bytes = 256;
// When a rank looks for such as take it for a neighbour in vain: after a change of neighbours, and now and then.
constexpr std::uint64_t n_rounds_with_check = 4;
constexpr std::uint64_t n_rounds_without_check = 64;

constexpr std::size_t words_of(std::size_t n_bytes) { return (n_bytes + 7) / 8; }
/// A size that packets can have: whole words, and one of them beside the header.
constexpr std::size_t whole_packet(std::size_t n_bytes) { return std::max(8 * words_of(n_bytes), header_bytes + 8); }

PacketHeader make_header(std::size_t payload_bytes, std::size_t last, std::uint64_t count_or_next_bytes) {
  PacketHeader header{};
  header.payload_bytes = payload_bytes & ((std::uint64_t{1} << 40U) - 1);
  header.last = last & ((1U << 24U) - 1);
  header.count_or_next_bytes = count_or_next_bytes;
  BARRIO_ASSERT(cheap, header.payload_bytes == payload_bytes && header.last == last, payload_bytes, last);
  return header;
}

PacketHeader header_of(const Buffer& buffer) {
  PacketHeader header{};
  std::memcpy(&header, buffer.data(), header_bytes);
  return header;
}

/// The introductions behind the payload of a packet.
std::vector<Introduction> introductions_in(const Buffer& buffer, const PacketHeader& header) {
  std::vector<Introduction> lines(header.last - 1);
  const std::uint64_t* const from = buffer.data() + words_of(header_bytes + header.payload_bytes);
  if (!lines.empty()) std::memcpy(lines.data(), from, lines.size() * sizeof(Introduction));
  return lines;
}

/// Put introductions behind the payload. @return bytes of the whole packet
std::size_t add_introductions(Buffer& buffer, std::size_t used_bytes, std::span<const Introduction> lines) {
  const std::size_t at = words_of(used_bytes);
  const std::size_t n_words = at + words_of(lines.size_bytes());
  buffer.reserve(n_words, at);
  if (!lines.empty()) std::memcpy(buffer.data() + at, lines.data(), lines.size_bytes());
  return lines.empty() ? used_bytes : n_words * 8;
}

}  // namespace

PacketCore::PacketCore(mpi::Context& context, std::vector<Rank> neighbours, const PacketCoreOptions& options)
    : context_(context),
      neighbours_(std::move(neighbours)),
      options_(options),
      packet_bytes_(whole_packet(options.packet_bytes)),
      ring_depth_(std::max<std::uint32_t>(options.ring_depth, 1)),
      tags_(context.take_tags(n_tags)),
      open_rounds_(open_rounds(context.comm())) {
  options_.first_packet = {whole_packet(options.first_packet.least), whole_packet(options.first_packet.most)};
  if (options.termination == Termination::consensus || options.termination == Termination::allreduce)
    agreement_comm_ = mpi::Comm::duplicate(context.comm());
  allocate_tables();
}

void PacketCore::allocate_tables() {
  const std::size_t n = neighbours_.size();
  cursors_.assign(n, {});
  senders_.resize(n);
  receivers_.resize(n);
  rings_.resize(n * ring_depth_);
  more_spares_.resize(n);
  for (Sender& sender : senders_) {
    sender.current = 0;
    sender.first_packet_bytes = std::max(sender.first_packet_bytes, options_.first_packet.least);
  }
  for (Receiver& receiver : receivers_)
    receiver.first_packet_bytes = std::max(receiver.first_packet_bytes, options_.first_packet.least);
  n_fixed_requests_ = n * (2 + ring_depth_);
  requests_.assign(n_fixed_requests_, MPI_REQUEST_NULL);
}

PacketCore::~PacketCore() {
  if (active_) std::erase(open_rounds_, this);
  // The sends of the last round may still be read by MPI. A core that dies in the middle of a round leaks its buffers,
  // and so does one that dies of an exception: neighbours may never take the messages in.
  if (active_ || std::uncaught_exceptions() > 0) {
    for (Sender& sender : senders_) new Buffer(std::move(sender.pass));
    for (Buffer& buffer : rings_) new Buffer(std::move(buffer));
    for (Receiver& receiver : receivers_) new Buffer(std::move(receiver.posted));
    for (Parcel& parcel : outgoing_) new Buffer(std::move(parcel.buffer));
    for (Arrived& parcel : incoming_) new Buffer(std::move(parcel.buffer));
    return;
  }
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) {
    try {
      if (epoch_ > 0) warn_of_non_neighbours(tag_);
      complete_sends();
    } catch (...) {
      context_.log().error("a message of the last round could not be completed");
    }
  }
}

void PacketCore::complete_sends() {
  mpi::Pause pause(context_.wait_policy());
  for (int done = 0; !open_rounds_.empty() && done == 0;) {
    mpi::check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE),
               "MPI_Testall");
    if (done == 0 && !take_some_elsewhere()) pause();
  }
  mpi::wait_all(requests_, context_.wait_policy());
}

void PacketCore::set_neighbours(std::vector<Rank> neighbours) {
  BARRIO_ASSERT(cheap, !active_ && "neighbours change between rounds", epoch_);
  if (neighbours == neighbours_) return;
  complete_sends();
  // Rings and sizes go with their neighbours. A neighbour that leaves and comes back between two rounds keeps its
  // sizes: it may not have seen that it was gone.
  std::vector<Sender> senders(neighbours.size());
  std::vector<Receiver> receivers(neighbours.size());
  std::vector<Buffer> rings(neighbours.size() * ring_depth_);
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    if (const auto channel = find_channel(neighbours[i])) {
      senders[i] = std::move(senders_[*channel]);
      receivers[i] = std::move(receivers_[*channel]);
      receivers[i].n_more_spares = 0;
      for (std::size_t place = 0; place < ring_depth_; ++place)
        rings[neighbours.size() * place + i] = std::move(ring_buffer(*channel, place));
    } else if (const auto former = std::ranges::find(former_, neighbours[i], &FormerNeighbour::rank);
               former != former_.end()) {
      senders[i].first_packet_bytes = former->out_bytes;
      receivers[i].first_packet_bytes = former->in_bytes;
      former_.erase(former);
    }
  }
  for (std::size_t channel = 0; channel < neighbours_.size(); ++channel)
    if (!std::ranges::binary_search(neighbours, neighbours_[channel]))
      former_.push_back(
          {neighbours_[channel], senders_[channel].first_packet_bytes, receivers_[channel].first_packet_bytes});
  senders_ = std::move(senders);
  receivers_ = std::move(receivers);
  rings_ = std::move(rings);
  more_spares_.clear();
  neighbours_ = std::move(neighbours);
  n_rounds_of_list_ = 0;
  allocate_tables();
}

std::optional<std::size_t> PacketCore::find_channel(Rank neighbour) const noexcept {
  const auto at = std::lower_bound(neighbours_.begin(), neighbours_.end(), neighbour);
  if (at == neighbours_.end() || *at != neighbour) return {};
  return static_cast<std::size_t>(at - neighbours_.begin());
}

void PacketCore::count_sent(std::size_t n_bytes) noexcept {
  context_.counters().messages_sent += 1;
  context_.counters().bytes_sent += n_bytes;
  statistics_.packets_sent += 1;
  statistics_.bytes_sent += n_bytes;
}

void PacketCore::count_received(std::size_t n_bytes) noexcept {
  context_.counters().messages_received += 1;
  context_.counters().bytes_received += n_bytes;
  statistics_.packets_received += 1;
  statistics_.bytes_received += n_bytes;
}

// Buffers travel as words, so that one message may have 16 GiB.
void PacketCore::send(const Buffer& buffer, std::size_t n_bytes, Rank to, MPI_Request& request, bool is_synchronous) {
  mpi::check((is_synchronous ? MPI_Issend : MPI_Isend)(buffer.data(), mpi::detail::checked_bytes(words_of(n_bytes)),
                                                       MPI_UINT64_T, to, tag_, context_.comm(), &request),
             is_synchronous ? "MPI_Issend" : "MPI_Isend");
  count_sent(n_bytes);
}

void PacketCore::send_parcel(const Parcel& parcel, MPI_Request& request) {
  // A synchronous one completes when the receiver takes it in: that is what the barrier of a consensus counts on.
  const bool is_synchronous = options_.termination == Termination::consensus;
  const int tag = tag_ + n_epoch_tags;
  mpi::check((is_synchronous ? MPI_Issend : MPI_Isend)(parcel.buffer.data(),
                                                       mpi::detail::checked_bytes(words_of(parcel.used_bytes)),
                                                       MPI_UINT64_T, parcel.to, tag, context_.comm(), &request),
             is_synchronous ? "MPI_Issend" : "MPI_Isend");
  count_sent(parcel.used_bytes);
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
  mpi::check(MPI_Irecv(receiver.posted.data(), mpi::detail::checked_bytes(receiver.posted.size()), MPI_UINT64_T,
                       neighbours_[channel], tag_, context_.comm(), &receive_request(channel)),
             "MPI_Irecv");
}

void PacketCore::begin() {
  BARRIO_ASSERT(cheap, !active_ && "one round at a time on a Neighborhood", epoch_);
  active_ = true;
  open_rounds_.push_back(this);
  closed_ = false;
  state_.begin(neighbours_, options_.termination == Termination::introductions);
  writers_.clear();
  if (is_collective()) agreement_ = Agreement::not_begun;
  tag_ = tags_.first + static_cast<int>(epoch_ % n_epoch_tags);
  last_heard_ = MPI_Wtime();
  next_warning_ = options_.stall_warning_seconds;
  former_.clear();
  for (std::size_t channel = 0; channel < neighbours_.size(); ++channel) {
    senders_[channel].begin_round();
    receivers_[channel].begin_round();
    post_receive(channel, receivers_[channel].first_packet_bytes);
  }
}

std::size_t PacketCore::used_bytes(std::size_t channel) noexcept {
  const Sender& sender = senders_[channel];
  const SendCursor& cursor = cursors_[channel];
  if (cursor.at == nullptr) return 0;
  return static_cast<std::size_t>(cursor.at - ring_buffer(channel, sender.current).bytes());
}

std::byte* PacketCore::make_room(std::size_t channel, std::size_t n_bytes) {
  BARRIO_ASSERT(cheap, active_ && !closed_ && "allocate() belongs between begin and close()", channel);
  SendCursor& cursor = cursors_[channel];
  if (cursor.at == nullptr) wait_for_buffer(channel, next_packet_bytes(senders_[channel]));
  if (static_cast<std::size_t>(cursor.end - cursor.at) < n_bytes) {
    const std::size_t wanted = 8 * words_of(header_bytes + n_bytes);
    const bool is_large = wanted > packet_bytes_;
    // The packet before a large one tells its size, so that the receiver posts enough.
    flush(channel, is_large ? wanted : 0);
    wait_for_buffer(channel, is_large ? wanted : packet_bytes_);
  }
  return std::exchange(cursor.at, cursor.at + n_bytes);
}

std::byte* PacketCore::allocate_elsewhere(Rank to, std::size_t n_bytes) {
  BARRIO_ASSERT(cheap, active_ && !closed_ && "allocate() belongs between begin and close()", to);
  if (to != context_.rank() && options_.termination == Termination::neighbourhood) {
    throw Error(ErrorCode::usage,
                {.subject = fmt::format("rank {}", to),
                 .cause = fmt::format("is not a neighbour of rank {}", context_.rank()),
                 .remedy = "name it when the Neighborhood is made, on both ranks, or let it meet new ones "
                           "(Termination::introductions, allreduce or consensus)"});
  }
  if (to < 0 || to >= context_.size())
    throw Error(ErrorCode::usage, {.subject = fmt::format("rank {}", to), .cause = "is not a rank of this job"});
  auto at = std::ranges::lower_bound(outgoing_, to, {}, &Parcel::to);
  if (at == outgoing_.end() || at->to != to) at = outgoing_.insert(at, {to, {}, header_bytes});
  const std::size_t n_words = words_of(at->used_bytes + n_bytes);
  if (at->buffer.size() < n_words)
    at->buffer.reserve(std::max(n_words, 2 * at->buffer.size()), std::min(words_of(at->used_bytes), at->buffer.size()));
  std::byte* const place = at->buffer.bytes() + at->used_bytes;
  at->used_bytes += n_bytes;
  return place;
}

bool PacketCore::is_free(std::size_t channel, std::size_t place) {
  MPI_Request& request = send_request(channel, place);
  int done = 1;
  if (request != MPI_REQUEST_NULL) mpi::check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

void PacketCore::wait_for_send(std::size_t place) {
  mpi::Pause pause(context_.wait_policy());
  const bool blocks = context_.wait_policy().kind == mpi::WaitPolicy::Kind::block;
  while (requests_[place] != MPI_REQUEST_NULL) {
    if (!blocks) {
      int done = 0;
      mpi::check(MPI_Test(&requests_[place], &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done != 0) break;
    }
    // The neighbour may itself wait for this rank to take packets in, so receiving goes on while waiting.
    progress(blocks ? requests_.size() : n_watched(), pause);
  }
}

void PacketCore::wait_for_buffer(std::size_t channel, std::size_t n_bytes) {
  Sender& sender = senders_[channel];
  // Short rounds stay in one buffer, which the cache still has.
  if (sender.n_packets == 0 && sender.current != 0 && is_free(channel, 0)) sender.current = 0;
  const std::size_t place = neighbours_.size() * (1 + sender.current) + channel;
  if (!is_free(channel, sender.current)) {
    statistics_.waits_for_room += 1;
    wait_for_send(place);
  }
  Buffer& buffer = ring_buffer(channel, sender.current);
  const bool is_far_too_large = buffer.size() * 8 > std::max(4 * n_bytes, options_.first_packet.most);
  if (is_far_too_large || buffer.size() < words_of(n_bytes)) buffer = Buffer(words_of(n_bytes));
  cursors_[channel] = {buffer.bytes() + header_bytes, buffer.bytes() + n_bytes};
}

void PacketCore::Way::end_round(const PacketSize& size) noexcept {
  first_packet_bytes = size.after(first_packet_bytes, header_bytes + n_bytes);
}

void PacketCore::send_current(std::size_t channel, const PacketHeader& header, std::size_t n_bytes,
                              bool is_synchronous) {
  Sender& sender = senders_[channel];
  Buffer& buffer = ring_buffer(channel, sender.current);
  std::memcpy(buffer.data(), &header, header_bytes);
  sender.n_bytes += n_bytes - header_bytes;
  send(buffer, n_bytes, neighbours_[channel], send_request(channel, sender.current), is_synchronous);
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
  send_current(channel, make_header(used - header_bytes, 0, next_bytes), used, is_synchronous);
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
  const PacketHeader header = make_header(used - header_bytes, strangers.size() + 1, sender.n_packets);
  const std::size_t n_bytes = add_introductions(ring_buffer(channel, sender.current), used, strangers);
  send_current(channel, header, n_bytes, false);
}

void PacketCore::close() {
  BARRIO_ASSERT(cheap, active_ && !closed_, epoch_);
  std::vector<Introduction> strangers;
  for (const Parcel& parcel : outgoing_)
    if (!is_collective() && parcel.to != context_.rank())
      strangers.push_back({parcel.to, 0, 8 * words_of(parcel.used_bytes)});
  for (std::size_t channel = 0; channel < neighbours_.size(); ++channel) flush_last(channel, strangers);
  for (Parcel& parcel : outgoing_) {
    const PacketHeader header = make_header(parcel.used_bytes - header_bytes, 1, 1);
    std::memcpy(parcel.buffer.data(), &header, header_bytes);
    if (parcel.to == context_.rank()) {
      arrived_.push_back({parcel.to, std::move(parcel.buffer)});
    } else {
      requests_.push_back(MPI_REQUEST_NULL);
      statistics_.parcels_sent += 1;
      send_parcel(parcel, requests_.back());
    }
  }
  std::erase_if(outgoing_, [&](const Parcel& parcel) { return parcel.to == context_.rank(); });
  closed_ = true;
  state_.close(strangers);
  for (const std::size_t channel : std::exchange(early_passes_, {})) take_packet(channel);
  if (state_.wants_pass()) send_passes();
}

void PacketCore::send_passes() {
  for (std::size_t channel = 0; channel < neighbours_.size(); ++channel) {
    Sender& sender = senders_[channel];
    // The one of the round before was taken in, or that round would not have ended for the neighbour; MPI may not know.
    mpi::wait(pass_request(channel), context_.wait_policy());
    const std::vector<Introduction> lines = state_.pass_to(channel);
    const std::size_t n_bytes = header_bytes + lines.size() * sizeof(Introduction);
    sender.pass.reserve(words_of(std::max(n_bytes, pass_bytes)), 0);
    const PacketHeader header = make_header(0, lines.size() + 1, 0);
    std::memcpy(sender.pass.data(), &header, header_bytes);
    add_introductions(sender.pass, header_bytes, lines);
    if (n_bytes > pass_bytes) {  // a packet without content tells the size
      const PacketHeader announcement = make_header(0, 0, n_bytes);
      Buffer small(words_of(header_bytes));
      std::memcpy(small.data(), &announcement, header_bytes);
      send(small, header_bytes, neighbours_[channel], pass_request(channel));
      mpi::wait(pass_request(channel), context_.wait_policy());
    }
    send(sender.pass, n_bytes, neighbours_[channel], pass_request(channel));
  }
}

void PacketCore::take_packet(std::size_t channel) {
  if (state_.has_last(channel) && !closed_) {  // answered before this rank's last packets have left to all
    early_passes_.push_back(channel);
    return;
  }
  Receiver& receiver = receivers_[channel];
  const PacketHeader header = header_of(receiver.posted);
  last_heard_ = MPI_Wtime();
  count_received(header_bytes + header.payload_bytes);
  if (state_.has_last(channel)) {
    if (header.last == 0) {
      post_receive(channel, header.count_or_next_bytes);
    } else {
      take_pass(channel);
    }
    return;
  }
  receiver.n_packets += 1;
  receiver.n_bytes += header.payload_bytes;
  Buffer buffer = std::move(receiver.posted);
  if (header.last == 0) {
    post_receive(channel, header.count_or_next_bytes > 0 ? header.count_or_next_bytes : packet_bytes_);
  } else {
    BARRIO_ASSERT(cheap, header.count_or_next_bytes == receiver.n_packets, header.count_or_next_bytes,
                  receiver.n_packets);
    const std::vector<Introduction> lines = introductions_in(buffer, header);
    state_.take_last(channel, lines);
    if (!lines.empty()) {
      // As the sender counts them: behind the payload, from the next whole word on.
      const std::size_t n_more =
          8 * words_of(header.payload_bytes) - header.payload_bytes + lines.size() * sizeof(Introduction);
      receiver.n_bytes += n_more;
      context_.counters().bytes_received += n_more;
      statistics_.bytes_received += n_more;
    }
    if (state_.introduces()) post_receive(channel, pass_bytes);
  }
  arrived_.push_back({neighbours_[channel], std::move(buffer), channel});
  if (state_.wants_pass()) send_passes();
}

void PacketCore::take_pass(std::size_t channel) {
  Arrived pass{neighbours_[channel], std::move(receivers_[channel].posted), channel};
  const PacketHeader header = header_of(pass.buffer);
  const std::size_t n_more = (header.last - 1) * sizeof(Introduction);
  context_.counters().bytes_received += n_more;
  statistics_.bytes_received += n_more;
  for (const Introduction& line : state_.take_pass(channel, introductions_in(pass.buffer, header))) {
    incoming_.push_back({line.rank, Buffer(words_of(line.n_bytes))});
    requests_.push_back(MPI_REQUEST_NULL);
    mpi::check(MPI_Irecv(incoming_.back().buffer.data(), mpi::detail::checked_bytes(incoming_.back().buffer.size()),
                         MPI_UINT64_T, line.rank, tag_ + n_epoch_tags, context_.comm(), &requests_.back()),
               "MPI_Irecv");
  }
  recycle(pass);
}

void PacketCore::recycle(Arrived& read) {
  if (read.channel == no_channel) return;
  Receiver& receiver = receivers_[read.channel];
  const bool is_announced = read.buffer.size() * 8 > std::max(packet_bytes_, receiver.first_packet_bytes);
  if (is_announced) return;
  if (receiver.spare.size() < read.buffer.size()) std::swap(receiver.spare, read.buffer);
  if (read.buffer.size() * 8 < packet_bytes_ || receiver.n_more_spares + 1 >= ring_depth_) return;
  more_spares_[read.channel].push_back(std::move(read.buffer));
  receiver.n_more_spares += 1;
}

void PacketCore::warn_of_non_neighbours(int tag) {
  int found = 0;
  MPI_Status status;
  mpi::check(MPI_Iprobe(MPI_ANY_SOURCE, tag, context_.comm(), &found, &status), "MPI_Iprobe");
  if (found == 0 || find_channel(status.MPI_SOURCE)) return;
  if (std::ranges::find(warned_of_, status.MPI_SOURCE) != warned_of_.end()) return;
  warned_of_.push_back(status.MPI_SOURCE);
  context_.log().warning(fmt::format(
      "rank {} takes rank {} for a neighbour, which does not list it: it will wait for ever. Make the lists "
      "mutual; Neighborhood::validate() names such pairs",
      status.MPI_SOURCE, context_.rank()));
}

void PacketCore::take_parcel(std::size_t place) {
  Arrived& parcel = incoming_[place];
  last_heard_ = MPI_Wtime();
  count_received(header_bytes + header_of(parcel.buffer).payload_bytes);
  arrived_.push_back({parcel.from, std::move(parcel.buffer)});
  statistics_.parcels_received += 1;
  state_.take_parcel();
}

bool PacketCore::take_unannounced() {
  int found = 0;
  MPI_Status status;
  mpi::check(MPI_Iprobe(MPI_ANY_SOURCE, tag_ + n_epoch_tags, context_.comm(), &found, &status), "MPI_Iprobe");
  if (found == 0) return false;
  int n_words = 0;
  mpi::check(MPI_Get_count(&status, MPI_UINT64_T, &n_words), "MPI_Get_count");
  Buffer buffer(static_cast<std::size_t>(n_words));
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(
      MPI_Irecv(buffer.data(), n_words, MPI_UINT64_T, status.MPI_SOURCE, status.MPI_TAG, context_.comm(), &request),
      "MPI_Irecv");
  mpi::wait(request, context_.wait_policy());
  last_heard_ = MPI_Wtime();
  count_received(header_bytes + header_of(buffer).payload_bytes);
  statistics_.parcels_received += 1;
  writers_.push_back(status.MPI_SOURCE);
  arrived_.push_back({status.MPI_SOURCE, std::move(buffer)});
  return true;
}

void PacketCore::begin_agreement() {
  agreement_ = Agreement::under_way;
  if (options_.termination == Termination::consensus) {
    mpi::check(MPI_Ibarrier(agreement_comm_.get(), &agreement_request_), "MPI_Ibarrier");
  } else {
    parcels_ = {outgoing_.size(), writers_.size()};
    mpi::check(MPI_Iallreduce(MPI_IN_PLACE, parcels_.data(), 2, MPI_UINT64_T, MPI_SUM, agreement_comm_.get(),
                              &agreement_request_),
               "MPI_Iallreduce");
  }
  context_.counters().collectives += 1;
  statistics_.collectives += 1;
}

bool PacketCore::advance_agreement() {
  if (agreement_ == Agreement::reached) return false;
  if (take_unannounced()) return true;
  if (!closed_) return false;
  int done = 0;
  if (agreement_ == Agreement::not_begun) {
    // What is sent is known once the round is closed; a consensus also wants it to have arrived.
    MPI_Request* const first = requests_.data() + n_fixed_requests_;
    mpi::check(MPI_Testall(static_cast<int>(outgoing_.size()), first, &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    if (done == 0 && options_.termination == Termination::consensus) return false;
    begin_agreement();
    return true;
  }
  mpi::check(MPI_Test(&agreement_request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (done == 0) return false;
  const bool is_reached = options_.termination == Termination::consensus || parcels_[0] == parcels_[1];
  agreement_ = is_reached ? Agreement::reached : Agreement::not_begun;
  return true;
}

bool PacketCore::is_complete() const noexcept { return state_.is_over() && agreement_ == Agreement::reached; }

std::size_t PacketCore::n_watched() const noexcept {
  // Receives of neighbours come first; those of strangers come last.
  return incoming_.empty() ? neighbours_.size() : requests_.size();
}

bool PacketCore::take_some(std::size_t n_watched, bool blocks) {
  completed_.resize(requests_.size());
  int n = 0;
  if (blocks) {
    mpi::check(MPI_Waitsome(static_cast<int>(n_watched), requests_.data(), &n, completed_.data(), MPI_STATUSES_IGNORE),
               "MPI_Waitsome");
  } else {
    // A call may take messages in and yet report none of them, as Open MPI's does: the second one reports those.
    for (int i = 0; i < 2 && n == 0; ++i)
      mpi::check(
          MPI_Testsome(static_cast<int>(n_watched), requests_.data(), &n, completed_.data(), MPI_STATUSES_IGNORE),
          "MPI_Testsome");
  }
  if (n == MPI_UNDEFINED || n == 0) return false;
  const std::size_t first_parcel = n_fixed_requests_ + outgoing_.size();
  for (int i = 0; i < n; ++i) {
    const auto request = static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)]);
    if (request < neighbours_.size()) take_packet(request);
    if (request >= first_parcel) take_parcel(request - first_parcel);
  }
  return true;
}

bool PacketCore::take_some_elsewhere() {
  bool is_some = false;
  for (PacketCore* other : open_rounds_)
    if (other != this && (other->take_some(other->n_watched(), false) || other->advance_agreement())) is_some = true;
  return is_some;
}

void PacketCore::progress(std::size_t n_watched, mpi::Pause& pause) {
  // With other rounds open this rank must not sleep for this one alone.
  const bool blocks = context_.wait_policy().kind == mpi::WaitPolicy::Kind::block && open_rounds_.size() == 1 &&
                      (!is_collective() || !state_.is_over());
  if (take_some(n_watched, blocks) || advance_agreement() || take_some_elsewhere()) {
    pause.reset();
    n_idle_polls_ = 0;
    return;
  }
  pause();
  if (++n_idle_polls_ % polls_per_look_at_the_clock == 0) {
    const double seconds = MPI_Wtime() - last_heard_;
    if (seconds > next_warning_) warn_of_stall(seconds);
  }
}

void PacketCore::warn_of_stall(double seconds) {
  next_warning_ *= 2;
  constexpr std::size_t most = 4;
  std::string edges;
  std::size_t n = 0;
  for (std::size_t channel = 0; channel < neighbours_.size(); ++channel) {
    if (receive_request(channel) == MPI_REQUEST_NULL) continue;
    if (++n > most) continue;
    edges += state_.has_last(channel)
                 ? fmt::format("{} rank {} (its second wave)", n > 1 ? "," : "", neighbours_[channel])
                 : fmt::format("{} rank {} ({} packets so far, not the last)", n > 1 ? "," : "", neighbours_[channel],
                               receivers_[channel].n_packets);
  }
  if (n > most) edges += fmt::format(" and {} more", n - most);
  if (n == 0) edges = " room in its send buffers, or parcels of ranks it has heard of";
  context_.log().warning(fmt::format("rank {} waits for{}: round {} of its neighbourhood, last heard {:.1f} s ago{}",
                                     context_.rank(), edges, epoch_, seconds,
                                     closed_ ? "" : "; it has not closed the round itself"));
}

std::optional<PacketRound::Packet> PacketCore::next_packet() {
  if (!active_) return {};
  BARRIO_ASSERT(cheap, closed_ && "received() belongs after close()", epoch_);
  if (in_reading_) {
    recycle(*in_reading_);
    in_reading_.reset();
  }
  mpi::Pause pause(context_.wait_policy());
  while ((arrived_.empty() || options_.is_by_rank) && !is_complete()) progress(n_watched(), pause);
  if (arrived_.empty()) {
    end_round();
    return {};
  }
  if (options_.is_by_rank && n_read_ == 0) std::ranges::stable_sort(arrived_, {}, &Arrived::from);
  in_reading_ = std::move(arrived_[n_read_++]);
  if (n_read_ == arrived_.size()) {
    arrived_.clear();
    n_read_ = 0;
  }
  Buffer& buffer = in_reading_->buffer;
  return PacketRound::Packet{in_reading_->from, {buffer.bytes() + header_bytes, header_of(buffer).payload_bytes}};
}

void PacketCore::end_round() {
  active_ = false;
  std::erase(open_rounds_, this);
  for (std::size_t channel = 0; channel < neighbours_.size(); ++channel) {
    senders_[channel].end_round(options_.first_packet);
    receivers_[channel].end_round(options_.first_packet);
  }
  if (n_rounds_of_list_++ < n_rounds_with_check || epoch_ % n_rounds_without_check == 0) warn_of_non_neighbours(tag_);
  epoch_ += 1;
  statistics_.rounds += 1;
  if (options_.termination == Termination::neighbourhood) return;
  const std::vector<Rank> lost = state_.unreachable();
  if (!lost.empty()) {
    for (Parcel& parcel : outgoing_) new Buffer(std::move(parcel.buffer));  // MPI may never be done with them
    outgoing_.clear();
    requests_.resize(n_fixed_requests_);
    throw Error(ErrorCode::usage, {.subject = fmt::format("rank {}", lost.front()),
                                   .cause = fmt::format("is no neighbour of a neighbour of rank {}", context_.rank()),
                                   .remedy = "introductions reach two hops; name farther ranks as neighbours"});
  }
  std::vector<Rank> all(neighbours_);
  if (is_collective()) {
    for (const Parcel& parcel : outgoing_) all.push_back(parcel.to);
    all.insert(all.end(), writers_.begin(), writers_.end());
  } else {
    const std::vector<Rank> discovered = state_.discovered();
    all.insert(all.end(), discovered.begin(), discovered.end());
  }
  if (!outgoing_.empty() || !incoming_.empty()) {
    complete_sends();
    requests_.resize(n_fixed_requests_);
    outgoing_.clear();
    incoming_.clear();
  }
  if (!options_.keeps_discovered) return;
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  set_neighbours(std::move(all));
}

std::uint64_t PacketCore::memory_bytes() const noexcept {
  std::uint64_t bytes = barrio::memory_bytes(neighbours_) + barrio::memory_bytes(requests_);
  for (const Buffer& buffer : rings_) bytes += 8 * buffer.size();
  for (const Sender& sender : senders_) bytes += 8 * sender.pass.size();
  for (const Receiver& receiver : receivers_) bytes += 8 * (receiver.posted.size() + receiver.spare.size());
  for (const std::vector<Buffer>& more : more_spares_)
    for (const Buffer& buffer : more) bytes += 8 * buffer.size();
  return bytes;
}

}  // namespace barrio::exchange::detail
