#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "barrio/mobile/detail/types.hpp"
#include "barrio/mobile/mobile_ptr.hpp"
#include "barrio/mobile/objects/byte_queue.hpp"
#include "barrio/mobile/objects/id_table.hpp"
#include "barrio/mobile/store.hpp"

namespace barrio::mobile::detail {

/// Message in the queue of an object; its bytes follow, in whole words.
struct MessageHead {
  std::uint64_t from;
  std::uint32_t n_bytes;
  std::uint16_t handler;
  std::uint16_t reserved;
};
static_assert(sizeof(MessageHead) == 16);

/// Objects of a rank with their queues, in memory or on the disk. Those that were not used for longest leave memory
/// first, if they have no messages; one whose copy on the disk is valid leaves without being written. A long queue
/// leaves with its object; messages to an object on the disk follow it there once they are many.
class ObjectTable {
 public:
  using Slot = std::uint32_t;
  static constexpr Slot none = IdTable::none;

  /// @param types  grows; outlives the table, as the trace does @throws Error as Store
  ObjectTable(const std::vector<TypeEntry>& types, std::uint64_t max_bytes, const std::string& scratch, Trace& trace);

  Slot add(ObjectId id, std::uint16_t type, std::shared_ptr<void> object);
  /// Remove an object. @pre it is not in use, and has no messages
  void remove(Slot slot);
  [[nodiscard]] Slot find(ObjectId id) const noexcept { return table_.find(id); }
  /// List the objects of a type, in any order.
  [[nodiscard]] std::vector<ObjectId> of_type(std::uint16_t type) const;
  [[nodiscard]] ObjectId id(Slot slot) const noexcept { return record(slot).id; }
  [[nodiscard]] std::uint16_t type(Slot slot) const noexcept { return record(slot).type; }

  /// Bring an object into memory, and keep it there until `give_back`. May be nested.
  [[nodiscard]] void* take(Slot slot) {
    if (store_) [[unlikely]]
      return bring(slot);
    return record(slot).object.get();
  }
  /// Note that a copy on the disk is no longer valid.
  void set_changed(Slot slot) noexcept { record(slot).is_changed = true; }
  void give_back(Slot slot) {
    if (store_) [[unlikely]]
      let_go(slot);
  }
  /// Make room for more bytes beside the objects in use.
  void make_room(std::uint64_t n_bytes);
  /// Begin to read an object that is on the disk, if there is room.
  void prefetch(Slot slot);
  [[nodiscard]] bool is_in_memory(Slot slot) const noexcept { return record(slot).object != nullptr; }
  /// Tell whether an object was used since it came into memory, where there is a limit of it.
  [[nodiscard]] bool is_warm(Slot slot) const noexcept { return record(slot).is_warm; }

  /// Append a message. @return place for its bytes, valid until the next call
  [[gnu::always_inline]] std::byte* append(Slot slot, const MessageHead& head) {
    const std::size_t n_bytes = sizeof head + whole_words(head.n_bytes);
    if (store_) [[unlikely]]
      account(slot, n_bytes);
    Record& to = record(slot);
    std::byte* const place = to.queue.append(n_bytes);
    std::memcpy(place, &head, sizeof head);
    to.n_messages += 1;
    return place + sizeof head;
  }
  [[nodiscard]] bool has_messages(Slot slot) const noexcept {
    return record(slot).n_messages > 0 || !record(slot).stored_queues.empty();
  }
  struct Messages {
    ByteQueue bytes;
    std::size_t n = 0;
  };
  /// Take all messages of an object; those on the disk are read. `give_queue` returns the memory.
  [[nodiscard]] Messages take_messages(Slot slot) {
    Record& from = record(slot);
    if (store_) [[unlikely]]
      bring_queue(from);
    return {std::move(from.queue), std::exchange(from.n_messages, 0)};
  }
  void give_queue(Slot slot, ByteQueue queue) noexcept {
    queue.clear();
    Record& to = record(slot);
    if (to.queue.capacity() == 0) to.queue = std::move(queue);
  }
  /// Drop all messages.
  void clear_messages();

  /// Tell whether the object waits for its turn; set by the caller.
  [[nodiscard]] bool& is_ready(Slot slot) noexcept { return record(slot).is_ready; }

  /// Count the bytes of objects and messages in memory. Cost: without a limit O(objects)
  [[nodiscard]] std::uint64_t memory_bytes() const;
  [[nodiscard]] std::uint64_t max_memory_bytes() const noexcept { return max_used_bytes_; }
  [[nodiscard]] std::uint64_t n_loads() const noexcept { return n_loads_; }
  [[nodiscard]] std::uint64_t n_evictions() const noexcept { return n_evictions_; }
  [[nodiscard]] StoreStatistics store_statistics() const noexcept {
    return store_ ? store_->statistics() : StoreStatistics();
  }

 private:
  struct StoredQueue {
    Store::Id id;
    std::size_t n_messages;
  };
  struct Record {
    ObjectId id;
    std::uint16_t type = 0;
    bool is_ready = false;
    bool is_changed = false;  // while in use
    bool is_warm = false;
    std::uint32_t n_uses = 0;
    std::shared_ptr<void> object;  // null: on the disk
    std::uint64_t n_bytes = 0;     // in memory
    std::optional<Store::Id> stored;
    std::size_t n_stored_bytes = 0;
    ByteQueue queue;
    std::size_t n_messages = 0;  // in it
    std::vector<StoredQueue> stored_queues = {};
    Slot older = none;  // in memory
    Slot newer = none;
  };

  static constexpr unsigned n_chunk_bits = 8;
  [[nodiscard]] Record& record(Slot slot) const noexcept {
    return chunks_[slot >> n_chunk_bits][slot & ((1U << n_chunk_bits) - 1)];
  }
  [[nodiscard]] void* bring(Slot slot);
  void let_go(Slot slot);
  void account(Slot slot, std::size_t n_bytes);
  void bring_queue(Record& record);
  void link_newest(Slot slot) noexcept;
  void unlink(Slot slot) noexcept;
  [[nodiscard]] Slot victim() const noexcept;
  void evict(Slot slot);
  void store_queue(Record& record);
  void note_use() noexcept {
    if (used_bytes_ > max_used_bytes_) max_used_bytes_ = used_bytes_;
  }

  const std::vector<TypeEntry>& types_;
  Trace& trace_;
  std::uint64_t max_bytes_;
  std::optional<Store> store_;
  std::vector<std::unique_ptr<Record[]>> chunks_;  // records stay where they are
  Slot n_records_ = 0;
  std::vector<Slot> free_;
  IdTable table_;
  Slot oldest_ = none;
  Slot newest_ = none;
  // with a limit:
  std::uint64_t used_bytes_ = 0;
  std::uint64_t max_used_bytes_ = 0;
  std::uint64_t evicted_bytes_ = 0;  // since free memory was returned
  std::uint64_t n_loads_ = 0;
  std::uint64_t n_evictions_ = 0;
};

}  // namespace barrio::mobile::detail
