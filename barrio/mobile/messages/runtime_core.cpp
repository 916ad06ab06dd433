#include "barrio/mobile/messages/runtime_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
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
constexpr std::uint64_t max_messages_in_a_row = 256;
constexpr std::size_t max_message_bytes = std::numeric_limits<std::uint32_t>::max();
constexpr std::chrono::microseconds max_time_in_a_row{50};
constexpr std::chrono::microseconds max_time_in_packets{200};

std::string name_of(ObjectId id) { return id.is_set() ? fmt::format("object {:#x}", id.word()) : "a null pointer"; }

}  // namespace

RuntimeCore::RuntimeCore(Runtime& runtime, mpi::Context& context, const RuntimeOptions& options)
    : runtime_(runtime),
      context_(context),
      rank_(context.rank()),
      objects_(types_, options.max_memory_bytes, options.scratch, context.trace()),
      open_stream_(std::in_place, context, options.stream),
      last_flush_(Clock::now()) {}

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
  if (std::ranges::find(handlers_, entry.tag, &HandlerEntry::tag) != handlers_.end())
    refuse(ErrorCode::usage, fmt::format("a message to the type {}", types_[type].name), "has a handler already",
           "use a type of its own for each kind of message");
  if (handlers_.size() == std::numeric_limits<std::uint16_t>::max())
    refuse(ErrorCode::usage, "a runtime", "has no room for more handlers");
  handlers_.push_back(std::move(entry));
  type_of_handler_.push_back(type);
}

void RuntimeCore::find_handler(const void* tag) {
  const auto found = std::ranges::find(handlers_, tag, &HandlerEntry::tag);
  if (found == handlers_.end())
    refuse(ErrorCode::usage, "a message", "has no handler for this type of objects", "call on<T, M>(handler) first");
  last_tag_ = tag;
  last_handler_ = static_cast<std::uint16_t>(found - handlers_.begin());
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
  objects_.add(id, type, std::move(object));
  return id;
}

ObjectId RuntimeCore::make_on(const void* tag, Rank rank, const void* object) {
  const std::uint16_t type = find_type(tag);
  const ObjectId id = next_id(rank);
  const std::size_t n_bytes = types_[type].bytes(object);
  if (n_bytes > max_message_bytes)
    refuse(ErrorCode::usage, fmt::format("an object of {} bytes", n_bytes), "is too large to be sent");
  std::byte* const place = stream().allocate(rank, sizeof(Envelope) + whole_words(n_bytes));
  const Envelope envelope{id.word(), 0, static_cast<std::uint32_t>(n_bytes), type, 0, Envelope::object};
  std::memcpy(place, &envelope, sizeof envelope);
  types_[type].pack(object, place + sizeof envelope);
  return id;
}

RuntimeCore::Slot RuntimeCore::slot_of(ObjectId id) const {
  const Slot slot = id.is_set() ? objects_.find(id) : ObjectTable::none;
  if (slot == ObjectTable::none)
    refuse(ErrorCode::usage, name_of(id), "is not on this rank",
           "send it a message, or ask only for objects of the rank that ptr.rank() tells");
  return slot;
}

std::vector<ObjectId> RuntimeCore::list_objects(const void* tag) const {
  std::vector<ObjectId> all = objects_.of_type(find_type(tag));
  std::ranges::sort(all);
  return all;
}

void RuntimeCore::destroy(ObjectId id) {
  if (is_running_) refuse(ErrorCode::usage, name_of(id), "cannot be destroyed by a handler", "destroy it between runs");
  const Slot slot = slot_of(id);
  if (objects_.has_messages(slot))
    refuse(ErrorCode::usage, name_of(id), "has messages that wait for it", "run() before it is destroyed");
  objects_.remove(slot);
}

void RuntimeCore::refuse_message(ObjectId to, std::size_t n_bytes) {
  refuse(ErrorCode::usage, fmt::format("a message of {} bytes to {}", n_bytes, name_of(to)), "cannot be sent",
         "name an object that was made, and send less than 4 GiB at once");
}

std::byte* RuntimeCore::allocate(const void* tag, ObjectId from, ObjectId to, std::size_t n_bytes) {
  if (tag != last_tag_) [[unlikely]]
    find_handler(tag);
  if (!to.is_set() || n_bytes > max_message_bytes) [[unlikely]]
    refuse_message(to, n_bytes);
  // the program of a rank is a sender too, behind all objects
  const Envelope envelope{to.word(),
                          from.is_set() ? from.word() : ~static_cast<std::uint64_t>(rank_),
                          static_cast<std::uint32_t>(n_bytes),
                          last_handler_,
                          0,
                          Envelope::message};
  if (to.rank() == rank_) {
    statistics_.local_messages += 1;
    return put(envelope);
  }
  statistics_.remote_messages += 1;
  std::byte* const place = stream().allocate(to.rank(), sizeof envelope + whole_words(n_bytes));
  std::memcpy(place, &envelope, sizeof envelope);
  return place + sizeof envelope;
}

