#include "barrio/exchange/rounds/packet_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "barrio/base/abort.hpp"
#include "barrio/base/assert.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/rounds/misuse.hpp"
#include "barrio/exchange/rounds/open_rounds.hpp"
#include "barrio/exchange/rounds/packet.hpp"
#include "barrio/mpi/check.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/point_to_point.hpp"

namespace barrio::exchange::detail {
namespace {

// A rank is at most one round ahead of those it exchanges packets with, so two tags would keep rounds apart. More tags
// keep a packet from a non-neighbour from counting for a later round, in which its sender may be a neighbour.
constexpr int n_epoch_tags = 16;
constexpr int n_tags = 2 * n_epoch_tags;  // as many again for parcels of strangers
constexpr std::uint32_t polls_per_look_at_the_clock = 64;
// Rounds in which to look for ranks that wrongly list this one: after a change of neighbours, and now and then.
constexpr std::uint64_t n_rounds_with_check = 4;
constexpr std::uint64_t n_rounds_without_check = 64;

/// Explain a packet that is too long for its buffer. MPICH explains it itself, and ends the job.
void check_arrivals(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  if (error_class == MPI_ERR_TRUNCATE || error_class == MPI_ERR_IN_STATUS)
    throw Error(
        ErrorCode::usage,
        {.subject = "a round",
         .cause = "got a packet that is longer than this rank's packets",
         .remedy = "make the Neighborhood with the same packet_bytes on all ranks; validate() finds which differ"});
  mpi::check(code, call);
}

}  // namespace

PacketCore::PacketCore(mpi::Context& context, std::vector<Rank> neighbours, const PacketCoreOptions& options)
    : context_(context),
      neighbours_(std::move(neighbours)),
      options_(options),
      packet_bytes_(whole_packet(options.packet_bytes)),
      termination_(options.termination),
      ring_depth_(std::max<std::uint32_t>(options.ring_depth, 1)),
      tags_(context.take_tags(n_tags)),
      open_rounds_(open_rounds(context.comm())),
      n_open_rounds_(n_open_rounds()) {
  options_.first_packet = {whole_packet(options.first_packet.least), whole_packet(options.first_packet.most)};
  allocate_tables();
  termination_ = prepare(options_.termination);
  // A rank that fills a round may wait for one that already agrees on the outcome to take its packets in.
  context.set_idle_work([&rounds = open_rounds_] { take_in_all(rounds); });
}

Termination PacketCore::prepare(Termination wanted) {
  if (wanted == Termination::neighbourhood || wanted == Termination::introductions) return wanted;
  if (!agreement_.is_prepared()) agreement_.prepare(context_.comm());
  if (wanted != Termination::automatic) return wanted;
  if (!automatic_) {
    // With n ranks, two that are not neighbours have a common one if their degrees add up to n - 1 or more.
    const auto min_degree = mpi::min(context_, std::ssize(neighbours_));
    automatic_ = 2 * min_degree >= context_.size() - 1 ? Termination::consensus : Termination::automatic;
  }
  return *automatic_;
}

Termination PacketCore::termination() const noexcept {
  return options_.termination == Termination::automatic ? *automatic_ : options_.termination;
}

Likeness PacketCore::likeness() const noexcept {
  return {.epoch = epoch_,
          .packet_bytes = options_.packet_bytes,
          .first_packet_min = options_.first_packet.least,
          .first_packet_max = options_.first_packet.most,
          .first_tag = tags_.first,
          .termination = options_.termination};
}

void PacketCore::allocate_tables() {
  const std::size_t n = neighbours_.size();
  index_channels();
  retired_cursors_ = std::exchange(cursors_, std::vector<SendCursor>(n));
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
  n_send_requests_ = n * (1 + ring_depth_);
  n_fixed_requests_ = n_send_requests_ + n;
  requests_.assign(n_fixed_requests_, MPI_REQUEST_NULL);
}

PacketCore::~PacketCore() {
  if (active_) {
    std::erase(open_rounds_, this);
    n_open_rounds_ -= 1;
  }
  // MPI may still read the sends of the last round. A core destroyed during a round or an exception leaks its buffers:
  // neighbours may never take the messages in.
  if (active_ || std::uncaught_exceptions() > 0) {
    for (Sender& sender : senders_) new Buffer(std::move(sender.pass));
    for (Buffer& buffer : rings_) new Buffer(std::move(buffer));
    for (Receiver& receiver : receivers_) new Buffer(std::move(receiver.posted));
    outgoing_.leak();
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

int PacketCore::parcel_tag() const noexcept { return tag_ + n_epoch_tags; }

void PacketCore::Way::end_round(const PacketSize& size) noexcept {
  first_packet_bytes = size.after(first_packet_bytes, header_bytes + n_bytes);
}

void PacketCore::complete_sends() {
  mpi::Pause pause(context_.wait_policy());
  for (const std::span<MPI_Request> sends : {std::span(requests_), std::span(parcel_sends_)}) {
    for (int done = 0; !open_rounds_.empty() && done == 0;) {
      mpi::check(MPI_Testall(mpi::as_count(sends.size()), sends.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
      if (done == 0 && !take_in_all(open_rounds_, this)) pause();
    }
    mpi::wait_all(sends, context_.wait_policy());
  }
}

void PacketCore::set_neighbours(std::vector<Rank> neighbours) {
  if (active_) misuse("is open, and neighbours change between rounds", "read it to its end first");
  if (neighbours == neighbours_) return;
  complete_sends();
  // Rings and sizes go with their neighbours. One that leaves and returns between two rounds keeps its sizes: it may
  // not have noticed that it was gone.
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

std::vector<Rank> PacketCore::drop_idle(std::uint64_t n_rounds) {
  if (n_rounds == 0) misuse("that has just ended cannot be idle", "give drop_idle_neighbours() at least 1 round");
  std::vector<Rank> kept;
  std::vector<Rank> dropped;
  for (std::size_t channel = 0; channel < neighbours_.size(); ++channel)
    (receivers_[channel].n_idle_rounds < n_rounds ? kept : dropped).push_back(neighbours_[channel]);
  set_neighbours(std::move(kept));
  return dropped;
}

MessageKind PacketCore::begin(const MessageKind& kind, const RoundOptions& options) {
  context_.check_thread("begins a round");
  if (active_)
    misuse("was begun before the previous one was read to its end", "run one round at a time on a Neighborhood");
  const Termination wanted = options.termination.value_or(options_.termination);
  const bool is_first_of_all =
      !agreement_.is_prepared() && wanted != Termination::neighbourhood && wanted != Termination::introductions;
  if (is_first_of_all && std::ranges::any_of(open_rounds_, &Intake::holds_up))
    misuse("is the first in which all ranks take part, but was begun while another one is open",
           "begin it before, or make the Neighborhood with that termination");
  termination_ = prepare(wanted);
  is_size_chosen_ = options.packet_bytes != 0;
  packet_bytes_ = whole_packet(is_size_chosen_ ? options.packet_bytes : options_.packet_bytes);
  active_ = true;
  open_rounds_.push_back(this);
  n_open_rounds_ += 1;
  closed_ = false;
  kind_ = with_termination(kind, termination_);
  state_.begin(neighbours_, termination_ == Termination::introductions || escalates());
  writers_.clear();
  using Mode = Agreement::Mode;
  agreement_.begin_round(termination_ == Termination::consensus                  ? Mode::consensus
                         : termination_ == Termination::allreduce || escalates() ? Mode::allreduce
                                                                                 : Mode::none);
  tag_ = tags_.first + static_cast<int>(epoch_ % n_epoch_tags);
  last_heard_ = MPI_Wtime();
  next_warning_ = options_.stall_warning_seconds;
  former_.clear();
  for (std::size_t channel = 0; channel < neighbours_.size(); ++channel) {
    senders_[channel].begin_round();
    receivers_[channel].begin_round();
    post_receive(channel, first_packet_bytes(receivers_[channel]));
  }
  return kind_;
}

void PacketCore::warn_of_non_neighbours(int tag) {
  int found = 0;
  MPI_Status status;
  mpi::check(MPI_Iprobe(MPI_ANY_SOURCE, tag, context_.comm(), &found, &status), "MPI_Iprobe");
  if (found == 0 || find_channel(status.MPI_SOURCE)) return;
  if (std::ranges::find(warned_of_, status.MPI_SOURCE) != warned_of_.end()) return;
  warned_of_.push_back(status.MPI_SOURCE);
  context_.log().warning(fmt::format(
      "rank {0} lists rank {1}, which does not list it: rank {0} will wait for ever. Make the lists mutual; "
      "Neighborhood::validate() names such pairs",
      status.MPI_SOURCE, context_.rank()));
}

bool PacketCore::advance_agreement() {
  if (agreement_.is_reached()) return false;
  // Before the round is over a neighbour may still announce the parcel.
  if (escalates() && !state_.is_over()) return false;
  if (std::optional<Arrived> parcel = take_unannounced(MPI_ANY_SOURCE)) {
    if (header_of(parcel->buffer).count_or_next_bytes != epoch_) return true;  // lost in an earlier round
    count_received(detail::packet_bytes(header_of(parcel->buffer)));
    statistics_.parcels_received += 1;
    writers_.push_back(parcel->from);
    arrived_.push_back(std::move(*parcel));
    return true;
  }
  if (!closed_) return false;  // until then the number of parcels sent is unknown
  const std::uint64_t n_calls = agreement_.n_calls();
  const std::size_t n_sent = escalates() ? state_.unreachable().size() : outgoing_.size();
  const bool is_news = agreement_.advance(parcel_sends_, n_sent, writers_.size(), may_block() && state_.is_over());
  context_.counters().collectives += agreement_.n_calls() - n_calls;
  statistics_.collectives = agreement_.n_calls();
  return is_news;
}

bool PacketCore::is_complete() const noexcept { return state_.is_over() && agreement_.is_reached(); }

bool PacketCore::take_some(int n_looks) {
  may_be_more_ = false;
  completed_.resize(requests_.size());
  const std::span<MPI_Request> watched = std::span(requests_).subspan(n_send_requests_);
  int n = 0;
  for (int i = 0; i < n_looks && n == 0; ++i)
    check_arrivals(
        MPI_Testsome(mpi::as_count(watched.size()), watched.data(), &n, completed_.data(), MPI_STATUSES_IGNORE),
        "MPI_Testsome");
  return take_completed(n, n_send_requests_);
}

bool PacketCore::wait_for_some(bool watches_sends) {
  completed_.resize(requests_.size());
  const std::size_t first = watches_sends ? 0 : n_send_requests_;
  const std::span<MPI_Request> watched = std::span(requests_).subspan(first);
  int n = 0;
  check_arrivals(
      MPI_Waitsome(mpi::as_count(watched.size()), watched.data(), &n, completed_.data(), MPI_STATUSES_IGNORE),
      "MPI_Waitsome");
  return take_completed(n, first);
}

bool PacketCore::take_completed(int n, std::size_t first) {
  if (n == MPI_UNDEFINED || n == 0) return false;
  for (int i = 0; i < n; ++i) {
    const auto request = first + static_cast<std::size_t>(completed_[i]);
    if (request >= n_fixed_requests_) {
      take_parcel(request - n_fixed_requests_);
    } else if (request >= n_send_requests_) {
      take_packet(request - n_send_requests_);
    }
  }
  return true;
}

bool PacketCore::look() {
  // Each MPI call makes progress, but may take in messages that only the next call reports, as in Open MPI. So look
  // twice; the agreement's calls are one of the two.
  const bool agrees = !agreement_.is_reached() && (!escalates() || state_.is_over());
  if (advance_agreement()) return true;
  if (may_be_more_ && !state_.is_over() && take_some(agrees ? 1 : 2)) return true;
  return take_in_all(open_rounds_, this);
}

bool PacketCore::may_block() const noexcept {
  return context_.wait_policy().kind == mpi::WaitPolicy::Kind::block && open_rounds_.size() == 1;
}

void PacketCore::progress(bool watches_sends, mpi::Pause& pause) {
  const bool blocks = may_block() && (!agreement_.is_needed() || !state_.is_over());
  if (blocks ? wait_for_some(watches_sends) || advance_agreement() || take_in_all(open_rounds_, this) : look()) {
    pause.reset();
    n_idle_polls_ = 0;
    return;
  }
  pause();
  may_be_more_ = true;
  if (++n_idle_polls_ % polls_per_look_at_the_clock == 0) {
    const double seconds = MPI_Wtime() - last_heard_;
    if (seconds > next_warning_) warn_of_stall(seconds);
    if (options_.stall_limit_seconds > 0 && seconds > options_.stall_limit_seconds)
      abort_job(ErrorCode::failed,
                describe_stall(seconds) +
                    "; the limit of this neighbourhood ends the job (NeighborhoodOptions::stall_limit_seconds)");
  }
}

void PacketCore::warn_of_stall(double seconds) {
  next_warning_ *= 2;
  context_.log().warning(describe_stall(seconds));
}

std::string PacketCore::likely_cause() {
  const int n_elsewhere = n_open_rounds_ - static_cast<int>(open_rounds_.size());
  std::string causes;
  for (std::size_t channel = 0; channel < neighbours_.size() && causes.empty(); ++channel) {
    if (receive_request(channel) == MPI_REQUEST_NULL) continue;
    int found = 0;
    MPI_Status status;
    mpi::check(MPI_Iprobe(neighbours_[channel], MPI_ANY_TAG, context_.comm(), &found, &status), "MPI_Iprobe");
    if (found == 0) continue;
    const bool is_of_another = status.MPI_TAG < tags_.first || status.MPI_TAG >= tags_.first + n_tags;
    causes = fmt::format(
        "; rank {} has sent a message of {}: {}", neighbours_[channel],
        is_of_another ? "another Neighborhood or plan" : "another round",
        is_of_another ? "perhaps they were not made in the same order on all ranks" : "perhaps it left one out");
  }
  if (n_elsewhere > 0)
    causes +=
        "; a round of another Context is open on this rank, and others may wait in that one, which takes in no "
        "messages of this one";
  return causes;
}

std::string PacketCore::describe_stall(double seconds) {
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
  if (n == 0) edges = " room in its send buffers, or for announced parcels";
  return fmt::format("rank {} waits for{}: round {} of its neighbourhood, last heard {:.1f} s ago{}{}", context_.rank(),
                     edges, epoch_, seconds, closed_ ? "" : "; this rank has not closed the round yet", likely_cause());
}

void PacketCore::release_read() {
  if (!in_reading_) return;
  recycle(*in_reading_);
  in_reading_.reset();
}

std::optional<PacketRound::Packet> PacketCore::next_packet() {
  if (!active_) return {};
  context_.check_thread("reads a round");
  if (!closed_) misuse("is read before it was closed", "call close() first; poll() reads meanwhile");
  release_read();
  mpi::Pause pause(context_.wait_policy());
  while ((arrived_.empty() || options_.is_by_rank) && !is_complete()) progress(false, pause);
  if (arrived_.empty()) {
    end_round();
    return {};
  }
  return hand_out();
}

std::optional<PacketRound::Packet> PacketCore::poll() {
  if (!active_) return {};
  context_.check_thread("reads a round");
  release_read();
  may_be_more_ = true;
  if (arrived_.empty() || options_.is_by_rank) (void)look();
  if (arrived_.empty() || (options_.is_by_rank && !(closed_ && is_complete()))) return {};
  return hand_out();
}

std::optional<PacketRound::Packet> PacketCore::hand_out() {
  if (options_.is_by_rank && n_read_ == 0) std::ranges::stable_sort(arrived_, {}, &Arrived::from);
  in_reading_ = std::move(arrived_[n_read_++]);
  if (n_read_ == arrived_.size()) {
    arrived_.clear();
    n_read_ = 0;
  }
  const Buffer& buffer = in_reading_->buffer;
  const PacketHeader header = header_of(buffer);
  return PacketRound::Packet{in_reading_->from, {buffer.bytes() + header_bytes, header.payload_bytes}, header.kind};
}

void PacketCore::cancel() {
  if (!active_) return;
  if (!closed_) {
    discard_unsent();
    close();
  }
  try {
    while (next_packet()) continue;
  } catch (const Error&) {
    if (active_) throw;  // else it reports lost parcels, and the round is over
  }
}

void PacketCore::discard_unsent() {
  kind_.call = RoundCall::cancelled;
  for (std::size_t channel = 0; channel < neighbours_.size(); ++channel) {
    if (cursors_[channel].at == nullptr) continue;
    cursors_[channel].at = ring_buffer(channel, senders_[channel].current).bytes() + header_bytes;
    cursors_[channel].run = nullptr;
    (void)take_place(channel, 0);
  }
  outgoing_.discard();
}

void PacketCore::end_round() {
  active_ = false;
  std::erase(open_rounds_, this);
  n_open_rounds_ -= 1;
  for (std::size_t channel = 0; channel < neighbours_.size(); ++channel) {
    const bool is_idle = senders_[channel].n_bytes == 0 && receivers_[channel].n_bytes == 0;
    receivers_[channel].n_idle_rounds = is_idle ? receivers_[channel].n_idle_rounds + 1 : 0;
    senders_[channel].end_round(options_.first_packet);
    if (senders_[channel].has_large_buffers) [[unlikely]]
      release_large_buffers(channel);
    receivers_[channel].end_round(options_.first_packet);
  }
  if (n_rounds_of_list_++ < n_rounds_with_check || epoch_ % n_rounds_without_check == 0) warn_of_non_neighbours(tag_);
  epoch_ += 1;
  statistics_.rounds += 1;
  if (termination_ != Termination::neighbourhood) end_meeting();
}

void PacketCore::end_meeting() {
  const std::vector<Rank> lost = agreement_.is_needed() ? std::vector<Rank>() : state_.unreachable();
  std::vector<Rank> all(neighbours_);
  if (agreement_.is_needed()) {
    for (const OutgoingParcels::Parcel& parcel : outgoing_.all()) all.push_back(parcel.to);
    all.insert(all.end(), writers_.begin(), writers_.end());
  }
  if (state_.introduces()) {
    const std::vector<Rank> discovered = state_.discovered();
    all.insert(all.end(), discovered.begin(), discovered.end());
  }
  if (!outgoing_.empty() || !incoming_.empty()) {
    for (std::size_t i = 0; !lost.empty() && i < outgoing_.size(); ++i) {
      MPI_Request& request = parcel_sends_[i];
      if (std::ranges::binary_search(lost, outgoing_.all()[i].to) && request != MPI_REQUEST_NULL)
        mpi::check(MPI_Request_free(&request), "MPI_Request_free");  // it may never complete
    }
    complete_sends();
    parcel_sends_.clear();
    requests_.resize(n_fixed_requests_);
    outgoing_.end_round(parcel_tag(), lost);
    incoming_.clear();
  }
  if (options_.keeps_discovered) {
    sort_unique(all);
    set_neighbours(std::move(all));
  }
  if (!lost.empty())
    throw Error(ErrorCode::usage,
                {.subject = fmt::format("rank {}", lost.front()),
                 .cause = fmt::format("is not a neighbour of a neighbour of rank {}", context_.rank()),
                 .remedy = "introductions reach two hops; name farther ranks as neighbours, or let "
                           "the round end by automatic, consensus or allreduce"});
}

std::uint64_t PacketCore::memory_bytes() const noexcept {
  std::uint64_t bytes = barrio::memory_bytes(neighbours_) + barrio::memory_bytes(requests_) +
                        barrio::memory_bytes(parcel_sends_) + outgoing_.memory_bytes() + channels().memory_bytes();
  for (const Arrived& parcel : incoming_) bytes += 8 * parcel.buffer.size();
  for (const Arrived& packet : arrived_) bytes += 8 * packet.buffer.size();
  for (const Buffer& buffer : rings_) bytes += 8 * buffer.size();
  for (const Sender& sender : senders_) bytes += 8 * sender.pass.size();
  for (const Receiver& receiver : receivers_) bytes += 8 * (receiver.posted.size() + receiver.spare.size());
  for (const std::vector<Buffer>& more : more_spares_)
    for (const Buffer& buffer : more) bytes += 8 * buffer.size();
  return bytes;
}

}  // namespace barrio::exchange::detail
