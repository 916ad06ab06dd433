#include "barrio/mobile/objects/object_table.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "barrio/base/memory.hpp"

namespace barrio::mobile::detail {
namespace {

constexpr RegionName memory_name{"bytes of mobile objects in memory"};
constexpr std::size_t min_stored_queue = 4U << 10U;      // that leaves with its object
constexpr std::size_t max_queue_of_absent = 64U << 10U;  // that stays in memory
constexpr int max_looked_at = 64;                        // for an object without messages

}  // namespace

ObjectTable::ObjectTable(const std::vector<TypeEntry>& types, std::uint64_t max_bytes, const std::string& scratch,
                         Trace& trace)
    : types_(types), trace_(trace), max_bytes_(max_bytes > 0 ? max_bytes : UINT64_MAX) {
  if (max_bytes > 0)
    store_.emplace(StoreOptions{.folder = scratch,
                                .max_waiting_bytes = std::min<std::uint64_t>(max_bytes / 8, std::uint64_t{16} << 20U),
                                .trace = &trace});
}

ObjectTable::Slot ObjectTable::add(ObjectId id, std::uint16_t type, std::shared_ptr<void> object) {
  Slot slot = n_records_;
  if (!free_.empty()) {
    slot = free_.back();
    free_.pop_back();
  } else if (n_records_++ % (1U << n_chunk_bits) == 0) {
    chunks_.push_back(std::make_unique<Record[]>(1U << n_chunk_bits));
  }
  Record& made = record(slot);
  made.id = id;
  made.type = type;
  made.object = std::move(object);
  table_.add(id, slot);
  if (!store_) return slot;
  made.n_bytes = types_[type].memory_bytes(made.object.get());
  used_bytes_ += made.n_bytes;
  note_use();
  link_newest(slot);
  made.n_uses += 1;
  make_room(0);
  made.n_uses -= 1;
  return slot;
}

void ObjectTable::remove(Slot slot) {
  Record& gone = record(slot);
  table_.remove(gone.id);
  if (gone.stored) store_->drop(*gone.stored);
  if (store_ && gone.object) unlink(slot);
  used_bytes_ -= gone.n_bytes;
  gone = {};
  free_.push_back(slot);
}

std::vector<ObjectId> ObjectTable::of_type(std::uint16_t type) const {
  std::vector<ObjectId> all;
  for (Slot slot = 0; slot < n_records_; ++slot)
    if (const Record& one = record(slot); one.id.is_set() && one.type == type) all.push_back(one.id);
  return all;
}

std::uint64_t ObjectTable::memory_bytes() const {
  if (store_) return used_bytes_;
  std::uint64_t n_bytes = 0;
  for (Slot slot = 0; slot < n_records_; ++slot) {
    const Record& one = record(slot);
    n_bytes += one.queue.size() + (one.object ? types_[one.type].memory_bytes(one.object.get()) : 0);
  }
  return n_bytes;
}

void* ObjectTable::bring(Slot slot) {
  Record& wanted = record(slot);
  if (wanted.object) {
    unlink(slot);
  } else {
    make_room(wanted.n_stored_bytes);
    const Block block = store_->get(*wanted.stored);
    wanted.object = types_[wanted.type].unpack(block.bytes());
    wanted.n_bytes = types_[wanted.type].memory_bytes(wanted.object.get());
    used_bytes_ += wanted.n_bytes;
    note_use();
    trace_.sample(memory_name, static_cast<double>(used_bytes_));
    n_loads_ += 1;
  }
  link_newest(slot);
  wanted.is_warm = true;
  wanted.n_uses += 1;
  return wanted.object.get();
}

void ObjectTable::let_go(Slot slot) {
  Record& used = record(slot);
  if (std::exchange(used.is_changed, false)) {
    used_bytes_ -= used.n_bytes;
    used.n_bytes = types_[used.type].memory_bytes(used.object.get());
    used_bytes_ += used.n_bytes;
    note_use();
    if (used.stored) store_->drop(*std::exchange(used.stored, std::nullopt));
  }
  used.n_uses -= 1;
  make_room(0);
}

void ObjectTable::make_room(std::uint64_t n_bytes) {
  while (used_bytes_ + n_bytes > max_bytes_) {
    const Slot slot = victim();
    if (slot == none) return;
    evict(slot);
  }
}

/// Choose the object that leaves next: the oldest without messages among the oldest ones, else the oldest.
ObjectTable::Slot ObjectTable::victim() const noexcept {
  Slot oldest = none;
  int n = 0;
  for (Slot slot = oldest_; slot != none && n < max_looked_at; slot = this->record(slot).newer, ++n) {
    if (this->record(slot).n_uses > 0) continue;
    if (!this->record(slot).is_ready) return slot;
    if (oldest == none) oldest = slot;
  }
  return oldest;
}

void ObjectTable::evict(Slot slot) {
  Record& record = this->record(slot);
  if (!record.stored) {
    const TypeEntry& type = types_[record.type];
    Block block(std::max<std::size_t>(type.bytes(record.object.get()), sizeof(std::uint64_t)));
    type.pack(record.object.get(), block.data());
    record.n_stored_bytes = block.size();
    record.stored = store_->put(std::move(block));
  }
  unlink(slot);
  record.is_warm = false;
  record.object.reset();
  used_bytes_ -= record.n_bytes;
  trace_.sample(memory_name, static_cast<double>(used_bytes_));
  n_evictions_ += 1;
  constexpr std::uint64_t often = std::uint64_t{32} << 20U;
  evicted_bytes_ += record.n_bytes;
  record.n_bytes = 0;
  if (record.queue.size() >= min_stored_queue) store_queue(record);
  if (evicted_bytes_ < often) return;
  return_free_memory();
  evicted_bytes_ = 0;
}

void ObjectTable::store_queue(Record& record) {
  Block block(record.queue.size());
  std::memcpy(block.data(), record.queue.bytes().data(), block.size());
  used_bytes_ -= record.queue.size();
  evicted_bytes_ += record.queue.size();
  record.stored_queues.push_back({store_->put(std::move(block)), record.n_messages});
  record.queue = {};
  record.n_messages = 0;
}

void ObjectTable::prefetch(Slot slot) {
  if (!store_) return;
  const Record& record = this->record(slot);
  if (!record.object && used_bytes_ + 2 * record.n_stored_bytes <= max_bytes_) store_->prefetch(*record.stored);
}

/// Count a message that comes, and make room for it: its object may leave, with the messages before this one.
void ObjectTable::account(Slot slot, std::size_t n_bytes) {
  if (used_bytes_ + n_bytes > max_bytes_) make_room(n_bytes);
  Record& to = record(slot);
  if (!to.object && to.queue.size() + n_bytes > max_queue_of_absent && to.n_messages > 0) store_queue(to);
  used_bytes_ += n_bytes;
  note_use();
}

/// Put the messages that are on the disk before those in memory, which are no longer counted.
void ObjectTable::bring_queue(Record& record) {
  used_bytes_ -= record.queue.size();
  if (record.stored_queues.empty()) return;
  ByteQueue all;
  for (const StoredQueue& one : record.stored_queues) {
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
  for (Slot slot = 0; slot < n_records_; ++slot) {
    Record& one = record(slot);
    if (store_) used_bytes_ -= one.queue.size();
    one.queue = {};
    one.n_messages = 0;
    for (const StoredQueue& stored : one.stored_queues) store_->drop(stored.id);
    one.stored_queues.clear();
    one.is_ready = false;
  }
}

void ObjectTable::link_newest(Slot slot) noexcept {
  Record& record = this->record(slot);
  record.older = newest_;
  record.newer = none;
  (newest_ == none ? oldest_ : this->record(newest_).newer) = slot;
  newest_ = slot;
}

void ObjectTable::unlink(Slot slot) noexcept {
  const Record& record = this->record(slot);
  (record.older == none ? oldest_ : this->record(record.older).newer) = record.newer;
  (record.newer == none ? newest_ : this->record(record.newer).older) = record.older;
}

}  // namespace barrio::mobile::detail
