#include "barrio/exchange/streams/stream_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "barrio/base/assert.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/exchange/rounds/guard.hpp"
#include "barrio/exchange/rounds/packet.hpp"
#include "barrio/mpi/check.hpp"
#include "barrio/mpi/point_to_point.hpp"

namespace barrio::exchange::detail {
namespace {

constexpr int n_tags = 2;  // packets, long messages
constexpr std::uint32_t polls_per_look_at_the_clock = 256;
constexpr std::size_t max_spare_buffers = 64;
constexpr unsigned n_content_bits = 2;
constexpr std::uint32_t drain_mask = (1U << (24U - n_content_bits)) - 1;

std::size_t packet_size(const mpi::Context& context, const StreamOptions& options) {
  return whole_packet(options.packet_bytes != 0 ? options.packet_bytes : context.profile().packet_bytes / 2);
}

}  // namespace

StreamCore::StreamCore(mpi::Context& context, const MessageKind& kind, const StreamOptions& options)
    : context_(context),
      kind_(kind),
      options_(options),
      packet_bytes_(packet_size(context, options)),
      tags_(context.take_tags(n_tags)),
      open_rounds_(open_rounds(context.comm())),
      n_open_rounds_(n_open_rounds()),
      quiescence_(context),
      pause_(context.wait_policy()) {
  check_alike(context, packet_bytes_);
  options_.window = std::max<std::uint32_t>(options_.window, 1);
  const std::size_t n = std::max<std::uint32_t>(options_.n_receives, 1);
  posted_.resize(n);
  receives_.assign(n, MPI_REQUEST_NULL);
  n_unposted_ = n;
  post_receives();
  open_rounds_.push_back(this);
  n_open_rounds_ += 1;
  context.set_idle_work([&rounds = open_rounds_] { take_in_all(rounds); });
}

StreamCore::~StreamCore() {
  try {
    if (std::uncaught_exceptions() == 0) {
      drop_rest();
      say_farewell();
    } else {
      abandon();
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): a broken MPI shows itself at the next call
  }
  std::erase(open_rounds_, this);
  n_open_rounds_ -= 1;
  // Messages to itself complete the posted receives.
  std::vector<MPI_Request> sends(receives_.size() - n_unposted_, MPI_REQUEST_NULL);
  for (MPI_Request& request : sends)
    MPI_Isend(nullptr, 0, MPI_UINT64_T, context_.rank(), tags_.first, context_.comm(), &request);
  MPI_Waitall(static_cast<int>(receives_.size()), receives_.data(), MPI_STATUSES_IGNORE);
  MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
}

/// Leave to MPI the buffers that it may still read or write, while an exception ends the stream.
void StreamCore::abandon() {
  for (Peer& peer : peers_)
    if (!peer.sending.empty()) static_cast<void>(new std::deque<Sending>(std::move(peer.sending)));
  if (!awaited_.empty()) static_cast<void>(new std::vector<Slot>(std::move(slots_)));
}

/// Read what is left without a look at it, until nothing is under way: all ranks know the same peers then.
void StreamCore::drop_rest() {
  if (is_draining_) return;
  begin_drain();
  for (PacketStream::Packet dropped; next(dropped) || !is_quiet(false);) continue;
  end_drain();
}

/// Exchange last headers with all peers, so that nothing is under way when the receives go.
void StreamCore::say_farewell() {
  for (Peer& peer : peers_)
    if (peer.rank != context_.rank()) send_header(peer, farewell, 0);
  mpi::Pause pause(context_.wait_policy());
  const auto is_over = [&] {
    return std::ranges::all_of(peers_, [&](Peer& peer) {
      if (peer.rank == context_.rank()) return true;
      reclaim(peer);
      return peer.has_left && peer.sending.empty();
    });
  };
  while (!is_over())
    if (!take_in_all(open_rounds_)) pause();
}

std::size_t StreamCore::place_of(Rank rank) {
  if (const std::uint32_t found = table_.find(rank); found != RankTable::none) return found;
  ranks_.push_back(rank);
  table_.add(ranks_);
  peers_.emplace_back(rank, options_.window);
  return peers_.size() - 1;
}

SendCursor& StreamCore::cursor_of(Rank to) {
  if (to < 0 || to >= context_.size())
    throw Error(ErrorCode::usage, {.subject = fmt::format("rank {}", to), .cause = "is not a rank of this job"});
  return peers_[place_of(to)].cursor;
}

std::size_t StreamCore::used_bytes(const Peer& peer) const noexcept {
  return peer.cursor.at == nullptr ? 0 : static_cast<std::size_t>(peer.cursor.at - peer.current.bytes());
}

std::byte* StreamCore::make_room(Rank to, std::size_t n_bytes) {
  context_.check_thread("writes to a stream");
  if (n_bytes > PacketRound::max_message_bytes)
    throw Error(ErrorCode::usage, {.subject = fmt::format("a message of {} bytes", n_bytes),
                                   .cause = fmt::format("is too long; the limit is {}", PacketRound::max_message_bytes),
                                   .remedy = "send it in pieces"});
  const std::size_t place = place_of(to);
  Peer& peer = peers_[place];
  if (peer.cursor.at != nullptr) check_guard(peer.cursor.at, to);
  const std::size_t limit = peer.is_long ? 0 : packet_bytes_;
  if (peer.cursor.at != nullptr && used_bytes(peer) + n_bytes > limit) seal(place);
  if (peer.cursor.at == nullptr) {
    written_.push_back(place);
    peer.is_long = header_bytes + n_bytes > packet_bytes_;
    peer.current = peer.is_long ? Buffer(words_of(n_bytes + guard_bytes)) : take_buffer();
    peer.cursor.at = peer.current.bytes() + (peer.is_long ? 0 : header_bytes);
  }
  std::byte* const room = std::exchange(peer.cursor.at, peer.cursor.at + n_bytes);
  set_guard(peer.cursor.at);
  // with guards each message comes through here
  peer.cursor.end = has_guards || peer.is_long ? peer.cursor.at : peer.current.bytes() + packet_bytes_;
  return room;
}

void StreamCore::flush() {
  while (!written_.empty()) seal(written_.back());
  post_receives();
}

/// End the packet that is being written: it leaves, or waits for room.
void StreamCore::seal(std::size_t place) {
  Peer& peer = peers_[place];
  // most often the last one
  const auto found = std::find(written_.rbegin(), written_.rend(), place);
  std::swap(*found, written_.back());
  written_.pop_back();
  check_guard(peer.cursor.at, peer.rank);
  Sealed sealed{std::move(peer.current), used_bytes(peer), peer.is_long};
  sealed.n_bytes = static_cast<std::size_t>(peer.cursor.at - sealed.buffer.bytes());
  peer.cursor = {};
  n_created_ += 1;
  if (peer.rank == context_.rank()) {
    const std::size_t offset = sealed.is_long ? 0 : header_bytes;
    const std::size_t n_bytes = sealed.n_bytes - offset;
    peer.state.send();
    peer.state.arrive(make_ticket({std::move(sealed.buffer), offset, n_bytes, kind_, n_drains_}), true);
    put_readable(place);
  } else if (peer.waiting.empty() && peer.state.may_send()) {
    transmit(peer, std::move(sealed));
  } else {
    statistics_.waits_for_room += 1;
    waiting_bytes_ += sealed.n_bytes;
    statistics_.max_waiting_bytes = std::max(statistics_.max_waiting_bytes, waiting_bytes_);
    peer.waiting.push_back(std::move(sealed));
  }
}

void StreamCore::transmit(Peer& peer, Sealed sealed) {
  peer.state.send();
  statistics_.packets_sent += 1;
  if (sealed.is_long) {
    send_header(peer, announcement, sealed.n_bytes);
    send(peer, std::move(sealed.buffer), sealed.n_bytes, tags_.first + 1);
    return;
  }
  put_header(sealed.buffer, header(peer, messages, sealed.n_bytes - header_bytes));
  send(peer, std::move(sealed.buffer), sealed.n_bytes, tags_.first);
}

PacketHeader StreamCore::header(Peer& peer, Content content, std::size_t n_bytes) const {
  return make_header(kind_, n_bytes, content + (std::size_t{n_drains_} << n_content_bits), peer.state.acknowledge());
}

void StreamCore::send_header(Peer& peer, Content content, std::size_t n_bytes) {
  Buffer buffer(words_of(header_bytes));
  put_header(buffer, header(peer, content, n_bytes));
  if (content != announcement) statistics_.acknowledgements_sent += 1;
  send(peer, std::move(buffer), header_bytes, tags_.first);
}

void StreamCore::send(Peer& peer, Buffer buffer, std::size_t n_bytes, int tag) {
  reclaim(peer);
  Sending& sending = peer.sending.emplace_back(std::move(buffer));
  mpi::check(MPI_Isend(sending.buffer.data(), mpi::as_count(words_of(n_bytes)), MPI_UINT64_T, peer.rank, tag,
                       context_.comm(), &sending.request),
             "MPI_Isend");
  context_.counters().messages_sent += 1;
  context_.counters().bytes_sent += n_bytes;
  statistics_.bytes_sent += n_bytes;
}

void StreamCore::reclaim(Peer& peer) {
  while (!peer.sending.empty()) {
    Sending& first = peer.sending.front();
    int done = 0;
    mpi::check(MPI_Test(&first.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0) return;
    return_buffer(std::move(first.buffer));
    peer.sending.pop_front();
  }
}

Buffer StreamCore::take_buffer() {
  if (spare_.empty()) return Buffer(words_of(packet_bytes_ + guard_bytes));
  Buffer buffer = std::move(spare_.back());
  spare_.pop_back();
  return buffer;
}

void StreamCore::return_buffer(Buffer buffer) {
  if (buffer.size() == words_of(packet_bytes_ + guard_bytes) && spare_.size() < max_spare_buffers)
    spare_.push_back(std::move(buffer));
}

PairState::Ticket StreamCore::make_ticket(Slot slot) {
  if (free_tickets_.empty()) {
    slots_.push_back(std::move(slot));
    return static_cast<PairState::Ticket>(slots_.size() - 1);
  }
  const PairState::Ticket ticket = free_tickets_.back();
  free_tickets_.pop_back();
  slots_[ticket] = std::move(slot);
  return ticket;
}

/// Post the receives of packets that were taken in, in the order of the ring.
void StreamCore::post_receives() {
  for (; n_unposted_ > 0; --n_unposted_) {
    const std::size_t place = (first_ + receives_.size() - n_unposted_) % receives_.size();
    posted_[place] = take_buffer();
    mpi::check(MPI_Irecv(posted_[place].data(), mpi::as_count(words_of(packet_bytes_)), MPI_UINT64_T, MPI_ANY_SOURCE,
                         tags_.first, context_.comm(), &receives_[place]),
               "MPI_Irecv");
  }
}

bool StreamCore::take_in() {
  // Each MPI call makes progress, but may take in messages that only the next call reports, as in Open MPI.
  bool is_some = take_first() || take_first();
  if (is_some)
    for (std::size_t i = 1; i < receives_.size() && take_first(); ++i) continue;
  if (!awaited_.empty() && take_long()) is_some = true;
  return is_some;
}

bool StreamCore::take_first() {
  int done = 0;
  MPI_Status status;
  mpi::check(MPI_Test(&receives_[first_], &done, &status), "MPI_Test");
  if (done == 0) return false;
  Buffer buffer = std::move(posted_[first_]);
  first_ = (first_ + 1) % receives_.size();
  // An answer leaves first, with `flush`, which posts the next receive; unless too few are left.
  n_unposted_ += 1;
  if (2 * n_unposted_ >= receives_.size()) post_receives();
  take_packet(status.MPI_SOURCE, std::move(buffer));
  return true;
}

void StreamCore::take_packet(Rank from, Buffer buffer) {
  const PacketHeader header = header_of(buffer);
  const std::size_t place = place_of(from);
  Peer& peer = peers_[place];
  const std::uint32_t content = header.last & ((1U << n_content_bits) - 1);
  const auto n_drains = static_cast<std::uint32_t>(header.last >> n_content_bits);
  const bool is_long = content == announcement;
  const std::size_t n_bytes = header.payload_bytes;
  context_.counters().messages_received += 1;
  context_.counters().bytes_received += header_bytes + n_bytes;
  peer.state.take_acknowledged(header.count_or_next_bytes);
  reclaim(peer);
  while (!peer.waiting.empty() && peer.state.may_send()) {
    waiting_bytes_ -= peer.waiting.front().n_bytes;
    transmit(peer, std::exchange(peer.waiting.front(), {}));
    peer.waiting.pop_front();
  }
  if (content == farewell) peer.has_left = true;
  if (content == farewell || content == acknowledgement) return return_buffer(std::move(buffer));
  statistics_.packets_received += 1;
  statistics_.bytes_received += header_bytes + n_bytes;
  if (!is_long) {
    peer.state.arrive(make_ticket({std::move(buffer), header_bytes, n_bytes, header.kind, n_drains}), true);
    return put_readable(place);
  }
  return_buffer(std::move(buffer));
  const PairState::Ticket ticket = make_ticket({Buffer(words_of(n_bytes)), 0, n_bytes, header.kind, n_drains});
  peer.state.arrive(ticket, false);
  awaited_.push_back({place, ticket});
  long_receives_.push_back(MPI_REQUEST_NULL);
  mpi::check(MPI_Irecv(slots_[ticket].buffer.data(), mpi::as_count(words_of(n_bytes)), MPI_UINT64_T, from,
                       tags_.first + 1, context_.comm(), &long_receives_.back()),
             "MPI_Irecv");
}

/// Take in long messages that are complete.
bool StreamCore::take_long() {
  completed_.resize(long_receives_.size());
  int n = 0;
  mpi::check(MPI_Testsome(mpi::as_count(long_receives_.size()), long_receives_.data(), &n, completed_.data(),
                          MPI_STATUSES_IGNORE),
             "MPI_Testsome");
  if (n == MPI_UNDEFINED || n == 0) return false;
  std::sort(completed_.begin(), completed_.begin() + n, std::greater<>());
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)]);
    const Awaited one = awaited_[at];
    awaited_.erase(awaited_.begin() + completed_[i]);
    long_receives_.erase(long_receives_.begin() + completed_[i]);
    peers_[one.peer].state.arrive_late(one.ticket);
    put_readable(one.peer);
  }
  return true;
}

