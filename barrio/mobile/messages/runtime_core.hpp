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
#include "barrio/mobile/objects/byte_queue.hpp"
#include "barrio/mobile/objects/object_table.hpp"
#include "barrio/mobile/objects/slot_queue.hpp"
#include "barrio/mobile/runtime.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::mobile::detail {

/// Head of a message on its way, which its bytes follow in whole words. A later runtime that lets objects move uses
/// the epoch.
struct Envelope {
  enum Content : std::uint8_t {
    message,
    object,  // a new one; `handler` is its type
  };
  std::uint64_t to;
  std::uint64_t from;
  std::uint32_t n_bytes;
  std::uint16_t handler;
  std::uint8_t epoch;
  std::uint8_t content;
};
static_assert(sizeof(Envelope) == 24);

/// Messages and turns of a runtime.
class RuntimeCore {
 public:
  using Slot = ObjectTable::Slot;

  RuntimeCore(Runtime& runtime, mpi::Context& context, const RuntimeOptions& options);

  void add_type(TypeEntry entry);
  void add_handler(HandlerEntry entry);
  ObjectId make(const void* tag, std::shared_ptr<void> object);
  ObjectId make_on(const void* tag, Rank rank, const void* object);
  [[nodiscard]] std::vector<ObjectId> list_objects(const void* tag) const;
  void destroy(ObjectId id);
  /// Write the head of a message. @return place for its bytes, valid until the next call
  std::byte* allocate(const void* tag, ObjectId from, ObjectId to, std::size_t n_bytes);
  void run(const RunOptions& options);
  void serve();
  void close();

  /// Return the place of an object of this rank. @throws Error{usage} if there is none
  [[nodiscard]] Slot slot_of(ObjectId id) const;
  [[nodiscard]] ObjectTable& objects() noexcept { return objects_; }
  [[nodiscard]] const ObjectTable& objects() const noexcept { return objects_; }
  [[nodiscard]] mpi::Context& context() const noexcept { return context_; }
  [[nodiscard]] RuntimeStatistics statistics() const;
  [[nodiscard]] bool is_running() const noexcept { return is_running_; }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] std::uint16_t find_type(const void* tag) const;
  /// Find a handler, as `last_handler_`. @throws Error{usage} if there is none
  void find_handler(const void* tag);
  [[nodiscard]] ObjectId next_id(Rank rank);
  /// Check that all ranks have the same types and handlers. Collective.
  void check_registration();
  [[nodiscard]] std::string describe_registration() const;
  /// Put a message where it waits: in the queue of its object, in the next step, or aside until its object is there.
  /// @return place for its bytes
  [[gnu::always_inline]] std::byte* put(const Envelope& envelope) {
    const Slot slot = is_in_steps_ ? ObjectTable::none : objects_.find(ObjectId::of_word(envelope.to));
    if (slot == ObjectTable::none) [[unlikely]]
      return put_aside(envelope);
    if (!objects_.is_ready(slot)) make_ready(slot);
    return objects_.append(slot, {envelope.from, envelope.n_bytes, envelope.handler, 0});
  }
  std::byte* put_aside(const Envelope& envelope);
  void deliver(std::span<const std::byte> packet);
  void make_ready(Slot slot);
  [[nodiscard]] bool has_ready() const noexcept {
    return !ready_.empty() || !warm_ready_.empty() || !absent_ready_.empty();
  }
  /// Choose the object whose turn is next. @pre has_ready()
  [[nodiscard]] Slot pick() noexcept;
  /// Run turns for a while. @return false if no object has messages
  bool work();
  void run_turn(Slot slot);
  [[nodiscard]] exchange::PacketStream& stream() {
    if (!open_stream_) [[unlikely]]
      refuse_closed();
    return *open_stream_;
  }
  [[noreturn]] static void refuse_closed();
  [[noreturn]] static void refuse_message(ObjectId to, std::size_t n_bytes);
  [[noreturn]] static void refuse_type(ObjectId id);
  /// Deliver what was kept back in a step, in the order of objects, senders and sending.
  void begin_step();
  void find_objects_of_orphans();
  void drop_messages();

  Runtime& runtime_;
  mpi::Context& context_;
  Rank rank_;
  std::vector<TypeEntry> types_;
  std::vector<HandlerEntry> handlers_;
  std::vector<std::uint16_t> type_of_handler_;
  ObjectTable objects_;
  std::optional<exchange::PacketStream> open_stream_;  // nothing once it is closed
  std::unordered_map<Rank, std::uint32_t> n_made_;     // objects, by rank
  const void* last_tag_ = nullptr;
  std::uint16_t last_handler_ = 0;
  // Objects with messages, by where they were when they got the first one. With a limit of memory, warm ones were used
  // not long ago.
  SlotQueue warm_ready_;
  SlotQueue ready_;
  SlotQueue absent_ready_;
  std::uint32_t n_warm_in_a_row_ = 0;
  std::uint64_t n_in_a_row_ = 1;  // messages between two looks at the network
  bool is_running_ = false;
  bool is_in_steps_ = false;
  ByteQueue next_step_;
  std::uint64_t n_of_next_step_ = 0;
  ByteQueue orphans_;          // messages to objects that are not there yet
  std::uint64_t n_waves_ = 0;  // of the stream that was closed
  Clock::time_point last_flush_;
  RuntimeStatistics statistics_;
};

}  // namespace barrio::mobile::detail
