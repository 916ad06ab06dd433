#include "barrio/mobile/objects/object_table.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "barrio/base/memory.hpp"

namespace barrio::mobile::detail {
namespace {

constexpr std::size_t min_stored_queue = 4U << 10U;      // that leaves with its object
constexpr std::size_t max_queue_of_absent = 64U << 10U;  // that stays in memory
constexpr int max_looked_at = 64;                        // for an object without messages

}  // namespace

ObjectTable::ObjectTable(const std::vector<TypeEntry>& types, std::uint64_t max_bytes, const std::string& scratch)
    : types_(types), max_bytes_(max_bytes > 0 ? max_bytes : UINT64_MAX) {
  if (max_bytes > 0)
    store_.emplace(StoreOptions{.folder = scratch,
                                .max_waiting_bytes = std::min<std::uint64_t>(max_bytes / 8, std::uint64_t{16} << 20U)});
}

ObjectTable::Slot ObjectTable::add(ObjectId id, std::uint16_t type, std::shared_ptr<void> object) {
  Slot slot = 0;
  if (free_.empty()) {
    slot = static_cast<Slot>(records_.size());
    records_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  Record& record = records_[slot];
  record.id = id;
  record.type = type;
  record.object = std::move(object);
  record.n_bytes = types_[type].memory_bytes(record.object.get());
  used_bytes_ += record.n_bytes;
  note_use();
  table_.add(id, slot);
  link_newest(slot);
  record.n_uses += 1;
  make_room(0);
  record.n_uses -= 1;
  return slot;
}

void ObjectTable::remove(Slot slot) {
  Record& record = records_[slot];
  table_.remove(record.id);
  if (record.stored) store_->drop(*record.stored);
  if (record.object) unlink(slot);
  used_bytes_ -= record.n_bytes + record.queue.size();
  record = {};
  free_.push_back(slot);
}

void* ObjectTable::take(Slot slot) {
  Record& record = records_[slot];
  if (record.object) {
    unlink(slot);
  } else {
    make_room(record.n_stored_bytes);
    const Block block = store_->get(*record.stored);
    record.object = types_[record.type].unpack(block.bytes());
    record.n_bytes = types_[record.type].memory_bytes(record.object.get());
    used_bytes_ += record.n_bytes;
    note_use();
    n_loads_ += 1;
  }
  link_newest(slot);
  record.n_uses += 1;
  return record.object.get();
}

void ObjectTable::give_back(Slot slot) {
  Record& record = records_[slot];
  if (std::exchange(record.is_changed, false)) {
    used_bytes_ -= record.n_bytes;
    record.n_bytes = types_[record.type].memory_bytes(record.object.get());
    used_bytes_ += record.n_bytes;
    note_use();
    if (record.stored) store_->drop(*std::exchange(record.stored, std::nullopt));
  }
  record.n_uses -= 1;
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
  for (Slot slot = oldest_; slot != none && n < max_looked_at; slot = records_[slot].newer, ++n) {
    if (records_[slot].n_uses > 0) continue;
    if (!records_[slot].is_ready) return slot;
    if (oldest == none) oldest = slot;
  }
  return oldest;
}

void ObjectTable::evict(Slot slot) {
  Record& record = records_[slot];
  if (!record.stored) {
    const TypeEntry& type = types_[record.type];
    Block block(std::max<std::size_t>(type.bytes(record.object.get()), sizeof(std::uint64_t)));
    type.pack(record.object.get(), block.data());
    record.n_stored_bytes = block.size();
    record.stored = store_->put(std::move(block));
  }
  unlink(slot);
  record.object.reset();
  used_bytes_ -= record.n_bytes;
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
  const Record& record = records_[slot];
  if (!record.object && used_bytes_ + 2 * record.n_stored_bytes <= max_bytes_) store_->prefetch(*record.stored);
}

std::byte* ObjectTable::append(Slot slot, const MessageHead& head) {
  const std::size_t n_bytes = sizeof head + whole_words(head.n_bytes);
  if (used_bytes_ + n_bytes > max_bytes_) [[unlikely]]
    make_room(n_bytes);  // this object may leave, with the messages before this one
  Record& record = records_[slot];
  if (!record.object && record.queue.size() + n_bytes > max_queue_of_absent && record.n_messages > 0)
    store_queue(record);
  std::byte* const place = record.queue.append(n_bytes);
  std::memcpy(place, &head, sizeof head);
  record.n_messages += 1;
  used_bytes_ += n_bytes;
  note_use();
  return place + sizeof head;
}

ObjectTable::Messages ObjectTable::take_messages(Slot slot) {
  Record& record = records_[slot];
  Messages all;
  for (const StoredQueue& one : record.stored_queues) {
    const Block block = store_->get(one.id);
    store_->drop(one.id);
    std::memcpy(all.bytes.append(block.size()), block.data(), block.size());
    all.n += one.n_messages;
  }
  record.stored_queues.clear();
  used_bytes_ -= record.queue.size();
  all.n += std::exchange(record.n_messages, 0);
  if (all.bytes.empty()) {
    all.bytes = std::move(record.queue);
  } else {
    const std::span<const std::byte> rest = record.queue.bytes();
    if (!rest.empty()) std::memcpy(all.bytes.append(rest.size()), rest.data(), rest.size());
    record.queue.clear();
  }
  return all;
}

void ObjectTable::give_queue(Slot slot, ByteQueue queue) noexcept {
  queue.clear();
  Record& record = records_[slot];
  if (record.queue.capacity() == 0) record.queue = std::move(queue);
}

void ObjectTable::clear_messages() {
  for (Record& record : records_) {
    used_bytes_ -= record.queue.size();
    record.queue = {};
    record.n_messages = 0;
    for (const StoredQueue& one : record.stored_queues) store_->drop(one.id);
    record.stored_queues.clear();
    record.is_ready = false;
  }
}

void ObjectTable::link_newest(Slot slot) noexcept {
  Record& record = records_[slot];
  record.older = newest_;
  record.newer = none;
  (newest_ == none ? oldest_ : records_[newest_].newer) = slot;
  newest_ = slot;
}

void ObjectTable::unlink(Slot slot) noexcept {
  const Record& record = records_[slot];
  (record.older == none ? oldest_ : records_[record.older].newer) = record.newer;
  (record.newer == none ? newest_ : records_[record.newer].older) = record.older;
}

}  // namespace barrio::mobile::detail
