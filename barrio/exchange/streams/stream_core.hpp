#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "barrio/exchange/detail/buffer.hpp"
#include "barrio/exchange/detail/rank_table.hpp"
#include "barrio/exchange/packet_round.hpp"
#include "barrio/exchange/quiescence.hpp"
#include "barrio/exchange/rounds/open_rounds.hpp"
#include "barrio/exchange/stream.hpp"
#include "barrio/exchange/streams/pair_state.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::exchange::detail {

/// Check that all ranks have packets of one size: a longer one would not fit into the receives. Collective.
/// @throws AgreedError{usage}
void check_alike(mpi::Context& context, std::size_t packet_bytes);

/// Packets of a stream. Receives from any rank are posted in a ring and read in the order of posting, which keeps the
/// packets of one rank in order without a probe.
class StreamCore final : public Intake {
 public:
  StreamCore(mpi::Context& context, const MessageKind& kind, const StreamOptions& options);
  ~StreamCore();
  StreamCore(const StreamCore&) = delete;
  StreamCore& operator=(const StreamCore&) = delete;

  [[nodiscard]] SendCursor& cursor_of(Rank to);
  std::byte* make_room(Rank to, std::size_t n_bytes);
  void flush();
  /// End the reading of the packet that `next` has returned last, and find the next one.
  /// @return false if none has arrived
  bool next(PacketStream::Packet& packet);
  bool take_in() override;
  [[nodiscard]] bool holds_up() const noexcept override { return is_draining_; }

  void begin_drain();
  /// Tell whether all ranks are done; pause if not. @pre `next()` has returned nothing
  [[nodiscard]] bool is_quiet(bool has_failed);
  void end_drain();
  [[nodiscard]] bool has_failed() const noexcept { return quiescence_.has_failed(); }

  [[nodiscard]] std::uint64_t waiting_bytes() const noexcept { return waiting_bytes_; }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
  [[nodiscard]] const StreamStatistics& statistics() const noexcept { return statistics_; }
  [[nodiscard]] std::uint64_t n_waves() const noexcept { return quiescence_.n_waves(); }
  [[nodiscard]] mpi::Context& context() const noexcept { return context_; }
  [[nodiscard]] const MessageKind& kind() const noexcept { return kind_; }

 private:
  /// Meaning of a message: the lowest bits of `PacketHeader::last`. Above them is the number of drains that the sender
  /// has ended.
  enum Content : std::uint8_t {
    messages,         // follow the header
    acknowledgement,  // nothing follows
    announcement,     // one long message follows on its own
    farewell,         // nothing follows, and nothing will come after
  };
  /// Packet that is full, or flushed.
  struct Sealed {
    Buffer buffer;
    std::size_t n_bytes = 0;  // used, with the header; of a long message its own
    bool is_long = false;
  };
  /// Send that MPI may still read from.
  struct Sending {
    Buffer buffer;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Peer {
    explicit Peer(Rank its_rank, std::uint32_t window) : rank(its_rank), state(window) {}
    Rank rank;
    PairState state;
    SendCursor cursor;
    Buffer current;  // that is being written
    bool is_long = false;
    bool has_left = false;       // said farewell
    std::deque<Sealed> waiting;  // for room
    std::deque<Sending> sending;
  };
  /// Packet that has arrived, by its ticket.
  struct Slot {
    Buffer buffer;
    std::size_t offset = 0;  // of the messages
    std::size_t n_bytes = 0;
    MessageKind kind{};
    std::uint32_t n_drains = 0;  // that the sender had ended
  };
  struct Awaited {
    std::size_t peer;
    PairState::Ticket ticket;
  };
  struct Readable {
    std::size_t peer;
    PairState::Ticket ticket;
  };

  [[nodiscard]] std::size_t place_of(Rank rank);
  [[nodiscard]] std::size_t used_bytes(const Peer& peer) const noexcept;
  void seal(std::size_t place);
  void transmit(Peer& peer, Sealed sealed);
  [[nodiscard]] PacketHeader header(Peer& peer, Content content, std::size_t n_bytes) const;
  void send_header(Peer& peer, Content content, std::size_t n_bytes);
  void send(Peer& peer, Buffer buffer, std::size_t n_bytes, int tag);
  /// Free the buffers of sends that are done.
  void reclaim(Peer& peer);
  [[nodiscard]] Buffer take_buffer();
  void return_buffer(Buffer buffer);
  [[nodiscard]] PairState::Ticket make_ticket(Slot slot);
  void post_receives();
  /// Take in the packet in the receive that was posted first. @return false if it has not arrived
  bool take_first();
  void take_packet(Rank from, Buffer buffer);
  bool take_long();
  void put_readable(std::size_t place);
  void finish_read();
  void abandon();
  void drop_rest();
  void say_farewell();
  void warn_if_stalled();

  mpi::Context& context_;
  MessageKind kind_;
  StreamOptions options_;
  std::size_t packet_bytes_;
  mpi::TagBlock tags_;
  std::vector<Intake*>& open_rounds_;
  int& n_open_rounds_;
  Quiescence quiescence_;

  RankTable table_;
  std::vector<Rank> ranks_;  // of the peers
  std::deque<Peer> peers_;
  std::vector<std::size_t> written_;  // peers with a packet that is being written

  std::vector<Buffer> posted_;  // a ring
  std::vector<MPI_Request> receives_;
  std::size_t first_ = 0;         // the receive that was posted first
  std::size_t n_unposted_ = 0;    // receives before it that are still to be posted again
  std::vector<Awaited> awaited_;  // long messages
  std::vector<MPI_Request> long_receives_;
  std::vector<int> completed_;
  std::vector<Slot> slots_;
  std::vector<PairState::Ticket> free_tickets_;
  std::deque<Readable> readable_;
  std::vector<Readable> later_;  // from ranks that have ended this drain
  std::optional<Readable> in_reading_;
  std::vector<Buffer> spare_;

  std::uint64_t n_created_ = 0;    // packets
  std::uint64_t n_processed_ = 0;  // packets
  std::uint64_t waiting_bytes_ = 0;
  bool is_draining_ = false;
  std::uint32_t n_drains_ = 0;  // ended, as in headers
  mpi::Pause pause_;
  std::uint32_t n_idle_polls_ = 0;
  double idle_since_ = 0.0;
  double next_warning_ = 0.0;
  StreamStatistics statistics_;
};

}  // namespace barrio::exchange::detail
