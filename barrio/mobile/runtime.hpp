#pragma once

/// @file Objects that receive messages, on any rank, in memory or on the disk.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/base/memory_account.hpp"
#include "barrio/exchange/stream.hpp"
#include "barrio/mobile/detail/types.hpp"
#include "barrio/mobile/eviction.hpp"
#include "barrio/mobile/mobile_ptr.hpp"
#include "barrio/mobile/packing.hpp"
#include "barrio/mobile/store.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::mobile {

namespace detail {
class RuntimeCore;
}  // namespace detail

/// Way in which ranks learn where an object is that has migrated. The rank it was made for always learns it.
enum class PlaceUpdates {
  lazy,   ///< a message that took a detour is answered with the place, to the ranks on its way
  eager,  ///< in addition, an object that leaves tells the ranks of those that it exchanged messages with
  home,   ///< none: messages go by the rank it was made for
};

/// Options of a runtime, the same on all ranks.
struct RuntimeOptions {
  /// Bytes of objects and of messages to them that this rank keeps in memory, if above 0; others lie on the disk. The
  /// object in use may exceed it.
  std::uint64_t max_memory_bytes = 0;
  std::string scratch = {};                ///< folder for what lies on the disk
  Eviction eviction = Eviction::adaptive;  ///< choice of what leaves memory
  exchange::StreamOptions stream = {};     ///< of the packets that carry messages between ranks
  /// Objects may migrate to other ranks. Messages are numbered then, so that those of one object to another are handled
  /// in the order of sending, wherever both were meanwhile. Cost: two hundred instructions and 32 bytes a message, and
  /// 32 bytes for each pair of objects that exchange any in a run
  bool migration = false;
  PlaceUpdates updates = PlaceUpdates::eager;  ///< of objects that have migrated
  /// Objects migrate by themselves, but in supersteps: a rank without work tells those at distances of powers of two,
  /// and is given objects with messages, so that both have about the same to do, by the time that their last messages
  /// took. Needs `migration`. Cost: two looks at the processor's clock a turn, half a microsecond
  bool balancing = false;
};

/// Options of one run, the same on all ranks.
struct RunOptions {
  /// Deliver messages in steps: those that handlers send are handled in the next step, for each object in
  /// the order of senders and of sending. The result then depends neither on the number of ranks nor on time.
  /// Cost: each step ends with three or four reductions over all ranks; messages of the next step stay in memory,
  /// whatever its limit
  bool supersteps = false;
};

/// Counts of this rank since the runtime was made.
struct RuntimeStatistics {
  std::uint64_t local_messages = 0;    ///< sent to objects of this rank
  std::uint64_t remote_messages = 0;   ///< sent to objects of other ranks
  std::uint64_t handled_messages = 0;  ///< in turns that have ended
  std::uint64_t turns = 0;             ///< of objects, each with all messages that were there
  std::uint64_t steps = 0;             ///< supersteps
  std::uint64_t waves = 0;             ///< reductions that looked for the end
  std::uint64_t loads = 0;             ///< of objects from the disk
  std::uint64_t evictions = 0;         ///< times an object left memory for the disk
  std::uint64_t finished_bytes = 0;    ///< of those written to the disk that were finished, see Turn::set_finished
  std::uint64_t max_memory_bytes = 0;  ///< of objects and messages at one time, where there is a limit
  std::uint64_t migrations = 0;        ///< of objects, to other ranks
  std::uint64_t detours = 0;           ///< messages that this rank has sent on, since the object had left
  std::uint64_t max_hops = 0;          ///< ranks that a message came by, at most
  std::uint64_t place_updates = 0;     ///< messages that told where an object is
  std::uint64_t places = 0;            ///< of objects elsewhere that this rank knows
  std::uint64_t migrated_bytes = 0;    ///< of objects with their messages, to other ranks
  double handler_seconds = 0.0;        ///< of the processor in turns, where work is balanced
  StoreStatistics store;               ///< of the disk; all 0 without a limit of memory
};

