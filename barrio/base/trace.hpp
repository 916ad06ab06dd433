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
  const char* text;
};

/// Time and number of entries of one region, on one rank.
struct RegionTotal {
  std::string name;
  std::uint64_t count = 0;
  double seconds = 0.0;  ///< inclusive of inner regions
};

/// Record of the time that one rank spends in each region. Local. A Trace belongs to one thread; `current`,
/// `add_beside` and `sample` may be called by any. `off` costs two stores per scope; `totals` two clock reads; `events`
/// also keeps each scope for a timeline.
class Trace {
 public:
  enum class Mode { off, totals, events };
  /// Seconds since an arbitrary fixed start; monotonic.
  using Clock = double (*)();

  explicit Trace(Mode mode = Mode::off, Clock clock = &steady_seconds) noexcept : mode_(mode), clock_(clock) {}

  struct Event {
    std::uint32_t region;
    double begin_seconds;
    double end_seconds;
  };
  /// Work beside the thread of the Trace.
  struct BesideEvent {
    const char* track;
    const char* name;
    double begin_seconds;
    double end_seconds;
  };
  /// Value of a number at a time.
  struct Sample {
    const char* name;
    double seconds;
    double value;
  };

  [[nodiscard]] Mode mode() const noexcept { return mode_.load(std::memory_order_relaxed); }
  void set_mode(Mode mode) noexcept { mode_.store(mode, std::memory_order_relaxed); }
  [[nodiscard]] double now() const { return clock_(); }

  /// Return the totals in the order the regions were first entered.
  [[nodiscard]] std::vector<RegionTotal> totals() const;
  [[nodiscard]] const std::deque<Event>& events() const& noexcept { return events_; }
  const std::deque<Event>& events() const&& = delete;
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
  [[nodiscard]] std::vector<Sample> samples() const;

  /// Return the innermost open region, in every mode; null outside of all. Any thread may ask.
  [[nodiscard]] const char* current() const noexcept { return current_.load(std::memory_order_relaxed); }

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
