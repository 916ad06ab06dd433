#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "barrio/base/memory_account.hpp"
#include "barrio/base/trace.hpp"
#include "barrio/mobile/detail/types.hpp"
#include "barrio/mobile/eviction.hpp"
#include "barrio/mobile/mobile_ptr.hpp"
#include "barrio/mobile/moving/pair_order.hpp"
#include "barrio/mobile/objects/byte_queue.hpp"
#include "barrio/mobile/objects/id_table.hpp"
#include "barrio/mobile/objects/shadow_caches.hpp"
#include "barrio/mobile/store.hpp"

namespace barrio::mobile::detail {

/// Message in the queue of an object; its bytes follow.
struct MessageHead {
  enum Content : std::uint8_t {
    none,
    message,
    object,     // a new one, on its way; `handler` is its type
    migrating,  // an object with its messages, on its way; `handler` is its type
    place,      // where an object is: `from` is its Location
    shortage,   // of work: `from` is the rank, `handler` 0 if it has work again
  };
  std::uint64_t from;
  std::uint32_t n_bytes;  // whole words
  std::uint16_t handler;
  std::uint8_t unused;
  Content content;
};
static_assert(sizeof(MessageHead) == 16);

/// State of an object that may migrate, beside itself.
struct MovingState {
  std::uint32_t epoch = 0;  // migrations so far
  Rank to = -1;             // that it leaves for as soon as it is not in use, nor waits for its turn
  double seconds = 0.0;     // of a message, where work is balanced: an average of the last ones; 0: not known
  PairOrder order;
};

/// Object of this rank; it stays at its address. What a message needs comes first.
struct ObjectRecord {
  ByteQueue queue;
  std::size_t n_messages = 0;  // in it
  std::uint16_t type = 0;
  bool is_ready = false;     // waits for its turn; set by those who queue it
  bool is_changed = false;   // while in use: a copy on the disk is no longer valid
  bool is_warm = false;      // used since it came into memory, where there is a limit of it
  bool is_finished = false;  // by its last turn: it leaves memory before others
  std::uint32_t n_uses = 0;
  std::shared_ptr<void> object;  // null: on the disk
  ObjectId id;
  std::unique_ptr<MovingState> moving;  // where objects may migrate
  // with a limit of memory:
  std::uint64_t n_bytes = 0;  // in memory
  std::optional<Store::Id> stored;
  std::size_t n_stored_bytes = 0;
  struct StoredQueue {
    Store::Id id;
    std::size_t n_messages;
  };
  std::vector<StoredQueue> stored_queues;
  std::uint64_t made_at = 0;     // in uses of all objects
  std::uint64_t n_all_uses = 0;  // of this one
  int priority = 0;
  std::uint32_t n_locks = 0;
  ObjectRecord* older = nullptr;  // in memory
  ObjectRecord* newer = nullptr;
};

/// Objects of a rank with their queues, in memory or on the disk. Those that were not used for longest leave memory
/// first, if they have no messages; one whose copy on the disk is valid leaves without being written. A long queue
/// leaves with its object; messages to an object on the disk follow it there once they are many.
class ObjectTable {
 public:
  struct Options {
    std::uint64_t max_bytes = 0;  // no limit
    std::string scratch = {};
    Eviction eviction = {};
  };
  /// @param types  grows; outlives the table, as the trace does @throws Error as Store
  ObjectTable(const std::vector<TypeEntry>& types, const Options& options, Trace& trace);

  [[nodiscard]] bool has_limit() const noexcept { return store_.has_value(); }
  ObjectRecord& add(ObjectId id, std::uint16_t type, std::shared_ptr<void> object);
  /// Remove an object. @pre it is not in use, and has no messages
  void remove(ObjectRecord& object);
  /// Return an object; null if it is not on this rank.
  [[nodiscard]] ObjectRecord* find(ObjectId id) const noexcept { return table_.find(id); }
  /// Append a message and its head, if that needs no more than a few instructions: the object was found at once and
  /// waits for its turn, and its queue has room. @pre memory has no limit @return place, or null
  [[gnu::always_inline]] std::byte* append_at_once(ObjectId id, std::size_t n_bytes) noexcept {
    ObjectRecord* const to = table_.find_at_once(id);
    if (to == nullptr || !to->is_ready || !to->queue.has_room(n_bytes)) return nullptr;
    to->n_messages += 1;
    return to->queue.append_inside(n_bytes);
  }
  /// Call `visit` with each object, in any order.
  template <class Visit>
  void each(Visit&& visit) const {
    for (const ObjectRecord& one : records_)
      if (one.id.is_set()) visit(one);
  }
  /// List the objects of a type, in any order.
  [[nodiscard]] std::vector<ObjectId> of_type(std::uint16_t type) const;

