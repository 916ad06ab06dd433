#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "barrio/exchange/detail/round_state.hpp"
#include "barrio/exchange/packet_round.hpp"
#include "barrio/exchange/termination.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::exchange::detail {

struct PacketCoreOptions {
  std::uint32_t packet_bytes;
  std::uint32_t ring_depth;
  Termination termination;
  bool keeps_discovered;
  double stall_warning_seconds;
};

/// Run the packet protocol of a Neighborhood: send rings, posted receives, end of a round by `RoundState`.
class PacketCore {
 public:
  PacketCore(mpi::Context& context, std::vector<Rank> neighbours, const PacketCoreOptions& options);
  PacketCore(const PacketCore&) = delete;
  PacketCore& operator=(const PacketCore&) = delete;
  ~PacketCore();

  void begin();
  /// What `PacketRound::allocate` does when there is no room left in the buffer. @return the place of the message
  std::byte* make_room(std::size_t channel, std::size_t n_bytes);
  /// Room for a message to this rank itself or to a rank that is not a neighbour.
  std::byte* allocate_elsewhere(Rank to, std::size_t n_bytes);
  void close();
  std::optional<PacketRound::Packet> next_packet();
  /// Between rounds. @param neighbours  ascending, checked
  void set_neighbours(std::vector<Rank> neighbours);

  [[nodiscard]] SendCursor* cursors() noexcept { return cursors_.data(); }
  [[nodiscard]] bool is_over() const noexcept { return !active_; }
  [[nodiscard]] std::optional<std::size_t> find_channel(Rank neighbour) const noexcept;
  [[nodiscard]] std::span<const Rank> neighbours() const noexcept { return neighbours_; }
  [[nodiscard]] mpi::Context& context() const noexcept { return context_; }
  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  using Buffer = std::vector<std::uint64_t>;  // 8-byte aligned

  struct Sender {
    std::vector<Buffer> ring;     // ring_depth buffers, made when first needed
    std::size_t current = 0;      // place in the ring that is being written
    std::uint64_t n_packets = 0;  // sent in this round
    Buffer pass;                  // the second wave
  };
  struct Receiver {
    Buffer posted;
    std::uint64_t n_packets = 0;  // received in this round
  };
  struct Parcel {  // all messages to one stranger, or to this rank itself
    Rank to;
    Buffer buffer;
    std::size_t used_bytes;
  };
  struct Arrived {
    Rank from;
    Buffer buffer;
  };

  void allocate_tables();
  [[nodiscard]] MPI_Request& receive_request(std::size_t channel) { return requests_[channel]; }
  [[nodiscard]] MPI_Request& send_request(std::size_t channel, std::size_t place) {
    return requests_[neighbours_.size() * (1 + place) + channel];
  }
  [[nodiscard]] MPI_Request& pass_request(std::size_t channel) { return send_request(channel, ring_depth_); }
  [[nodiscard]] std::size_t used_bytes(std::size_t channel) const noexcept;
  void post_receive(std::size_t channel, std::size_t n_bytes);
  void send(const Buffer& buffer, std::size_t n_bytes, Rank to, MPI_Request& request);
  void send_parcel(const Parcel& parcel, MPI_Request& request);
  void flush(std::size_t channel, std::uint64_t next_bytes);
  void flush_last(std::size_t channel, std::span<const Introduction> strangers);
  void wait_for_buffer(std::size_t channel);
  void wait_for_send(std::size_t request);
  void send_passes();
  void complete_sends();
  void end_round();
  /// Take in what has arrived, in this round and, if that is nothing, in the other open ones; pause if nothing has.
  /// @param n_watched  requests to look at: receives only, or sends too
  void progress(std::size_t n_watched, mpi::Pause& pause);
  /// @return false if nothing has arrived. @param blocks  wait until something has
  bool take_some(std::size_t n_watched, bool blocks);
  /// Take in what has arrived in the other open rounds. @return false if nothing has
  bool take_some_elsewhere();
  void take_packet(std::size_t channel);
  void take_pass(std::size_t channel);
  void take_parcel(std::size_t place);
  [[nodiscard]] bool is_collective() const noexcept { return bool(agreement_comm_); }
  /// Take in what strangers have sent without being announced, and bring the agreement on its way.
  /// @return false if nothing has happened
  bool advance_agreement();
  bool take_unannounced();
  void begin_agreement();
  [[nodiscard]] bool is_complete() const noexcept;
  [[nodiscard]] std::size_t n_watched() const noexcept;
  void warn_of_stall(double seconds);
  Buffer spare_buffer(std::size_t n_bytes);

  mpi::Context& context_;
  std::vector<Rank> neighbours_;
  PacketCoreOptions options_;
  std::size_t packet_bytes_;
  std::size_t ring_depth_;
  mpi::TagBlock tags_;
  std::vector<PacketCore*>& open_rounds_;
  std::uint64_t epoch_ = 0;
  int tag_ = 0;
  bool active_ = false;
  bool closed_ = false;
  RoundState state_;
  std::vector<SendCursor> cursors_;
  std::vector<Sender> senders_;
  std::vector<Receiver> receivers_;
  // One receive a channel; ring_depth sends and one of the second wave a channel; then parcels to and from strangers.
  std::vector<MPI_Request> requests_;
  std::size_t n_fixed_requests_ = 0;
  std::vector<int> completed_;
  std::vector<Parcel> outgoing_;   // ascending
  std::vector<Arrived> incoming_;  // parcels that were announced; their requests are the last ones
  std::deque<Arrived> arrived_;
  std::optional<Buffer> in_reading_;
  std::vector<Buffer> spares_;
  // Of Termination::consensus and allreduce: what says that all parcels of all ranks have arrived.
  enum class Agreement { not_begun, under_way, reached };
  mpi::Comm agreement_comm_;
  MPI_Request agreement_request_ = MPI_REQUEST_NULL;
  Agreement agreement_ = Agreement::reached;
  std::array<std::uint64_t, 2> parcels_{};  // sent and received, over all ranks
  std::vector<Rank> writers_;               // strangers that have written in this round

  double last_heard_ = 0.0;    // MPI_Wtime
  double next_warning_ = 0.0;  // seconds of silence
  std::uint32_t n_idle_polls_ = 0;
};

}  // namespace barrio::exchange::detail
