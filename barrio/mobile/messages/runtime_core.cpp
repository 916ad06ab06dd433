#include "barrio/mobile/messages/runtime_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <ctime>
#include <limits>
#include <tuple>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/base/trace.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mobile::detail {
namespace {

constexpr RegionName run_region{"mobile.run"};

// Between two looks at the network; and the time after which packets leave that are not full.
constexpr std::uint64_t max_messages_in_a_row = 1024;
constexpr std::chrono::microseconds max_time_in_a_row{50};
constexpr std::chrono::microseconds max_time_in_packets{200};
constexpr std::size_t max_places = std::size_t{1} << 20U;  // of objects that have left this rank, after a run

std::string name_of(ObjectId id) { return id.is_set() ? fmt::format("object {:#x}", id.word()) : "a null pointer"; }

/// Return the second word of the head of a message, with the length 0: the length is added to it.
std::uint64_t head_without_length(std::uint16_t handler) noexcept {
  return std::bit_cast<std::array<std::uint64_t, 2>>(MessageHead{0, 0, handler, 0, MessageHead::message})[1];
}
/// Return the seconds that this thread has computed: where ranks share cores, others pass without it.
double processor_seconds() noexcept {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
/// Read one field of a head, which is cheaper than to read all.
template <class T, std::size_t offset>
T read_field(const std::byte* head) noexcept {
  T value;
  std::memcpy(&value, head + offset, sizeof value);
  return value;
}
/// Copy whole words: a few without a call.
void copy_words(std::byte* to, const std::byte* from, std::size_t n_bytes) noexcept {
  switch (n_bytes) {
    case 0: return;
    case 8: std::memcpy(to, from, 8); return;
    case 16: std::memcpy(to, from, 16); return;
    case 24: std::memcpy(to, from, 24); return;
    case 32: std::memcpy(to, from, 32); return;
    default: std::memcpy(to, from, n_bytes);
  }
}
std::byte* write_head(std::byte* place, std::uint64_t from, std::uint64_t rest) noexcept {
  std::memcpy(place, &from, sizeof from);
  std::memcpy(place + sizeof from, &rest, sizeof rest);
  return place + sizeof(MessageHead);
}
static_assert(std::endian::native == std::endian::little, "a length is added to the first bytes of a word");

}  // namespace

RuntimeCore::RuntimeCore(Runtime& runtime, mpi::Context& context, const RuntimeOptions& options)
    : runtime_(runtime),
      context_(context),
      rank_(context.rank()),
      objects_(types_,
               {.max_bytes = options.max_memory_bytes, .scratch = options.scratch, .eviction = options.eviction},
               context.trace()),
      open_stream_(std::in_place, context, options.stream),
      is_plain_(options.max_memory_bytes == 0 && !options.migration),
      last_flush_(Clock::now()),
      moves_(options.migration
                 ? std::make_unique<Moves>(Moves{Directory(context.rank(), context.size()), options.updates, {}})
                 : nullptr) {
  if (moves_ && options.balancing) moves_->balancer.emplace(context.rank(), context.size());
}

void RuntimeCore::add_type(TypeEntry entry) {
  if (std::ranges::find(types_, entry.tag, &TypeEntry::tag) != types_.end())
    refuse(ErrorCode::usage, fmt::format("the type {}", entry.name), "was added before", "add each type once");
  if (types_.size() == std::numeric_limits<std::uint16_t>::max())
    refuse(ErrorCode::usage, "a runtime", "has no room for more types");
  types_.push_back(std::move(entry));
}

std::uint16_t RuntimeCore::find_type(const void* tag) const {
  const auto found = std::ranges::find(types_, tag, &TypeEntry::tag);
  if (found == types_.end())
    refuse(ErrorCode::usage, "an object", "has a type that the runtime does not know", "call add_type<T>() first");
  return static_cast<std::uint16_t>(found - types_.begin());
}

void RuntimeCore::add_handler(HandlerEntry entry) {
  const std::uint16_t type = find_type(entry.type);
  if (entry.number >= heads_.size()) heads_.resize(entry.number + 1, 0);
  if (!moves_) n_heads_ = heads_.size();
  std::uint64_t& head = heads_[entry.number];
  if (head != 0)
    refuse(ErrorCode::usage, fmt::format("a message to the type {}", types_[type].name), "has a handler already",
           "use a type of its own for each kind of message");
  if (handlers_.size() == std::numeric_limits<std::uint16_t>::max())
    refuse(ErrorCode::usage, "a runtime", "has no room for more handlers");
  head = head_without_length(static_cast<std::uint16_t>(handlers_.size()));
  calls_.push_back({entry.call, entry.handler.get(), type});
  handlers_.push_back(std::move(entry));
}

void RuntimeCore::refuse_handler() {
  refuse(ErrorCode::usage, "a message", "has no handler for this type of objects", "call on<T, M>(handler) first");
}

ObjectId RuntimeCore::next_id(Rank rank) {
  if (rank < 0 || rank >= context_.size())
    refuse(ErrorCode::usage, fmt::format("rank {}", rank), "is not a rank of this job");
  if (context_.size() > ObjectId::max_ranks)
    refuse(ErrorCode::usage, "names of objects", fmt::format("have room for {} ranks", ObjectId::max_ranks));
  const std::uint32_t number = n_made_[rank]++;
  if (number >= ObjectId::max_objects)
    refuse(ErrorCode::usage, "names of objects",
           fmt::format("have room for {} that one rank makes for another", ObjectId::max_objects));
  return {rank, context_.rank(), number};
}

ObjectId RuntimeCore::make(const void* tag, std::shared_ptr<void> object) {
  const std::uint16_t type = find_type(tag);
  const ObjectId id = next_id(context_.rank());
  (void)add_object(id, type, std::move(object));
  return id;
}

ObjectId RuntimeCore::make_on(const void* tag, Rank rank, const void* object) {
  const std::uint16_t type = find_type(tag);
  const ObjectId id = next_id(rank);
  const std::size_t n_bytes = whole_words(types_[type].bytes(object));
  if (n_bytes > UINT32_MAX) refuse_length(n_bytes);
  std::byte* const place = stream().allocate(rank, sizeof(Envelope) + n_bytes);
  has_sent_ = true;
  const Envelope envelope{id.word(), {0, static_cast<std::uint32_t>(n_bytes), type, 0, MessageHead::object}};
  std::memcpy(place, &envelope, sizeof envelope);
  types_[type].pack(object, place + sizeof envelope);
  return id;
}

ObjectRecord& RuntimeCore::record_of(ObjectId id) const {
  ObjectRecord* const object = objects_.find(id);
  if (object == nullptr)
    refuse(ErrorCode::usage, name_of(id), "is not on this rank",
           "send it a message, or ask only for objects that objects() lists on this rank");
  return *object;
}

std::vector<ObjectId> RuntimeCore::list_objects(const void* tag) const {
  std::vector<ObjectId> all = objects_.of_type(find_type(tag));
  std::ranges::sort(all);
  return all;
}

void RuntimeCore::destroy(ObjectId id) {
  if (is_running_)
    refuse(ErrorCode::usage, name_of(id), "cannot be destroyed by a handler of another object",
           "call turn.destroy() in one of its own, or destroy it between runs");
  ObjectRecord& object = record_of(id);
  if (ObjectTable::has_messages(object))
    refuse(ErrorCode::usage, name_of(id), "has messages that wait for it", "run() before it is destroyed");
  end_object(object);
}

void RuntimeCore::refuse_null() {
  refuse(ErrorCode::usage, "a message to a null pointer", "cannot be sent", "name an object that was made");
}

// The way of nearly all messages comes first, without a call, so that no registers are saved; a last call does the
// rest.
std::byte* RuntimeCore::allocate(std::uint32_t message_number, std::uint64_t from, ObjectId to, std::uint32_t n_bytes) {
  if (to.rank() != rank_) return allocate_remote(message_number, from, to, n_bytes);
  const std::uint64_t head = message_number < n_heads_ ? heads_[message_number] : 0;
  std::byte* const place =
      is_plain_ && head != 0 ? objects_.append_at_once(to, sizeof(MessageHead) + n_bytes) : nullptr;
  if (place == nullptr) [[unlikely]]
    return allocate_anywhere(message_number, from, to, n_bytes);
  statistics_.local_messages += 1;
  return write_head(place, from, head + n_bytes);
}

std::byte* RuntimeCore::allocate_remote(std::uint32_t message_number, std::uint64_t from, ObjectId to,
                                        std::uint32_t n_bytes) {
  const std::uint64_t head = message_number < n_heads_ && open_stream_ ? heads_[message_number] : 0;
  std::byte* const place = head != 0 ? open_stream_->allocate_at_once(to.rank(), sizeof(Envelope) + n_bytes) : nullptr;
  if (place == nullptr) [[unlikely]]
    return allocate_anywhere(message_number, from, to, n_bytes);
  statistics_.remote_messages += 1;
  std::memcpy(place, &to, sizeof to);
  return write_head(place + sizeof to, from, head + n_bytes);
}

std::byte* RuntimeCore::allocate_anywhere(std::uint32_t message_number, std::uint64_t from, ObjectId to,
                                          std::uint32_t n_bytes) {
  if (message_number >= heads_.size() || heads_[message_number] == 0) refuse_handler();
  if (!to.is_set()) refuse_null();
  const std::uint64_t head = heads_[message_number] + n_bytes;
  if (moves_) return allocate_numbered(from, to, head, n_bytes);
  std::byte* place = nullptr;
  if (to.rank() == rank_) {
    statistics_.local_messages += 1;
    place = place_for(to, sizeof(MessageHead) + n_bytes);
  } else {
    statistics_.remote_messages += 1;
    place = stream().allocate(to.rank(), sizeof(Envelope) + n_bytes);
    std::memcpy(place, &to, sizeof to);
    place += sizeof to;
  }
  return write_head(place, from, head);
}

std::byte* RuntimeCore::place_aside(ObjectId to, std::size_t n_bytes) {
  ByteQueue& queue = is_in_steps_ ? next_step_ : orphans_;
  if (is_in_steps_) n_of_next_step_ += 1;
  std::byte* const place = queue.append(sizeof to + n_bytes);
  std::memcpy(place, &to, sizeof to);
  return place + sizeof to;
}

void RuntimeCore::make_ready(ObjectRecord& object) {
  object.is_ready = true;
  (is_running_ && object.is_warm ? warm_ready_ : object.object ? ready_ : absent_ready_).push(object);
}

// Objects in memory come first, so that each load serves many messages; of these warm ones, before they have to leave.
// Now and then another comes first: a conversation must not keep all others from their turns.
ObjectRecord& RuntimeCore::pick() noexcept {
  constexpr std::uint32_t max_warm_in_a_row = 64;
  const bool is_warm_next = !warm_ready_.empty() && n_warm_in_a_row_ < max_warm_in_a_row;
  if (is_warm_next || (ready_.empty() && absent_ready_.empty())) {
    n_warm_in_a_row_ += 1;
    return warm_ready_.pop();
  }
  n_warm_in_a_row_ = 0;
  return ready_.empty() ? absent_ready_.pop() : ready_.pop();
}

inline RuntimeCore::Arrived RuntimeCore::read_arrived(const std::byte* at) noexcept {
  std::uint64_t to = 0;
  std::memcpy(&to, at, sizeof to);
  const std::byte* const head = at + sizeof to;
  return {ObjectId::of_word(to), head, read_field<std::uint32_t, offsetof(MessageHead, n_bytes)>(head),
          read_field<MessageHead::Content, offsetof(MessageHead, content)>(head)};
}

inline void RuntimeCore::deliver_one(const Arrived& one) {
  if (one.content == MessageHead::object) [[unlikely]] {
    const auto type = read_field<std::uint16_t, offsetof(MessageHead, handler)>(one.head);
    (void)add_object(one.to, type, types_[type].unpack({one.head + sizeof(MessageHead), one.n_bytes}));
    has_new_objects_ = true;
    return;
  }
  if (moves_) [[unlikely]] {
    switch (one.content) {
      case MessageHead::migrating: return arrive(one);
      case MessageHead::place: return learn_place(one);
      case MessageHead::shortage: return note_shortage(one);
      default: return accept(one);
    }
  }
  std::byte* place = is_plain_ ? objects_.append_at_once(one.to, sizeof(MessageHead) + one.n_bytes) : nullptr;
  if (place == nullptr) [[unlikely]]
    place = place_for(one.to, sizeof(MessageHead) + one.n_bytes);
  std::memcpy(place, one.head, sizeof(MessageHead));
  copy_words(place + sizeof(MessageHead), one.head + sizeof(MessageHead), one.n_bytes);
}

void RuntimeCore::deliver(std::span<const std::byte> packet) {
  const std::byte* const end = packet.data() + packet.size();
  const std::byte* at = packet.data();
  try {
    while (at < end) {
      const Arrived one = read_arrived(at);
      at += sizeof(Envelope) + one.n_bytes;
      deliver_one(one);
    }
  } catch (...) {
    rescue({at, end});
    throw;
  }
  find_objects_of_orphans();
}

void RuntimeCore::rescue(std::span<const std::byte> packet) noexcept {
  is_rescuing_ = true;
  const std::byte* const end = packet.data() + packet.size();
  for (const std::byte* at = packet.data(); at < end;) {
    const Arrived one = read_arrived(at);
    at += sizeof(Envelope) + one.n_bytes;
    try {
      if (one.content != MessageHead::message) deliver_one(one);
    } catch (...) {  // the first failure is the one that is reported
      continue;
    }
  }
}

inline bool RuntimeCore::handle_at_once(const Arrived& one) {
  const ObjectRecord* const object = objects_.find(one.to);
  if (object == nullptr || object->is_ready || one.content != MessageHead::message) return false;
  const Call& call = calls_[read_field<std::uint16_t, offsetof(MessageHead, handler)>(one.head)];
  if (call.type != object->type) [[unlikely]]
    refuse_type(one.to);
  Turn turn(runtime_, one.to);
  statistics_.turns += 1;
  statistics_.handled_messages += 1;
  call.function(call.handler, turn, object->object.get(), {one.head + sizeof(MessageHead), one.n_bytes});
  if (turn.is_last_) [[unlikely]]
    end_object(record_of(one.to));
  return true;
}

void RuntimeCore::handle_packet(std::span<const std::byte> packet) {
  const Clock::time_point start = Clock::now();
  const std::uint64_t n_before = statistics_.handled_messages;
  const std::uint64_t n_at_most = n_before + n_in_a_row_;
  unread_ = packet;
  // a handler that serves the network delivers what is unread, since the packet does not outlive that
  while (!unread_.empty() && statistics_.handled_messages < n_at_most) {
    const Arrived one = read_arrived(unread_.data());
    unread_ = unread_.subspan(sizeof(Envelope) + one.n_bytes);
    if (!handle_at_once(one)) deliver_one(one);
  }
  deliver(std::exchange(unread_, {}));
  end_row(start, statistics_.handled_messages - n_before);
}

// Their messages came in packets of other ranks, so order is kept.
void RuntimeCore::find_objects_of_orphans() {
  if (!std::exchange(has_new_objects_, false) || orphans_.empty()) return;
  const ByteQueue before = std::exchange(orphans_, ByteQueue());
  deliver(before.bytes());
}

bool RuntimeCore::work() {
  if (!has_ready()) {
    if (moves_ && moves_->balancer && !is_in_steps_ && moves_->balancer->tells()) tell_partners(true);
    return false;
  }
  const Clock::time_point start = Clock::now();
  const std::uint64_t n_before = statistics_.handled_messages;
  while (statistics_.handled_messages < n_before + n_in_a_row_ && has_ready()) run_turn(pick());
  end_row(start, statistics_.handled_messages - n_before);
  if (moves_ && !is_in_steps_) {
    depart_all();
    if (moves_->balancer && moves_->balancer->has_short()) share_work();
  }
  return true;
}

// Long handlers are followed by a look at the network, short ones go on in a row.
void RuntimeCore::end_row(Clock::time_point start, std::uint64_t n_handled) {
  if (n_handled == 0) return;
  const Clock::time_point now = Clock::now();
  const double n_in_time =
      static_cast<double>(n_handled) * (max_time_in_a_row / std::chrono::duration<double, std::micro>(now - start));
  const auto max_next = static_cast<double>(std::min(2 * n_in_a_row_, max_messages_in_a_row));
  n_in_a_row_ = static_cast<std::uint64_t>(std::clamp(n_in_time, 1.0, max_next));
  if (now - last_flush_ > max_time_in_packets) {
    stream().flush();
    last_flush_ = now;
  }
}

void RuntimeCore::refuse_type(ObjectId id) {
  refuse(ErrorCode::usage, name_of(id), "has another type than the pointer in a message to it");
}

void RuntimeCore::run_turn(ObjectRecord& record) {
  if (record.moving && record.moving->to >= 0) [[unlikely]] {
    record.is_ready = false;
    return depart(record);
  }
  void* const object = objects_.take(record);
  if (ready_.empty() && !absent_ready_.empty()) objects_.prefetch(absent_ready_.front());
  ObjectTable::Messages messages = objects_.take_messages(record);
  record.is_ready = false;
  Turn turn(runtime_, record.id);
  statistics_.turns += 1;
  const bool is_timed = moves_ && moves_->balancer;
  const double start = is_timed ? processor_seconds() : 0.0;
  const auto end_turn = [&](std::size_t n_handled) {
    statistics_.handled_messages += n_handled;
    if (turn.n_unchanged_ < n_handled) record.is_changed = true;
    record.is_finished = turn.is_finished_;
    ObjectTable::give_queue(record, std::move(messages.bytes));
    objects_.give_back(record);
  };
  const std::byte* at = messages.bytes.bytes().data();
  const std::uint64_t type = record.type;
  std::size_t n_left = messages.n;
  try {
    std::optional<MemoryGrowth> growth;
    objects_.open_growth(growth);
    while (n_left > 0) {
      const std::size_t n_bytes = read_field<std::uint32_t, offsetof(MessageHead, n_bytes)>(at);
      const Call& call = calls_[read_field<std::uint16_t, offsetof(MessageHead, handler)>(at)];
      if (call.type != type) [[unlikely]]
        refuse_type(record.id);
      turn.n_waiting_ = --n_left;
      at += sizeof(MessageHead) + n_bytes;
      call.function(call.handler, turn, object, {at - n_bytes, n_bytes});
    }
  } catch (...) {
    turn.n_unchanged_ = 0;
    end_turn(messages.n - n_left);
    throw;
  }
  if (is_timed) count_time(record, processor_seconds() - start, messages.n);
  end_turn(messages.n);
  if (turn.is_last_ || moves_) [[unlikely]]
    leave(record, turn);
}

ObjectRecord& RuntimeCore::add_object(ObjectId id, std::uint16_t type, std::shared_ptr<void> object,
                                      std::unique_ptr<MovingState> moving) {
  ObjectRecord& record = objects_.add(id, type, std::move(object));
  if (moves_) record.moving = moving ? std::move(moving) : std::make_unique<MovingState>();
  return record;
}

void RuntimeCore::serve() {
  deliver(std::exchange(unread_, {}));
  while (const std::optional<exchange::PacketStream::Packet> packet = stream().poll()) deliver(packet->payload);
  stream().flush();
  last_flush_ = Clock::now();
}

void RuntimeCore::close() {
  n_waves_ = stream().n_waves();
  open_stream_.reset();
}

void RuntimeCore::refuse_closed() {
  refuse(ErrorCode::usage, "a runtime", "that was closed takes no messages", "close() it after the last run()");
}

void RuntimeCore::begin_step() {
  struct Kept {
    std::uint64_t to;
    std::uint64_t from;
    std::size_t at;
  };
  std::vector<Kept> kept;
  kept.reserve(n_of_next_step_);
  const ByteQueue before = std::exchange(next_step_, ByteQueue());
  const std::span<const std::byte> bytes = before.bytes();
  Envelope envelope{};
  for (std::size_t at = 0; at < bytes.size(); at += sizeof envelope + envelope.head.n_bytes) {
    std::memcpy(&envelope, &bytes[at], sizeof envelope);
    kept.push_back({envelope.to, envelope.head.from, at});
  }
  // of one sender by place: those arrive in the order of sending
  std::ranges::sort(kept, {}, [](const Kept& one) { return std::tuple(one.to, one.from, one.at); });
  n_of_next_step_ = 0;
  set_in_steps(false);
  // objects that migrate take the messages of this step along, before any of the next one can come
  const auto leaving = moves_ ? std::exchange(moves_->waiting, {}) : std::vector<ObjectId>();
  for (const ObjectId id : leaving)
    if (ObjectRecord* const record = objects_.find(id)) record->is_ready = true;  // else it has ended
  for (const Kept& one : kept) {
    std::memcpy(&envelope, &bytes[one.at], sizeof envelope);
    const std::size_t n_bytes = sizeof envelope.head + envelope.head.n_bytes;
    std::memcpy(place_for(ObjectId::of_word(one.to), n_bytes), &bytes[one.at + sizeof one.to], n_bytes);
  }
  for (const ObjectId id : leaving) {
    ObjectRecord* const record = objects_.find(id);  // it may be named twice, and have left
    if (record == nullptr || record->moving->to < 0) continue;
    record->is_ready = false;
    depart(*record);
  }
  set_in_steps(true);
  statistics_.steps += 1;
}

std::string RuntimeCore::describe_registration() const {
  std::string text = moves_ ? "option migration\n" : "";
  for (const TypeEntry& type : types_) text += fmt::format("type {} ({:016x})\n", type.name, type.layout);
  for (std::size_t h = 0; h < handlers_.size(); ++h)
    text += fmt::format("message {} ({:016x}) to {}\n", handlers_[h].message, handlers_[h].layout,
                        types_[calls_[h].type].name);
  return text;
}

void RuntimeCore::check_registration() {
  const std::string mine = describe_registration();
  const std::uint64_t hash = Hash64().add_text(mine).value();
  if (mpi::min(context_, hash) == mpi::max(context_, hash)) return;
  std::string of_root = mine;
  mpi::broadcast(context_, of_root);
  mpi::agree_after(context_, [&] {
    if (mine == of_root) return;
    const auto line = [](const std::string& text, std::size_t at) {
      const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
      return begin >= text.size() ? std::string("nothing more") : text.substr(begin, text.find('\n', begin) - begin);
    };
    const auto [here, there] = std::ranges::mismatch(mine, of_root);
    refuse(ErrorCode::usage, fmt::format("rank {}", context_.rank()),
           fmt::format("has the {} where rank 0 has the {}", line(mine, here - mine.begin()),
                       line(of_root, there - of_root.begin())),
           "add the same types and handlers in the same order on all ranks");
  });
}

void RuntimeCore::run(const RunOptions& options) {
  if (is_running_) refuse(ErrorCode::usage, "a runtime", "is run by a handler", "send messages from handlers");
  const Region region(context_.trace(), run_region);
  check_registration();
  is_running_ = true;
  if (moves_) depart_all();
  const auto read = [&](const exchange::PacketStream::Packet& packet) {
    if (!is_plain_) return deliver(packet.payload);
    handle_packet(packet.payload);
    (void)work();  // objects that wait have their turns, however many packets come
  };
  const auto keep_objects = [&](const exchange::PacketStream::Packet& packet) { rescue(packet.payload); };
  try {
    if (options.supersteps) {
      // what was sent before is the first step
      set_in_steps(true);
      while (has_ready()) {
        ObjectRecord& object = pick();
        object.is_ready = false;
        const ObjectTable::Messages messages = objects_.take_messages(object);
        const std::span<const std::byte> bytes = messages.bytes.bytes();
        MessageHead head{};
        for (std::size_t at = 0, n_bytes = 0; at < bytes.size(); at += n_bytes) {
          std::memcpy(&head, &bytes[at], sizeof head);
          n_bytes = sizeof head + head.n_bytes;
          std::memcpy(place_for(object.id, n_bytes), &bytes[at], n_bytes);
        }
      }
      for (;;) {
        stream().drain(read, [&] { return work(); }, keep_objects);
        if (mpi::sum(context_, n_of_next_step_ + (moves_ ? moves_->waiting.size() : 0)) == 0) break;
        begin_step();
      }
      set_in_steps(false);
    } else {
      stream().drain(read, [&] { return work(); }, keep_objects);
    }
    mpi::agree_after(context_, [&] {
      if (moves_) check_all_came();
      if (orphans_.empty()) return;
      Envelope envelope{};
      std::memcpy(&envelope, orphans_.bytes().data(), sizeof envelope);
      refuse(ErrorCode::usage, fmt::format("a message to {}", name_of(ObjectId::of_word(envelope.to))),
             fmt::format("has no object: there is none of this name on rank {}", context_.rank()),
             "send only to names that make() or make_on() has returned, of objects that were not destroyed");
    });
    if (moves_ && moves_->balancer) moves_->balancer->clear();
    if (moves_) clear_numbers();
    if (moves_ && mpi::max(context_, moves_->directory.n_left()) > max_places) moves_->directory.forget();
  } catch (...) {
    drop_messages();
    throw;
  }
  is_running_ = false;
  has_sent_ = false;
  n_sent_before_ = statistics_.local_messages + statistics_.remote_messages;
}

void RuntimeCore::drop_messages() {
  objects_.clear_messages();
  ready_.clear();
  warm_ready_.clear();
  absent_ready_.clear();
  next_step_ = {};
  orphans_ = {};
  unread_ = {};
  is_rescuing_ = false;
  n_of_next_step_ = 0;
  if (moves_) {
    clear_numbers();
    moves_->waiting.clear();
    if (moves_->balancer) moves_->balancer->clear();
  }
  set_in_steps(false);
  is_running_ = false;
  has_sent_ = false;
  n_sent_before_ = statistics_.local_messages + statistics_.remote_messages;
}

RuntimeStatistics RuntimeCore::statistics() const {
  RuntimeStatistics all = statistics_;
  all.waves = open_stream_ ? open_stream_->n_waves() : n_waves_;
  all.loads = objects_.n_loads();
  all.evictions = objects_.n_evictions();
  all.finished_bytes = objects_.finished_bytes();
  all.max_memory_bytes = objects_.account().max_bytes();
  all.places = moves_ ? moves_->directory.size() : 0;
  all.store = objects_.store_statistics();
  return all;
}

}  // namespace barrio::mobile::detail
