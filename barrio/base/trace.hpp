#pragma once

/// @file Named regions of a program and the time that each takes.

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace barrio {

/// Name of a region of the program, defined once as a constant: `constexpr RegionName resolve{"mesh.resolve"};`
/// The text must outlive every Trace: use string literals.
struct RegionName {
  const char* text;  ///< "room.phase"; a string literal
};

/// Time and number of entries of one region, on one rank.
struct RegionTotal {
  std::string name;         ///< text of its `RegionName`
  std::uint64_t count = 0;  ///< entries that have ended
  double seconds = 0.0;     ///< inclusive of inner regions
};

/// Record of the time that one rank spends in each region. Local. A Trace belongs to one thread; `current`,
/// `add_beside` and `sample` may be called by any. `off` costs two stores per scope; `totals` two clock reads; `events`
/// also keeps each scope for a timeline.
class Trace {
 public:
  /// Detail of the record.
  enum class Mode {
    off,     ///< only the innermost region, for `current()`
    totals,  ///< number and time of the entries of each region
    events   ///< also begin and end of each entry, and what other threads add
  };
  /// Seconds since an arbitrary fixed start; monotonic.
  using Clock = double (*)();

  /// Make an empty record. @param clock  source of all its times
  explicit Trace(Mode mode = Mode::off, Clock clock = &steady_seconds) noexcept : mode_(mode), clock_(clock) {}

  /// Entry of a region that has ended.
  struct Event {
    std::uint32_t region;  ///< for `region_name()`
    double begin_seconds;  ///< by the clock of the Trace
    double end_seconds;    ///< by the clock of the Trace
  };
  /// Work beside the thread of the Trace.
  struct BesideEvent {
    const char* track;     ///< row of the timeline, such as "disk"; a literal
    const char* name;      ///< text of its `RegionName`
    double begin_seconds;  ///< as the caller measured it, by the same clock
    double end_seconds;    ///< as the caller measured it, by the same clock
  };
  /// Value of a number at a time.
  struct Sample {
    const char* name;  ///< text of its `RegionName`
    double seconds;    ///< when it was added, by the clock of the Trace
    double value;      ///< in the unit of the caller
  };

  /// Return the detail that is recorded now.
  [[nodiscard]] Mode mode() const noexcept { return mode_.load(std::memory_order_relaxed); }
  /// Set the detail from now on. A region counts only if it neither begins nor ends in mode `off`.
  void set_mode(Mode mode) noexcept { mode_.store(mode, std::memory_order_relaxed); }
  /// Return the time by its clock, in seconds.
  [[nodiscard]] double now() const { return clock_(); }

  /// Return the totals in the order the regions were first entered.
  [[nodiscard]] std::vector<RegionTotal> totals() const;
  /// Return the entries that ended, or were added, in mode `events`, in this order.
  [[nodiscard]] const std::deque<Event>& events() const& noexcept { return events_; }
  /// Refuse a temporary, whose events would be gone.
  const std::deque<Event>& events() const&& = delete;
  /// Return the name of a region. @param region  that of an Event of this Trace
  [[nodiscard]] std::string_view region_name(std::uint32_t region) const { return regions_[region].name.text; }
  /// Add time that was measured elsewhere.
  void add(RegionName name, double begin_seconds, double end_seconds);

  /// Keep an event of another thread or of a device for the timeline: it has a track of its own, and is in no total.
  /// Any thread may call it; nothing happens unless events are kept. @param track  such as "disk"; a literal
  void add_beside(const char* track, RegionName name, double begin_seconds, double end_seconds);
  /// Keep the value of a number that changes, such as bytes in memory, for the timeline. As add_beside.
  void sample(RegionName name, double value);
  /// Copy the events beside the thread, and the samples, in the order in which they were added. Any thread may call it.
  [[nodiscard]] std::vector<BesideEvent> events_beside() const;
  /// Copy the samples, in the order in which they were added. Any thread may call it.
  [[nodiscard]] std::vector<Sample> samples() const;

  /// Return the innermost open region, in every mode; null outside of all. Any thread may ask.
  [[nodiscard]] const char* current() const noexcept { return current_.load(std::memory_order_relaxed); }

  /// Return the seconds of this machine's steady clock: the default clock. Any thread may call it.
  static double steady_seconds();

 private:
  struct Slot {
    RegionName name;
    std::uint64_t count;
    double seconds;
  };
  friend class Region;
  std::uint32_t slot_of(RegionName name);
  void add(std::uint32_t region, double begin_seconds, double end_seconds);
  std::atomic<Mode> mode_;
  Clock clock_;
  std::vector<Slot> regions_;
  std::deque<Event> events_;
  std::atomic<const char*> current_{nullptr};
  mutable std::mutex mutex_;  // of what any thread may add
  std::deque<BesideEvent> events_beside_;
  std::deque<Sample> samples_;
};

/// Timer of the enclosing block under a name. Local. All phase times that barrio prints come from it.
class Region {
 public:
  /// Enter a region, until the end of the block. The trace outlives it.
  Region(Trace& trace, RegionName name) : trace_(trace), outer_(trace.current()) {
    trace_.current_.store(name.text, std::memory_order_relaxed);
    if (trace_.mode() == Trace::Mode::off) return;
    region_ = trace_.slot_of(name);
    begin_seconds_ = trace_.now();
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region() {
    trace_.current_.store(outer_, std::memory_order_relaxed);
    if (trace_.mode() != Trace::Mode::off && begin_seconds_ >= 0.0) trace_.add(region_, begin_seconds_, trace_.now());
  }

 private:
  Trace& trace_;
  const char* outer_;
  std::uint32_t region_ = 0;
  double begin_seconds_ = -1.0;
};

}  // namespace barrio