std::byte* RuntimeCore::put_aside(const Envelope& envelope) {
  ByteQueue& queue = is_in_steps_ ? next_step_ : orphans_;
  if (is_in_steps_) n_of_next_step_ += 1;
  std::byte* const place = queue.append(sizeof envelope + whole_words(envelope.n_bytes));
  std::memcpy(place, &envelope, sizeof envelope);
  return place + sizeof envelope;
}

void RuntimeCore::make_ready(Slot slot) {
  objects_.is_ready(slot) = true;
  (is_running_ && objects_.is_warm(slot) ? warm_ready_
   : objects_.is_in_memory(slot)         ? ready_
                                         : absent_ready_)
      .push(slot);
}

// Objects in memory come first, so that each load serves many messages; of these warm ones, before they have to leave.
// Now and then another comes first: a conversation must not keep all others from their turns.
RuntimeCore::Slot RuntimeCore::pick() noexcept {
  constexpr std::uint32_t max_warm_in_a_row = 64;
  const bool is_warm_next = !warm_ready_.empty() && n_warm_in_a_row_ < max_warm_in_a_row;
  if (is_warm_next || (ready_.empty() && absent_ready_.empty())) {
    n_warm_in_a_row_ += 1;
    return warm_ready_.pop();
  }
  n_warm_in_a_row_ = 0;
  return ready_.empty() ? absent_ready_.pop() : ready_.pop();
}

void RuntimeCore::deliver(std::span<const std::byte> packet) {
  bool has_objects = false;
  for (std::size_t at = 0; at < packet.size();) {
    Envelope envelope{};
    std::memcpy(&envelope, &packet[at], sizeof envelope);
    const std::span<const std::byte> bytes = packet.subspan(at + sizeof envelope, envelope.n_bytes);
    at += sizeof envelope + whole_words(envelope.n_bytes);
    if (envelope.content == Envelope::object) {
      objects_.add(ObjectId::of_word(envelope.to), envelope.handler, types_[envelope.handler].unpack(bytes));
      has_objects = true;
    } else {
      std::byte* const place = put(envelope);
      if (!bytes.empty()) std::memcpy(place, bytes.data(), bytes.size());
    }
  }
  // their messages came in packets of other ranks, so order is kept
  if (has_objects && !orphans_.empty()) find_objects_of_orphans();
}

void RuntimeCore::find_objects_of_orphans() {
  const ByteQueue before = std::exchange(orphans_, ByteQueue());
  deliver(before.bytes());
}

bool RuntimeCore::work() {
  if (!has_ready()) return false;
  const Clock::time_point start = Clock::now();
  const std::uint64_t end = statistics_.handled_messages + n_in_a_row_;
  while (statistics_.handled_messages < end && has_ready()) run_turn(pick());
  const Clock::time_point now = Clock::now();
  // Long handlers are followed by a look at the network, short ones go on in a row.
  n_in_a_row_ = now - start > max_time_in_a_row ? 1 : std::min(2 * n_in_a_row_, max_messages_in_a_row);
  if (now - last_flush_ > max_time_in_packets) {
    stream().flush();
    last_flush_ = now;
  }
  return true;
}

void RuntimeCore::refuse_type(ObjectId id) {
  refuse(ErrorCode::usage, name_of(id), "has another type than the pointer in a message to it");
}

void RuntimeCore::run_turn(Slot slot) {
  void* const object = objects_.take(slot);
  if (ready_.empty() && !absent_ready_.empty()) objects_.prefetch(absent_ready_.front());
  ObjectTable::Messages messages = objects_.take_messages(slot);
  objects_.is_ready(slot) = false;
  Turn turn(runtime_, objects_.id(slot));
  bool is_changed = false;
  statistics_.turns += 1;
  const auto end_turn = [&] {
    if (is_changed) objects_.set_changed(slot);
    objects_.give_queue(slot, std::move(messages.bytes));
    objects_.give_back(slot);
  };
  const std::uint16_t type = objects_.type(slot);
  const std::byte* at = messages.bytes.bytes().data();
  try {
    for (std::size_t n_left = messages.n; n_left > 0;) {
      MessageHead head{};
      std::memcpy(&head, at, sizeof head);
      const HandlerEntry& handler = handlers_[head.handler];
      if (type_of_handler_[head.handler] != type) [[unlikely]]
        refuse_type(objects_.id(slot));
      turn.n_waiting_ = --n_left;
      turn.is_changed_ = true;
      statistics_.handled_messages += 1;
      handler.call(turn, object, {at + sizeof head, head.n_bytes});
      is_changed = is_changed || turn.is_changed_;
      at += sizeof head + whole_words(head.n_bytes);
    }
  } catch (...) {
    is_changed = true;
    end_turn();
    throw;
  }
  end_turn();
}

