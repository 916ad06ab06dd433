#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/mobile/messages/runtime_core.hpp"

// Objects that migrate: numbers of messages, their ways, places.

namespace barrio::mobile::detail {
namespace {

/// Part of a message on its way between ranks, behind its head.
struct MovePrefix {
  static constexpr std::size_t max_route = 4;
  std::uint64_t number;               // among those of its sender to its object
  std::uint32_t epoch;                // of the place that it was sent to
  std::uint32_t n_detours;            // ranks that have sent it on
  std::array<Rank, max_route> route;  // its sender, and the first of those
};
static_assert(sizeof(MovePrefix) == 32);

/// Lengths of the parts of an object on its way. The object follows, then its counts, its queue, and messages that have
/// come early.
struct MovingHead {
  std::uint64_t n_object_bytes;
  std::uint64_t n_queue_bytes;
  std::uint32_t epoch;
  std::uint32_t n_messages;
  std::uint32_t n_sent;
  std::uint32_t n_received;
  std::uint32_t n_early;
  std::int32_t priority;
  double seconds;
};

/// Head of an early message of such an object; its bytes follow.
struct EarlyHead {
  std::uint64_t from;
  std::uint64_t number;
  std::uint64_t head;
  std::uint64_t n_bytes;
};

constexpr std::uint64_t of_length = UINT32_MAX;  // bits of the second word of a MessageHead that have the length

std::uint64_t second_word(const std::byte* head) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, head + sizeof word, sizeof word);
  return word;
}
std::uint64_t first_word(const std::byte* head) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, head, sizeof word);
  return word;
}

std::uint16_t type_of(const std::byte* head) noexcept { return static_cast<std::uint16_t>(second_word(head) >> 32U); }

/// Writer of parts one behind the other.
class Parts {
 public:
  explicit Parts(std::byte* at) noexcept : at_(at) {}
  template <Plain T>
  void put(const T& part) noexcept {
    put(std::as_bytes(std::span(&part, 1)));
  }
  void put(std::span<const std::byte> bytes) noexcept {
    if (!bytes.empty()) std::memcpy(at_, bytes.data(), bytes.size());
    at_ += bytes.size();
  }
  std::byte* skip(std::size_t n_bytes) noexcept { return std::exchange(at_, at_ + n_bytes); }

 private:
  std::byte* at_;
};