void StreamCore::put_readable(std::size_t place) {
  // A rank is at most one drain ahead, and only while this one is about to learn that it has ended.
  while (const std::optional<PairState::Ticket> ticket = peers_[place].state.next()) {
    if (slots_[*ticket].n_drains == n_drains_) {
      readable_.push_back({place, *ticket});
    } else {
      later_.push_back({place, *ticket});
    }
  }
}

void StreamCore::finish_read() {
  if (!in_reading_) return;
  const Readable read = *std::exchange(in_reading_, std::nullopt);
  Peer& peer = peers_[read.peer];
  return_buffer(std::move(slots_[read.ticket].buffer));
  free_tickets_.push_back(read.ticket);
  n_processed_ += 1;
  peer.state.finish();
  if (peer.rank == context_.rank()) {
    peer.state.take_acknowledged(peer.state.acknowledge());
  } else if (peer.state.must_acknowledge()) {
    send_header(peer, acknowledgement, 0);
  }
}

bool StreamCore::next(PacketStream::Packet& packet) {
  context_.check_thread("reads a stream");
  const bool has_read = in_reading_.has_value();
  finish_read();
  if (readable_.empty()) {
    // One packet at a time. After one was read an answer may wait to leave, so one call of MPI has to do.
    while (readable_.empty() && (take_first() || (!has_read && take_first()))) continue;
    if (!awaited_.empty()) (void)take_long();
    if (readable_.empty()) return false;
  }
  in_reading_ = readable_.front();
  readable_.pop_front();
  const Slot& slot = slots_[in_reading_->ticket];
  packet = {peers_[in_reading_->peer].rank, {slot.buffer.bytes() + slot.offset, slot.n_bytes}, slot.kind};
  return true;
}

