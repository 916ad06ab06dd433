#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/report.hpp"
#include "barrio/mpi/write_text.hpp"

namespace barrio::mpi {
namespace {

/// Text of one rank: a track for its thread, one for each track beside that, and its samples.
class Rendered {
 public:
  Rendered(Context& context, double start_seconds) : context_(context), start_seconds_(start_seconds) {}

  std::string text() {
    const Trace& trace = context_.trace();
    const std::vector<Trace::BesideEvent> beside = trace.events_beside();
    is_sorted_ = !beside.empty();
    name_track(0, fmt::format("rank {}", context_.rank()));
    for (const Trace::Event& event : trace.events())
      add_event(0, trace.region_name(event.region), event.begin_seconds, event.end_seconds);
    std::vector<std::string_view> tracks;
    for (const Trace::BesideEvent& event : beside) {
      const std::string_view track = event.track;
      const auto place = std::ranges::find(tracks, track) - tracks.begin();
      if (place == std::ssize(tracks)) {
        tracks.push_back(track);
        name_track(place + 1, fmt::format("rank {}: {}", context_.rank(), track));
      }
      add_event(place + 1, event.name, event.begin_seconds, event.end_seconds);
    }
    for (const Trace::Sample& sample : trace.samples())
      add(fmt::format(R"({{"name":{},"ph":"C","pid":0,"ts":{:.3f},"args":{{"value":{}}}}})",
                      Json(fmt::format("rank {}: {}", context_.rank(), sample.name)).dump(),
                      microseconds(sample.seconds), sample.value));
    return std::move(text_);
  }

 private:
  [[nodiscard]] double microseconds(double seconds) const noexcept { return (seconds - start_seconds_) * 1e6; }
  /// Number a track: those beside a rank have numbers above all ranks.
  [[nodiscard]] std::int64_t number_of(std::int64_t track) const noexcept {
    return track * context_.size() + context_.rank();
  }
  void add(const std::string& event) {
    if (!text_.empty()) text_ += ",\n";
    text_ += event;
  }
  void name_track(std::int64_t track, const std::string& name) {
    add(fmt::format(R"({{"name":"thread_name","ph":"M","pid":0,"tid":{},"args":{{"name":{}}}}})", number_of(track),
                    Json(name).dump()));
    if (!is_sorted_) return;
    constexpr std::int64_t max_tracks = 64;
    add(fmt::format(R"({{"name":"thread_sort_index","ph":"M","pid":0,"tid":{},"args":{{"sort_index":{}}}}})",
                    number_of(track), context_.rank() * max_tracks + track));
  }
  void add_event(std::int64_t track, std::string_view name, double begin_seconds, double end_seconds) {
    add(fmt::format(R"({{"name":{},"ph":"X","pid":0,"tid":{},"ts":{:.3f},"dur":{:.3f}}})", Json(name).dump(),
                    number_of(track), microseconds(begin_seconds), (end_seconds - begin_seconds) * 1e6));
  }

  Context& context_;
  double start_seconds_;
  bool is_sorted_ = false;  // tracks beside the rank stand below it
  std::string text_;
};

std::string render(Context& context, double start_seconds) {
  std::string text = context.is_root() ? "[\n" : "";
  text += Rendered(context, start_seconds).text();
  text += context.rank() + 1 < context.size() ? ",\n" : "\n]\n";
  return text;
}

}  // namespace

void write_trace(Context& context, const std::string& path) {
  double start_seconds = MPI_Wtime();
  for (const Trace::Event& event : context.trace().events())
    start_seconds = std::min(start_seconds, event.begin_seconds);
  for (const Trace::BesideEvent& event : context.trace().events_beside())
    start_seconds = std::min(start_seconds, event.begin_seconds);
  start_seconds = min(context, start_seconds);
  write_text(context, path, render(context, start_seconds));
}

}  // namespace barrio::mpi
