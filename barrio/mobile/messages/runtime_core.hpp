#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "barrio/exchange/stream.hpp"
#include "barrio/mobile/detail/types.hpp"
#include "barrio/mobile/moving/balancer.hpp"
#include "barrio/mobile/moving/directory.hpp"
#include "barrio/mobile/moving/pair_order.hpp"
#include "barrio/mobile/objects/byte_queue.hpp"
#include "barrio/mobile/objects/object_table.hpp"
#include "barrio/mobile/objects/ready_queue.hpp"
#include "barrio/mobile/runtime.hpp"
#include "barrio/mobile/storage/saved_state.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::mobile::detail {

/// Head of a message on its way, which its bytes follow. It waits in the queue of its object without the first word.
struct Envelope {
  std::uint64_t to;
  MessageHead head;
};
static_assert(sizeof(Envelope) == 24);

/// Messages and turns of a runtime.
class RuntimeCore {
 public:
  RuntimeCore(Runtime& runtime, mpi::Context& context, const RuntimeOptions& options);

  void add_type(TypeEntry entry);
  void add_handler(HandlerEntry entry);
  ObjectId make(const void* tag, std::shared_ptr<void> object);
  ObjectId make_on(const void* tag, Rank rank, const void* object);
  [[nodiscard]] std::vector<ObjectId> list_objects(const void* tag) const;
  void destroy(ObjectId id);
  /// Write the head of a message. @return place for its bytes, valid until the next call
  std::byte* allocate(std::uint32_t message_number, std::uint64_t from, ObjectId to, std::uint32_t n_bytes);
  void migrate(ObjectId id, Rank to);
  /// Refuse a migration of any object to a rank. @throws Error{usage} if objects cannot migrate, or not there
  void check_migration(Rank to) const;
  [[nodiscard]] Rank last_known_rank(ObjectId id) const;
  void run(const RunOptions& options);
  void serve();
  void save(const std::string& path);
  void restore(const std::string& path);
  void close();

