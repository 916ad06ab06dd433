#include "barrio/mobile/runtime.hpp"

#include <atomic>
#include <optional>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/mobile/messages/runtime_core.hpp"
#include "barrio/mpi/agree.hpp"

namespace barrio::mobile {

void detail::refuse_bytes(std::size_t n_bytes) {
  refuse(ErrorCode::internal, std::to_string(n_bytes) + " bytes", "are not those of the object that was packed");
}

void detail::refuse_length(std::size_t n_bytes) {
  if (n_bytes % sizeof(std::uint64_t) != 0)
    refuse(ErrorCode::usage, "a packing", "has bytes that are not whole words",
           "round up what Packing<T>::bytes() returns to 8");
  refuse(ErrorCode::usage, std::to_string(n_bytes) + " bytes", "are too many for one message or object",
         "send less than 4 GiB at once");
}

std::uint32_t detail::number(std::atomic<std::uint32_t>& message_number) {
  static constinit std::atomic<std::uint32_t> n_given = 0;
  std::uint32_t mine = message_number.load();
  if (mine != 0) return mine;
  const std::uint32_t next = ++n_given;
  return message_number.compare_exchange_strong(mine, next) ? next : mine;
}

Runtime::Runtime(mpi::Context& context, const RuntimeOptions& options) {
  mpi::agree_after(context, [&] {
    if (options.balancing && !options.migration)
      refuse(ErrorCode::usage, "balancing of mobile objects", "needs objects that migrate",
             "set RuntimeOptions::migration too");
    // the scratch file; tried here, so that a fault is one of all ranks
    if (options.max_memory_bytes > 0) const Store tried({.folder = options.scratch});
  });
  core_ = std::make_unique<detail::RuntimeCore>(*this, context, options);
  program_ = ~static_cast<std::uint64_t>(context.rank());
}
Runtime::~Runtime() = default;

void Runtime::add_type(detail::TypeEntry entry) { core_->add_type(std::move(entry)); }
void Runtime::add_handler(detail::HandlerEntry entry) { core_->add_handler(std::move(entry)); }
ObjectId Runtime::make(const void* tag, std::shared_ptr<void> object) { return core_->make(tag, std::move(object)); }
ObjectId Runtime::make_on(const void* tag, Rank rank, const void* object) { return core_->make_on(tag, rank, object); }
std::vector<ObjectId> Runtime::objects(const void* tag) const { return core_->list_objects(tag); }
void Runtime::destroy(ObjectId id) { core_->destroy(id); }
void Runtime::migrate(ObjectId id, Rank to) { core_->migrate(id, to); }
Rank Runtime::last_known_rank(ObjectId id) const { return core_->last_known_rank(id); }
std::byte* Runtime::allocate(std::uint32_t message_number, std::uint64_t from, ObjectId to, std::uint32_t n_bytes) {
  return core_->allocate(message_number, from, to, n_bytes);
}
void Runtime::run(const RunOptions& options) { core_->run(options); }
void Runtime::save(const std::string& path) { core_->save(path); }
void Runtime::restore(const std::string& path) { core_->restore(path); }
void Runtime::close() { core_->close(); }

void Runtime::use(ObjectId id, bool is_changed, const std::function<void(void*)>& act) {
  detail::ObjectTable& objects = core_->objects();
  detail::ObjectRecord& used = core_->record_of(id);
  void* const object = objects.take(used);
  if (is_changed) used.is_changed = true;
  try {
    std::optional<MemoryGrowth> growth;
    objects.open_growth(growth);
    act(object);
  } catch (...) {
    objects.give_back(used);
    throw;
  }
  objects.give_back(used);
}
void Runtime::lock(ObjectId id) { core_->objects().lock(core_->record_of(id)); }
void Runtime::unlock(ObjectId id) { core_->objects().unlock(core_->record_of(id)); }
void Runtime::set_priority(ObjectId id, int priority) { core_->record_of(id).priority = priority; }
void Runtime::prefetch(ObjectId id) { core_->objects().prefetch(core_->record_of(id)); }
bool Runtime::is_in_memory(ObjectId id) const { return core_->record_of(id).object != nullptr; }

std::uint64_t Runtime::memory_bytes() const noexcept { return core_->objects().memory_bytes(); }
const MemoryAccount& Runtime::memory() const noexcept { return core_->objects().account(); }
RuntimeStatistics Runtime::statistics() const noexcept { return core_->statistics(); }
mpi::Context& Runtime::context() const noexcept { return core_->context(); }

void Turn::reserve(std::uint64_t n_bytes) { runtime_.core_->objects().make_room(n_bytes); }
void Turn::serve() { runtime_.core_->serve(); }
void Turn::migrate(Rank to) {
  runtime_.core_->check_migration(to);
  migrates_to_ = to;
}

Json to_json(const RuntimeStatistics& statistics) {
  return {{"local_messages", statistics.local_messages},
          {"remote_messages", statistics.remote_messages},
          {"handled_messages", statistics.handled_messages},
          {"turns", statistics.turns},
          {"steps", statistics.steps},
          {"waves", statistics.waves},
          {"loads", statistics.loads},
          {"evictions", statistics.evictions},
          {"finished_bytes", statistics.finished_bytes},
          {"max_memory_bytes", statistics.max_memory_bytes},
          {"migrations", statistics.migrations},
          {"detours", statistics.detours},
          {"max_hops", statistics.max_hops},
          {"place_updates", statistics.place_updates},
          {"places", statistics.places},
          {"migrated_bytes", statistics.migrated_bytes},
          {"handler_seconds", statistics.handler_seconds},
          {"bytes_written", statistics.store.bytes_written},
          {"bytes_read", statistics.store.bytes_read}};
}

}  // namespace barrio::mobile
