#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "barrio/exchange/packet_round.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::exchange::detail {

/// Run the packet protocol of a Neighborhood: send rings, posted receives, end of a round by counts.
class PacketCore {
 public:
  PacketCore(mpi::Context& context, std::vector<Rank> neighbours, std::uint32_t packet_bytes, std::uint32_t ring_depth);
  PacketCore(const PacketCore&) = delete;
  PacketCore& operator=(const PacketCore&) = delete;
  ~PacketCore();

  void begin();
  std::byte* allocate(std::size_t channel, std::size_t n_bytes);
  void close();
  std::optional<PacketRound::Packet> next_packet();

  [[nodiscard]] bool is_over() const noexcept { return !active_; }
  [[nodiscard]] std::size_t channel_of(Rank neighbour) const;
  [[nodiscard]] std::span<const Rank> neighbours() const noexcept { return neighbours_; }
  [[nodiscard]] mpi::Context& context() const noexcept { return context_; }
  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  using Buffer = std::vector<std::uint64_t>;  // 8-byte aligned

  struct Sender {
    std::vector<Buffer> ring;     // ring_depth buffers, made when first needed
    std::size_t current = 0;      // place in the ring that is being written
    std::size_t used_bytes = 0;   // header included
    std::uint64_t n_packets = 0;  // sent in this round
  };
  struct Receiver {
    Buffer posted;
    std::size_t posted_bytes = 0;
    std::uint64_t n_packets = 0;  // received in this round
    bool is_done = false;
  };
  struct Arrived {
    std::size_t channel;
    Buffer buffer;
  };

  [[nodiscard]] MPI_Request& receive_request(std::size_t channel) { return requests_[channel]; }
  [[nodiscard]] MPI_Request& send_request(std::size_t channel, std::size_t place) {
    return requests_[neighbours_.size() * (1 + place) + channel];
  }
  void post_receive(std::size_t channel, std::size_t n_bytes);
  void flush(std::size_t channel, bool is_last, std::uint64_t next_bytes);
  void wait_for_buffer(std::size_t channel);
  /// Take in what has arrived, in this round and, if that is nothing, in the other open ones; pause if nothing has.
  /// @param n_watched  requests to look at: receives only, or sends too
  void progress(std::size_t n_watched, mpi::Pause& pause);
  /// @return false if nothing has arrived. @param blocks  wait until something has
  bool take_some(std::size_t n_watched, bool blocks);
  /// Take in what has arrived in the other open rounds. @return false if nothing has
  bool take_some_elsewhere();
  void take_packet(std::size_t channel);
  Buffer spare_buffer(std::size_t n_bytes);

  mpi::Context& context_;
  std::vector<Rank> neighbours_;
  std::size_t packet_bytes_;
  std::size_t ring_depth_;
  mpi::TagBlock tags_;
  std::vector<PacketCore*>& open_rounds_;
  std::uint64_t epoch_ = 0;
  int tag_ = 0;
  bool active_ = false;
  bool closed_ = false;
  std::size_t n_done_ = 0;
  std::vector<Sender> senders_;
  std::vector<Receiver> receivers_;
  std::vector<MPI_Request> requests_;  // one receive per channel, then ring_depth sends per channel
  std::vector<int> completed_;
  std::deque<Arrived> arrived_;
  std::optional<Buffer> in_reading_;
  std::vector<Buffer> spares_;
};

}  // namespace barrio::exchange::detail