void RuntimeCore::serve() {
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
  for (std::size_t at = 0; at < bytes.size(); at += sizeof envelope + whole_words(envelope.n_bytes)) {
    std::memcpy(&envelope, &bytes[at], sizeof envelope);
    kept.push_back({envelope.to, envelope.from, at});
  }
  // of one sender by place: those arrive in the order of sending
  std::ranges::sort(kept, {}, [](const Kept& one) { return std::tuple(one.to, one.from, one.at); });
  n_of_next_step_ = 0;
  is_in_steps_ = false;
  for (const Kept& one : kept) {
    std::memcpy(&envelope, &bytes[one.at], sizeof envelope);
    std::byte* const place = put(envelope);
    if (envelope.n_bytes > 0) std::memcpy(place, &bytes[one.at + sizeof envelope], envelope.n_bytes);
  }
  is_in_steps_ = true;
  statistics_.steps += 1;
}

std::string RuntimeCore::describe_registration() const {
  std::string text;
  for (const TypeEntry& type : types_) text += fmt::format("type {} ({:016x})\n", type.name, type.layout);
  for (std::size_t h = 0; h < handlers_.size(); ++h)
    text += fmt::format("message {} ({:016x}) to {}\n", handlers_[h].message, handlers_[h].layout,
                        types_[type_of_handler_[h]].name);
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
  const auto read = [&](const exchange::PacketStream::Packet& packet) { deliver(packet.payload); };
  try {
    if (options.supersteps) {
      // what was sent before is the first step
      is_in_steps_ = true;
      while (has_ready()) {
        const Slot slot = pick();
        objects_.is_ready(slot) = false;
        const ObjectTable::Messages messages = objects_.take_messages(slot);
        const std::span<const std::byte> bytes = messages.bytes.bytes();
        MessageHead head{};
        for (std::size_t at = 0; at < bytes.size(); at += sizeof head + whole_words(head.n_bytes)) {
          std::memcpy(&head, &bytes[at], sizeof head);
          std::byte* const place =
              put({objects_.id(slot).word(), head.from, head.n_bytes, head.handler, 0, Envelope::message});
          if (head.n_bytes > 0) std::memcpy(place, &bytes[at + sizeof head], head.n_bytes);
        }
      }
      for (;;) {
        stream().drain(read, [&] { return work(); });
        if (mpi::sum(context_, n_of_next_step_) == 0) break;
        begin_step();
      }
      is_in_steps_ = false;
    } else {
      stream().drain(read, [&] { return work(); });
    }
    mpi::agree_after(context_, [&] {
      if (orphans_.empty()) return;
      Envelope envelope{};
      std::memcpy(&envelope, orphans_.bytes().data(), sizeof envelope);
      refuse(ErrorCode::usage, fmt::format("a message to {}", name_of(ObjectId::of_word(envelope.to))),
             fmt::format("has no object: there is none of this name on rank {}", context_.rank()),
             "send only to names that make() or make_on() has returned, of objects that were not destroyed");
    });
  } catch (...) {
    drop_messages();
    throw;
  }
  is_running_ = false;
}

void RuntimeCore::drop_messages() {
  objects_.clear_messages();
  ready_.clear();
  warm_ready_.clear();
  absent_ready_.clear();
  next_step_ = {};
  orphans_ = {};
  n_of_next_step_ = 0;
  is_in_steps_ = false;
  is_running_ = false;
}

RuntimeStatistics RuntimeCore::statistics() const {
  RuntimeStatistics all = statistics_;
  all.waves = open_stream_ ? open_stream_->n_waves() : n_waves_;
  all.loads = objects_.n_loads();
  all.evictions = objects_.n_evictions();
  all.max_memory_bytes = objects_.max_memory_bytes();
  all.store = objects_.store_statistics();
  return all;
}

}  // namespace barrio::mobile::detail