  /// Return an object of this rank. @throws Error{usage} if there is none
  [[nodiscard]] ObjectRecord& record_of(ObjectId id) const;
  [[nodiscard]] ObjectTable& objects() noexcept { return objects_; }
  [[nodiscard]] const ObjectTable& objects() const noexcept { return objects_; }
  [[nodiscard]] mpi::Context& context() const noexcept { return context_; }
  [[nodiscard]] RuntimeStatistics statistics() const;
  [[nodiscard]] bool is_running() const noexcept { return is_running_; }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] std::uint16_t find_type(const void* tag) const;
  std::byte* allocate_remote(std::uint32_t message_number, std::uint64_t from, ObjectId to, std::uint32_t n_bytes);
  /// Allocate a message wherever its object is.
  std::byte* allocate_anywhere(std::uint32_t message_number, std::uint64_t from, ObjectId to, std::uint32_t n_bytes);
  [[nodiscard]] ObjectId next_id(Rank rank);
  /// Check that all ranks have the same types and handlers. Collective.
  void check_registration();
  [[nodiscard]] std::string describe_registration() const;
  /// Make room for a message and its head where it waits: in the queue of its object, in the next step, or aside until
  /// its object is there. @param n_bytes  with the head, whole words @return place
  [[gnu::always_inline]] std::byte* place_for(ObjectId to, std::size_t n_bytes) {
    ObjectRecord* const object = objects_.find(to);
    if (object == nullptr || is_in_steps_) [[unlikely]]
      return place_aside(to, n_bytes);
    if (!object->is_ready) make_ready(*object);
    return objects_.append(*object, n_bytes);
  }
  std::byte* place_aside(ObjectId to, std::size_t n_bytes);
  /// Message or object in a packet.
  struct Arrived {
    ObjectId to;
    const std::byte* head;  // MessageHead, which its bytes follow
    std::size_t n_bytes;
    MessageHead::Content content;
  };
  /// Read what stands at a place in a packet.
  [[nodiscard]] static Arrived read_arrived(const std::byte* at) noexcept;
  /// Put messages into the queues of their objects.
  void deliver(std::span<const std::byte> packet);
  void deliver_one(const Arrived& one);
  /// Take the objects and places out of a packet whose messages are dropped after a failure.
  void rescue(std::span<const std::byte> packet) noexcept;
  /// Handle the messages of a packet where they lie, as long as that takes little time; those to objects that wait for
  /// their turns, and later ones, are delivered.
  void handle_packet(std::span<const std::byte> packet);
  /// Handle a message. @return false if it is none, or its object waits for its turn or is not there
  [[nodiscard]] bool handle_at_once(const Arrived& one);
  /// Adapt the number of messages in a row to the time that the last ones took. Packets that wait for long leave.
  void end_row(Clock::time_point start, std::uint64_t n_handled);
  void make_ready(ObjectRecord& object);
  [[nodiscard]] bool has_ready() const noexcept {
    return !ready_.empty() || !warm_ready_.empty() || !absent_ready_.empty();
  }
  /// Choose the object whose turn is next. @pre has_ready()
  [[nodiscard]] ObjectRecord& pick() noexcept;
  /// Run turns for a while. @return false if no object has messages
  bool work();
  void run_turn(ObjectRecord& record);
  [[nodiscard]] exchange::PacketStream& stream() {
    if (!open_stream_) [[unlikely]]
      refuse_closed();
    return *open_stream_;
  }
  [[noreturn]] static void refuse_closed();
  [[noreturn]] static void refuse_null();
  [[noreturn]] static void refuse_handler();
  [[noreturn]] static void refuse_type(ObjectId id);
  /// Return the record of a new object. @param moving  null: a new one, where objects may migrate
  ObjectRecord& add_object(ObjectId id, std::uint16_t type, std::shared_ptr<void> object,
                           std::unique_ptr<MovingState> moving = nullptr);
  /// Let an object migrate or end, as its turn has asked for. @pre it is not in use
  void leave(ObjectRecord& record, const Turn& turn);
  void end_object(ObjectRecord& record);
  // Where objects may migrate: messages with numbers and, on their way, with what MovePrefix has.
  std::byte* allocate_numbered(std::uint64_t from, ObjectId to, std::uint64_t head, std::uint32_t n_bytes);
  [[nodiscard]] PairOrder& order_of(std::uint64_t sender);
  [[nodiscard]] bool was_made(ObjectId id) const;
  /// Hand a message on to its object, or to where it is, or keep it until that is known.
  void accept(const Arrived& one);
  void put(ObjectId to, std::uint64_t from, std::uint64_t head, std::span<const std::byte> bytes);
  void send_on(const Arrived& one, const Location& to);
  void send_place(Rank to, ObjectId id, const Location& location);
  void learn_place(const Arrived& one);
  /// Send an object to the rank it is to migrate to. @pre it is not in use, and does not wait for its turn
  void depart(ObjectRecord& record);
  void arrive(const Arrived& one);
  /// Tell where an object will be those who are to know.
  void announce(ObjectId id, const MovingState& moving, const Location& next);
  void depart_all();
  /// Tell partners that this rank has no work, or has some again.
  void tell_partners(bool is_short);
  /// Give objects to ranks that have no work.
  void share_work();
  void note_shortage(const Arrived& one);
  /// Take note of the time that a turn took.
  void count_time(ObjectRecord& record, double seconds, std::size_t n_messages);
  /// Make the objects of this rank from a file. @return the sum of checksums of their entries @throws Error
  std::uint64_t restore_share(const SavedState& state, const std::string& path);
  /// Count the messages of all pairs anew. All ranks do so while none is on its way: pairs of objects that have ended
  /// would be counted for ever
  void clear_numbers() noexcept {
    moves_->program.clear();
    objects_.clear_numbers();
  }
  /// Check that no message waits for an earlier one of its sender. @throws Error{internal}
  void check_all_came() const;
  [[noreturn]] void refuse_gone(ObjectId id) const;
  /// Deliver what was kept back in a step, in the order of objects, senders and sending.
  void begin_step();
  void find_objects_of_orphans();
  void drop_messages();
  void set_in_steps(bool is_so) noexcept {
    is_in_steps_ = is_so;
    is_plain_ = !is_so && !objects_.has_limit() && !moves_;
  }

  Runtime& runtime_;
  mpi::Context& context_;
  Rank rank_;
  std::vector<TypeEntry> types_;
  std::vector<HandlerEntry> handlers_;
  /// Handler, as a message needs it.
  struct Call {
    void (*function)(void* handler, Turn& turn, void* object, std::span<const std::byte> bytes);
    void* handler;
    std::uint64_t type;
  };
  std::vector<Call> calls_;  // by handler
  /// Heads of messages but for sender and length, by the number of their kind; content none: without a handler.
  std::vector<std::uint64_t> heads_;
  std::size_t n_heads_ = 0;
  ObjectTable objects_;
  std::optional<exchange::PacketStream> open_stream_;  // nothing once it is closed
  std::unordered_map<Rank, std::uint32_t> n_made_;     // objects, by rank
  std::vector<MadeCount> n_made_before_;               // by ranks that this job does not have, before it was restored
  bool has_sent_ = false;                              // objects, that no run has seen yet
  std::uint64_t n_sent_before_ = 0;                    // messages, before the last run
  // Objects with messages, by where they were when they got the first one. With a limit of memory, warm ones were used
  // not long ago.
  ReadyQueue warm_ready_;
  ReadyQueue ready_;
  ReadyQueue absent_ready_;
  std::uint32_t n_warm_in_a_row_ = 0;
  std::uint64_t n_in_a_row_ = 1;            // messages between two looks at the network
  std::span<const std::byte> unread_ = {};  // of the packet whose messages are being handled where they lie
  bool is_running_ = false;
  bool is_in_steps_ = false;
  bool is_rescuing_ = false;  // takes objects out of packets after a failure, and sends nothing
  bool is_plain_ = true;      // neither in steps nor with a limit of memory
  ByteQueue next_step_;
  std::uint64_t n_of_next_step_ = 0;
  ByteQueue orphans_;             // messages to objects that are not there yet
  bool has_new_objects_ = false;  // since orphans were looked at
  std::uint64_t n_waves_ = 0;     // of the stream that was closed
  Clock::time_point last_flush_;
  /// State of migration.
  struct Moves {
    Directory directory;
    PlaceUpdates updates;
    PairOrder program;                   // of this rank, as a sender
    std::vector<ObjectId> waiting = {};  // objects that leave as soon as they can
    std::optional<Balancer> balancer = {};
  };
  std::unique_ptr<Moves> moves_;
  RuntimeStatistics statistics_;
};

}  // namespace barrio::mobile::detail
