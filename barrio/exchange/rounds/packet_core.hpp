#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "barrio/exchange/detail/buffer.hpp"
#include "barrio/exchange/options.hpp"
#include "barrio/exchange/rounds/agreement.hpp"
#include "barrio/exchange/rounds/open_rounds.hpp"
#include "barrio/exchange/rounds/outgoing_parcels.hpp"
#include "barrio/exchange/rounds/packet_size.hpp"
#include "barrio/exchange/rounds/round_core.hpp"
#include "barrio/exchange/rounds/round_state.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::exchange::detail {

struct PacketCoreOptions {
  std::uint32_t packet_bytes;  // of a full packet
  PacketSize first_packet;
  std::uint32_t ring_depth;
  Termination termination;
  bool keeps_discovered;
  bool is_by_rank;
  double stall_warning_seconds;
  double stall_limit_seconds;  // 0: none
};

/// Packet protocol of a Neighborhood: send rings, posted receives, end of a round by `RoundState`.
class PacketCore final : public RoundCore, public Intake {
 public:
  PacketCore(mpi::Context& context, std::vector<Rank> neighbours, const PacketCoreOptions& options);
  ~PacketCore() override;

  MessageKind begin(const MessageKind& kind, const RoundOptions& options) override;
  /// Reserve room for a message, as `PacketRound::allocate`.
  std::byte* allocate(std::size_t channel, std::size_t n_bytes) {
    SendCursor& cursor = cursors_[channel];
    if (static_cast<std::size_t>(cursor.end - cursor.at) < n_bytes) return make_room(channel, n_bytes);
    return std::exchange(cursor.at, cursor.at + n_bytes);
  }
  std::byte* make_room(std::size_t channel, std::size_t n_bytes) override;
  std::byte* allocate_elsewhere(Rank to, std::size_t n_bytes) override;
  void close() override;
  std::optional<PacketRound::Packet> next_packet() override;
  std::optional<PacketRound::Packet> poll() override;
  void cancel() override;
  /// Discard messages that have not left; neighbours learn that the round is cancelled. @pre open, not closed
  void discard_unsent();
  std::vector<Rank> drop_idle(std::uint64_t n_rounds) override;
  void set_neighbours(std::vector<Rank> neighbours) override;

  [[nodiscard]] SendCursor* cursors() noexcept override { return cursors_.data(); }
  [[nodiscard]] bool is_over() const noexcept override { return !active_; }
  [[nodiscard]] std::span<const Rank> neighbours() const noexcept override { return neighbours_; }
  [[nodiscard]] mpi::Context& context() const noexcept override { return context_; }
  [[nodiscard]] Termination termination() const noexcept override;
  [[nodiscard]] Routing routing() const noexcept override { return Routing::direct; }
  [[nodiscard]] std::uint64_t epoch() const noexcept override { return epoch_; }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept override;
  [[nodiscard]] const RoundStatistics& statistics() const noexcept override { return statistics_; }
  [[nodiscard]] Likeness likeness() const noexcept override;

  bool take_in() override { return take_some(2) || advance_agreement(); }

 private:
  /// Traffic in one direction between two neighbours.
  struct Way {
    std::uint64_t n_packets = 0;         // in this round
    std::uint64_t n_bytes = 0;           // in this round
    std::size_t first_packet_bytes = 0;  // limit in this round
    void begin_round() noexcept { n_packets = n_bytes = 0; }
    void end_round(const PacketSize& size) noexcept;
  };
  // One cache line each holds the data of a neighbour that a short round touches.
  struct alignas(64) Sender : Way {
    std::byte* end = nullptr;            // of the buffer that is being written
    std::uint32_t current = 0;           // its place in the ring
    bool has_large_buffers = false;      // in the ring
    bool has_sent_large = false;         // in this round
    std::size_t n_unexpected_bytes = 0;  // sent since the last synchronous packet, at most
    Buffer pass;                         // the second wave
  };
  static_assert(sizeof(Sender) == 64);
  struct alignas(64) Receiver : Way {
    Buffer posted;
    Buffer spare;
    std::uint32_t n_more_spares = 0;
    std::uint32_t n_idle_rounds = 0;  // since the last message either way
  };
  // A second wave without lines fits with room to spare; a longer one is announced.
  static constexpr std::size_t pass_bytes = 256;
  struct FormerNeighbour {
    Rank rank;
    std::size_t out_bytes;
    std::size_t in_bytes;
  };
  struct Arrived {
    Rank from;
    Buffer buffer;
    std::size_t channel = no_channel;
  };
  static constexpr std::size_t no_channel = SIZE_MAX;