  /// Bring an object into memory, and keep it there until `give_back`. May be nested.
  [[nodiscard]] void* take(ObjectRecord& object) {
    if (store_) [[unlikely]]
      bring(object);
    return object.object.get();
  }
  void give_back(ObjectRecord& object) {
    if (store_) [[unlikely]]
      let_go(object);
  }
  /// Make room for more bytes beside the objects in use.
  void make_room(std::uint64_t n_bytes) {
    if (!account_.reserve(n_bytes) && locked_bytes_ > 0) [[unlikely]]
      check_locks();
  }
  /// Keep an object in memory, where there is a limit of it; may be nested. @throws Error{usage} if it does not fit
  void lock(ObjectRecord& object);
  void unlock(ObjectRecord& object);
  /// Let arrays make room before they grow, as long as `scope` lives, if there is a limit: an object in use grows.
  void open_growth(std::optional<MemoryGrowth>& scope) {
    if (store_) [[unlikely]]
      scope.emplace(account_, growth_);
  }
  /// Begin to read an object that is on the disk, if there is room.
  void prefetch(const ObjectRecord& object);

  /// Append a message and its head. @param n_bytes  with it, whole words @return place, valid until the next call
  [[gnu::always_inline]] std::byte* append(ObjectRecord& to, std::size_t n_bytes) {
    if (store_) [[unlikely]]
      count_message(to, n_bytes);
    to.n_messages += 1;
    return to.queue.append(n_bytes);
  }
  [[nodiscard]] static bool has_messages(const ObjectRecord& object) noexcept {
    return object.n_messages > 0 || !object.stored_queues.empty();
  }
  struct Messages {
    ByteQueue bytes;
    std::size_t n = 0;
  };
  /// Take all messages of an object; those on the disk are read. `give_queue` returns the memory.
  [[nodiscard]] Messages take_messages(ObjectRecord& from) {
    if (store_) [[unlikely]]
      bring_queue(from);
    return {std::move(from.queue), std::exchange(from.n_messages, 0)};
  }
  static void give_queue(ObjectRecord& to, ByteQueue queue) noexcept {
    queue.clear();
    if (to.queue.capacity() == 0) to.queue = std::move(queue);
  }
  /// Drop all messages, and plans to migrate.
  void clear_messages();
  /// Forget the numbers of messages between pairs.
  void clear_numbers() noexcept {
    for (ObjectRecord& one : records_)
      if (one.moving) one.moving->order.clear();
  }

  /// Count the bytes of objects and messages in memory. Cost: without a limit O(objects)
  [[nodiscard]] std::uint64_t memory_bytes() const;
  [[nodiscard]] const MemoryAccount& account() const noexcept { return account_; }
  [[nodiscard]] std::uint64_t n_loads() const noexcept { return n_loads_; }
  [[nodiscard]] std::uint64_t n_evictions() const noexcept { return n_evictions_; }
  [[nodiscard]] std::uint64_t finished_bytes() const noexcept { return finished_bytes_; }
  [[nodiscard]] StoreStatistics store_statistics() const noexcept {
    return store_ ? store_->statistics() : StoreStatistics();
  }

 private:
  void bring(ObjectRecord& wanted);
  void let_go(ObjectRecord& used);
  void count_message(ObjectRecord& to, std::size_t n_bytes);
  void bring_queue(ObjectRecord& object);
  void link_newest(ObjectRecord& object) noexcept;
  void link_oldest(ObjectRecord& object) noexcept;
  void unlink(ObjectRecord& object) noexcept;
  [[nodiscard]] ObjectRecord* victim() noexcept;
  [[nodiscard]] double worth(const ObjectRecord& object, Eviction eviction) const noexcept;
  [[nodiscard]] Eviction eviction_now() const noexcept;
  void check_locks() const;
  bool evict_one();
  void evict(ObjectRecord& object);
  void store_queue(ObjectRecord& object);

  const std::vector<TypeEntry>& types_;
  Trace& trace_;
  MemoryAccount account_;  // of what is in memory, if there is a limit
  MemoryAccount::Owner& in_objects_;
  MemoryAccount::Owner& in_messages_;
  MemoryAccount::Owner& growth_;     // of objects in use, since they were counted
  MemoryAccount::Owner& in_blocks_;  // on their way to and from the disk
  std::optional<Store> store_;
  std::deque<ObjectRecord> records_;  // stay where they are
  std::vector<ObjectRecord*> free_;
  IdTable<ObjectRecord> table_;
  ObjectRecord* oldest_ = nullptr;
  ObjectRecord* newest_ = nullptr;
  ObjectRecord* looked_at_ = nullptr;  // last, where all are looked at in turn
  Eviction eviction_;
  std::optional<ShadowCaches> shadows_;  // where the choice adapts
  std::uint64_t n_uses_ = 0;             // of all objects
  std::uint64_t locked_bytes_ = 0;
  std::uint64_t evicted_bytes_ = 0;  // since free memory was returned
  std::uint64_t n_loads_ = 0;
  std::uint64_t n_evictions_ = 0;
  std::uint64_t finished_bytes_ = 0;  // written
};

}  // namespace barrio::mobile::detail
