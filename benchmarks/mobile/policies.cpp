#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "barrio/base/hash.hpp"
#include "barrio/mobile/runtime.hpp"
#include "barrio/mpi/collectives.hpp"
#include "benchmarks/mobile/parts.hpp"

namespace barrio::bench {
namespace {

constexpr std::size_t n_pages = 64;
constexpr std::size_t n_in_memory = 16;
constexpr std::size_t n_accesses = 6000;
constexpr std::size_t doubles_of_page = 8192;

struct Page {
  std::int64_t n_used = 0;
  std::vector<double> data;

  template <class Visit>
  void fields(Visit& visit) {
    visit("n_used", n_used);
    visit("data", data);
  }
};
struct Access {
  std::size_t at;  // in the trace
};

/// Return the objects that a load uses one after the other.
std::vector<std::size_t> trace_of(const std::string& load) {
  std::vector<std::size_t> trace;
  std::vector<double> below;  // Zipf's distribution, summed up
  double sum = 0.0;
  for (std::size_t i = 0; i < n_pages; ++i) below.push_back(sum += 1.0 / static_cast<double>(i + 1));
  for (std::size_t i = 0; i < n_accesses; ++i) {
    const double chance = static_cast<double>(mix64(i) >> 11U) * 0x1p-53;
    const auto zipf = static_cast<std::size_t>(std::ranges::lower_bound(below, chance * sum) - below.begin());
    if (load == "skewed") {
      trace.push_back(zipf * 13 % n_pages);
    } else if (load == "round") {
      trace.push_back(i % 24);  // a few more than fit
    } else if (load == "shuffled") {
      trace.push_back(mix64(i) % n_pages);
    } else {  // drifting: near an object that moves on
      trace.push_back((i / 40 + zipf) % n_pages);
    }
  }
  return trace;
}

/// Count the objects that are read from the disk if always the one leaves that is used farthest in the future.
std::size_t min_loads(const std::vector<std::size_t>& trace) {
  std::vector<std::size_t> next(trace.size());
  std::vector<std::size_t> last(n_pages, std::numeric_limits<std::size_t>::max());
  for (std::size_t i = trace.size(); i-- > 0;) next[i] = std::exchange(last[trace[i]], i);
  std::vector<std::pair<std::size_t, std::size_t>> in_memory;  // next use, page
  // the last ones that were made are in memory at first
  for (std::size_t page = n_pages - n_in_memory; page < n_pages; ++page) in_memory.emplace_back(last[page], page);
  std::size_t n = 0;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const auto found = std::ranges::find(in_memory, trace[i], &std::pair<std::size_t, std::size_t>::second);
    if (found == in_memory.end()) {
      n += 1;
      in_memory.erase(std::ranges::max_element(in_memory));
      in_memory.emplace_back(next[i], trace[i]);
    } else {
      found->first = next[i];
    }
  }
  return n;
}

}  // namespace

Json measure_policies(mpi::Context& context, const MobileOptions& options, Goals& goals) {
  Json part{{"part", "policies"}, {"objects", n_pages}, {"loads", Json::array()}};
  const std::string scratch =
      options.scratch.empty() ? std::filesystem::temp_directory_path().string() : options.scratch;
  if (mobile::folder_kind(scratch) == mobile::FolderKind::memory) {
    part["reason"] = scratch + " is in memory: name a folder on a disk by --scratch";
    return part;
  }
  constexpr std::array<std::pair<const char*, mobile::Eviction>, 6> policies{
      {{"lru", mobile::Eviction::lru},
       {"mru", mobile::Eviction::mru},
       {"lfu", mobile::Eviction::lfu},
       {"lu", mobile::Eviction::lu},
       {"mu", mobile::Eviction::mu},
       {"adaptive", mobile::Eviction::adaptive}}};
  for (const std::string load : {"skewed", "round", "shuffled", "drifting"}) {
    const std::vector<std::size_t> trace = trace_of(load);
    const auto least = static_cast<double>(min_loads(trace));
    Json found{{"load", load}, {"min_loads", least}};
    double best = std::numeric_limits<double>::infinity();
    double of_adaptive = 0.0;
    for (const auto& [name, eviction] : policies) {
      constexpr std::uint64_t page_bytes = sizeof(Page) + (doubles_of_page + 2) * sizeof(double);
      mobile::Runtime runtime(
          context,
          {.max_memory_bytes = page_bytes * n_in_memory + page_bytes / 2, .scratch = scratch, .eviction = eviction});
      runtime.add_type<Page>("page");
      std::vector<mobile::MobilePtr<Page>> pages;
      runtime.on<Page, Access>([&](mobile::Turn& turn, Page& page, const Access& access) {
        page.n_used += 1;
        if (access.at + 1 < trace.size()) turn.send(pages[trace[access.at + 1]], Access{access.at + 1});
      });
      for (std::size_t i = 0; i < n_pages; ++i)
        pages.push_back(runtime.make(Page{0, std::vector<double>(doubles_of_page, static_cast<double>(i))}));
      const std::uint64_t before = runtime.statistics().loads;
      runtime.send(pages[trace.front()], Access{0});
      runtime.run();
      const double ratio = static_cast<double>(runtime.statistics().loads - before) / least;
      std::int64_t n_used = 0;
      for (const auto one : pages) runtime.visit(one, [&](const Page& page) { n_used += page.n_used; });
      check_sum(context, n_used == static_cast<std::int64_t>(trace.size()), "policies");
      found[name] = ratio;
      if (eviction == mobile::Eviction::adaptive)
        of_adaptive = ratio;
      else
        best = std::min(best, ratio);
    }
    goals.add("policies." + load, of_adaptive, "", 1.25, false);
    found["best_of_others"] = best;
    part["loads"].push_back(std::move(found));
  }
  return part;
}

}  // namespace barrio::bench