  void allocate_tables();
  /// Prepare for rounds with this termination. Collective the first time, where all ranks take part in such rounds.
  /// @return the one to use; `automatic` means introductions followed by a reduction
  Termination prepare(Termination wanted);
  /// Tell whether reductions count the parcels that introductions do not reach.
  [[nodiscard]] bool escalates() const noexcept { return termination_ == Termination::automatic; }
  [[nodiscard]] MPI_Request& receive_request(std::size_t channel) { return requests_[n_send_requests_ + channel]; }
  [[nodiscard]] std::size_t send_place(std::size_t channel, std::size_t place) const noexcept {
    return neighbours_.size() * place + channel;
  }
  [[nodiscard]] MPI_Request& send_request(std::size_t channel, std::size_t place) {
    return requests_[send_place(channel, place)];
  }
  /// Return a send buffer: ring_depth of them per channel, each made when first needed.
  [[nodiscard]] Buffer& ring_buffer(std::size_t channel, std::size_t place) {
    return rings_[neighbours_.size() * place + channel];
  }
  [[nodiscard]] MPI_Request& pass_request(std::size_t channel) { return send_request(channel, ring_depth_); }
  [[nodiscard]] std::size_t used_bytes(std::size_t channel) noexcept;
  [[nodiscard]] Buffer take_spare(std::size_t channel, std::size_t n_words);
  void post_receive(std::size_t channel, std::size_t n_bytes);
  /// Send a buffer. It is counted in words, so one message may have 16 GiB.
  void send(const Buffer& buffer, std::size_t n_bytes, Rank to, int tag, MPI_Request& request,
            bool is_synchronous = false);
  void flush(std::size_t channel, std::uint64_t next_bytes);
  /// Send the buffer that is being written, of which `n_bytes` are used.
  void send_current(std::size_t channel, const PacketHeader& header, std::size_t n_bytes, bool is_synchronous);
  void flush_last(std::size_t channel, std::span<const Introduction> strangers);
  /// Prepare the next buffer of the ring for a packet of at most `n_bytes`.
  void wait_for_buffer(std::size_t channel, std::size_t n_bytes);
  /// Hand out the next bytes of the buffer that is being written.
  [[nodiscard]] std::byte* take_place(std::size_t channel, std::size_t n_bytes);
  /// Return the maximum bytes of the first packet of this round on a way.
  [[nodiscard]] std::size_t first_packet_bytes(const Way& way) const noexcept {
    return is_size_chosen_ ? packet_bytes_ : way.first_packet_bytes;
  }
  /// Return the maximum bytes of the next packet to a neighbour.
  [[nodiscard]] std::size_t next_packet_bytes(const Sender& sender) const noexcept {
    return sender.n_packets == 0 ? first_packet_bytes(sender) : packet_bytes_;
  }
  [[nodiscard]] bool is_free(std::size_t channel, std::size_t place);
  void wait_for_send(std::size_t request);
  [[nodiscard]] int parcel_tag() const noexcept;
  void send_passes();
  void complete_sends();
  void end_round();
  /// Free the buffers of large messages, if the last round had none.
  void release_large_buffers(std::size_t channel);
  /// Return the size above which a buffer is kept only as long as each round needs a similar one.
  [[nodiscard]] std::size_t max_kept_bytes() const noexcept {
    return std::max(packet_bytes_, options_.first_packet.most) + 64;
  }
  /// Take in messages of this round or, if none has arrived, of the other open ones; pause if there are none at all.
  /// @param watches_sends  if it sleeps in MPI, also wake when a send is done
  void progress(bool watches_sends, mpi::Pause& pause);
  /// Look once for all kinds of messages. @return false if none has arrived
  bool look();
  /// Take in packets and announced parcels. @param n_looks  maximum number of MPI calls, until one finds something
  bool take_some(int n_looks);
  /// Sleep until a packet or an announced parcel arrives, and take it in. @return false if none is awaited
  bool wait_for_some(bool watches_sends);
  bool take_completed(int n, std::size_t first);
  void take_packet(std::size_t channel);
  void take_pass(std::size_t channel);
  void take_parcel(std::size_t place);
  /// Take in unannounced parcels of strangers, and advance the agreement.
  /// @return false if nothing has happened
  bool advance_agreement();
  /// Take in one unannounced parcel, if there is one. @param from  a rank, or MPI_ANY_SOURCE
  std::optional<Arrived> take_unannounced(Rank from);
  /// Discard parcels of a rank that were lost in earlier rounds.
  void discard(Rank from, std::size_t n_parcels);
  /// Complete parcels, and make the ranks that were met neighbours. @throws Error{usage} if a parcel was lost
  void end_meeting();
  [[nodiscard]] bool is_complete() const noexcept;
  /// Tell whether ranks sleep in MPI, and no other round is open in which others may wait for this rank.
  [[nodiscard]] bool may_block() const noexcept;
  /// Hand out the next received packet. @pre there is one
  [[nodiscard]] std::optional<PacketRound::Packet> hand_out();
  void release_read();
  void warn_of_stall(double seconds);
  /// Describe likely causes: "; rank 3 has sent a message of another round ..."
  [[nodiscard]] std::string likely_cause();
  /// Describe the messages that this rank waits for, since when, and likely causes.
  [[nodiscard]] std::string describe_stall(double seconds);
  /// Return the buffer that was read to its channel.
  void recycle(Arrived& read);
  /// Warn of a rank that wrongly lists this one: one that has sent it a packet of this tag.
  void warn_of_non_neighbours(int tag);
  void count_received(std::size_t n_bytes) noexcept;