class Runtime;

/// One turn of an object: it has the object, and is given the messages that wait for it. Lives as long as the handler.
class Turn {
 public:
  /// Send a message to an object of any rank, also to this one. Messages of one object to another arrive in the order
  /// of sending. Never waits. @throws Error{usage} as Runtime::send
  template <class T, class M>
  void send(MobilePtr<T> to, const M& message);
  /// Return the name of the object. @tparam T  its type
  template <class T>
  [[nodiscard]] MobilePtr<T> self() const noexcept {
    return MobilePtr<T>(self_);
  }
  /// Count the messages that the object still gets in this turn.
  [[nodiscard]] std::size_t n_waiting() const noexcept { return n_waiting_; }
  /// Make room in memory before the object grows: others go to the disk. @throws Error{failed} if they cannot
  void reserve(std::uint64_t n_bytes);
  /// Take in messages from other ranks, and let written ones leave. A handler that computes for longer than some
  /// milliseconds calls it now and then.
  void serve();
  /// Declare that this turn leaves the object as it was: a copy of it on the disk stays valid.
  void set_unchanged() noexcept {
    if (std::exchange(last_unchanged_, n_waiting_) != n_waiting_) n_unchanged_ += 1;
  }
  /// Declare that the object has probably got its last message: where memory is short, it leaves before others. If
  /// another one comes, it returns.
  void set_finished() noexcept { is_finished_ = true; }
  /// Let the object migrate to another rank after this turn, with the messages that wait for it. Messages to it find
  /// it. In supersteps it leaves at the end of the step.
  /// @throws Error{usage} if the runtime was made without `migration`, or for a rank out of range
  void migrate(Rank to);
  /// Destroy the object after this turn. A message that comes later is an error of all ranks; its name is not used
  /// again.
  void destroy() noexcept { is_last_ = true; }
  /// Return the runtime that runs the handler.
  [[nodiscard]] Runtime& runtime() noexcept { return runtime_; }

 private:
  friend class detail::RuntimeCore;
  Turn(Runtime& runtime, ObjectId self) noexcept : runtime_(runtime), self_(self) {}
  Runtime& runtime_;
  ObjectId self_;
  std::size_t n_waiting_ = 0;
  std::size_t n_unchanged_ = 0;            // messages that left the object as it was
  std::size_t last_unchanged_ = SIZE_MAX;  // `n_waiting_` of the last of them
  bool is_finished_ = false;
  bool is_last_ = false;
  Rank migrates_to_ = -1;
};

/// Objects with queues of messages, spread over ranks: a message runs a handler on the rank that has the object, one
/// after the other. Objects that do not fit into memory lie on a local disk, with their messages, and return for them.
///
///     Runtime runtime(context, {.max_memory_bytes = 1U << 30U, .scratch = "/scratch"});
///     runtime.add_type<Cell>("cell");
///     runtime.on<Cell, Heat>([](Turn& turn, Cell& cell, const Heat& heat) { turn.send(cell.next, Heat{...}); });
///     MobilePtr<Cell> cell = runtime.make(Cell{...});
///     runtime.send(cell, Heat{...});
///     runtime.run();  // until no rank has a message left
///
/// A rank runs one handler at a time; use a rank a core. Objects stay on the rank they were made for, unless they
/// migrate: see RuntimeOptions::migration.
/// Guarantees: each message is handled once; those of one object to another in the order of sending; `run` ends on all
/// ranks together, with an error on all if a handler throws on one.
/// Source: Chrisochoides et al., "A multi-layered runtime system"; see docs/explanation/architecture.md.
class Runtime {
 public:
  /// Make a runtime without types. Collective: duplicates the communicator.
  /// @throws AgreedError{usage}, {failed} as Store, if there is a limit of memory
  explicit Runtime(mpi::Context& context, const RuntimeOptions& options = {});
  /// End messages. Collective, unless an exception is in flight.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Add a type of objects: see Packing. All ranks add the same ones in the same order, which `run` checks.
  /// @param version  raise it where the meaning of fields changes @throws Error{usage} if it is there
  template <class T>
  void add_type(std::string name, std::uint32_t version = 0) {
    add_type(detail::make_type<T>(std::move(name), version));
  }
  /// Add the handler of messages of type M to objects of type T: called with (Turn&, T&, const M&).
  /// @throws Error{usage} if there is one, or T is not there
  template <class T, class M, class Handler>
  void on(Handler handler) {
    add_handler(detail::make_handler<T, M>(std::move(handler)));
  }