/// Reader of such parts.
class PartsOf {
 public:
  explicit PartsOf(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  template <Plain T>
  T get() noexcept {
    T part;
    std::memcpy(&part, get(sizeof part).data(), sizeof part);
    return part;
  }
  std::span<const std::byte> get(std::size_t n_bytes) noexcept {
    const std::span<const std::byte> part = bytes_.first(n_bytes);
    bytes_ = bytes_.subspan(n_bytes);
    return part;
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace

PairOrder& RuntimeCore::order_of(std::uint64_t sender) {
  ObjectRecord* const record = objects_.find(ObjectId::of_word(sender));
  return record == nullptr ? moves_->program : record->moving->order;
}

bool RuntimeCore::was_made(ObjectId id) const {
  if (id.rank() != rank_ || id.maker() != rank_) return false;
  const auto found = n_made_.find(rank_);
  return found != n_made_.end() && id.number() < found->second;
}

void RuntimeCore::refuse_gone(ObjectId id) const {
  refuse(ErrorCode::usage, fmt::format("a message to object {:#x}", id.word()), "has no object: it was destroyed",
         "send no message to an object after its last one");
}

std::byte* RuntimeCore::allocate_numbered(std::uint64_t from, ObjectId to, std::uint64_t head, std::uint32_t n_bytes) {
  if (n_bytes > UINT32_MAX - sizeof(MovePrefix)) refuse_length(n_bytes);
  const std::uint64_t number = order_of(from).next_to(to.word());
  if (ObjectRecord* const record = objects_.find(to)) {
    statistics_.local_messages += 1;
    PairOrder& order = record->moving->order;
    if (!order.is_next(from, number)) return order.keep(from, number, head, n_bytes);
    Parts parts(place_for(to, sizeof(MessageHead) + n_bytes));
    parts.put(from);
    parts.put(head);
    return parts.skip(n_bytes);
  }
  statistics_.remote_messages += 1;
  const Location there = moves_->directory.guess(to);
  if (there.rank < 0 || (there.rank == rank_ && was_made(to))) refuse_gone(to);
  const std::size_t n_all = sizeof(Envelope) + sizeof(MovePrefix) + n_bytes;
  // an object that was made for this rank elsewhere may be still to come
  Parts parts(there.rank == rank_ ? orphans_.append(n_all) : stream().allocate(there.rank, n_all));
  parts.put(to);
  parts.put(from);
  parts.put(head + sizeof(MovePrefix));
  parts.put(MovePrefix{number, there.epoch, 0, {rank_, -1, -1, -1}});
  return parts.skip(n_bytes);
}

void RuntimeCore::put(ObjectId to, std::uint64_t from, std::uint64_t head, std::span<const std::byte> bytes) {
  Parts parts(place_for(to, sizeof(MessageHead) + bytes.size()));
  parts.put(from);
  parts.put(head);
  parts.put(bytes);
}

void RuntimeCore::accept(const Arrived& one) {
  MovePrefix prefix{};
  std::memcpy(&prefix, one.head + sizeof(MessageHead), sizeof prefix);
  ObjectRecord* const record = objects_.find(one.to);
  if (record == nullptr) {
    Location to;
    switch (moves_->directory.route(one.to, prefix.epoch, was_made(one.to), to)) {
      case Directory::Way::goes_on: send_on(one, to); break;
      case Directory::Way::has_no_object: refuse_gone(one.to);
      case Directory::Way::stays:
        std::memcpy(orphans_.append(sizeof(Envelope) + one.n_bytes), one.head - sizeof one.to,
                    sizeof(Envelope) + one.n_bytes);
    }
    return;
  }
  statistics_.max_hops = std::max<std::uint64_t>(statistics_.max_hops, prefix.n_detours + 1);
  if (prefix.n_detours > 0 && moves_->updates != PlaceUpdates::home) {
    const std::size_t n = std::min<std::size_t>(prefix.n_detours + 1, MovePrefix::max_route);
    for (const Rank rank : std::span(prefix.route).first(n))
      if (rank != rank_) send_place(rank, one.to, {rank_, record->moving->epoch});
  }
  const std::uint64_t from = first_word(one.head);
  const std::uint64_t head = second_word(one.head) - sizeof prefix;
  const std::span bytes(one.head + sizeof(MessageHead) + sizeof prefix, one.n_bytes - sizeof prefix);
  PairOrder& order = record->moving->order;
  if (!order.is_next(from, prefix.number)) {
    if (prefix.number < order.expected(from))
      refuse(ErrorCode::internal, fmt::format("message {} to object {:#x}", prefix.number, one.to.word()),
             "has come twice");
    std::memcpy(order.keep(from, prefix.number, head, bytes.size()), bytes.data(), bytes.size());
    return;
  }
  put(one.to, from, head, bytes);
  order.release(from, [&](const PairOrder::Early& early) { put(one.to, from, early.head, early.bytes); });
}

void RuntimeCore::send_on(const Arrived& one, const Location& to) {
  statistics_.detours += 1;
  const std::span whole(one.head - sizeof one.to, sizeof(Envelope) + one.n_bytes);
  std::byte* const place = stream().allocate(to.rank, whole.size());
  std::memcpy(place, whole.data(), whole.size());
  MovePrefix prefix{};
  std::memcpy(&prefix, place + sizeof(Envelope), sizeof prefix);
  prefix.n_detours += 1;
  prefix.epoch = to.epoch;
  if (prefix.n_detours < MovePrefix::max_route) prefix.route[prefix.n_detours] = rank_;
  std::memcpy(place + sizeof(Envelope), &prefix, sizeof prefix);
}

void RuntimeCore::send_place(Rank to, ObjectId id, const Location& location) {
  statistics_.place_updates += 1;
  const Envelope envelope{id.word(), {std::bit_cast<std::uint64_t>(location), 0, 0, 0, MessageHead::place}};
  std::memcpy(stream().allocate(to, sizeof envelope), &envelope, sizeof envelope);
}

void RuntimeCore::learn_place(const Arrived& one) {
  if (objects_.find(one.to) != nullptr) return;  // an old one
  // messages that wait here may have waited for this
  if (moves_->directory.learn(one.to, std::bit_cast<Location>(first_word(one.head)))) has_new_objects_ = true;
}

void RuntimeCore::announce(ObjectId id, const MovingState& moving, const Location& next) {
  moves_->directory.left(id, next);
  const Rank home = moves_->directory.home(id);
  if (home != rank_ && home != next.rank) send_place(home, id, next);
  if (moves_->updates != PlaceUpdates::eager) return;
  std::vector<Rank> ranks;
  const auto add = [&](std::uint64_t word, std::uint64_t /*n*/) {
    const bool is_program = ~word < static_cast<std::uint64_t>(context_.size());
    const ObjectId peer = ObjectId::of_word(word);
    if (is_program)
      ranks.push_back(static_cast<Rank>(~word));
    else if (objects_.find(peer) == nullptr)
      ranks.push_back(moves_->directory.guess(peer).rank);
  };
  moving.order.sent().each(add);
  moving.order.received().each(add);
  std::ranges::sort(ranks);
  ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
  for (const Rank rank : ranks)
    if (rank >= 0 && rank != rank_ && rank != home && rank != next.rank) send_place(rank, id, next);
}

void RuntimeCore::check_migration(Rank to) const {
  if (!moves_)
    refuse(ErrorCode::usage, "an object", "cannot migrate in this runtime",
           "make it with RuntimeOptions{.migration = true}");
  if (to < 0 || to >= context_.size())
    refuse(ErrorCode::usage, fmt::format("rank {}", to), "is not a rank of this job");
}

void RuntimeCore::migrate(ObjectId id, Rank to) {
  check_migration(to);
  record_of(id).moving->to = to;
  moves_->waiting.push_back(id);
}

Rank RuntimeCore::last_known_rank(ObjectId id) const {
  if (objects_.find(id) != nullptr) return rank_;
  return moves_ ? moves_->directory.guess(id).rank : id.rank();
}

void RuntimeCore::leave(ObjectRecord& record, const Turn& turn) {
  if (turn.is_last_) return end_object(record);
  if (turn.migrates_to_ < 0) return;
  record.moving->to = turn.migrates_to_;
  if (is_in_steps_) {
    moves_->waiting.push_back(record.id);
  } else if (!record.is_ready) {
    depart(record);
  }
}

void RuntimeCore::end_object(ObjectRecord& record) {
  const ObjectId id = record.id;
  if (ObjectTable::has_messages(record) || (record.moving && !record.moving->order.early().empty())) refuse_gone(id);
  if (moves_ && !was_made(id)) {
    const Location nowhere{-1, record.moving->epoch + 1};
    moves_->directory.left(id, nowhere);
    if (const Rank home = moves_->directory.home(id); home != rank_) send_place(home, id, nowhere);
  }
  objects_.remove(record);
}

void RuntimeCore::check_all_came() const {
  objects_.each([](const ObjectRecord& record) {
    if (record.moving->order.early().empty()) return;
    const PairOrder::Early& early = record.moving->order.early().front();
    refuse(ErrorCode::internal, fmt::format("message {} to object {:#x}", early.number, record.id.word()),
           "still waits for one that was sent before it");
  });
}

void RuntimeCore::depart_all() {
  std::erase_if(moves_->waiting, [&](ObjectId id) {
    ObjectRecord* const record = objects_.find(id);
    if (record == nullptr || record->moving->to < 0) return true;
    if (record->is_ready) return false;  // it leaves instead of its turn
    depart(*record);
    return true;
  });
}

void RuntimeCore::tell_partners(bool is_short) {
  for (const Rank partner : moves_->balancer->partners()) {
    const auto flag = static_cast<std::uint16_t>(is_short ? 1 : 0);
    const Envelope envelope{0, {static_cast<std::uint64_t>(rank_), 0, flag, 0, MessageHead::shortage}};
    std::memcpy(stream().allocate(partner, sizeof envelope), &envelope, sizeof envelope);
  }
  stream().flush();
}

void RuntimeCore::note_shortage(const Arrived& one) {
  moves_->balancer->note(static_cast<Rank>(first_word(one.head)), type_of(one.head) > 0);
}

void RuntimeCore::count_time(ObjectRecord& record, double seconds, std::size_t n_messages) {
  statistics_.handler_seconds += seconds;
  if (n_messages == 0) return;
  double& average = record.moving->seconds;
  const double last = seconds / static_cast<double>(n_messages);
  average = average == 0.0 ? last : 0.75 * average + 0.25 * last;
}

void RuntimeCore::share_work() {
  const std::array queues{&warm_ready_, &ready_, &absent_ready_};
  std::vector<Balancer::Item> items;
  double sum = 0.0;
  std::size_t n_known = 0;
  for (const ReadyQueue* queue : queues) {
    for (std::size_t i = 0; i < queue->size(); ++i) {
      const ObjectRecord& record = (*queue)[i];
      std::size_t n = record.n_messages;
      for (const ObjectRecord::StoredQueue& stored : record.stored_queues) n += stored.n_messages;
      items.push_back({record.moving->seconds * static_cast<double>(n), items.size()});
      sum += record.moving->seconds;
      n_known += record.moving->seconds > 0 ? 1 : 0;
    }
  }
  if (items.size() < 2 || n_known == 0) return;
  std::size_t at = 0;
  const double usual = sum / static_cast<double>(n_known);
  for (const ReadyQueue* queue : queues)
    for (std::size_t i = 0; i < queue->size(); ++i, ++at)
      if (items[at].seconds == 0.0) items[at].seconds = usual * static_cast<double>((*queue)[i].n_messages);
  const std::vector<Rank> to = moves_->balancer->share(items);
  at = 0;
  for (ReadyQueue* queue : queues) {
    const std::size_t first = at;
    at += queue->size();
    std::vector<ObjectRecord*> leaving;
    queue->remove_if([&](ObjectRecord& record, std::size_t i) {
      if (to[first + i] < 0 || record.moving->to >= 0) return false;
      record.moving->to = to[first + i];
      record.is_ready = false;
      leaving.push_back(&record);
      return true;
    });
    for (ObjectRecord* record : leaving) depart(*record);
  }
  stream().flush();
}

void RuntimeCore::depart(ObjectRecord& record) {
  MovingState& moving = *record.moving;
  const ObjectId id = record.id;
  const Rank to = std::exchange(moving.to, -1);
  if (to == rank_) {
    if (ObjectTable::has_messages(record)) make_ready(record);
    return;
  }
  void* const object = objects_.take(record);
  const ObjectTable::Messages messages = objects_.take_messages(record);
  const TypeEntry& type = types_[record.type];
  const PairOrder& order = moving.order;
  const MovingHead head{.n_object_bytes = whole_words(type.bytes(object)),
                        .n_queue_bytes = messages.bytes.size(),
                        .epoch = moving.epoch + 1,
                        .n_messages = static_cast<std::uint32_t>(messages.n),
                        .n_sent = static_cast<std::uint32_t>(order.sent().size()),
                        .n_received = static_cast<std::uint32_t>(order.received().size()),
                        .n_early = static_cast<std::uint32_t>(order.early().size()),
                        .priority = record.priority,
                        .seconds = moving.seconds};
  std::size_t n_bytes = sizeof head + head.n_object_bytes + head.n_queue_bytes +
                        (head.n_sent + std::size_t{head.n_received}) * sizeof(WordCounts::Entry);
  for (const PairOrder::Early& early : order.early()) n_bytes += sizeof(EarlyHead) + early.bytes.size();
  if (n_bytes > UINT32_MAX) {
    objects_.give_back(record);  // it stays
    refuse_length(n_bytes);
  }
  Parts parts(stream().allocate(to, sizeof(Envelope) + n_bytes));
  parts.put(Envelope{id.word(), {0, static_cast<std::uint32_t>(n_bytes), record.type, 0, MessageHead::migrating}});
  parts.put(head);
  type.pack(object, parts.skip(head.n_object_bytes));
  const auto put_count = [&](std::uint64_t word, std::uint64_t n) { parts.put(WordCounts::Entry{word, n}); };
  order.sent().each(put_count);
  order.received().each(put_count);
  parts.put(messages.bytes.bytes());
  for (const PairOrder::Early& early : order.early()) {
    parts.put(EarlyHead{early.from, early.number, early.head, early.bytes.size()});
    parts.put(early.bytes);
  }
  statistics_.migrations += 1;
  statistics_.migrated_bytes += n_bytes;
  announce(id, moving, {to, head.epoch});
  objects_.give_back(record);
  objects_.remove(record);
}

void RuntimeCore::arrive(const Arrived& one) {
  PartsOf parts({one.head + sizeof(MessageHead), one.n_bytes});
  const auto head = parts.get<MovingHead>();
  const std::uint16_t type = type_of(one.head);
  std::shared_ptr<void> object = types_[type].unpack(parts.get(head.n_object_bytes));
  auto moving = std::make_unique<MovingState>();
  moving->epoch = head.epoch;
  moving->seconds = head.seconds;
  for (const auto& [counts, n] :
       {std::pair(&moving->order.sent(), head.n_sent), std::pair(&moving->order.received(), head.n_received)}) {
    for (std::uint32_t i = 0; i < n; ++i) {
      const auto entry = parts.get<WordCounts::Entry>();
      (*counts)[entry.word] = entry.n;
    }
  }
  const std::span<const std::byte> queue = parts.get(head.n_queue_bytes);
  for (std::uint32_t i = 0; i < head.n_early; ++i) {
    const auto early = parts.get<EarlyHead>();
    const std::span<const std::byte> bytes = parts.get(early.n_bytes);
    std::ranges::copy(bytes, moving->order.keep(early.from, early.number, early.head, early.n_bytes));
  }
  ObjectRecord& record = add_object(one.to, type, std::move(object), std::move(moving));
  record.priority = head.priority;
  moves_->directory.arrived(one.to);
  has_new_objects_ = true;
  if (moves_->balancer && !is_rescuing_ && moves_->balancer->takes_back()) tell_partners(false);
  if (queue.empty()) return;
  make_ready(record);
  PartsOf messages(queue);
  for (std::uint32_t i = 0; i < head.n_messages; ++i) {  // the first ones may have left for the disk meanwhile
    const std::byte* const at = messages.get(sizeof(MessageHead)).data();
    const std::size_t n_bytes = second_word(at) & of_length;
    (void)messages.get(n_bytes);
    std::memcpy(objects_.append(record, sizeof(MessageHead) + n_bytes), at, sizeof(MessageHead) + n_bytes);
  }
}

}  // namespace barrio::mobile::detail