  mpi::Context& context_;
  std::vector<Rank> neighbours_;
  PacketCoreOptions options_;
  std::size_t packet_bytes_;              // in this round
  bool is_size_chosen_ = false;           // for this round
  Termination termination_;               // of this round
  std::optional<Termination> automatic_;  // its meaning, once known
  std::uint32_t ring_depth_;
  mpi::TagBlock tags_;
  std::vector<Intake*>& open_rounds_;
  int& n_open_rounds_;  // of all Contexts
  std::uint64_t epoch_ = 0;
  int tag_ = 0;
  bool active_ = false;
  bool closed_ = false;
  MessageKind kind_{};
  RoundState state_;
  std::vector<SendCursor> cursors_;
  std::vector<SendCursor> retired_cursors_;  // of the previous neighbours: for channels that outlive their round
  std::vector<Sender> senders_;
  std::vector<Receiver> receivers_;
  std::vector<Buffer> rings_;
  std::vector<std::vector<Buffer>> more_spares_;  // of long rounds
  // Per channel ring_depth sends and one of the second wave; then per channel one receive; then parcels of strangers.
  std::vector<MPI_Request> requests_;
  std::size_t n_send_requests_ = 0;
  std::size_t n_fixed_requests_ = 0;
  std::vector<MPI_Request> parcel_sends_;
  bool may_be_more_ = false;  // since the last look messages were posted, or time has passed
  std::vector<int> completed_;
  std::vector<std::size_t> early_passes_;  // channels whose second wave came before the round was closed
  OutgoingParcels outgoing_;
  std::vector<Arrived> incoming_;  // announced parcels; their requests are the last ones
  std::vector<Arrived> arrived_;   // in order of arrival; unread from n_read_ on
  std::size_t n_read_ = 0;
  std::optional<Arrived> in_reading_;
  std::vector<FormerNeighbour> former_;  // left since the last round; may return before the next one
  std::uint64_t n_rounds_of_list_ = 0;   // since the neighbours changed
  std::vector<Rank> warned_of_;
  RoundStatistics statistics_;
  Agreement agreement_;
  std::vector<Rank> writers_;  // strangers that have written in this round

  double last_heard_ = 0.0;    // MPI_Wtime
  double next_warning_ = 0.0;  // seconds of silence
  std::uint32_t n_idle_polls_ = 0;
};

}  // namespace barrio::exchange::detail