void StreamCore::begin_drain() {
  if (std::exchange(is_draining_, true))
    throw Error(ErrorCode::usage, {.subject = "a stream",
                                   .cause = "is drained by a handler of its own",
                                   .remedy = "send messages from handlers, and return"});
  quiescence_.begin();
  idle_since_ = MPI_Wtime();
  next_warning_ = options_.stall_warning_seconds;
}

void StreamCore::end_drain() {
  is_draining_ = false;
  n_drains_ = (n_drains_ + 1) & drain_mask;
  readable_.assign(later_.begin(), later_.end());
  later_.clear();
}

bool StreamCore::is_quiet(bool has_failed) {
  flush();
  if (!readable_.empty()) return false;  // packets of this rank to itself
  if (take_in_all(open_rounds_)) {
    pause_.reset();
    n_idle_polls_ = 0;
    idle_since_ = MPI_Wtime();
    return false;
  }
  // not before that: a rank that waits for a moment begins no wave
  if (quiescence_.advance(n_created_, n_processed_, has_failed)) return true;
  pause_();
  if (++n_idle_polls_ % polls_per_look_at_the_clock == 0) warn_if_stalled();
  return false;
}

void StreamCore::warn_if_stalled() {
  const double seconds = MPI_Wtime() - idle_since_;
  if (seconds < next_warning_) return;
  next_warning_ *= 2;
  std::string ranks;
  for (const Peer& peer : peers_)
    if (peer.state.n_sent() != peer.state.n_acknowledged() && peer.rank != context_.rank() && ranks.size() < 60)
      ranks += fmt::format("{} {}", ranks.empty() ? "" : ",", peer.rank);
  context_.log().warning(fmt::format(
      "rank {} has been idle in a stream for {:.0f} s{}: other ranks compute, or have not called drain()",
      context_.rank(), seconds,
      ranks.empty() ? "" : fmt::format(", and has not heard that its last packets to ranks{} were read", ranks)));
}

std::uint64_t StreamCore::memory_bytes() const noexcept {
  std::uint64_t bytes = barrio::memory_bytes(ranks_) + barrio::memory_bytes(slots_) + table_.memory_bytes() +
                        peers_.size() * sizeof(Peer);
  for (const Buffer& buffer : posted_) bytes += 8 * buffer.size();
  for (const Buffer& buffer : spare_) bytes += 8 * buffer.size();
  for (const Slot& slot : slots_) bytes += 8 * slot.buffer.size();
  for (const Peer& peer : peers_) {
    bytes += 8 * peer.current.size();
    for (const Sealed& sealed : peer.waiting) bytes += 8 * sealed.buffer.size();
    for (const Sending& sending : peer.sending) bytes += 8 * sending.buffer.size();
  }
  return bytes;
}

}  // namespace barrio::exchange::detail
