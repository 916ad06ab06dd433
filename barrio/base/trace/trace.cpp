#include "barrio/base/trace.hpp"

#include <chrono>
#include <cstring>

namespace barrio {

double Trace::steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::uint32_t Trace::slot_of(RegionName name) {
  // A program has tens of regions, so a scan of pointers beats a hash; equal texts may have two addresses.
  for (std::uint32_t i = 0; i < regions_.size(); ++i)
    if (regions_[i].name.text == name.text) return i;
  for (std::uint32_t i = 0; i < regions_.size(); ++i)
    if (std::strcmp(regions_[i].name.text, name.text) == 0) return i;
  regions_.push_back({name, 0, 0.0});
  return static_cast<std::uint32_t>(regions_.size() - 1);
}

void Trace::add(RegionName name, double begin_seconds, double end_seconds) {
  add(slot_of(name), begin_seconds, end_seconds);
}

void Trace::add(std::uint32_t region, double begin_seconds, double end_seconds) {
  regions_[region].count += 1;
  regions_[region].seconds += end_seconds - begin_seconds;
  if (mode() == Mode::events) events_.push_back({region, begin_seconds, end_seconds});
}

void Trace::add_beside(const char* track, RegionName name, double begin_seconds, double end_seconds) {
  if (mode() != Mode::events) return;
  const std::lock_guard lock(mutex_);
  events_beside_.push_back({track, name.text, begin_seconds, end_seconds});
}

void Trace::sample(RegionName name, double value) {
  if (mode() != Mode::events) return;
  const double seconds = now();
  const std::lock_guard lock(mutex_);
  samples_.push_back({name.text, seconds, value});
}

std::vector<Trace::BesideEvent> Trace::events_beside() const {
  const std::lock_guard lock(mutex_);
  return {events_beside_.begin(), events_beside_.end()};
}

std::vector<Trace::Sample> Trace::samples() const {
  const std::lock_guard lock(mutex_);
  return {samples_.begin(), samples_.end()};
}

std::vector<RegionTotal> Trace::totals() const {
  std::vector<RegionTotal> all;
  all.reserve(regions_.size());
  for (const Slot& slot : regions_)
    if (slot.count > 0) all.push_back({slot.name.text, slot.count, slot.seconds});  // 0: entered, not left yet
  return all;
}

}  // namespace barrio