  /// Make an object on this rank. Local. @throws Error{usage} if T is not there
  template <class T>
  MobilePtr<T> make(T object) {
    return MobilePtr<T>(make(&detail::tag<T>, std::make_shared<T>(std::move(object))));
  }
  /// Make an object on another rank: its bytes are sent there. Local. Messages to it may be sent at once, from any rank
  /// that knows its name. @throws Error{usage} if T or the rank is not there
  template <class T>
  MobilePtr<T> make_on(Rank rank, T object) {
    return rank == context().rank() ? make(std::move(object)) : MobilePtr<T>(make_on(&detail::tag<T>, rank, &object));
  }
  /// Destroy an object of this rank. Local, between runs. @throws Error{usage} if it is not there or has messages
  template <class T>
  void destroy(MobilePtr<T> object) {
    destroy(object.id());
  }
  /// Let an object of this rank migrate to another one, in this run or the next, as soon as it is not in use. Local.
  /// @throws Error{usage} if it is not on this rank, or as Turn::migrate
  template <class T>
  void migrate(MobilePtr<T> object, Rank to) {
    migrate(object.id(), to);
  }
  /// Tell where an object is, as far as this rank knows: a message would go there. Local.
  template <class T>
  [[nodiscard]] Rank last_known_rank(MobilePtr<T> object) const {
    return last_known_rank(object.id());
  }
  /// Send a message to an object. Local; it is handled in `run`. @throws Error{usage} if there is no such handler, or
  /// the name is not set
  template <class T, class M>
  void send(MobilePtr<T> to, const M& message) {
    send_from(program_, to, message);
  }
  /// Handle messages until no rank has any left. Collective; again and again.
  /// @throws AgreedError on all ranks if a handler throws, or a message has no object; messages that are left are
  /// dropped
  void run(const RunOptions& options = {});

  /// Write all objects to a file, from which `restore` makes them again. Collective, between runs. The old file stays
  /// until the new one is complete, also if this job is killed.
  /// @throws AgreedError{usage} if messages were sent that no run has handled yet; {failed} if it cannot be written
  /// Cost: objects pass through memory once, 16 MiB at a time on each rank
  void save(const std::string& path);
  /// Make the objects of a file that `save` has written, with the names that they had. Collective, before any other
  /// object is made. On as many ranks as wrote the file each object is where it was; on others the bytes of all are
  /// shared out evenly, which needs `migration`.
  /// @throws AgreedError{usage} if there are objects, or for another number of ranks without `migration`; {bad_input}
  /// for a file that is damaged or none, and types that this runtime does not have, or whose fields have changed
  void restore(const std::string& path);

  /// End messages; objects stay, and can be visited and changed. Collective, at most once: the destructor is local
  /// then.
  void close();

