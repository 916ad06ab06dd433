#include "barrio/mobile/objects/object_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/base/text.hpp"

namespace barrio::mobile::detail {
namespace {

constexpr RegionName memory_name{"bytes of mobile objects in memory"};
constexpr std::size_t min_stored_queue = 4U << 10U;      // that leaves with its object
constexpr std::size_t max_queue_of_absent = 64U << 10U;  // that stays in memory
constexpr int max_looked_at = 64;                        // for an object without messages

}  // namespace

ObjectTable::ObjectTable(const std::vector<TypeEntry>& types, const Options& options, Trace& trace)
    : types_(types),
      trace_(trace),
      account_(options.max_bytes),
      in_objects_(account_.add_owner("objects")),
      in_messages_(account_.add_owner("messages")),
      growth_(account_.add_owner("growth of objects in use")),
      in_blocks_(account_.add_owner("blocks of the disk", MemoryAccount::Counting::beside)),
      eviction_(options.eviction) {
  if (options.max_bytes == 0) return;
  if (eviction_ == Eviction::adaptive) shadows_.emplace(options.max_bytes);
  store_.emplace(
      StoreOptions{.folder = options.scratch,
                   .max_waiting_bytes = std::min<std::uint64_t>(options.max_bytes / 8, std::uint64_t{16} << 20U),
                   .memory = &in_blocks_,
                   .trace = &trace});
  account_.set_make_room([this](std::uint64_t /*n_lacking*/) { return evict_one(); });
}

ObjectRecord& ObjectTable::add(ObjectId id, std::uint16_t type, std::shared_ptr<void> object) {
  ObjectRecord* made = nullptr;
  if (free_.empty()) {
    made = &records_.emplace_back();
  } else {
    made = free_.back();
    free_.pop_back();
  }
  made->id = id;
  made->type = type;
  made->object = std::move(object);
  table_.add(id, made);
  if (!store_) return *made;
  made->made_at = n_uses_;
  made->n_bytes = types_[type].memory_bytes(made->object.get());
  in_objects_.add(made->n_bytes);
  link_newest(*made);
  made->n_uses += 1;
  make_room(0);
  made->n_uses -= 1;
  return *made;
}

void ObjectTable::remove(ObjectRecord& object) {
  table_.remove(object.id);
  if (object.stored) store_->drop(*object.stored);
  if (store_ && object.object) unlink(object);
  if (store_) in_objects_.subtract(object.n_bytes);
  if (shadows_) shadows_->forget(object.id.word());
  if (store_ && object.n_locks > 0) locked_bytes_ -= object.n_bytes;
  object = {};
  free_.push_back(&object);
}

std::vector<ObjectId> ObjectTable::of_type(std::uint16_t type) const {
  std::vector<ObjectId> all;
  for (const ObjectRecord& one : records_)
    if (one.id.is_set() && one.type == type) all.push_back(one.id);
  return all;
}

std::uint64_t ObjectTable::memory_bytes() const {
  if (store_) return account_.bytes();
  std::uint64_t n_bytes = 0;
  for (const ObjectRecord& one : records_)
    n_bytes += one.queue.size() + (one.object ? types_[one.type].memory_bytes(one.object.get()) : 0);
  return n_bytes;
}

void ObjectTable::bring(ObjectRecord& wanted) {
  if (wanted.object) {
    unlink(wanted);
  } else if (std::shared_ptr<void> object = store_->take_back(*wanted.stored)) {
    // it has not left memory yet
    wanted.stored.reset();
    wanted.n_bytes = types_[wanted.type].memory_bytes(object.get());
    make_room(wanted.n_bytes);
    wanted.object = std::move(object);
    in_objects_.add(wanted.n_bytes);
  } else {
    make_room(wanted.n_stored_bytes);
    const Block block = store_->get(*wanted.stored);
    wanted.object = types_[wanted.type].unpack(block.bytes());
    wanted.n_bytes = types_[wanted.type].memory_bytes(wanted.object.get());
    in_objects_.add(wanted.n_bytes);
    trace_.sample(memory_name, static_cast<double>(account_.bytes()));
    n_loads_ += 1;
  }
  link_newest(wanted);
  wanted.is_warm = true;
  wanted.is_finished = false;
  wanted.n_uses += 1;
  wanted.n_all_uses += 1;
  n_uses_ += 1;
  if (shadows_ && n_evictions_ > 0) shadows_->use(wanted.id.word(), wanted.n_bytes);
}

void ObjectTable::let_go(ObjectRecord& used) {
  if (std::exchange(used.is_changed, false)) {
    in_objects_.subtract(used.n_bytes);
    if (used.n_locks > 0) locked_bytes_ -= used.n_bytes;
    used.n_bytes = types_[used.type].memory_bytes(used.object.get());
    if (used.n_locks > 0) locked_bytes_ += used.n_bytes;
    in_objects_.add(used.n_bytes);
    if (used.stored) store_->drop(*std::exchange(used.stored, std::nullopt));
  }
  used.n_uses -= 1;
  if (used.is_finished && used.n_uses == 0) {
    unlink(used);
    link_oldest(used);
  }
  make_room(0);
}

/// Evict an object. @return false if all are in use
bool ObjectTable::evict_one() {
  ObjectRecord* const object = victim();
  if (object == nullptr) return false;
  evict(*object);
  return true;
}

/// Return how much an object is worth to be kept, where that is not told by the order of use.
double ObjectTable::worth(const ObjectRecord& object, Eviction eviction) const noexcept {
  const auto n = static_cast<double>(object.n_all_uses);
  switch (eviction) {
    case Eviction::lfu: return n / static_cast<double>(n_uses_ - object.made_at + 1);
    case Eviction::lu: return n;
    case Eviction::mu: return -n;
    default: return 0.0;
  }
}

Eviction ObjectTable::eviction_now() const noexcept {
  if (!shadows_) return eviction_;
  switch (shadows_->best()) {
    case ShadowCaches::mru: return Eviction::mru;
    case ShadowCaches::lfu: return Eviction::lfu;
    default: return Eviction::lru;
  }
}

/// Choose the object that leaves next, among those at one end of the row by use, or where others are looked at in turn.
ObjectRecord* ObjectTable::victim() noexcept {
  const Eviction eviction = eviction_now();
  const bool by_newest = eviction == Eviction::mru;
  const bool in_turn = eviction != Eviction::lru && !by_newest;
  const auto next = [&](const ObjectRecord* one) { return by_newest ? one->older : one->newer; };
  ObjectRecord* best = nullptr;
  const auto key = [&](const ObjectRecord& one) {
    return std::tuple(one.priority, !one.is_finished, one.is_ready, worth(one, eviction));
  };
  ObjectRecord* const first = in_turn && looked_at_ != nullptr ? looked_at_ : by_newest ? newest_ : oldest_;
  ObjectRecord* one = first;
  for (int n = 0; one != nullptr && n < max_looked_at;) {
    if (one->n_uses == 0 && one->n_locks == 0) {
      if (best == nullptr || key(*one) < key(*best)) best = one;
      n += 1;
    }
    one = next(one);
    if (one == nullptr && in_turn) one = oldest_;
    if (one == first) break;
  }
  if (in_turn) looked_at_ = one;
  return best;
}

void ObjectTable::lock(ObjectRecord& object) {
  if (!store_) return;
  if (object.n_locks == 0) {
    const std::uint64_t n_bytes = object.object ? object.n_bytes : object.n_stored_bytes;
    if (locked_bytes_ + n_bytes > account_.limit())
      refuse(ErrorCode::usage, fmt::format("object {:#x}", object.id.word()),
             fmt::format("cannot be locked: locked objects have {} of {} already", format_bytes(locked_bytes_),
                         format_bytes(account_.limit())),
             "unlock others before, or raise the limit of memory");
  }
  object.n_locks += 1;
  if (object.n_locks > 1) return;
  bring(object);
  locked_bytes_ += object.n_bytes;
  let_go(object);
}

void ObjectTable::unlock(ObjectRecord& object) {
  if (!store_) return;
  if (object.n_locks == 0)
    refuse(ErrorCode::usage, fmt::format("object {:#x}", object.id.word()), "is not locked", "lock() it before");
  object.n_locks -= 1;
  if (object.n_locks == 0) locked_bytes_ -= object.n_bytes;
}

void ObjectTable::check_locks() const {
  // one object in use may exceed the limit, but locks must not be what leaves no room
  if (2 * locked_bytes_ <= account_.limit()) return;
  refuse(
      ErrorCode::usage, "memory of mobile objects",
      fmt::format("is full of locked objects: {} of {}", format_bytes(locked_bytes_), format_bytes(account_.limit())),
      "unlock some, or raise the limit");
}

void ObjectTable::evict(ObjectRecord& record) {
  if (!record.stored) {
    const TypeEntry& type = types_[record.type];
    record.n_stored_bytes = std::max<std::size_t>(type.bytes(record.object.get()), sizeof(std::uint64_t));
    record.stored = store_->put(Store::Unpacked{record.object, record.n_bytes, record.n_stored_bytes, type.pack});
    if (record.is_finished) finished_bytes_ += Block::padded(record.n_stored_bytes);
  }
  unlink(record);
  record.is_warm = false;
  record.object.reset();
  in_objects_.subtract(record.n_bytes);
  trace_.sample(memory_name, static_cast<double>(account_.bytes()));
  n_evictions_ += 1;
  constexpr std::uint64_t often = std::uint64_t{32} << 20U;
  evicted_bytes_ += record.n_bytes;
  record.n_bytes = 0;
  if (record.queue.size() >= min_stored_queue) store_queue(record);
  if (evicted_bytes_ < often) return;
  return_free_memory();
  evicted_bytes_ = 0;
}

void ObjectTable::store_queue(ObjectRecord& record) {
  Block block(record.queue.size());
  std::memcpy(block.data(), record.queue.bytes().data(), block.size());
  in_messages_.subtract(record.queue.size());
  evicted_bytes_ += record.queue.size();
  record.stored_queues.push_back({store_->put(std::move(block)), record.n_messages});
  record.queue = {};
  record.n_messages = 0;
}

void ObjectTable::prefetch(const ObjectRecord& record) {
  if (!store_) return;
  if (!record.object && account_.bytes() + 2 * record.n_stored_bytes <= account_.limit())
    store_->prefetch(*record.stored);
}

/// Count a message that comes, and make room for it: its object may leave, with the messages before this one.
void ObjectTable::count_message(ObjectRecord& to, std::size_t n_bytes) {
  make_room(n_bytes);
  if (!to.object && to.queue.size() + n_bytes > max_queue_of_absent && to.n_messages > 0) store_queue(to);
  in_messages_.add(n_bytes);
}

/// Put the messages that are on the disk before those in memory, which are no longer counted.
void ObjectTable::bring_queue(ObjectRecord& record) {
  in_messages_.subtract(record.queue.size());
  if (record.stored_queues.empty()) return;
  ByteQueue all;
  for (const ObjectRecord::StoredQueue& one : record.stored_queues) {
    const Block block = store_->get(one.id);
    store_->drop(one.id);
    std::memcpy(all.append(block.size()), block.data(), block.size());
    record.n_messages += one.n_messages;
  }
  record.stored_queues.clear();
  const std::span<const std::byte> rest = record.queue.bytes();
  if (!rest.empty()) std::memcpy(all.append(rest.size()), rest.data(), rest.size());
  record.queue = std::move(all);
}

void ObjectTable::clear_messages() {
  for (ObjectRecord& one : records_) {
    if (store_) in_messages_.subtract(one.queue.size());
    one.queue = {};
    one.n_messages = 0;
    for (const ObjectRecord::StoredQueue& stored : one.stored_queues) store_->drop(stored.id);
    one.stored_queues.clear();
    one.is_ready = false;
    if (one.moving) one.moving->to = -1;
  }
}

void ObjectTable::link_newest(ObjectRecord& object) noexcept {
  object.older = newest_;
  object.newer = nullptr;
  (newest_ == nullptr ? oldest_ : newest_->newer) = &object;
  newest_ = &object;
}

void ObjectTable::link_oldest(ObjectRecord& object) noexcept {
  object.newer = oldest_;
  object.older = nullptr;
  (oldest_ == nullptr ? newest_ : oldest_->older) = &object;
  oldest_ = &object;
}

void ObjectTable::unlink(ObjectRecord& object) noexcept {
  if (looked_at_ == &object) looked_at_ = object.newer;
  (object.older == nullptr ? oldest_ : object.older->newer) = object.newer;
  (object.newer == nullptr ? newest_ : object.newer->older) = object.older;
}

}  // namespace barrio::mobile::detail