  /// List the objects of type T of this rank, in the order of their names. Local. Cost: O(objects)
  template <class T>
  [[nodiscard]] std::vector<MobilePtr<T>> objects() const {
    std::vector<MobilePtr<T>> all;
    for (const ObjectId id : objects(&detail::tag<T>)) all.emplace_back(id);
    return all;
  }
  /// Visit an object of this rank between runs. Local. @param visit  called with (const T&)
  /// @throws Error{usage} if it is not on this rank; {failed} if it cannot be read from the disk
  template <class T, class Visit>
  void visit(MobilePtr<T> object, Visit&& visit) {
    use(object.id(), false, [&](void* found) { visit(*static_cast<const T*>(found)); });
  }
  /// Change an object of this rank between runs. Local. @param change  called with (T&) @throws as visit
  template <class T, class Change>
  void change(MobilePtr<T> object, Change&& change) {
    use(object.id(), true, [&](void* found) { change(*static_cast<T*>(found)); });
  }
  /// Keep an object of this rank in memory until `unlock`, which is called as often, or until it migrates; it is read
  /// if it is on the disk. Local. @throws Error{usage} if it is not on this rank, or locked objects would take more
  /// than the limit of memory
  template <class T>
  void lock(MobilePtr<T> object) {
    lock(object.id());
  }
  /// Let a locked object leave memory again. Local. @throws Error{usage} if it is not locked
  template <class T>
  void unlock(MobilePtr<T> object) {
    unlock(object.id());
  }
  /// Let objects of a lower priority leave memory before this one; 0 at first. Local.
  /// @throws Error{usage} if it is not on this rank
  template <class T>
  void set_priority(MobilePtr<T> object, int priority) {
    set_priority(object.id(), priority);
  }
  /// Begin to read an object that will be visited next, if it is on the disk and there is room. Local.
  template <class T>
  void prefetch(MobilePtr<T> object) {
    prefetch(object.id());
  }
  /// Tell whether an object of this rank is in memory. Local.
  template <class T>
  [[nodiscard]] bool is_in_memory(MobilePtr<T> object) const {
    return is_in_memory(object.id());
  }

  /// Count the bytes of objects and messages in memory. Local.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
  /// Return the account of memory of this rank, by owner; it counts only where there is a limit. Local.
  [[nodiscard]] const MemoryAccount& memory() const noexcept;
  /// Return the counts of this rank so far. Local.
  [[nodiscard]] RuntimeStatistics statistics() const noexcept;
  /// Return the context that was given, borrowed.
  [[nodiscard]] mpi::Context& context() const noexcept;

 private:
  friend class Turn;
  template <class T, class M>
  void send_from(std::uint64_t from, MobilePtr<T> to, const M& message) {
    // whole words, so that none of the steps on its way has to round
    const std::size_t n_bytes = Plain<M> ? detail::whole_words(sizeof(M)) : Packing<M>::bytes(message);
    if (n_bytes % sizeof(std::uint64_t) != 0 || n_bytes > UINT32_MAX) [[unlikely]]
      detail::refuse_length(n_bytes);
    Packing<M>::pack(message, allocate(detail::message_number<T, M>.load(std::memory_order_relaxed), from, to.id(),
                                       static_cast<std::uint32_t>(n_bytes)));
  }
  void add_type(detail::TypeEntry entry);
  void add_handler(detail::HandlerEntry entry);
  ObjectId make(const void* tag, std::shared_ptr<void> object);
  ObjectId make_on(const void* tag, Rank rank, const void* object);
  [[nodiscard]] std::vector<ObjectId> objects(const void* tag) const;
  void destroy(ObjectId id);
  void migrate(ObjectId id, Rank to);
  [[nodiscard]] Rank last_known_rank(ObjectId id) const;
  [[gnu::returns_nonnull]] std::byte* allocate(std::uint32_t message_number, std::uint64_t from, ObjectId to,
                                               std::uint32_t n_bytes);
  void use(ObjectId id, bool is_changed, const std::function<void(void*)>& act);
  void lock(ObjectId id);
  void unlock(ObjectId id);
  void set_priority(ObjectId id, int priority);
  void prefetch(ObjectId id);
  [[nodiscard]] bool is_in_memory(ObjectId id) const;

  std::unique_ptr<detail::RuntimeCore> core_;
  std::uint64_t program_ = 0;  // the program of this rank as a sender, behind all objects
};

template <class T, class M>
void Turn::send(MobilePtr<T> to, const M& message) {
  runtime_.send_from(self_.word(), to, message);
}

/// Return counts as JSON.
[[nodiscard]] Json to_json(const RuntimeStatistics& statistics);

}  // namespace barrio::mobile
